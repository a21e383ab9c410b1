"""Crosstable, history, categories and sheets over HTTP: one table, cut in different ways."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
import sqlalchemy as sa

from qisai.db.accounts import Role
from qisai.kernel.model import ByeKind, Result
from tests import fields
from tests.results.conftest import Play, Service, make_play, problem


@pytest.fixture
def five(service: Service) -> Play:
    """Five entrants, two rounds: a draw, a forfeit, byes, the second round partly open."""
    play = make_play(service, entrants=5, clubs=("甲队", "乙队", "甲队", "", "=甲"))
    with service.owner() as session:
        fields.add_round(
            session,
            play.field,
            pairs=[(1, 3, Result.FIRST_WIN), (2, 4, Result.FIRST_FORFEIT)],
            byes=[(5, ByeKind.PAIRING)],
        )
        fields.add_round(session, play.field, pairs=[(4, 1, Result.DRAW), (5, 2, None)], byes=[(3, ByeKind.HALF)])
    return play


def read(play: Play, path: str) -> Any:
    answer = play.service.public().get(f"{play.event}/{path}")
    assert answer.status_code == 200, answer.text
    return answer.json


def sheet(play: Play, query: str, language: str = "zh-CN") -> list[list[str]]:
    answer = play.service.public().get(f"{play.event}/exports/csv?{query}", headers={"Accept-Language": language})
    assert answer.status_code == 200, answer.text
    assert answer.content_type == "text/csv; charset=utf-8"
    return list(csv.reader(io.StringIO(answer.data.decode("utf-8-sig"), newline="")))


def test_a_cell_says_opponent_side_result_points_or_the_kind_of_bye(five: Play) -> None:
    table = read(five, "crosstable")
    cells = {row["number"]: row["cells"] for row in table["rows"]}
    assert (table["after"], table["sides"]) == (2, True)
    nothing = {"opponent": None, "side": None, "result": None, "fate": None}
    assert cells[4] == [
        {"round": 1, "opponent": 2, "side": "second", "result": "first_forfeit", "fate": "forfeit_win", "bye": None,
         "points": 1},
        {"round": 2, "opponent": 1, "side": "first", "result": "draw", "fate": "draw", "bye": None, "points": 0.5},
    ]  # fmt: skip
    assert cells[3][1] == {"round": 2, **nothing, "bye": "half", "points": 0.5}
    assert cells[5] == [
        {"round": 1, **nothing, "bye": "pairing", "points": 1},
        {"round": 2, "opponent": 2, "side": "first", "result": None, "fate": None, "bye": None, "points": 0},
    ]


def test_sides_are_those_that_were_played(five: Play) -> None:
    five.chief.put(five.result_of(2, 1), {"result": "first_win", "swapped": True, "reason": "换了先后"}, version=2)
    cells = {row["number"]: row["cells"][1] for row in read(five, "crosstable")["rows"]}
    assert (cells[1]["side"], cells[1]["fate"]) == ("first", "win")
    assert (cells[4]["side"], cells[4]["fate"]) == ("second", "loss")


def test_crosstable_and_standings_have_the_same_rows(five: Play) -> None:
    for after in (0, 1, 2):
        table = read(five, f"crosstable?after={after}")
        rows = [{name: row[name] for name in row if name not in ("cells", "adjustment")} for row in table["rows"]]
        assert rows == read(five, f"standings?after={after}")["rows"]
        assert all(len(row["cells"]) == after for row in table["rows"])
        assert all(sum(cell["points"] for cell in row["cells"]) == row["points"] for row in table["rows"])


def test_a_history_names_the_opponents_and_adds_up(five: Play) -> None:
    history = read(five, "histories/1")
    assert (history["number"], history["name"], history["club"]) == (1, "棋手1", "甲队")
    assert [(r["round"], r["opponent"]["name"], r["total"]) for r in history["rounds"]] == [
        (1, "棋手3", 1),
        (2, "棋手4", 1.5),
    ]
    assert len(read(five, "histories/1?after=1")["rounds"]) == 1
    assert read(five, "histories/3")["rounds"][1]["opponent"] is None
    problem(five.service.public().get(f"{five.event}/histories/9"), 404, "unknown-entrant")


def test_a_club_is_a_filter_over_the_same_table_with_places_of_its_own(five: Play) -> None:
    whole = {row["number"]: row for row in read(five, "standings")["rows"]}
    table = read(five, "standings?club=甲队")
    assert table["category"] == {"club": "甲队"}
    assert [(row["number"], row["category_rank"]) for row in table["rows"]] == [(1, 1), (3, 2)]
    for row in table["rows"]:
        assert {name: row[name] for name in row if name != "category_rank"} == whole[row["number"]]
    assert [row["number"] for row in read(five, "standings?club=")["rows"]] == [4]
    assert read(five, "standings?club=没有")["rows"] == []


def test_a_rating_band_includes_both_ends_and_nobody_without_a_rating(five: Play) -> None:
    with five.service.owner() as session:
        session.execute(sa.text("UPDATE entrant SET seed = NULL WHERE id = :id"), {"id": five.field.entrant_ids[2]})
        fields.bump(session, five.field.event_id)
    assert {row["number"] for row in read(five, "standings?rating_from=2380&rating_to=2395")["rows"]} == {1, 3, 4}
    assert {row["number"] for row in read(five, "standings?rating_to=2390")["rows"]} == {3, 4, 5}
    problem(five.service.public().get(f"{five.event}/standings?rating_from=x"), 422, "invalid-request")


def test_lists_by_sex_and_age_are_for_those_who_work_at_the_event(five: Play) -> None:
    with five.service.owner() as session:
        for number, sex, year in ((1, "female", 2014), (2, "male", 2013), (3, "female", 1960), (4, None, 1976)):
            session.execute(
                sa.text("UPDATE entrant SET sex = :sex, birth_year = :year WHERE id = :id"),
                {"sex": sex, "year": year, "id": five.field.entrant_ids[number]},
            )
        session.execute(
            sa.text("UPDATE event SET starts_on = '2026-05-01' WHERE id = :id"), {"id": five.field.event_id}
        )
        fields.bump(session, five.field.event_id)
    desk = five.service.person(Role.DESK, five.field.event_id)
    numbers = {
        query: {row["number"] for row in desk.get(f"{five.event}/standings?{query}").json["rows"]}
        for query in ("sex=female", "sex=male", "age_group=u12", "age_group=s50", "sex=female&age_group=s50")
    }
    assert numbers == {
        "sex=female": {1, 3},
        "sex=male": {2},
        "age_group=u12": {1},
        "age_group=s50": {3, 4},
        "sex=female&age_group=s50": {3},
    }
    stranger = five.service.person(None)
    for query in ("sex=female", "age_group=u12"):
        problem(five.service.public().get(f"{five.event}/standings?{query}"), 401, "sign-in-needed")
        problem(stranger.get(f"{five.event}/standings?{query}"), 403, "category-private")
        assert desk.get(f"{five.event}/standings?{query}").headers["Cache-Control"] == "private, no-cache"
    problem(desk.get(f"{five.event}/standings?age_group=12"), 422, "invalid-request")


@pytest.mark.parametrize("path", ["standings", "crosstable", "histories/1", "entrants/1"])
def test_sex_and_birth_year_never_stand_in_an_answer(five: Play, path: str) -> None:
    with five.service.owner() as session:
        session.execute(
            sa.text("UPDATE entrant SET sex = 'female', birth_year = 2014 WHERE event_id = :id"),
            {"id": five.field.event_id},
        )
        fields.bump(session, five.field.event_id)
    text = five.chief.get(f"{five.event}/{path}").text
    assert "2014" not in text
    assert "female" not in text


def test_card_teams_show_members_and_never_sides(service: Service) -> None:
    play = make_play(service, profile="shengji")
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 2, Result.FIRST_WIN), (3, 4, Result.SECOND_WIN)])
        for position, name in enumerate(("张三", "李四"), start=1):
            session.execute(
                sa.text("INSERT INTO member (entrant_id, position, name) VALUES (:id, :position, :name)"),
                {"id": play.field.entrant_ids[1], "position": position, "name": name},
            )
        fields.bump(session, play.field.event_id)
    table = read(play, "crosstable")
    rows = {row["number"]: row for row in table["rows"]}
    assert table["sides"] is False
    assert rows[1]["members"] == ["张三", "李四"]
    assert rows[2]["members"] == []
    assert {cell["side"] for row in table["rows"] for cell in row["cells"]} == {None}
    assert [rows[number]["cells"][0]["fate"] for number in (1, 2, 3, 4)] == ["win", "loss", "loss", "win"]
    text = "".join(str(sheet(play, f"what={what}")) for what in ("standings", "crosstable", "pairings"))
    assert "张三、李四" in text
    assert "先" not in text


def test_pairings_as_a_sheet_speak_the_games_words_and_the_callers_language(five: Play) -> None:
    rows = sheet(five, "what=pairings&after=1")
    assert rows[0][0] == "台"
    assert rows[1][1:] == ["1", "棋手1", "甲队", "3", "棋手3", "甲队", "红胜"]
    assert rows[2][-1] == "红弃权"
    assert rows[3] == ["", "5", "棋手5", "'=甲", "", "", "", "轮空"]
    assert sheet(five, "what=pairings&after=1", "en")[2][-1] == "Red forfeits"


def test_a_sheet_has_a_name_and_answers_304(five: Play) -> None:
    public = five.service.public()
    answer = public.get(f"{five.event}/exports/csv?what=standings&after=1")
    assert answer.headers["Content-Disposition"] == (
        f'attachment; filename="event-{five.field.event_id}-standings-1.csv"'
    )
    again = public.get(
        f"{five.event}/exports/csv?what=standings&after=1", headers={"If-None-Match": answer.headers["ETag"]}
    )
    assert again.status_code == 304
    problem(public.get(f"{five.event}/exports/csv"), 422, "invalid-request")
    problem(public.get(f"{five.event}/exports/csv?what=pairings&after=0"), 422, "no-such-round")
    problem(public.get(f"{five.event}/exports/csv?what=standings&after=3"), 422, "no-such-round")


def test_a_feed_that_is_known_answers_304_and_one_that_grew_its_new_entries(five: Play) -> None:
    """What keeps the gateway's poll cheap while nothing happens."""
    public, number = five.service.public(), five.numbers()[0]
    seen = {"If-None-Match": f'W/"c{number}"'}
    assert public.get(f"{five.event}/feed?after={number}", headers=seen).status_code == 304
    five.chief.put(five.result_of(2, 2), {"result": "draw"}, version=1)
    answer = public.get(f"{five.event}/feed?after={number}", headers=seen)
    assert answer.status_code == 200
    assert [item["feed_no"] for item in answer.json["items"]] == [number + 1]
    assert answer.json["feed_no"] == number + 1
