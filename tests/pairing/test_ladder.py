"""What a job answers when the solver does not finish, with solvers that really hang or crash."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator

import pytest
import sqlalchemy as sa

from qisai.db.entrants import EntrantRow, EntrantState
from qisai.db.jobs import JobState
from qisai.db.records import AlertRow, FeedRow
from qisai.db.rounds import DrawRow, DrawState
from qisai.db.session import Database as Connections
from qisai.kernel.draw_file import parse_draw
from qisai.kernel.model import Result, Source
from services.pairing.operations import work
from services.pairing.solving import Solver
from services.pairing.terms import Terms
from tests.fields import Field, add_draft, add_round, bump, owner_of, ready_event
from tests.pairing.asking import ask, job, rows
from tests.servers import Database

SOLVER = Callable[[str], Solver]


@pytest.fixture
def bad_solver() -> Iterator[SOLVER]:
    """Makes solvers that misbehave."""
    made: list[Solver] = []

    def make(kind: str) -> Solver:
        command = [sys.executable, "-m", "tests.pairing.misbehaving", kind]
        made.append(Solver(memory_bytes=2 << 30, command=command))
        return made[-1]

    yield make
    for solver in made:
        solver.kill()


@pytest.fixture
def hasty(terms: Terms) -> Terms:
    """Terms with a deadline that a hanging solver meets soon."""
    return dataclasses.replace(terms, deadline_ms=1_500)


@pytest.fixture
def patient(terms: Terms) -> Terms:
    """Terms with a deadline within which a solver brings its first draw on a busy machine too."""
    return dataclasses.replace(terms, deadline_ms=4_000)


def second_round(database: Database) -> tuple[Field, int]:
    """Four entrants after one round, with a job for the second."""
    with owner_of(database.owner_url) as session:
        event = ready_event(session)
        add_round(session, event, pairs=[(1, 2, Result.FIRST_WIN), (3, 4, Result.FIRST_WIN)])
        return event, ask(session, event, round_no=2)


def test_the_best_draw_of_the_run_is_degraded_and_must_be_accepted(
    database: Database, pairing: Connections, bad_solver: SOLVER, patient: Terms
) -> None:
    _, job_id = second_round(database)
    assert work(pairing, bad_solver("one-draw-then-hang"), job_id=job_id, terms=patient) is JobState.DEGRADED
    draft = rows(database, DrawRow)[-1]
    assert (draft.state, draft.needs_acceptance, draft.source) == (DrawState.DRAFT, True, Source.COMPUTED)
    ended = job(database, job_id)
    assert ended.outcome is not None
    assert (ended.outcome["slug"], ended.outcome["rung"]) == ("solver-deadline", "this_run")
    (alert,) = rows(database, AlertRow)
    assert (alert.kind, alert.cleared_at) == ("draw-degraded", None)


def test_without_a_draw_of_the_run_an_earlier_draft_is_given_again(
    database: Database, pairing: Connections, bad_solver: SOLVER, hasty: Terms
) -> None:
    with owner_of(database.owner_url) as session:
        event = ready_event(session)
        add_round(session, event, pairs=[(1, 2, Result.FIRST_WIN), (3, 4, Result.FIRST_WIN)])
        add_draft(session, event, round_no=2, pairs=[(1, 3), (2, 4)])
        bump(session, event.event_id)
        job_id = ask(session, event, round_no=2)
    assert work(pairing, bad_solver("hang"), job_id=job_id, terms=hasty) is JobState.DEGRADED
    draft = rows(database, DrawRow)[-1]
    drawn = parse_draw(draft.document)
    assert (draft.number, draft.source, draft.needs_acceptance) == (
        2,
        Source.REUSED,
        True,
    )
    assert {frozenset((board.first, board.second)) for board in drawn.boards} == {frozenset({1, 3}), frozenset({2, 4})}
    assert drawn.cost, "the cost is computed anew, for today's tournament"
    (now,) = [feed.pairing_no for feed in rows(database, FeedRow)]
    assert draft.pairing_no == now, "it may be published once it is accepted"
    outcome = job(database, job_id).outcome
    assert outcome is not None
    assert (outcome["rung"], outcome["drawn_no"]) == ("earlier_draft", 1)


def pairs_of(draft: DrawRow) -> set[frozenset[int]]:
    """Who meets whom in a stored draw."""
    return {frozenset((board.first, board.second)) for board in parse_draw(draft.document).boards}


def with_drafts(database: Database, *drafts: list[tuple[int, int]]) -> int:
    """Four entrants after one round, earlier drafts of the second, the last one standing, and a job; its id."""
    with owner_of(database.owner_url) as session:
        event = ready_event(session)
        add_round(session, event, pairs=[(1, 2, Result.FIRST_WIN), (3, 4, Result.FIRST_WIN)])
        for number, pairs in enumerate(drafts, start=1):
            state = "draft" if number == len(drafts) else "replaced"
            add_draft(session, event, round_no=2, pairs=pairs, state=state)
        bump(session, event.event_id)
        return ask(session, event, round_no=2)


def test_an_earlier_draft_that_is_better_than_this_runs_is_given(
    database: Database, pairing: Connections, bad_solver: SOLVER, patient: Terms
) -> None:
    """The run offers leaders apart; the earlier draft has them meet, and costs less by today's tuple."""
    job_id = with_drafts(database, [(1, 3), (2, 4)])
    assert work(pairing, bad_solver("poor-draw-then-hang"), job_id=job_id, terms=patient) is JobState.DEGRADED
    draft = rows(database, DrawRow)[-1]
    assert (draft.source, draft.needs_acceptance) == (Source.REUSED, True)
    assert pairs_of(draft) == {frozenset({1, 3}), frozenset({2, 4})}
    outcome = job(database, job_id).outcome
    assert outcome is not None
    assert outcome["rung"] == "earlier_draft"


