"""Every route of every service's own URL map, called as every role: the answer is what the tables say.

A service joins by one line in `SERVICES`, its table in `rights_tables` and, for new names in paths, `World.values`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import pytest
import sqlalchemy as sa
from flask import Flask

from qisai.db.accounts import Role
from qisai.db.events import EventRow, EventState
from qisai.db.jobs import JobRow
from qisai.db.records import AlertRow, Severity
from qisai.web.rights import declaration_of
from services.registration.app import create_app as registration_app
from services.results.app import create_app as results_app
from tests import calls, fields
from tests.contracts import rights_tables
from tests.servers import Servers

SERVICES: Final[Mapping[str, tuple[Callable[[], Flask], Mapping[str, str]]]] = {
    "registration": (registration_app, rights_tables.REGISTRATION),
    "results": (results_app, rights_tables.RESULTS),
}
"""Name → how its application is made, and its table."""

ROLES: Final = {
    "A": Role.ASSOCIATION_ADMIN,
    "O": Role.ORGANISER,
    "C": Role.CHIEF_REFEREE,
    "R": Role.REFEREE,
    "D": Role.DESK,
    "X": Role.OPS,
    "W": Role.ORGANISER,
}
EVERYWHERE: Final = "AXW"
OF_EVENTS: Final = re.compile(r"<(event_id|board_id|job_id)>")
"""Rules that are about one event."""
EVENT_ROLES: Final = "OCRD"


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One service over an event with a round, a draft, a job and an alert, and an account of every role."""

    app: Flask
    table: Mapping[str, str]
    accounts: Mapping[str, int | None]
    """Letter → account; lower case: the same role in another event."""
    values: Mapping[str, int | str]
    """What stands for each path value."""
    owner_url: str

    def routes(self) -> list[tuple[str, str]]:
        """(method, rule) of every route; rules without converters, as in the tables."""
        return [
            (method, re.sub(r"<\w+:", "<", rule.rule))
            for rule in self.app.url_map.iter_rules()
            for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
        ]

    def call(self, who: str, method: str, rule: str) -> Any:
        path = re.sub(r"<(\w+)>", lambda found: str(self.values[found.group(1)]), rule)
        return calls.caller(self.app, account_id=self.accounts[who]).call(method, path)

    @contextmanager
    def changed_event(self, change: Mapping[str, Any]) -> Iterator[None]:
        """The event with other values meanwhile."""
        here = EventRow.id == self.values["event_id"]
        with fields.owner_of(self.owner_url) as session:
            event = session.scalars(sa.select(EventRow).where(here)).one()
            before = {name: getattr(event, name) for name in change}
            session.execute(sa.update(EventRow).where(here).values(**change))
        yield
        with fields.owner_of(self.owner_url) as session:
            session.execute(sa.update(EventRow).where(here).values(**before))


@pytest.fixture(scope="module", params=SERVICES)
def world(request: pytest.FixtureRequest, servers: Servers) -> Iterator[World]:
    create_app, table = SERVICES[request.param]
    database = servers.clone()
    with fields.owner_of(database.owner_url) as session:
        event, elsewhere = fields.ready_event(session), fields.ready_event(session)
        accounts: dict[str, int | None] = {"P": None, "N": fields.account(session)}
        for letter, role in ROLES.items():
            where = None if letter in EVERYWHERE else event.event_id
            accounts[letter] = fields.account(session, role=role, event_id=where)
        for letter in EVENT_ROLES:
            accounts[letter.lower()] = fields.account(session, role=ROLES[letter], event_id=elsewhere.event_id)
        fields.add_round(session, event, pairs=[(1, 3), (2, 4)])
        fields.add_draft(session, event, round_no=2, pairs=[(1, 2), (3, 4)])
        job = JobRow(event_id=event.event_id, round_no=2, queue="pairing.small", size=4, limits={}, requested_by="")
        alert = AlertRow(kind="test", key="1", severity=Severity.INFO, detail={})
        session.add_all([job, alert])
        session.flush()
        values = {
            "event_id": event.event_id,
            "round_no": 2,
            "draw_no": 1,
            "number": 1,
            "board_id": event.board_ids[1, 1],
            "job_id": job.id,
            "alert_id": alert.id,
            "entrant_number": 1,
            "entrant_id": event.entrant_ids[1],
            "pair_id": 1,
            "step_id": 1,
            "code": "xiangqi",
            "token": "no-token-at-all",
            "adjustment_id": 1,
        }
    environment = calls.service_environment(request.param, database, redis_url="redis://127.0.0.1:1/0")
    with calls.service_app(create_app, environment) as app:
        yield World(app=app, table=table, accounts=accounts, values=values, owner_url=database.owner_url)
    servers.drop(database)


def refused(answer: Any) -> bool:
    """Whether rights stood in the way; a complaint about body or version means that they did not."""
    if answer.status_code == 404:
        return bool(answer.json["type"].endswith(":event-not-found"))
    return answer.status_code in (401, 403)


def test_every_route_stands_in_the_table_and_declares_a_right(world: World) -> None:
    routes = {f"{method} {rule}" for method, rule in world.routes()}
    assert routes == world.table.keys()
    assert all(declaration_of(world.app.view_functions[rule.endpoint]) for rule in world.app.url_map.iter_rules())


def test_every_role_may_call_what_the_table_says_and_nothing_else(world: World) -> None:
    wrong = []
    for method, rule in world.routes():
        expected = world.table[f"{method} {rule}"]
        if expected == rights_tables.INTERNAL:
            continue
        for who in rights_tables.EVERYBODY:
            answer = world.call(who, method, rule)
            assert answer.status_code != 500, (method, rule, who)
            if refused(answer) == (who in expected):
                wrong.append((f"{method} {rule}", who, answer.status_code))
    assert wrong == []


def test_a_role_in_another_event_gives_no_right_in_this_one(world: World) -> None:
    wrong = []
    for method, rule in world.routes():
        expected = world.table[f"{method} {rule}"]
        if expected == rights_tables.INTERNAL or "<" not in rule:
            continue
        for who in EVENT_ROLES:
            answer = world.call(who.lower(), method, rule)
            if refused(answer) == ("N" in expected):
                wrong.append((f"{method} {rule}", who, answer.status_code))
    assert wrong == []


def test_nothing_but_the_internal_routes_answers_without_an_assertion(world: World) -> None:
    for method, rule in world.routes():
        path = re.sub(r"<(\w+)>", lambda found: str(world.values[found.group(1)]), rule)
        answer = world.app.test_client().open(path, method=method)
        internal = world.table[f"{method} {rule}"] == rights_tables.INTERNAL
        assert (answer.status_code != 401) == internal, (method, rule, answer.status_code)


@pytest.mark.parametrize("change", [{"is_public": False}, {"state": EventState.DRAFT}], ids=["hidden", "draft"])
def test_an_event_that_is_hidden_or_a_draft_is_unknown_to_all_without_a_role_in_it(
    world: World, change: dict[str, Any]
) -> None:
    with world.changed_event(change):
        for method, rule in world.routes():
            if not OF_EVENTS.search(rule):
                continue
            for who in ("P", "N", "W", *EVENT_ROLES.lower()):
                assert refused(world.call(who, method, rule)), (method, rule, who)
