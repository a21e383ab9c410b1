"""The circuit breaker of an event: three timeouts open it, a trial after the pause closes it."""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from qisai.db.jobs import BreakerRow, BreakerState, JobState
from qisai.db.records import AlertRow, FeedEntryRow
from qisai.db.session import Database as Connections
from qisai.kernel.model import Result
from services.pairing import breaker
from services.pairing.alert_kinds import AlertKind, switch
from services.pairing.breaker import PAUSE_SECONDS, TIMEOUTS, Mode
from services.pairing.operations import work
from services.pairing.solving import Solver
from services.pairing.terms import Terms
from tests.fields import Field, add_round, owner_of, ready_event
from tests.pairing.asking import ask, job, rows
from tests.pairing.test_keeper import keeper_of
from tests.servers import Database, comes_true


@pytest.fixture
def hanging() -> Iterator[Solver]:
    """A solver that finds a draw and then never ends."""
    command = [sys.executable, "-m", "tests.pairing.misbehaving", "one-draw-then-hang"]
    solver = Solver(memory_bytes=2 << 30, command=command)
    yield solver
    solver.kill()


@pytest.fixture
def hasty(terms: Terms) -> Terms:
    """Terms with a deadline that a hanging solver meets soon."""
    return dataclasses.replace(terms, deadline_ms=1_200)


@pytest.fixture
def event(database: Database) -> Field:
    """Twenty entrants after one round, so that the second is not simply everybody's ideal."""
    with owner_of(database.owner_url) as session:
        event = ready_event(session, entrants=20)
        pairs = [(n, n + 10, (Result.FIRST_WIN, Result.DRAW, Result.SECOND_WIN)[n % 3]) for n in range(1, 11)]
        add_round(session, event, pairs=pairs)
        return event


def again(database: Database, event: Field) -> int:
    """One more job for round 2."""
    with owner_of(database.owner_url) as session:
        return ask(session, event, round_no=2)


def state(database: Database) -> tuple[BreakerState, int]:
    """State and timeouts in a row."""
    (row,) = rows(database, BreakerRow)
    return row.state, row.timeouts


def open_alerts(database: Database) -> set[str]:
    """Kinds of open alerts."""
    return {alert.kind for alert in rows(database, AlertRow) if alert.cleared_at is None}


def let_the_pause_pass(database: Database) -> None:
    """As if the breaker had been open for its whole pause."""
    with owner_of(database.owner_url) as session:
        session.execute(sa.text(f"UPDATE breaker SET opened_at = opened_at - interval '{PAUSE_SECONDS} seconds'"))


def trip(database: Database, pairing: Connections, event: Field, *, hanging: Solver, hasty: Terms) -> None:
    """As many timeouts in a row as open the breaker."""
    for _ in range(TIMEOUTS):
        assert work(pairing, hanging, job_id=again(database, event), terms=hasty) is JobState.DEGRADED


def opened(pairing: Connections, event: Field) -> None:
    """The breaker and its alert as the third timeout leaves them."""
    with pairing.transaction() as session:
        told = [breaker.record_timeout(session, event.event_id, mode=Mode.FULL) for _ in range(TIMEOUTS)]
        assert told[-1] is breaker.Change.OPENED
        key = str(event.event_id)
        switch(session, AlertKind.BREAKER_OPEN, on=True, key=key, event_id=event.event_id)


def test_the_breaker_opens_answers_from_the_search_and_closes_after_a_good_trial(
    database: Database, pairing: Connections, solver: Solver, hanging: Solver, event: Field, hasty: Terms, terms: Terms
) -> None:
    trip(database, pairing, event, hanging=hanging, hasty=hasty)
    assert state(database) == (BreakerState.OPEN, TIMEOUTS)
    assert "breaker-open" in open_alerts(database)

    quick = again(database, event)
    assert work(pairing, solver, job_id=quick, terms=terms) is JobState.DEGRADED
    outcome = job(database, quick).outcome
    assert outcome is not None
    assert outcome["slug"] == "breaker-open"
    assert state(database) == (BreakerState.OPEN, TIMEOUTS)

    let_the_pause_pass(database)
    assert work(pairing, solver, job_id=again(database, event), terms=terms) is JobState.SUCCEEDED
    assert state(database) == (BreakerState.CLOSED, 0)
    assert "breaker-open" not in open_alerts(database)


def test_a_failed_trial_opens_the_breaker_again(
    database: Database, pairing: Connections, hanging: Solver, event: Field, hasty: Terms
) -> None:
    trip(database, pairing, event, hanging=hanging, hasty=hasty)
    let_the_pause_pass(database)
    work(pairing, hanging, job_id=again(database, event), terms=hasty)
    assert state(database) == (BreakerState.OPEN, TIMEOUTS + 1)


def test_while_one_draw_is_tried_the_breaker_is_half_open_and_its_alert_says_so(
    database: Database, pairing: Connections, solver: Solver, event: Field, terms: Terms
) -> None:
    """Each change of its state is told; what other draws of the event may do meanwhile stays as it was."""
    opened(pairing, event)
    let_the_pause_pass(database)
    trial = again(database, event)
    done: list[JobState | None] = []
    thread = threading.Thread(target=lambda: done.append(work(pairing, solver, job_id=trial, terms=terms)))
    with owner_of(database.owner_url) as session:
        # Holding the entrants' table keeps the worker in the middle of its job, after the claim.
        session.execute(sa.text("LOCK TABLE entrant IN ACCESS EXCLUSIVE MODE"))
        thread.start()
        assert comes_true(lambda: state(database) == (BreakerState.HALF_OPEN, TIMEOUTS))
        with pairing.transaction() as other:
            assert breaker.admit(other, event.event_id, job_id=trial + 1) is Mode.SEARCH, "one trial at a time"
        (alert,) = [row for row in rows(database, AlertRow) if row.kind == "breaker-open"]
        assert (alert.cleared_at, alert.detail) == (None, {"state": "half_open", "job": trial, "round": 2})
    thread.join(timeout=30)
    assert done == [JobState.SUCCEEDED]
    told = [
        (row.kind, row.data.get("state")) for row in rows(database, FeedEntryRow) if row.data.get("alert") == alert.kind
    ]
    assert told == [("alert.raised", None), ("alert.changed", "half_open"), ("alert.cleared", None)]


def test_a_breaker_that_ops_reset_takes_its_alert_along(
    database: Database, pairing: Connections, valkey: str, event: Field
) -> None:
    opened(pairing, event)
    keeper = keeper_of(pairing, valkey)
    keeper.look()
    assert "breaker-open" in open_alerts(database), "a look alone settles nothing"
    with owner_of(database.owner_url) as session:  # as `POST /api/v1/ops/breakers/{event_id}/reset` leaves it
        session.execute(sa.text("UPDATE breaker SET state = 'closed', timeouts = 0, opened_at = NULL"))
    keeper.look()
    assert "breaker-open" not in open_alerts(database)


def test_a_draw_that_finishes_breaks_the_row_of_timeouts(
    database: Database, pairing: Connections, solver: Solver, hanging: Solver, event: Field, hasty: Terms, terms: Terms
) -> None:
    for _ in range(TIMEOUTS - 1):
        work(pairing, hanging, job_id=again(database, event), terms=hasty)
    assert state(database) == (BreakerState.CLOSED, TIMEOUTS - 1)
    work(pairing, solver, job_id=again(database, event), terms=terms)
    assert state(database) == (BreakerState.CLOSED, 0)