def test_a_draw_of_this_run_that_is_better_than_the_earlier_draft_is_given(
    database: Database, pairing: Connections, bad_solver: SOLVER, patient: Terms
) -> None:
    job_id = with_drafts(database, [(1, 4), (2, 3)])
    assert work(pairing, bad_solver("one-draw-then-hang"), job_id=job_id, terms=patient) is JobState.DEGRADED
    draft = rows(database, DrawRow)[-1]
    assert (draft.source, pairs_of(draft)) == (Source.COMPUTED, {frozenset({1, 3}), frozenset({2, 4})})
    outcome = job(database, job_id).outcome
    assert outcome is not None
    assert outcome["rung"] == "this_run"


def test_of_the_earlier_drafts_the_latest_that_is_still_legal_is_given(
    database: Database, pairing: Connections, bad_solver: SOLVER, hasty: Terms
) -> None:
    """The latest is a rematch by now; before it there are two legal ones."""
    job_id = with_drafts(database, [(1, 3), (2, 4)], [(1, 4), (2, 3)], [(1, 2), (3, 4)])
    assert work(pairing, bad_solver("hang"), job_id=job_id, terms=hasty) is JobState.DEGRADED
    draft = rows(database, DrawRow)[-1]
    assert (draft.number, pairs_of(draft)) == (4, {frozenset({1, 4}), frozenset({2, 3})})
    outcome = job(database, job_id).outcome
    assert outcome is not None
    assert "draw 2 of" in outcome["detail"]


def test_an_earlier_draft_with_somebody_who_withdrew_is_not_given(
    database: Database, pairing: Connections, bad_solver: SOLVER, hasty: Terms
) -> None:
    with owner_of(database.owner_url) as session:
        event = ready_event(session)
        add_round(session, event, pairs=[(1, 2, Result.FIRST_WIN), (3, 4, Result.FIRST_WIN)])
        add_draft(session, event, round_no=2, pairs=[(1, 3), (2, 4)])
        session.execute(
            sa.update(EntrantRow)
            .where(EntrantRow.id == event.entrant_ids[4])
            .values(state=EntrantState.WITHDRAWN, withdrawn_from=2)
        )
        bump(session, event.event_id)
        job_id = ask(session, event, round_no=2)
    assert work(pairing, bad_solver("hang"), job_id=job_id, terms=hasty) is JobState.FAILED
    outcome = job(database, job_id).outcome
    assert outcome is not None
    assert outcome["slug"] == "solver-deadline"
    assert "by hand" in outcome["detail"]
    assert {alert.kind for alert in rows(database, AlertRow)} == {"draw-failed"}


def test_an_earlier_draft_that_would_be_a_rematch_is_not_given(
    database: Database, pairing: Connections, bad_solver: SOLVER, hasty: Terms
) -> None:
    with owner_of(database.owner_url) as session:
        event = ready_event(session)
        add_round(session, event, pairs=[(1, 2, Result.FIRST_WIN), (3, 4, Result.FIRST_WIN)])
        add_draft(session, event, round_no=2, pairs=[(1, 2), (3, 4)])
        job_id = ask(session, event, round_no=2)
    assert work(pairing, bad_solver("hang"), job_id=job_id, terms=hasty) is JobState.FAILED


def test_a_solver_that_returns_a_rematch_is_not_believed(
    database: Database, pairing: Connections, bad_solver: SOLVER, hasty: Terms
) -> None:
    """Pins the call of `violations` on every draw the solver offers."""
    _, job_id = second_round(database)
    assert work(pairing, bad_solver("rematch"), job_id=job_id, terms=hasty) is JobState.FAILED
    outcome = job(database, job_id).outcome
    assert outcome is not None
    assert outcome["refused"][0]["violations"]
    assert [row.state for row in rows(database, DrawRow)] == [DrawState.PUBLISHED]


def test_a_crash_is_tried_again_later_until_the_attempts_are_used(
    database: Database, pairing: Connections, bad_solver: SOLVER, terms: Terms
) -> None:
    _, job_id = second_round(database)
    solver = bad_solver("crash")
    for attempt in range(1, terms.max_attempts):
        assert work(pairing, solver, job_id=job_id, terms=terms) is JobState.QUEUED
        assert job(database, job_id).attempts == attempt
        assert work(pairing, solver, job_id=job_id, terms=terms) is None, "it is not due yet"
        with owner_of(database.owner_url) as session:
            session.execute(sa.text("UPDATE pairing_job SET due_at = now()"))
    assert work(pairing, solver, job_id=job_id, terms=terms) is JobState.FAILED
    outcome = job(database, job_id).outcome
    assert outcome is not None
    assert outcome["slug"] == "solver-crashed"


def test_after_a_success_the_alert_of_the_round_is_cleared(
    database: Database, pairing: Connections, bad_solver: SOLVER, solver: Solver, patient: Terms, terms: Terms
) -> None:
    event, job_id = second_round(database)
    work(pairing, bad_solver("one-draw-then-hang"), job_id=job_id, terms=patient)
    with owner_of(database.owner_url) as session:
        again = ask(session, event, round_no=2)
    assert work(pairing, solver, job_id=again, terms=terms) is JobState.SUCCEEDED
    assert [alert.cleared_at is None for alert in rows(database, AlertRow)] == [False]
    assert rows(database, DrawRow)[-1].needs_acceptance is False
