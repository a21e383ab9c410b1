"""One job from claim to draft, with a real solver process and the pairing role's own rights."""

from __future__ import annotations

import sqlalchemy as sa

from qisai.db.jobs import JobRow, JobState
from qisai.db.records import AlertRow, FeedEntryRow, FeedRow
from qisai.db.rounds import DrawRow, DrawState
from qisai.db.session import Database as Connections
from qisai.kernel.check import violations
from qisai.kernel.draw_file import parse_draw
from qisai.kernel.model import Result
from qisai.kernel.tournament_file import parse_tournament
from services.pairing import ending, jobs
from services.pairing.alert_kinds import AlertKind, switch
from services.pairing.ending import MOST_RESTARTS
from services.pairing.operations import work
from services.pairing.solving import Solver
from services.pairing.terms import Terms
from tests.fields import add_draft, add_round, bump, owner_of, ready_event
from tests.pairing.asking import ask, event_with_job, job, rows
from tests.servers import Database


def test_a_job_becomes_a_legal_replayable_draft(
    database: Database, pairing: Connections, solver: Solver, terms: Terms
) -> None:
    event, job_id = event_with_job(database, entrants=9)
    assert work(pairing, solver, job_id=job_id, terms=terms) is JobState.SUCCEEDED
    (draft,) = rows(database, DrawRow)
    ended = job(database, job_id)
    assert (ended.state, ended.draw_id, ended.attempts) == (JobState.SUCCEEDED, draft.id, 1)
    assert (draft.state, draft.number, draft.needs_acceptance) == (DrawState.DRAFT, 1, False)
    draw = parse_draw(draft.document)
    assert len(draw.boards) == 4
    assert draw.bye is not None
    assert violations(parse_tournament(draft.snapshot), draw) == []
    (entry,) = rows(database, FeedEntryRow)
    assert entry.kind == "draw.ready"
    assert event.event_id == entry.event_id


def test_a_second_message_for_a_finished_job_changes_nothing(
    database: Database, pairing: Connections, solver: Solver, terms: Terms
) -> None:
    _, job_id = event_with_job(database)
    work(pairing, solver, job_id=job_id, terms=terms)
    before = (job(database, job_id).version, len(rows(database, DrawRow)), len(rows(database, FeedEntryRow)))
    assert work(pairing, solver, job_id=job_id, terms=terms) is None
    assert (job(database, job_id).version, len(rows(database, DrawRow)), len(rows(database, FeedEntryRow))) == before


def test_a_job_under_a_valid_lease_is_not_taken_by_another_worker(
    database: Database, pairing: Connections, terms: Terms
) -> None:
    _, job_id = event_with_job(database)
    with pairing.transaction() as session:
        assert jobs.claim(session, job_id, worker="first", lease_seconds=60, max_attempts=3) is not None
    with pairing.transaction() as session:
        assert jobs.claim(session, job_id, worker="second", lease_seconds=60, max_attempts=3) is None


def test_a_job_whose_lease_ran_out_is_taken_and_its_late_holder_can_no_longer_finish_it(
    database: Database, pairing: Connections
) -> None:
    _, job_id = event_with_job(database)
    with pairing.transaction() as session:
        late = jobs.claim(session, job_id, worker="late", lease_seconds=60, max_attempts=3)
        session.execute(sa.update(JobRow).values(lease_until=jobs.CLOCK - sa.text("interval '1 second'")))
    assert late is not None
    with pairing.transaction() as session:
        assert jobs.claim(session, job_id, worker="next", lease_seconds=60, max_attempts=3) is not None
    with pairing.transaction() as session:
        assert not jobs.finish(session, late, state=JobState.SUCCEEDED, outcome={})
        assert not jobs.renew(session, late, lease_seconds=60, progress=None)
    assert job(database, job_id).worker == "next"


def test_one_event_never_holds_two_workers(database: Database, pairing: Connections) -> None:
    with owner_of(database.owner_url) as session:
        event = ready_event(session)
        first, second = ask(session, event, round_no=1), ask(session, event, round_no=2)
    with pairing.transaction() as session:
        assert jobs.claim(session, first, worker="a", lease_seconds=60, max_attempts=3) is not None
    with pairing.transaction() as session:
        assert jobs.claim(session, second, worker="b", lease_seconds=60, max_attempts=3) is None


