"""What the database itself refuses, whoever asks: the last wall behind every operation."""

from __future__ import annotations

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from tests.db.rows import Event, write_event

Violation = type[psycopg.Error]
UNIQUE, CHECK, FOREIGN = (
    psycopg.errors.UniqueViolation,
    psycopg.errors.CheckViolation,
    psycopg.errors.ForeignKeyViolation,
)

SEAT = "INSERT INTO seat (round_id, entrant_id, board_id, place) VALUES (:round, :{}, {}, '{}')"
BOARD = (
    "INSERT INTO board (event_id, round_id, number, first_entrant_id, second_entrant_id) "
    "VALUES (:event, :round, {}, :{}, :{})"
)
JOB = (
    "INSERT INTO pairing_job (event_id, round_no, state, queue, size, limits, requested_by) "
    "VALUES (:event, {}, '{}', 'small', 6, '{{}}', 'w')"
)
CANARY = (
    "INSERT INTO pairing_job (is_canary, round_no, queue, size, limits, requested_by) "
    "VALUES (true, 0, 'small', 8, '{}', 'keeper')"
)
DRAW = (
    "INSERT INTO draw (event_id, round_no, number, state, source, pairing_no, document, snapshot) "
    "VALUES (:event, 2, {}, '{}', 'computed', 1, '{{}}', '{{}}')"
)
LOG = (
    "INSERT INTO result_log (event_id, board_id, round_no, version, old, new, actor_name) "
    "VALUES (:event, :board, 1, {}, '{{}}', '{{}}', 'w')"
)
PAIR = "INSERT INTO forbidden_pair (event_id, a_entrant_id, b_entrant_id) VALUES (:{}, :{}, :{})"
ALERT = "INSERT INTO alert (kind, key, severity, detail) VALUES ('degraded', '7', 'warning', '{}')"
ACCOUNT = "INSERT INTO account (login, name) VALUES ('{}', 'W')"
TRANSITION = "INSERT INTO transition (event_id, entrant_id, to_state, actor_name) VALUES (:event, :e6, 2, 'w')"

REFUSED: list[tuple[str, Violation, str, list[str]]] = [
    ("an entrant on two boards of a round", UNIQUE, "pk_seat", [
        BOARD.format(2, "e1", "e3"),
        SEAT.format("e1", ":board", "first"),
        SEAT.format("e1", "(SELECT max(id) FROM board)", "first"),
    ]),
    ("an entrant on a board and with a bye", UNIQUE, "pk_seat", [
        SEAT.format("e1", ":board", "first"), SEAT.format("e1", "null", "pairing"),
    ]),
    ("two entrants on one side of a board", UNIQUE, "uq_seat_board_id_place", [
        SEAT.format("e1", ":board", "first"), SEAT.format("e2", ":board", "first"),
    ]),
    ("a bye that names a board", CHECK, "ck_seat_board_or_bye", [SEAT.format("e1", ":board", "half")]),
    ("a side without a board", CHECK, "ck_seat_board_or_bye", [SEAT.format("e1", "null", "first")]),
    ("an entrant against itself", CHECK, "ck_board_two_entrants", [BOARD.format(2, "e1", "e1")]),
    ("two boards with one number in a round", UNIQUE, "uq_board_round_id_number", [BOARD.format(1, "e3", "e4")]),
    ("a board of an entrant of another event", FOREIGN, "fk_board_event_id_second_entrant_id_entrant", [
        BOARD.format(2, "e1", "stranger"),
    ]),
    ("a round twice", UNIQUE, "uq_round_event_id_number", ["INSERT INTO round (event_id, number) VALUES (:event, 1)"]),
    ("two queued jobs for a round", UNIQUE, "uq_pairing_job_event_id_round_no_active", [
        JOB.format(2, "queued"), JOB.format(2, "queued"),
    ]),
    ("a queued job beside a running one", UNIQUE, "uq_pairing_job_event_id_round_no_active", [
        JOB.format(2, "running"), JOB.format(2, "queued"),
    ]),
    ("two running jobs of an event", UNIQUE, "uq_pairing_job_event_id_running", [
        JOB.format(2, "running"), JOB.format(3, "running"),
    ]),
    ("two canaries under way", UNIQUE, "uq_pairing_job_is_canary_active", [CANARY, CANARY]),
    ("a canary that belongs to an event", CHECK, "ck_pairing_job_canary", [
        JOB.format(2, "queued"), "UPDATE pairing_job SET is_canary = true",
    ]),
    ("a job without an event that is no canary", CHECK, "ck_pairing_job_canary", [
        JOB.format(2, "queued"), "UPDATE pairing_job SET event_id = null",
    ]),
    ("two drafts of a round", UNIQUE, "uq_draw_event_id_round_no_draft", [
        DRAW.format(1, "draft"), DRAW.format(2, "draft"),
    ]),
    ("a draw's number twice", UNIQUE, "uq_draw_event_id_round_no_number", [
        DRAW.format(1, "replaced"), DRAW.format(1, "draft"),
    ]),
    ("two changes to one version of a board", UNIQUE, "uq_result_log_board_id_version", [
        LOG.format(2), LOG.format(2),
    ]),
    ("an unknown result", CHECK, "ck_board_result", ["UPDATE board SET result = 'first_wins' WHERE id = :board"]),
    ("an unknown state of an event", CHECK, "ck_event_state", ["UPDATE event SET state = 'over' WHERE id = :event"]),
    ("an unknown state of an entrant", CHECK, "ck_entrant_state", ["UPDATE entrant SET state = 10 WHERE id = :e1"]),
    ("a number twice in an event", UNIQUE, "uq_entrant_event_id_number", [
        "UPDATE entrant SET number = 2 WHERE id = :e1",
    ]),
    ("a rating outside sense", CHECK, "ck_entrant_seed", ["UPDATE entrant SET seed = 4001 WHERE id = :e1"]),
    ("an entrant without a name", CHECK, "ck_entrant_name", ["UPDATE entrant SET name = '' WHERE id = :e1"]),
    ("a forbidden pair with itself", CHECK, "ck_forbidden_pair_order", [PAIR.format("event", "e1", "e1")]),
    ("a forbidden pair across events", FOREIGN, "fk_forbidden_pair_event_id_b_entrant_id_entrant", [
        PAIR.format("event", "e1", "stranger"),
    ]),
    ("a pairing bye asked for", CHECK, "ck_requested_bye_requestable", [
        "INSERT INTO requested_bye (entrant_id, round_no, kind) VALUES (:e1, 2, 'pairing')",
    ]),
    ("a login that differs in case only", UNIQUE, "uq_account_login_lower", [
        ACCOUNT.format("Wang"), ACCOUNT.format("wANG"),
    ]),
    ("a second open alert of a kind and key", UNIQUE, "uq_alert_kind_key_open", [ALERT, ALERT]),
    ("an association-wide role in one event", CHECK, "ck_access_grant_scope", [
        ACCOUNT.format("Wang"),
        "INSERT INTO access_grant (account_id, role, event_id, granted_by) "
        "VALUES ((SELECT max(id) FROM account), 'ops', :event, 'w')",
    ]),
    ("a range of boards with one end", CHECK, "ck_access_grant_boards", [
        ACCOUNT.format("Wang"),
        "INSERT INTO access_grant (account_id, role, event_id, board_from, granted_by) "
        "VALUES ((SELECT max(id) FROM account), 'referee', :event, 1, 'w')",
    ]),
    ("deleting an entrant who has a history", FOREIGN, "fk_transition_entrant_id_entrant", [
        TRANSITION, "DELETE FROM entrant WHERE id = :e6",
    ]),
]  # fmt: skip

