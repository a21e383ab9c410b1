"""Whatever fits or breaks the described form of a route: no answer is a 5xx, and every refusal is a problem document.

Bodies, queries and headers are made from each service's own API description and from bodies that fit, as an
administrator sends them, mostly to things that exist, at the version they have. `QISAI_FUZZ_EXAMPLES` says how many a
route gets: a few in the suite, thousands before a release.
"""

from __future__ import annotations

import os
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from json import dumps
from typing import Any, Final

import pytest
import schemathesis
import sqlalchemy as sa
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy.orm import Session

from qisai.db.accounts import (
    AccountRow,
    GrantRow,
    InvitationRow,
    PasswordResetRow,
    Role,
    TokenRow,
    WebSessionRow,
)
from qisai.db.entrants import ForbiddenPairRow, LinkRow
from qisai.db.events import EventState
from qisai.db.jobs import BreakerRow, JobRow
from qisai.db.records import AlertRow, AuditRow, Severity
from qisai.db.rounds import AdjustmentRow
from qisai.db.secrets import hash_password, new_secret, new_token
from qisai.db.session import Database
from qisai.kernel.model import Result
from qisai.settings import GatewaySettings
from qisai.web import assertion
from services.gateway.app import create_app as gateway_app
from services.gateway.parts import parts as gateway_parts
from tests import calls, fields
from tests.contracts.test_every_route_every_role import SERVICES
from tests.servers import Servers

EXAMPLES: Final = int(os.environ.get("QISAI_FUZZ_EXAMPLES", "4"))
LARGE_VERSIONS: Final = ('"v2147483646"', '"v2147483647"', '"v2147483648"', '"v9999999999"', '"v99999999999"')
"""Around what a column holds: a version that is taken is also written, alone and with one added."""
PRESENT: Final = "the present one"
"""A version that is asked for: a stale write is answered with the one there is."""
VERSIONS: Final = st.sampled_from([*[PRESENT] * 6, '"v1"', '"v2"', '"v3"', "", "*", 'W/"c1"', *LARGE_VERSIONS])
TEXT: Final = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
ROSTERS: Final = st.lists(
    st.sampled_from(["姓名", "编号", ",", "\n", "陈一", "1800", '"', "=1", "性别", "女"]), max_size=20
)

