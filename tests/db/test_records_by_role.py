"""Each service, as its own role, can do what the matrix of grants is for, and checks of foreign keys need no rights."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.accounts import TokenRow
from qisai.db.records import Severity
from qisai.ledger import alerts, audit, feed
from qisai.ledger.actor import system_actor
from qisai.settings import SERVICES
from tests.db.rows import Event, write_event
from tests.servers import Database

WRITERS = tuple(service for service in SERVICES if service != "gateway")


def session_as(url: str) -> Session:
    return Session(sa.create_engine(url, poolclass=sa.NullPool))


@pytest.fixture
def event(database: Database) -> Event:
    """A committed event, seen by every role."""
    with session_as(database.owner_url) as session:
        event = write_event(session)
        feed.open_feed(session, event.event)
        session.execute(sa.text("INSERT INTO account (login, name, password_hash) VALUES ('w', 'W', 'secret')"))
        session.commit()
    return event


def test_every_service_writes_the_audit_log(database: Database, event: Event) -> None:
    for service in SERVICES:
        with session_as(database.url(service)) as session:
            audit.record(session, system_actor(service), action="test.done", subject="event:1", event_id=event.event)
            session.commit()
    with session_as(database.owner_url) as session:
        assert session.scalars(sa.text("SELECT actor_name FROM audit_log ORDER BY id")).all() == list(SERVICES)


def test_every_writer_of_events_publishes_and_raises_alerts(database: Database, event: Event) -> None:
    for number, service in enumerate(WRITERS, start=1):
        with session_as(database.url(service)) as session:
            assert alerts.raise_alert(session, "test", key=service, severity=Severity.INFO, event_id=event.event)
            assert not alerts.raise_alert(session, "test", key=service, severity=Severity.INFO)
            assert alerts.clear_alert(session, "test", key=service)
            assert feed.publish(session, event.event, "test.done", pairing=True).feed_no == number
            assert len(feed.entries_after(session, event.event, feed_no=0)) == number
            session.commit()


def test_results_seats_entrants_that_it_may_not_change(database: Database, event: Event) -> None:
    with session_as(database.url("results")) as session:
        names = {"round": event.round, "entrant": event.entrants[0], "board": event.board}
        session.execute(sa.text("SELECT 1 FROM round WHERE id = :round FOR SHARE"), names)
        session.execute(sa.text("SELECT 1 FROM event FOR UPDATE"))
        session.execute(sa.text("INSERT INTO seat VALUES (:round, :entrant, :board, 'first')"), names)
        session.execute(sa.text("DELETE FROM seat"))
        session.commit()


def test_results_starts_an_event_and_imports_a_whole_one(database: Database, event: Event) -> None:
    with session_as(database.url("results")) as session:
        session.execute(sa.text("UPDATE event SET state = 'running', version = version + 1, frozen_at = now()"))
        imported = write_event(session, entrants=2)
        feed.open_feed(session, imported.event)
        names = {"event": imported.event, "first": imported.entrants[0], "second": imported.entrants[1]}
        for statement in (
            "INSERT INTO member (entrant_id, position, name) VALUES (:first, 1, 'M')",
            "INSERT INTO absence VALUES (:first, 2)",
            "INSERT INTO requested_bye VALUES (:second, 2, 'half')",
            "INSERT INTO forbidden_pair (event_id, a_entrant_id, b_entrant_id) VALUES (:event, :first, :second)",
            "INSERT INTO transition (event_id, entrant_id, to_state, actor_name) VALUES (:event, :first, 5, 'w')",
        ):
            session.execute(sa.text(statement), names)
        session.commit()


def test_pairing_claims_a_job_and_stores_a_draft(database: Database, event: Event) -> None:
    names = {"event": event.event}
    with session_as(database.url("results")) as session:
        session.execute(
            sa.text(
                "INSERT INTO pairing_job (event_id, round_no, queue, size, limits, requested_by) "
                "VALUES (:event, 2, 'small', 6, '{}', 'w')"
            ),
            names,
        )
        session.commit()
    with session_as(database.url("pairing")) as session:
        session.execute(sa.text("SELECT id FROM pairing_job FOR UPDATE SKIP LOCKED"))
        session.execute(sa.text("UPDATE pairing_job SET state = 'running', worker = 'w1'"))
        session.execute(sa.text("UPDATE draw SET state = 'replaced', version = version + 1"))
        session.execute(
            sa.text(
                "INSERT INTO draw (event_id, round_no, number, source, job_id, pairing_no, document, snapshot) "
                "SELECT event_id, 2, 1, 'computed', id, 1, '{}', '{}' FROM pairing_job"
            )
        )
        session.execute(sa.text("DELETE FROM pairing_job"))  # sets draw.job_id, which pairing itself may not
        session.execute(sa.text("DELETE FROM web_session WHERE expires_at < now()"))
        session.execute(sa.text("DELETE FROM idempotency_key WHERE created_at < now()"))
        session.commit()


def test_gateway_grants_a_role_in_an_event_that_it_may_not_read(database: Database, event: Event) -> None:
    with session_as(database.url("gateway")) as session:
        grant = "INSERT INTO access_grant (account_id, role, event_id, granted_by) VALUES (1, 'referee', :event, 'w')"
        session.execute(sa.text(grant), {"event": event.event})
        token = TokenRow(account_id=1, name="t", secret_hash="h", scopes=["read"])
        session.add(token)
        session.flush()
        session.refresh(token)
        session.commit()
        with pytest.raises(sa.exc.IntegrityError):
            session.execute(sa.text(grant), {"event": event.event + 1000})