def test_a_draw_from_stale_input_is_dropped_and_the_job_starts_again(
    database: Database, pairing: Connections, solver: Solver, terms: Terms
) -> None:
    """Pins the comparison of `pairing_no` after the feed's bump in `operations._save_once`."""
    event, job_id = event_with_job(database)
    original = Solver.run

    class Meddled(Solver):
        """A solver during whose run a result is corrected, for real, by another connection."""

        def run(self, *args, **kwargs):  # type: ignore[no-untyped-def]
            with owner_of(database.owner_url) as session:
                bump(session, event.event_id)
            return original(self, *args, **kwargs)

    meddled = Meddled(memory_bytes=2 << 30)
    try:
        assert work(pairing, meddled, job_id=job_id, terms=terms) is JobState.QUEUED
    finally:
        meddled.kill()
    again = job(database, job_id)
    assert (again.state, again.restarts, again.attempts, again.worker) == (JobState.QUEUED, 1, 0, None)
    assert rows(database, DrawRow) == []
    assert work(pairing, solver, job_id=job_id, terms=terms) is JobState.SUCCEEDED
    (draft,) = rows(database, DrawRow)
    (numbers,) = rows(database, FeedRow)
    assert draft.pairing_no == numbers.pairing_no


def test_an_input_that_keeps_changing_ends_as_superseded(
    database: Database, pairing: Connections, terms: Terms
) -> None:
    event, job_id = event_with_job(database)
    with owner_of(database.owner_url) as session:
        session.execute(sa.update(JobRow).values(restarts=MOST_RESTARTS - 1))
    round_key = ending.round_key(event.event_id, 1)
    with pairing.transaction() as session:
        for kind in (AlertKind.DRAW_FAILED, AlertKind.DRAW_DEGRADED):
            switch(session, kind, on=True, key=round_key, event_id=event.event_id)

    class Meddled(Solver):
        def run(self, *args, **kwargs):  # type: ignore[no-untyped-def]
            with owner_of(database.owner_url) as session:
                bump(session, event.event_id)
            return super().run(*args, **kwargs)

    meddled = Meddled(memory_bytes=2 << 30)
    try:
        assert work(pairing, meddled, job_id=job_id, terms=terms) is JobState.SUPERSEDED
    finally:
        meddled.kill()
    assert job(database, job_id).state is JobState.SUPERSEDED
    still = {row.kind for row in rows(database, AlertRow) if row.key == round_key and row.cleared_at is None}
    assert still == {"draw-failed", "draw-degraded"}, "there is no better draw than before"


def test_no_legal_draw_fails_with_the_reason_and_is_not_tried_again(
    database: Database, pairing: Connections, solver: Solver, terms: Terms
) -> None:
    with owner_of(database.owner_url) as session:
        event = ready_event(session, entrants=2)
        add_round(session, event, pairs=[(1, 2, Result.FIRST_WIN)])
        job_id = ask(session, event, round_no=2)
    assert work(pairing, solver, job_id=job_id, terms=terms) is JobState.FAILED
    ended = job(database, job_id)
    assert ended.outcome is not None
    assert ended.outcome["slug"] == "no-legal-draw"
    assert ended.outcome["reason"]["present"] == 2
    assert ended.attempts == 1
    assert rows(database, DrawRow)[0].state is DrawState.PUBLISHED
    (alert,) = rows(database, AlertRow)
    assert (alert.kind, alert.cleared_at) == ("draw-failed", None)


def test_a_job_for_a_published_round_fails_in_words(
    database: Database, pairing: Connections, solver: Solver, terms: Terms
) -> None:
    with owner_of(database.owner_url) as session:
        event = ready_event(session, entrants=2)
        add_round(session, event, pairs=[(1, 2, Result.FIRST_WIN)])
        job_id = ask(session, event, round_no=1)
    assert work(pairing, solver, job_id=job_id, terms=terms) is JobState.FAILED
    ended = job(database, job_id)
    assert ended.outcome is not None
    assert ended.outcome["slug"] == "round-published"


def test_a_cancelled_job_stores_nothing(database: Database, pairing: Connections, terms: Terms) -> None:
    _, job_id = event_with_job(database)

    class Cancelled(Solver):
        """A solver during whose run the job is cancelled by another connection."""

        def run(self, *args, **kwargs):  # type: ignore[no-untyped-def]
            with owner_of(database.owner_url) as session:
                session.execute(sa.update(JobRow).values(state=JobState.CANCELLED))
            return super().run(*args, **kwargs)

    cancelled = Cancelled(memory_bytes=2 << 30)
    try:
        assert work(pairing, cancelled, job_id=job_id, terms=terms) is None
    finally:
        cancelled.kill()
    assert job(database, job_id).state is JobState.CANCELLED
    assert rows(database, DrawRow) == []


def test_a_new_draft_replaces_the_one_before(
    database: Database, pairing: Connections, solver: Solver, terms: Terms
) -> None:
    with owner_of(database.owner_url) as session:
        event = ready_event(session)
        add_draft(session, event, round_no=1, pairs=[(1, 2), (3, 4)])
        job_id = ask(session, event)
    work(pairing, solver, job_id=job_id, terms=terms)
    assert [(row.number, row.state) for row in rows(database, DrawRow)] == [
        (1, DrawState.REPLACED),
        (2, DrawState.DRAFT),
    ]