PASSWORD: Final = "correct horse battery staple"
_EVENT: Final = "/api/v1/events/{event_id}"
_DRAW: Final = f"{_EVENT}/rounds/{{round_no}}/draws/{{draw_no}}"
FITTING: Final[Mapping[str, Callable[[Mapping[str, Any]], Any]]] = {
    "POST /api/v1/events": lambda _: {"name": "某赛", "profile": "xiangqi", "regulations": {"rounds": 5}},
    "POST /api/v1/events/preview": lambda _: {"profile": "shengji", "expected_entrants": 40},
    f"PATCH {_EVENT}": lambda _: {"venue": "文化宫", "capacity": 40, "expected_entrants": 30},
    f"POST {_EVENT}/entrants": lambda _: {"name": "陈一", "club": "甲队", "seed": 1800, "birth_year": 1990},
    f"POST {_EVENT}/registrations": lambda _: {"name": "林二", "club": "乙队", "birth_year": 1991},
    f"POST {_EVENT}/entrants/import": lambda _: "姓名,单位,等级分\n黄三,丙队,1700\n".encode(),
    f"POST {_EVENT}/entrants/{{entrant_id}}/transitions": lambda _: {"to": "withdrawn", "reason": "因病"},
    f"POST {_EVENT}/entrants/bulk-transitions": lambda _: {"to": "approved", "from": ["registered"]},
    f"POST {_EVENT}/entrants/seat": lambda _: {"all": True},
    f"POST {_EVENT}/check-in": lambda _: {"all": True},
    f"POST {_EVENT}/lots": lambda _: {"mode": "machine", "seed": 7},
    f"POST {_EVENT}/forbidden-pairs": lambda at: {"entrants": [at["entrant_id"] + 1, at["entrant_id"] + 2]},
    f"POST {_EVENT}/forbidden-pairs/same-club": lambda _: {"from_round": 1, "to_round": 2},
    f"POST {_EVENT}/attendance/{{round_no}}": lambda _: {"all": True},
    f"PUT {_EVENT}/attendance/{{round_no}}/deadline": lambda _: {"until": "2026-12-05T09:00:00+08:00"},
    f"PUT {_EVENT}/byes/{{round_no}}/{{entrant_id}}": lambda _: {"kind": "half"},
    f"PUT {_EVENT}/fixed-boards/{{entrant_id}}": lambda _: {"board": 3},
    "POST /api/v1/events/imports/json": lambda _: {
        "format": "qisai.tournament/1",
        "regulations": {"profile": "xiangqi", "rounds": 3},
        "entrants": [{"number": 1, "name": "陈一"}, {"number": 2, "name": "林二"}],
    },
    f"POST {_EVENT}/adjustments": lambda at: {
        "entrant_id": at["entrant_id"], "points": 0.5, "after_round": 1, "reason": "裁决",
    },
    f"POST {_EVENT}/adjustments/{{adjustment_id}}/take-back": lambda _: {"reason": "误判"},
    f"PATCH {_DRAW}": lambda _: {"edits": [{"kind": "sides", "entrants": [1]}]},
    f"POST {_EVENT}/rounds/{{round_no}}/clock": lambda _: {"action": "start", "seconds": 3600},
    f"PUT {_EVENT}/rounds/{{round_no}}/results": lambda at: {
        "results": [{"board_id": at["board_id"], "version": 2, "result": "draw"}],
    },
    "PUT /api/v1/boards/{board_id}/result": lambda _: {"result": "second_win", "reason": "补录"},
    "PUT /api/v1/boards/{board_id}/correction": lambda _: {"result": "first_win", "reason": "记反了"},
    "POST /api/v1/boards/{board_id}/correction/preview": lambda _: {"result": "first_win"},
    "POST /api/v1/accounts": lambda _: {"login": "somebody", "name": "某人"},
    "PATCH /api/v1/accounts/{account_id}": lambda _: {"name": "某某"},
    "POST /api/v1/grants": lambda at: {"account_id": at["account_id"], "role": "referee", "event_id": at["event_id"]},
    "POST /api/v1/tokens": lambda _: {"name": "手机", "scopes": ["read"], "days": 3},
    "POST /api/v1/invitations": lambda at: {"role": "desk", "event_id": at["event_id"]},
    "POST /api/v1/invitations/read": lambda at: {"token": at["read_link"]},
    "POST /api/v1/invitations/accept": lambda at: {"token": at["accept_link"]},
    "POST /api/v1/invitations/sign-up": lambda at: {
        "token": at["sign_up_link"], "login": "newcomer", "name": "新人", "password": PASSWORD,
    },
    "POST /api/v1/password-resets/use": lambda at: {"token": at["reset_link"], "new": PASSWORD},
    "POST /api/v1/sessions": lambda at: {"login": at["login"], "password": PASSWORD},
}  # fmt: skip
"""Bodies that fit: a random one seldom gets past its own checks."""
NOT_REACHED: Final = frozenset(
    {
        "DELETE /api/v1/sessions/current",  # ends a browser's session, and this caller has a token
        "PUT /api/v1/me/password",  # the right old password would end the token that everything here is asked with
    }
)
"""Routes of which no call gets past its validation here, each with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One service over an event with a round and a draft, or the gateway with its own routes, as an administrator."""

    app: Flask
    proof: Callable[[str, str], dict[str, str]]
    """Headers that say who calls, by method and path."""
    worlds: Sequence[Mapping[str, int | str]]
    """What path values name: things of one event each, in different states."""

    def operations(self) -> list[Any]:
        """Every described operation."""
        schema = schemathesis.openapi.from_dict(self.app.api_doc)  # type: ignore[attr-defined]
        found = [found.ok() for found in schema.get_all_operations()]
        # A stream does not end, and is results' to decide; readiness is 503 where nothing is ready.
        return [one for one in found if not one.path.endswith(("/stream", "/readyz"))]

    def send(
        self,
        method: str,
        rule: str,
        *,
        body: Any,
        version: str,
        path_values: Mapping[str, Any],
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        if version == PRESENT:
            called = {"body": body, "path_values": path_values, "query": query}
            answer = self.send(method, rule, version=LARGE_VERSIONS[0], **called)
            if answer.status_code != 412:
                return answer
            return self.send(method, rule, version=f'"v{answer.json["current"]["version"]}"', **called)
        path = rule
        for name, value in path_values.items():
            path = path.replace("{" + name + "}", str(value))
        headers = self.proof(method, path)
        if version:
            headers["If-Match"] = version
        content = body if isinstance(body, bytes) else None if body is None else dumps(body).encode()
        kind = "text/csv" if isinstance(body, bytes) else "application/json"
        return self.app.test_client().open(
            path, method=method, headers=headers, query_string=query, data=content,
            content_type=None if content is None else kind,
        )  # fmt: skip


def asserted(account_id: int) -> Callable[[str, str], dict[str, str]]:
    """What the gateway says of an account to a service."""

    def headers(method: str, path: str) -> dict[str, str]:
        said = assertion.Assertion(
            account_id=account_id, scopes=("read", "write"), method=method, path=path, request_id="fuzz"
        )
        return {assertion.HEADER: assertion.sign(said, private_key=calls.key_pair()[0])}

    return headers


@pytest.fixture(scope="module", params=[*SERVICES, "gateway"])
def target(request: pytest.FixtureRequest, servers: Servers) -> Iterator[Target]:
    with _gateway(servers) if request.param == "gateway" else _service(request.param, servers) as made:
        yield made


@contextmanager
def _gateway(servers: Servers) -> Iterator[Target]:
    """The gateway without any service behind it. Who calls and what is used once have ids that nobody draws."""
    database, far = servers.clone(), 10**15
    with fields.owner_of(database.owner_url) as session:
        event = fields.ready_event(session)
        other = fields.account(session)
        secret, secret_hash = new_token()
        session.add_all(
            [
                AccountRow(id=far, login="fuzz", name="某"),
                AccountRow(id=far + 1, login="signing-in", name="某", password_hash=hash_password(PASSWORD)),
                AccountRow(id=far + 2, login="forgetful", name="某"),
            ]
        )
        session.flush()
        tomorrow = sa.func.now() + sa.text("interval '1 day'")
        links = {name: new_secret() for name in ("read_link", "accept_link", "sign_up_link", "reset_link")}
        hashes = ("a", *(links[name][1] for name in ("read_link", "accept_link", "sign_up_link")))
        invitations = [
            InvitationRow(
                id=far + place, secret_hash=secret_hash, role=Role.DESK, event_id=event.event_id, name="",
                invited_by=far, expires_at=tomorrow,
            )
            for place, secret_hash in enumerate(hashes)
        ]  # fmt: skip
        reset = PasswordResetRow(
            account_id=far + 2, secret_hash=links["reset_link"][1], made_by=far, expires_at=tomorrow
        )
        token = TokenRow(account_id=other, name="t", secret_hash="b", scopes=["read"])
        grant = GrantRow(account_id=other, role=Role.DESK, event_id=event.event_id, granted_by="某")
        web = WebSessionRow(account_id=far, secret_hash="c", expires_at=tomorrow)
        session.add_all(
            [
                GrantRow(id=far, account_id=far, role=Role.ASSOCIATION_ADMIN, granted_by="某"),
                TokenRow(id=far, account_id=far, name="f", secret_hash=secret_hash, scopes=["read", "write"]),
                *invitations, reset, token, grant, web,
            ]
        )  # fmt: skip
        session.flush()
        values: dict[str, int | str] = {
            "account_id": other, "invitation_id": invitations[0].id, "token_id": token.id, "grant_id": grant.id,
            "session_id": web.id, "event_id": event.event_id, "login": "signing-in",
            **{name: secret for name, (secret, _hash) in links.items()},
        }  # fmt: skip
    app = gateway_app(gateway_settings(database.url("gateway")))
    yield Target(app=app, proof=lambda _method, _path: {"Authorization": f"Bearer {secret}"}, worlds=[values])
    database_of(app).close()
    servers.drop(database)


def gateway_settings(database_url: str) -> GatewaySettings:
    nobody = "http://127.0.0.1:1"
    return GatewaySettings(
        database_url=database_url, redis_url="redis://127.0.0.1:1/0", redis_prefix="",
        assertion_private_key=calls.key_pair()[0], secret_key="s" * 32, registration_url=nobody, results_url=nobody,
        keeper_url="", public_url="http://localhost", trusted_proxies=0, max_body_bytes=100_000,
        rate_limit="1000000/minute", sign_in_limit="1000000/minute",
    )  # fmt: skip


def database_of(gateway: Flask) -> Database:
    with gateway.app_context():
        return gateway_parts().database


@contextmanager
def _service(name: str, servers: Servers) -> Iterator[Target]:
    create_app, _table = SERVICES[name]
    database = servers.clone()
    with fields.owner_of(database.owner_url) as session:
        admin = fields.account(session, role=Role.ASSOCIATION_ADMIN)
        running = fields.ready_event(session, entrants=6)
        fields.add_round(session, running, pairs=[(1, 4, Result.DRAW), (2, 5, Result.DRAW), (3, 6, Result.FIRST_WIN)])
        fields.add_draft(session, running, round_no=2, pairs=[(1, 2), (3, 4), (5, 6)])
        before = fields.ready_event(
            session, entrants=6, state=EventState.OPEN if name == "registration" else EventState.CLOSED
        )
        fields.add_draft(session, before, round_no=1, pairs=[(1, 4), (2, 5), (3, 6)])
        worlds = [_world(session, running, round_no=2), _world(session, before, round_no=1)]
    environment = calls.service_environment(name, database, redis_url="redis://127.0.0.1:1/0")
    with calls.service_app(create_app, environment) as app:
        yield Target(app=app, proof=asserted(admin), worlds=worlds)
    servers.drop(database)


def _world(session: Session, event: fields.Field, *, round_no: int) -> dict[str, int | str]:
    """Everything that a path may name, in one event whose next round is `round_no`."""
    here = {"event_id": event.event_id}
    first, second = event.entrant_ids[1], event.entrant_ids[2]
    token, secret_hash = new_secret()
    job = JobRow(**here, round_no=round_no, queue="pairing.small", size=6, limits={}, requested_by="某")
    alert = AlertRow(kind=f"test-{event.event_id}", key="1", severity=Severity.INFO, detail={})
    pair = ForbiddenPairRow(**here, a_entrant_id=first, b_entrant_id=second, from_round=50)
    points = AdjustmentRow(**here, entrant_id=first, half_points=1, after_round=1, reason="某", made_by="某")
    moved = {str(first): {"state": "seated", "number": 1, "from_round": None}}
    step = AuditRow(
        **here, action="entrant.bulk", subject=f"event:{event.event_id}", actor_name="某", old={"entrants": moved},
        new={"entrants": {str(first): {"state": "withdrawn", "version": 2}}, "next_round": round_no},
    )  # fmt: skip
    breaker = BreakerRow(**here)
    session.add_all([job, alert, pair, points, step, breaker, LinkRow(entrant_id=second, secret_hash=secret_hash)])
    session.flush()
    return {
        **here, "round_no": round_no, "draw_no": 1, "board_id": event.board_ids.get((1, 1), 1), "job_id": job.id,
        "alert_id": alert.id, "entrant_number": 1, "entrant_id": first, "pair_id": pair.id, "step_id": step.id,
        "code": "xiangqi", "token": token, "number": 1, "adjustment_id": points.id,
    }  # fmt: skip


def path_value(known: int | str | None) -> st.SearchStrategy[Any]:
    """Mostly the one that exists."""
    letters = st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=30)
    other: st.SearchStrategy[Any] = st.integers(0, 2**70) if isinstance(known, int) else letters
    return other if known is None else st.one_of(st.just(known), st.just(known), st.just(known), other)


