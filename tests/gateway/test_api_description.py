"""One description of the whole API: valid, complete, and honest about problems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from services.gateway.openapi import template
from services.gateway.routes import ROUTES
from tests.gateway.platform import Platform


@pytest.fixture(scope="session")
def document(platform: Platform) -> dict[str, Any]:
    answer = requests.get(f"{platform.gateway.url}/api/v1/openapi.json", timeout=10)
    found: dict[str, Any] = answer.json()
    return found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def test_the_description_is_valid_openapi(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    validate(document)


def test_every_route_that_is_passed_on_is_described_and_nothing_else(document: dict[str, Any]) -> None:
    offered = {(method.lower(), template(route.pattern)) for route in ROUTES for method in route.methods}
    described = {(method, path) for method, path, _operation in operations(document)}
    assert offered - described == set()
    own = {path for _method, path in described - offered}
    assert own == {
        "/api/v1/events/{event_id}/stream",
        "/api/v1/accounts", "/api/v1/accounts/{account_id}", "/api/v1/grants", "/api/v1/grants/{grant_id}",
        "/api/v1/accounts/{account_id}/password-reset", "/api/v1/password-resets/use", "/api/v1/invitations",
        "/api/v1/invitations/{invitation_id}", "/api/v1/invitations/read", "/api/v1/invitations/accept",
        "/api/v1/invitations/sign-up", "/api/v1/me", "/api/v1/me/password", "/api/v1/me/sessions",
        "/api/v1/me/sessions/{session_id}", "/api/v1/ops/services", "/api/v1/sessions", "/api/v1/sessions/current",
        "/api/v1/tokens", "/api/v1/tokens/{token_id}",
    }  # fmt: skip


def test_every_operation_says_that_problems_are_problem_json(document: dict[str, Any]) -> None:
    problem = document["components"]["responses"]["Problem"]["content"]
    assert list(problem) == ["application/problem+json"]
    for method, path, operation in operations(document):
        for kind in ("4XX", "5XX"):
            assert operation["responses"][kind] == {"$ref": "#/components/responses/Problem"}, (method, path)
    assert set(document["components"]["securitySchemes"]) == {"token", "session"}


def test_a_real_problem_fits_its_description(platform: Platform, document: dict[str, Any]) -> None:
    body = requests.get(f"{platform.gateway.url}/api/v1/events/999999", timeout=10).json()
    Draft202012Validator(document["components"]["schemas"]["Problem"]).validate(body)


def test_the_readable_page_names_every_path(platform: Platform, document: dict[str, Any]) -> None:
    page = requests.get(f"{platform.gateway.url}/api/v1/docs", timeout=10).text
    assert [path for path in document["paths"] if path not in page] == []


def test_the_platform_is_ready_and_says_which_services_are(platform: Platform) -> None:
    answer = requests.get(f"{platform.gateway.url}/readyz", timeout=10)
    assert (answer.status_code, answer.json()["services"]) == (200, ["registration", "results"])
    assert {(service.name, service.state) for service in platform.admin.operations.services()} == {
        ("registration", "ready"),
        ("results", "ready"),
    }
