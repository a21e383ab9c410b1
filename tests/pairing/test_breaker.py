"""The circuit breaker of an event: three timeouts open it, a trial after the pause closes it."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from qisai.db.jobs import BreakerRow, BreakerState, JobState
from qisai.db.records import AlertRow
from qisai.db.session import Database as Connections
from qisai.kernel.model import Result
from services.pairing.breaker import PAUSE_SECONDS, TIMEOUTS
from services.pairing.operations import work
from services.pairing.solving import Solver
from services.pairing.terms import Terms
from tests.fields import Field, add_round, owner_of, ready_event
from tests.pairing.asking import ask, job, rows
from tests.servers import Database


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


def test_a_draw_that_finishes_breaks_the_row_of_timeouts(
    database: Database, pairing: Connections, solver: Solver, hanging: Solver, event: Field, hasty: Terms, terms: Terms
) -> None:
    for _ in range(TIMEOUTS - 1):
        work(pairing, hanging, job_id=again(database, event), terms=hasty)
    assert state(database) == (BreakerState.CLOSED, TIMEOUTS - 1)
    work(pairing, solver, job_id=again(database, event), terms=terms)
    assert state(database) == (BreakerState.CLOSED, 0)