def body_of(case: Any, data: st.DataObject, *, fitting: Any) -> Any:
    """What the description makes, or a body that fits, each now and then broken somewhere; a roster for a file."""
    if case.operation.path.endswith("/entrants/import"):
        return "".join(data.draw(ROSTERS)).encode(data.draw(st.sampled_from(["utf-8", "gb18030"])))
    body = fitting if isinstance(fitting, dict) and data.draw(st.booleans()) else case.body
    if isinstance(body, dict) and body and data.draw(st.integers(0, 3)) == 0:
        name = data.draw(st.sampled_from(sorted(body)))
        return {**body, name: data.draw(st.one_of(st.none(), st.integers(), st.lists(TEXT, max_size=3), TEXT))}
    return body if isinstance(body, dict | list | str | int | float | bool) else None


def fitting_body(method: str, rule: str, world: Mapping[str, int | str]) -> Any:
    """A body that this route takes for things of `world`, as far as one is needed."""
    make = FITTING.get(f"{method} {rule}")
    return None if make is None else make(world)


def is_reached(answer: Any) -> bool:
    """Whether the call got past path, body and version: it was done, or something that it found stood in the way."""
    return answer.status_code < 400 or answer.status_code in (409, 410)


def test_no_described_call_ends_in_a_5xx_and_every_refusal_is_a_problem(target: Target) -> None:
    operations = target.operations()
    assert len(operations) > 20
    reached: set[str] = set()

    def judged(answer: Any, method: str, rule: str, *said: Any) -> None:
        shown = (method, rule, *said, answer.get_data()[:500])
        allowed = answer.status_code < 500 or answer.json["type"].split(":")[-1] in ("busy", "draws-unavailable")
        assert allowed, shown
        if answer.status_code >= 400:
            assert answer.content_type.startswith("application/problem+json"), shown
        if is_reached(answer):
            reached.add(f"{method} {rule}")

    for operation in operations:
        method, rule = operation.method.upper(), operation.path
        names = [part[1:-1] for part in rule.split("/") if part.startswith("{")]
        for world in target.worlds:
            body = fitting_body(method, rule, world)
            path_values = {name: world[name] for name in names}
            judged(
                target.send(method, rule, body=body, version=PRESENT, path_values=path_values),
                method, rule, path_values, body,
            )  # fmt: skip

        @settings(
            max_examples=EXAMPLES, deadline=None, database=None, derandomize=EXAMPLES < 10, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy(), data=st.data())
        def tried(case: Any, data: st.DataObject) -> None:
            method, rule = case.method.upper(), case.operation.path
            world = data.draw(st.sampled_from(list(target.worlds)))
            names = [part[1:-1] for part in rule.split("/") if part.startswith("{")]
            path_values = {name: data.draw(path_value(world.get(name))) for name in names}
            body = body_of(case, data, fitting=fitting_body(method, rule, world))
            query = {name: value for name, value in (case.query or {}).items() if value is not None}
            version = data.draw(VERSIONS)
            answer = target.send(method, rule, body=body, version=version, path_values=path_values, query=query)
            judged(answer, method, rule, path_values, query, body)

        tried()
    everything = {f"{one.method.upper()} {one.path}" for one in operations}
    assert sorted(everything - reached) == sorted(NOT_REACHED & everything)