ALLOWED: list[tuple[str, list[str]]] = [
    ("a board's number again after the draw was taken back", [
        "UPDATE board SET unpublished_at = now() WHERE id = :board", BOARD.format(1, "e1", "e2"),
    ]),
    ("another job when the first has ended", [JOB.format(2, "failed"), JOB.format(2, "queued")]),
    ("a running job beside a queued one of another round", [JOB.format(2, "running"), JOB.format(3, "queued")]),
    ("jobs for two rounds", [JOB.format(2, "queued"), JOB.format(3, "queued")]),
    ("a new draft when the earlier one is replaced", [DRAW.format(1, "replaced"), DRAW.format(2, "draft")]),
    ("an alert raised again after it was cleared", [
        ALERT, "UPDATE alert SET cleared_at = now()", ALERT,
    ]),
    ("pruning a job keeps its draw", [
        JOB.format(2, "succeeded"),
        DRAW.format(1, "draft"),
        "UPDATE draw SET job_id = (SELECT max(id) FROM pairing_job)",
        "DELETE FROM pairing_job",
        "UPDATE draw SET document = CASE WHEN job_id IS NULL THEN document END",
    ]),
]  # fmt: skip


@pytest.fixture
def event(owner_session: Session) -> Event:
    return write_event(owner_session)


def values(session: Session, event: Event) -> dict[str, int]:
    entrants = {f"e{index}": entrant for index, entrant in enumerate(event.entrants, start=1)}
    stranger = write_event(session, entrants=2).entrants[-1]
    return {"event": event.event, "round": event.round, "board": event.board, "stranger": stranger, **entrants}


@pytest.mark.parametrize(
    ("violation", "constraint", "statements"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED]
)
def test_database_refuses(
    owner_session: Session, event: Event, violation: Violation, constraint: str, statements: list[str]
) -> None:
    names = values(owner_session, event)
    for statement in statements[:-1]:
        owner_session.execute(sa.text(statement), names)
    with pytest.raises(sa.exc.IntegrityError) as refused:
        owner_session.execute(sa.text(statements[-1]), names)
    error = refused.value.orig
    assert isinstance(error, psycopg.Error)
    assert (type(error), error.diag.constraint_name) == (violation, constraint)


@pytest.mark.parametrize("statements", [row[1] for row in ALLOWED], ids=[row[0] for row in ALLOWED])
def test_database_allows(owner_session: Session, event: Event, statements: list[str]) -> None:
    names = values(owner_session, event)
    for statement in statements:
        assert owner_session.execute(sa.text(statement), names).rowcount == 1  # type: ignore[attr-defined]


def test_ids_are_never_used_again(owner_session: Session, event: Event) -> None:
    owner_session.execute(sa.text("DELETE FROM board"))
    again = owner_session.execute(
        sa.text(BOARD.format(1, "e1", "e2") + " RETURNING id"), values(owner_session, event)
    ).scalar_one()
    assert again > event.board
