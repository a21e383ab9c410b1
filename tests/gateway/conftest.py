"""One gateway before echoing services, and one whole platform, for all tests of this folder: each test makes its own
accounts and events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.gateway.harness import Gateway, gunicorn, running_gateway
from tests.gateway.platform import Platform, running_platform
from tests.servers import Servers


@pytest.fixture(scope="session")
def server_logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gateway")


@pytest.fixture(scope="session")
def echo_url(server_logs: Path) -> Iterator[str]:
    options = ("--worker-class", "gthread", "--workers", "1", "--threads", "8")
    log = server_logs / "echo.log"
    with gunicorn("tests.gateway.echo_service:app", log=log, environment={}, options=options) as url:
        yield url


@pytest.fixture(scope="session")
def gateway(servers: Servers, server_logs: Path, echo_url: str) -> Iterator[Gateway]:
    """One gateway for all tests of this folder: each makes its own accounts."""
    with ExitStack() as stack:
        database = servers.clone()
        stack.callback(servers.drop, database)
        yield stack.enter_context(
            running_gateway(
                database,
                servers.valkey_url(),
                server_logs,
                services=(echo_url, echo_url),
                QISAI_SIGN_IN_LIMIT="15/minute",
            )
        )


@pytest.fixture(scope="session")
def platform(servers: Servers, server_logs: Path) -> Iterator[Platform]:
    """Gateway, registration and results on a database of their own."""
    with running_platform(servers, server_logs, QISAI_SIGN_IN_LIMIT="1000/minute") as running:
        yield running
