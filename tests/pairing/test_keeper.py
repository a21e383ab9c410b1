"""The keeper: sends what is due, takes back leases, alerts; needs neither Redis nor workers; two are safe."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import redis
import requests
import sqlalchemy as sa

from qisai.db.jobs import JobRow, JobState, KeeperRow, WorkerRow
from qisai.db.records import AlertRow, AuditRow, FeedEntryRow
from qisai.db.rounds import DrawRow
from qisai.db.session import Database as Connections
from qisai.local.ports import free_port
from qisai.queue.app import make_celery
from services.pairing import canary, jobs
from services.pairing.alert_kinds import AlertKind
from services.pairing.keeper import Keeper
from services.pairing.keeper_beat import Beat, tell_if_keeper_is_late
from services.pairing.keeper_http import serve as serve_http
from services.pairing.metrics import Metrics
from services.pairing.operations import serve
from services.pairing.solving import Solver
from services.pairing.terms import Terms
from services.pairing.watching import Limits, changes
from tests.fields import owner_of
from tests.pairing.asking import event_with_job, job, rows
from tests.servers import Database, comes_true

NOWHERE = "redis://127.0.0.1:1/0"


def keeper_of(connections: Connections, redis_url: str, *, canary_seconds: int = 0, grace_seconds: int = 0) -> Keeper:
    """A keeper that looks every 50 ms."""
    celery = make_celery(redis_url, prefix="test:", for_worker=False)
    limits = Limits(lease_seconds=3, canary_seconds=canary_seconds, grace_seconds=grace_seconds)
    return Keeper(connections, celery, interval_ms=50, max_attempts=2, limits=limits)


@contextmanager
def at_work(keeper: Keeper) -> Iterator[Keeper]:
    """A keeper running in a thread."""
    thread = threading.Thread(target=keeper.run)
    thread.start()
    try:
        yield keeper
    finally:
        keeper.stopped.set()
        thread.join(timeout=10)
        assert not thread.is_alive()


def sql(database: Database, statement: str) -> None:
    """One statement as the owner."""
    with owner_of(database.owner_url) as session:
        session.execute(sa.text(statement))


def open_alerts(database: Database) -> set[str]:
    """Kinds of the alerts that are open."""
    return {alert.kind for alert in rows(database, AlertRow) if alert.cleared_at is None}


def test_a_keeper_that_leaves_is_missed_only_when_nobody_follows_in_time(
    database: Database, pairing: Connections
) -> None:
    """A restart is no alert; and of two rows that say they lead one would be untrue."""
    first, second, waiting = (Beat(lease_seconds=3, name=name) for name in ("first", "second", "waiting"))
    waiting.write(pairing, is_leading=False)
    first.write(pairing, is_leading=True)
    for beat in (first, waiting):
        beat.leave(pairing)
    with pairing.transaction() as session:
        tell_if_keeper_is_late(session)
    assert open_alerts(database) == set()
    second.write(pairing, is_leading=True)
    assert [(row.name, row.is_leading) for row in rows(database, KeeperRow)] == [("second", True)]
    sql(database, "UPDATE keeper SET seen_at = now() - interval '7 seconds'")
    with pairing.transaction() as session:
        tell_if_keeper_is_late(session)
    assert open_alerts(database) == {"keeper-late"}


def test_a_job_nobody_was_told_of_is_sent(database: Database, pairing: Connections, valkey: str) -> None:
    _, job_id = event_with_job(database)
    sql(database, "UPDATE pairing_job SET due_at = now() - interval '2 seconds'")
    with at_work(keeper_of(pairing, valkey)):
        assert comes_true(lambda: job(database, job_id).sends == 1)
        with redis.Redis.from_url(valkey) as client:
            assert comes_true(lambda: client.llen("test:pairing.small") == 1)


def test_without_a_broker_the_keeper_goes_on_and_sends_nothing_in_vain(
    database: Database, pairing: Connections, valkey: str
) -> None:
    _, job_id = event_with_job(database)
    sql(database, "UPDATE pairing_job SET due_at = now() - interval '2 seconds', sent_at = now(), sends = 6")
    with at_work(keeper_of(pairing, NOWHERE)) as keeper:
        assert comes_true(lambda: open_alerts(database) >= {"broker-away"})
        assert keeper.healthy
    waiting = job(database, job_id)
    assert (waiting.state, waiting.sends) == (JobState.QUEUED, 6)


def test_when_the_broker_is_back_everything_that_waits_is_sent_at_once(
    database: Database, pairing: Connections, valkey: str
) -> None:
    """A job sent six times would otherwise wait for a minute; the broker may have come back empty."""
    _, job_id = event_with_job(database)
    sql(database, "UPDATE pairing_job SET due_at = now() - interval '2 seconds', sent_at = now(), sends = 6")
    keeper = keeper_of(pairing, NOWHERE)
    keeper.look()
    keeper.broker, keeper.celery = (
        keeper_of(pairing, valkey).broker,
        make_celery(valkey, prefix="test:", for_worker=False),
    )
    keeper.broker.answers = False
    keeper.look()
    with redis.Redis.from_url(valkey) as client:
        assert client.llen("test:pairing.small") == 1
    assert job(database, job_id).sends == 1
    assert "broker-away" not in open_alerts(database)


def test_an_expired_lease_goes_back_to_the_queue_and_fails_after_the_last_attempt(
    database: Database, pairing: Connections, valkey: str
) -> None:
    _, job_id = event_with_job(database)
    keeper = keeper_of(pairing, valkey)
    for state in (JobState.QUEUED, JobState.FAILED):
        with pairing.transaction() as session:
            assert jobs.claim(session, job_id, worker="lost", lease_seconds=60, max_attempts=3) is not None
            session.execute(sa.update(JobRow).values(lease_until=jobs.CLOCK - sa.text("interval '1 second'")))
        keeper.look()
        assert job(database, job_id).state is state
    outcome = job(database, job_id).outcome
    assert outcome is not None
    assert outcome["slug"] == "worker-lost"
    assert {alert.kind for alert in rows(database, AlertRow)} >= {"draw-failed"}


def test_a_lease_that_runs_out_between_the_two_statements_is_no_attempt_too_many(
    database: Database, pairing: Connections
) -> None:
    """Nothing is to be had after the last attempt: the next look fails the job."""
    _, job_id = event_with_job(database)
    with pairing.transaction() as session:
        assert jobs.claim(session, job_id, worker="lost", lease_seconds=60, max_attempts=1) is not None
        session.execute(sa.update(JobRow).values(lease_until=jobs.CLOCK + sa.text("interval '0.5 seconds'")))
    with pairing.transaction() as session:
        seen: list[str] = []

        def wait_for_the_lease(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
            seen.append(statement)
            if len(seen) == 2:
                time.sleep(0.6)

        sa.event.listen(session.connection(), "before_cursor_execute", wait_for_the_lease)
        assert jobs.take_back_expired(session, max_attempts=1) == ([], [])
        assert len(seen) == 2
    with pairing.transaction() as session:
        requeued, failed = jobs.take_back_expired(session, max_attempts=1)
    assert (requeued, [row.id for row in failed]) == ([], [job_id])


def test_the_alert_about_missing_workers_comes_and_goes(database: Database, pairing: Connections, valkey: str) -> None:
    keeper = keeper_of(pairing, valkey)
    keeper.look()
    keeper.look()
    (alert,) = rows(database, AlertRow)
    assert (alert.kind, alert.times, alert.cleared_at) == ("no-live-worker", 1, None)
    with owner_of(database.owner_url) as session:
        session.add(WorkerRow(name="w", host="h", pid=1, release="0", algorithms=[], queues=[]))
    keeper.look()
    assert rows(database, AlertRow)[0].cleared_at is not None


def test_a_worker_that_never_comes_is_an_alert_after_the_grace_and_not_before(
    database: Database, pairing: Connections, valkey: str
) -> None:
    event_with_job(database)
    sql(database, "UPDATE pairing_job SET due_at = now() - interval '5 minutes', sent_at = now()")
    with at_work(keeper_of(pairing, valkey, grace_seconds=2)) as keeper:
        assert comes_true(lambda: keeper.leading)
        time.sleep(1)  # in which it looks twenty times
        assert open_alerts(database) == set()
        assert comes_true(lambda: open_alerts(database) == {"no-live-worker", "queue-stuck"})


def test_a_keeper_that_has_just_come_clears_no_alert_of_somebody_who_is_still_away(
    database: Database, pairing: Connections, valkey: str
) -> None:
    keeper_of(pairing, valkey).look()
    with at_work(keeper_of(pairing, valkey, grace_seconds=60)) as keeper:
        assert comes_true(lambda: keeper.leading)
        time.sleep(0.5)
        assert open_alerts(database) == {"no-live-worker"}


def test_a_queue_that_does_not_move_raises_an_alert(database: Database, pairing: Connections) -> None:
    event_with_job(database)
    sql(database, "UPDATE pairing_job SET due_at = now() - interval '5 minutes', sent_at = now()")
    keeper_of(pairing, NOWHERE).look()
    assert "queue-stuck" in open_alerts(database)
    sql(database, "UPDATE pairing_job SET state = 'cancelled', finished_at = now()")
    keeper_of(pairing, NOWHERE).look()
    assert "queue-stuck" not in open_alerts(database)


def test_a_queue_that_stands_still_is_told_while_the_other_moves_and_canaries_come_back(
    database: Database, pairing: Connections
) -> None:
    """The only worker alive takes small fields: a large one would wait for ever, and nothing else would say so."""
    sql(
        database,
        "INSERT INTO worker (name, host, pid, release, algorithms, queues)"
        """ VALUES ('w', 'h', 1, '1', '["qisai/1"]', '["pairing.small"]')""",
    )
    _, large = event_with_job(database)
    sql(
        database,
        "UPDATE pairing_job SET queue = 'pairing.large', size = 700, due_at = now() - interval '5 minutes',"
        " sent_at = now()",
    )
    _, drawn = event_with_job(database)
    ended = "state = 'succeeded', started_at = now(), finished_at = now()"
    sql(database, f"UPDATE pairing_job SET {ended} WHERE id = {drawn}")
    with pairing.transaction() as session:
        canary.ask(session, every_seconds=60)
    sql(database, f"UPDATE pairing_job SET {ended} WHERE is_canary")
    _, given_up = event_with_job(database)
    sql(
        database,
        "UPDATE pairing_job SET queue = 'pairing.large', state = 'cancelled', finished_at = now()"
        f" WHERE id = {given_up}",
    )
    keeper = keeper_of(pairing, NOWHERE)
    for _ in range(2):
        keeper.look()
    (stuck,) = [alert for alert in rows(database, AlertRow) if alert.kind == "queue-stuck"]
    assert (stuck.key, stuck.cleared_at, stuck.times) == ("pairing.large", None, 1)
    assert stuck.detail["oldest_seconds"] >= 300
    sql(database, f"UPDATE pairing_job SET state = 'running', started_at = now(), worker = 'w' WHERE id = {large}")
    keeper.look()
    assert "queue-stuck" not in open_alerts(database)


def test_of_two_keepers_one_leads_and_the_other_takes_over(
    database: Database, pairing: Connections, valkey: str
) -> None:
    first, second = keeper_of(pairing, valkey), keeper_of(pairing, valkey)
    with at_work(second):
        assert comes_true(lambda: second.leading)
        with at_work(first):
            assert comes_true(lambda: first.healthy)
            assert not first.leading
            second.stopped.set()
            assert comes_true(lambda: first.leading)


def test_a_keeper_whose_connection_is_cut_leads_again(database: Database, pairing: Connections, valkey: str) -> None:
    with at_work(keeper_of(pairing, valkey)) as keeper:
        assert comes_true(lambda: keeper.leading)
        cut = sa.create_engine(database.superuser_url(), isolation_level="AUTOCOMMIT")
        with cut.connect() as connection:
            connection.execute(
                sa.text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
        cut.dispose()
        assert comes_true(lambda: keeper.times_led == 2 and keeper.leading)


def test_health_and_metrics_are_served(database: Database, pairing: Connections, valkey: str) -> None:
    event_with_job(database)
    port = free_port()
    with at_work(keeper_of(pairing, valkey)) as keeper:
        server = serve_http(keeper, Metrics(pairing, keeper, limits=keeper.limits), port=port)
        try:
            address = f"http://127.0.0.1:{port}"
            assert comes_true(lambda: requests.get(f"{address}/readyz", timeout=5).status_code == 200)
            metrics = requests.get(f"{address}/metrics", timeout=5).text
            assert 'qisai_jobs{state="queued"} 1.0' in metrics
            assert requests.get(f"{address}/other", timeout=5).status_code == 404
        finally:
            server.shutdown()
            server.server_close()


def test_one_canary_is_asked_for_at_a_time_and_the_next_when_it_is_due(
    database: Database, pairing: Connections
) -> None:
    """Twelve times, because the driver prepares a statement that it has sent several times."""
    for _ in range(12):
        with pairing.transaction() as session:
            assert canary.ask(session, every_seconds=60) is not None
        with pairing.transaction() as session:
            assert canary.ask(session, every_seconds=60) is None, "not yet due"
        with pairing.transaction() as session:
            assert canary.ask(session, every_seconds=0) is None, "the first is under way"
        sql(database, "UPDATE pairing_job SET state = 'succeeded', requested_at = now() - interval '2 minutes'")


def test_a_canary_comes_back_as_a_draw_and_stays_out_of_every_event(
    database: Database, pairing: Connections, solver: Solver, terms: Terms
) -> None:
    with pairing.transaction() as session:
        job_id = canary.ask(session, every_seconds=60)
    assert job_id is not None
    assert serve(pairing, solver, nudged=job_id + 1, terms=terms) == 0, "it is taken by its own message only"
    assert serve(pairing, solver, nudged=job_id, terms=terms) == 1
    back = job(database, job_id)
    assert (back.state, back.event_id, back.draw_id) == (JobState.SUCCEEDED, None, None)
    assert back.outcome is not None
    assert back.outcome["draw"]["optimal"] is True
    assert rows(database, DrawRow) == rows(database, FeedEntryRow) == rows(database, AuditRow) == []


def test_a_canary_that_does_not_come_back_raises_an_alert_until_one_does(
    database: Database, pairing: Connections, valkey: str, solver: Solver, terms: Terms
) -> None:
    keeper = keeper_of(pairing, valkey, canary_seconds=60)
    keeper.look()
    assert "canary-late" not in open_alerts(database)
    sql(database, "UPDATE pairing_job SET requested_at = now() - interval '61 seconds'")
    keeper.look()
    assert "canary-late" in open_alerts(database)
    (waiting,) = rows(database, JobRow)
    serve(pairing, solver, nudged=waiting.id, terms=terms)
    keeper.look()
    assert "canary-late" not in open_alerts(database)


def test_a_canary_behind_a_queue_that_moves_is_not_late(database: Database, pairing: Connections, valkey: str) -> None:
    keeper = keeper_of(pairing, valkey, canary_seconds=60)
    keeper.look()
    sql(database, "UPDATE pairing_job SET requested_at = now() - interval '61 seconds'")
    event_with_job(database)
    sql(database, "UPDATE pairing_job SET state = 'succeeded', finished_at = now() WHERE NOT is_canary")
    keeper.look()
    assert "canary-late" not in open_alerts(database)


def test_a_canary_without_a_draw_is_an_alert(database: Database, pairing: Connections, valkey: str) -> None:
    keeper = keeper_of(pairing, valkey, canary_seconds=60)
    keeper.look()
    sql(database, "UPDATE pairing_job SET state = 'failed', finished_at = now()")
    keeper.look()
    assert "canary-late" in open_alerts(database)


def test_a_draw_for_an_algorithm_that_no_worker_has_raises_an_alert_of_its_event(
    database: Database, pairing: Connections, valkey: str
) -> None:
    event, job_id = event_with_job(database)
    sql(database, "UPDATE event SET algorithm = 'qisai/0'")
    worker = "INSERT INTO worker (name, host, pid, release, algorithms, queues) VALUES ('w', 'h', 1, '1', '{}', '[]')"
    sql(database, worker.format('["qisai/1"]'))
    keeper = keeper_of(pairing, valkey)
    for _ in range(2):
        keeper.look()
    (alert,) = [alert for alert in rows(database, AlertRow) if alert.cleared_at is None]
    assert (alert.kind, alert.event_id, alert.times) == ("worker-of-other-release", event.event_id, 1)
    assert [entry.kind for entry in rows(database, FeedEntryRow)] == ["alert.raised"]
    sql(database, """UPDATE worker SET algorithms = '["qisai/0", "qisai/1"]'""")
    keeper.look()
    assert open_alerts(database) == set()
    assert [entry.kind for entry in rows(database, FeedEntryRow)] == ["alert.raised", "alert.cleared"]
    assert job(database, job_id).state is JobState.QUEUED


def test_workers_that_die_while_the_keeper_looks_are_not_taken_for_another_release(
    database: Database, pairing: Connections
) -> None:
    """Who lives is asked once for a look: between two questions the last heartbeat may have grown too old."""
    event_with_job(database)
    sql(
        database,
        "INSERT INTO worker (name, host, pid, release, algorithms, queues, seen_at)"
        """ VALUES ('w', 'h', 1, '1', '["qisai/1"]', '[]', clock_timestamp() - interval '2 seconds')""",
    )
    with pairing.snapshot() as session:
        asked: list[str] = []

        def grow_too_old(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
            asked.append(statement)
            if sum("FROM worker" in text for text in asked) == 2:
                time.sleep(2.5)

        sa.event.listen(session.connection(), "before_cursor_execute", grow_too_old)
        found = changes(session, limits=Limits(lease_seconds=3, canary_seconds=0), broker_answers=True)
    assert any("FROM worker" in text for text in asked)
    assert {change.kind for change in found} <= {AlertKind.NO_LIVE_WORKER}


def test_what_is_past_its_time_is_pruned(database: Database, pairing: Connections, valkey: str) -> None:
    _, old = event_with_job(database)
    _, young = event_with_job(database)
    _, running = event_with_job(database)
    sql(database, f"UPDATE pairing_job SET state = 'failed', finished_at = now() - interval '91 days' WHERE id = {old}")
    sql(
        database,
        f"UPDATE pairing_job SET state = 'failed', finished_at = now() - interval '89 days' WHERE id = {young}",
    )
    with pairing.transaction() as session:
        canary.ask(session, every_seconds=60)
    sql(
        database,
        "UPDATE pairing_job SET state = 'succeeded', finished_at = now() - interval '25 hours' WHERE is_canary",
    )
    keeper_of(pairing, valkey).look()
    assert [row.id for row in rows(database, JobRow)] == [young, running]


def test_two_keepers_that_look_at_the_same_moment_do_nothing_twice(
    database: Database, pairing: Connections, valkey: str
) -> None:
    """As when a leader that stood still wakes up beside its successor: one canary, one alert, one failure told."""
    _, lost = event_with_job(database)
    expired = "lease_until = now() - interval '1 second'"
    sql(database, f"UPDATE pairing_job SET state = 'running', attempts = 2, worker = 'x', {expired}")
    keepers = [keeper_of(pairing, valkey, canary_seconds=60) for _ in range(4)]
    threads = [threading.Thread(target=keeper.look) for keeper in keepers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert [row.is_canary for row in rows(database, JobRow)].count(True) == 1
    assert sorted(alert.kind for alert in rows(database, AlertRow)) == ["draw-failed", "no-live-worker"]
    assert [row.subject for row in rows(database, AuditRow)] == [f"job:{lost}"]
    assert sorted(entry.kind for entry in rows(database, FeedEntryRow)) == ["alert.raised", "draw.failed"]
