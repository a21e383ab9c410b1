"""The sheet of a long log is sent in parts, whole and in order, whatever is written meanwhile."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

import pytest
import sqlalchemy as sa

from qisai.ledger import audit
from qisai.ledger.actor import Actor
from services.results.views.logs import ROWS_AT_ONCE
from tests.results.conftest import Play

ROWS = 3 * ROWS_AT_ONCE + 7


@pytest.fixture
def long(play: Play) -> Play:
    """Many rows of one moment, so that only their ids order them."""
    with play.service.owner() as session:
        session.execute(
            sa.text(
                "INSERT INTO audit_log (event_id, action, subject, reason, actor_name, at)"
                " SELECT :event_id, 'test.row', 'row:' || n, 'r' || n, '孙裁判长', '2026-01-01T00:00:00Z'"
                " FROM generate_series(1, :rows) n"
            ),
            {"event_id": play.field.event_id, "rows": ROWS},
        )
    return play


def answered(play: Play) -> Any:
    return play.chief.get(f"{play.event}/log/csv?action=test.", buffered=False)


def reasons(pieces: Iterable[bytes]) -> list[str]:
    text = b"".join(pieces).decode("utf-8-sig")
    return [line[-1] for line in csv.reader(io.StringIO(text))][1:]


def test_every_row_comes_once_and_the_latest_first(long: Play) -> None:
    assert reasons(answered(long).response) == [f"r{number}" for number in range(ROWS, 0, -1)]


def test_no_more_than_a_part_is_read_before_the_first_piece_and_no_connection_is_held_between(long: Play) -> None:
    """Pins the reading part by part: a slow reader of a long log takes neither memory nor a connection."""
    pool = long.service.app.extensions["qisai.database"].engine.pool
    pieces = iter(answered(long).response)
    next(pieces)
    assert pool.checkedout() == 0
    assert len(next(pieces).splitlines()) == ROWS_AT_ONCE
    assert pool.checkedout() == 0


def test_what_is_written_meanwhile_neither_doubles_nor_hides_a_row(long: Play) -> None:
    pieces = iter(answered(long).response)
    read = [next(pieces), next(pieces)]
    with long.service.owner() as session:
        actor = Actor(account_id=None, name="赵")
        audit.record(session, actor, action="test.late", subject="row:x", event_id=long.field.event_id, reason="late")
    assert reasons([*read, *pieces]) == [f"r{number}" for number in range(ROWS, 0, -1)]
