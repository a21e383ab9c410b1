"""Standings kept in the database: found by later readers, never served when they are of yesterday or not as written."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa

from qisai.db.rounds import StandingsKind
from qisai.kernel.model import Result
from services.results.operations.standings import keep
from services.results.process import Process
from services.results.queries import standings as queries
from services.results.queries.standings import Point
from tests import fields
from tests.results.asked import statements
from tests.results.conftest import Play, Service, make_play


@pytest.fixture
def two_rounds(service: Service) -> Play:
    play = make_play(service)
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.FIRST_WIN), (2, 4, Result.DRAW)])
        fields.add_round(session, play.field, pairs=[(1, 2, Result.SECOND_WIN), (3, 4, Result.FIRST_WIN)])
    return play


def process(play: Play) -> Process:
    found: Process = play.service.app.extensions["qisai.results"]
    return found


def read(play: Play, what: str = "standings") -> Any:
    """As a process that was just started: it has nothing in memory."""
    process(play).standings.clear()
    answer = play.service.public().get(f"{play.event}/{what}")
    assert answer.status_code == 200, answer.text
    return answer.json


def kept(play: Play) -> list[Any]:
    return play.service.rows(
        "SELECT after_round, kind, feed_no, document, digest FROM standings_cache WHERE event_id = :id"
        " ORDER BY after_round, kind",
        id=play.field.event_id,
    )


def tamper(play: Play, change: str) -> None:
    with play.service.owner() as session:
        session.execute(
            sa.text(f"UPDATE standings_cache SET {change} WHERE event_id = :id"), {"id": play.field.event_id}
        )


def test_the_first_read_after_a_change_keeps_the_table_and_no_write_does(two_rounds: Play) -> None:
    assert kept(two_rounds) == []
    with statements(two_rounds.service.app) as asked:
        answer = two_rounds.chief.put(two_rounds.result_of(2, 1), {"result": "draw"}, version=2)
        assert answer.status_code == 200
    assert not any("standings_cache" in statement for statement in asked)
    assert kept(two_rounds) == []
    read(two_rounds)
    read(two_rounds, "crosstable")
    assert [(row.after_round, row.kind, row.feed_no) for row in kept(two_rounds)] == [
        (2, "crosstable", two_rounds.numbers()[0]),
        (2, "standings", two_rounds.numbers()[0]),
    ]


@pytest.mark.parametrize("what", ["standings", "crosstable", "histories/2", "standings?club="])
def test_reading_an_unchanged_event_touches_neither_boards_nor_entrants(two_rounds: Play, what: str) -> None:
    first = read(two_rounds, what)
    with statements(two_rounds.service.app) as asked:
        assert read(two_rounds, what) == first
    text = "\n".join(asked)
    assert "standings_cache" in text
    assert "FROM board" not in text
    assert "member" not in text
    assert "INSERT" not in text


def test_the_sums_behind_a_line_are_computed_once_a_process_and_again_after_a_change(two_rounds: Play) -> None:
    """They are not kept in the database (docs/architecture.md): one computed table in memory gives them all."""
    read(two_rounds, "standings/1")
    public = two_rounds.service.public()
    with statements(two_rounds.service.app) as asked:
        for number in (1, 2, 3, 4):
            assert public.get(f"{two_rounds.event}/standings/{number}").status_code == 200
    text = "\n".join(asked)
    assert "FROM board" not in text
    assert "member" not in text
    answer = two_rounds.chief.put(two_rounds.result_of(2, 1), {"result": "draw"}, version=2)
    assert answer.status_code == 200
    points = public.get(f"{two_rounds.event}/standings/1").json["criteria"][0]["terms"]
    assert [term["value"] for term in points] == [1, 0.5]


def test_another_process_reads_what_the_first_one_kept(two_rounds: Play) -> None:
    first = read(two_rounds)
    with statements(two_rounds.service.app) as asked:
        assert read(two_rounds) == first
    assert len(asked) <= 4, asked


def test_a_change_shows_at_once_whatever_is_kept(two_rounds: Play) -> None:
    before = [read(two_rounds, f"{what}?after={after}") for what in ("standings", "crosstable") for after in (0, 1, 2)]
    two_rounds.chief.put(two_rounds.result_of(1, 1), {"result": "second_win", "reason": "误录"}, version=2)
    after = [read(two_rounds, f"{what}?after={after}") for what in ("standings", "crosstable") for after in (0, 1, 2)]
    assert [a == b for a, b in zip(before, after, strict=True)] == [True, False, False] * 2
    assert {row.feed_no for row in kept(two_rounds)} == {two_rounds.numbers()[0]}


@pytest.mark.parametrize(
    "change",
    [
        "document = replace(document, '\"points\": 1.5', '\"points\": 2.5')",
        "document = ''",
        "digest = ''",
        "document = (SELECT document FROM standings_cache c WHERE c.event_id = standings_cache.event_id AND"
        " c.after_round = 0), digest = (SELECT digest FROM standings_cache c WHERE"
        " c.event_id = standings_cache.event_id AND c.after_round = 0)",
        "feed_no = feed_no + 1000",
        "feed_no = feed_no - 1",
    ],
)
def test_a_row_that_is_not_as_written_is_neither_served_nor_left(two_rounds: Play, change: str) -> None:
    read(two_rounds, "standings?after=0")
    first = read(two_rounds)
    written = kept(two_rounds)
    tamper(two_rounds, change)
    assert read(two_rounds) == first
    read(two_rounds, "standings?after=0")
    assert kept(two_rounds) == written


def test_what_other_software_kept_is_not_served(two_rounds: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read(two_rounds)
    (written,) = kept(two_rounds)
    monkeypatch.setattr(queries, "FORM", queries.FORM + 1)
    with statements(two_rounds.service.app) as asked:
        assert read(two_rounds) == first
    assert any("FROM board" in statement for statement in asked)
    (now,) = kept(two_rounds)
    assert now.digest != written.digest


def test_deleting_every_row_changes_nothing(two_rounds: Play) -> None:
    paths = [f"{what}?after={after}" for what in ("standings", "crosstable", "histories/1") for after in (0, 1, 2)]
    before = [read(two_rounds, path) for path in paths]
    with two_rounds.service.owner() as session:
        session.execute(sa.text("DELETE FROM standings_cache"))
    assert [read(two_rounds, path) for path in paths] == before


def test_an_older_reader_that_comes_late_does_not_replace_a_newer_table(two_rounds: Play) -> None:
    """Two real connections: the slower reader computed at the older feed number."""
    service = two_rounds.service
    old = Point(event_id=two_rounds.field.event_id, feed_no=two_rounds.numbers()[0], after=2)
    two_rounds.chief.put(two_rounds.result_of(2, 1), {"result": "draw"}, version=2)
    first = read(two_rounds)
    (written,) = kept(two_rounds)
    with process(two_rounds).database.transaction() as session:
        keep(session, old, StandingsKind.STANDINGS, '{"rows": "old"}')
    assert kept(two_rounds) == [written]
    assert service.public().get(f"{two_rounds.event}/standings").json == first


def test_readers_and_writers_at_once_never_see_an_older_table_than_their_feed_number(service: Service) -> None:
    """Whatever was answered under a feed number is what the rows give at that number: no reader mixes two moments."""
    play = make_play(service, entrants=8)
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 5), (2, 6), (3, 7), (4, 8)])
    done = threading.Event()
    seen: dict[str, set[str]] = {}

    def reads() -> None:
        reader = service.public()
        while not done.is_set():
            process(play).standings.clear()
            answer = reader.get(f"{play.event}/standings")
            assert answer.status_code == 200
            seen.setdefault(answer.headers["ETag"], set()).add(answer.get_data(as_text=True))

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(reads) for _ in range(4)]
        try:
            for version in range(1, 16):
                result = ("first_win", "draw", "second_win")[version % 3]
                answer = play.chief.put(
                    play.result_of(1, 1 + version % 4), {"result": result}, version=(version + 3) // 4
                )
                assert answer.status_code == 200, answer.text
        finally:
            done.set()
        for reader in readers:
            reader.result()
    assert len(seen) > 3
    assert all(len(texts) == 1 for texts in seen.values())
    last = f'W/"c{play.numbers()[0]}"'
    answer = service.public().get(f"{play.event}/standings")
    assert answer.headers["ETag"] == last
    assert seen.get(last, {answer.get_data(as_text=True)}) == {answer.get_data(as_text=True)}


def test_a_table_that_cannot_be_kept_is_answered_all_the_same(two_rounds: Play) -> None:
    """Somebody holds the row's place: the reader waits no longer than the database lets it, and answers."""
    read(two_rounds)
    first = read(two_rounds, "standings?after=1")
    tamper(two_rounds, "feed_no = 0")
    with two_rounds.service.owner() as holder:
        holder.execute(sa.text("SELECT 1 FROM standings_cache FOR UPDATE"))
        assert read(two_rounds, "standings?after=1") == first
    assert {row.feed_no for row in kept(two_rounds)} == {0}
