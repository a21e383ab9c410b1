"""CSV for spreadsheets: Chinese intact, numbers as numbers, and nothing that somebody typed runs as a formula."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qisai.formats.sheet_csv import csv_bytes, neutral
from qisai.formats.standings_sheets import crosstable_csv, pairings_csv, standings_csv
from qisai.kernel.names import Language

typed = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40)


def read(content: bytes) -> list[list[str]]:
    assert content.startswith(b"\xef\xbb\xbf")
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@settings(max_examples=200, deadline=None)
@given(st.lists(typed, min_size=1, max_size=5))
def test_whatever_was_typed_comes_back_but_for_the_apostrophe(cells: list[str]) -> None:
    assert read(csv_bytes(["a"], [cells]))[1] == [neutral(cell) for cell in cells]
    assert all(neutral(cell) in (cell, f"'{cell}") for cell in cells)


@pytest.mark.parametrize(
    "text", ["=1+1", "+86", "-1", "@x", "\t=1", "\r=1", "\n=1", " =1", "　＝1", "＋1", "－1", "＠x"]
)
def test_text_that_looks_like_a_formula_is_made_harmless(text: str) -> None:
    (cell,) = read(csv_bytes(["a"], [[text]]))[1]
    assert cell == "'" + text


def test_numbers_stay_numbers_and_lines_end_as_spreadsheets_want_them() -> None:
    content = csv_bytes(["分", "=x"], [[-1.5, 3], [None, "龘𠮷"]])
    assert content == "\ufeff分,'=x\r\n-1.5,3\r\n,龘𠮷\r\n".encode()


def document(**more: Any) -> dict[str, Any]:
    row = {
        "rank": 1,
        "number": 7,
        "name": "=陈一",
        "club": "甲队",
        "points": 1.5,
        "values": {"opponents": None, "bh": 2},
    }
    return {"after": 1, "criteria": [{"code": "opponents"}, {"code": "bh"}], "rows": [{**row, **more}]}


def test_standings_have_every_criterion_by_its_name() -> None:
    assert read(standings_csv(document(), Language.ZH_HANS)) == [
        ["名次", "编号", "姓名", "单位", "积分", "对手分", "布赫霍尔茨分"],
        ["1", "7", "'=陈一", "甲队", "1.5", "", "2"],
    ]


def test_a_team_is_listed_with_its_members() -> None:
    head, row = read(standings_csv(document(members=["张三", "李四"]), Language.EN))
    assert head[3] == "Members"
    assert row[3] == "张三、李四"


@pytest.mark.parametrize(("sides", "columns"), [(True, 4), (False, 3)])
def test_a_crosstable_has_columns_for_each_round_and_sides_only_where_there_are_any(sides: bool, columns: int) -> None:
    cell = {"round": 1, "opponent": 3, "side": "second" if sides else None, "result": "second_win", "fate": "win"}
    table = document(cells=[{**cell, "bye": None, "points": 2}], adjustment=-0.5) | {"sides": sides}
    head, row = read(crosstable_csv(table, Language.ZH_HANT))
    assert len(head) == len(row) == 4 + columns + 4
    assert row[4 : 4 + columns] == (["3", "後", "勝", "2"] if sides else ["3", "勝", "2"])
    assert row[4 + columns :] == ["-0.5", "1.5", "", "2"]


def test_pairings_say_who_won_by_the_names_of_the_sides() -> None:
    one, other = {"number": 1, "name": "陈一", "club": "甲"}, {"number": 2, "name": "李二", "club": ""}
    boards = [{"number": 1, "first": one, "second": other, "result": "second_forfeit", "swapped": True}]
    byes = [{"number": 3, "name": "张三", "club": "", "kind": "half"}]
    rows = read(pairings_csv(boards, byes, Language.ZH_HANS, board="台", sides=("红", "黑")))
    assert rows == [
        ["台", "红 编号", "红 姓名", "红 单位", "黑 编号", "黑 姓名", "黑 单位", "结果"],
        ["1", "1", "陈一", "甲", "2", "李二", "", "黑弃权（先后互换）"],
        ["", "3", "张三", "", "", "", "", "半分轮空"],
    ]
    teams = read(pairings_csv(boards, [], Language.ZH_HANS, board="桌", sides=None))
    assert "红" not in str(teams)
