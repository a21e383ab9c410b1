"""How clubs head the columns of their rosters: Chinese (both scripts, Taiwanese words too) and English."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final


class Column(StrEnum):
    """What a column holds; the value is its name in the API."""

    EXTERNAL_ID = "external_id"
    NAME = "name"
    CLUB = "club"
    SEED = "seed"
    MEMBERS = "members"


_TEAM: Final = frozenset(
    [
        "队",
        "隊",
        "队名",
        "隊名",
        "队伍",
        "隊伍",
        "代表队",
        "代表隊",
        "参赛队",
        "參賽隊",
        "队名称",
        "隊名稱",
        "team",
        "teamname",
    ]
)
"""A club where persons enter, the entrant's name where no other column has one."""
_WORDS: Final[Mapping[Column, frozenset[str]]] = {
    Column.EXTERNAL_ID: frozenset(
        [
            "编号",
            "編號",
            "序号",
            "序號",
            "号码",
            "號碼",
            "报名号",
            "報名號",
            "报名编号",
            "報名編號",
            "参赛号",
            "參賽號",
            "no",
            "no.",
            "nr",
            "number",
            "num",
            "id",
            "#",
        ]
    ),
    Column.NAME: frozenset(
        [
            "姓名",
            "名字",
            "名称",
            "名稱",
            "选手",
            "選手",
            "选手姓名",
            "選手姓名",
            "棋手",
            "棋手姓名",
            "参赛者",
            "參賽者",
            "运动员",
            "運動員",
            "name",
            "player",
            "fullname",
            "playername",
            "entrant",
        ]
    ),
    Column.CLUB: frozenset(
        [
            "单位",
            "單位",
            "俱乐部",
            "俱樂部",
            "棋社",
            "棋院",
            "学校",
            "學校",
            "所属单位",
            "所屬單位",
            "参赛单位",
            "參賽單位",
            "club",
            "school",
            "organisation",
            "organization",
        ]
    ),
    Column.SEED: frozenset(
        [
            "等级分",
            "等級分",
            "积分",
            "積分",
            "种子分",
            "種子分",
            "种子",
            "種子",
            "排名分",
            "rating",
            "elo",
            "seed",
            "rtg",
            "ratingpoints",
        ]
    ),
    Column.MEMBERS: frozenset(["队员", "隊員", "成员", "成員", "队员名单", "隊員名單", "members", "players"]),
}
_BRACKETED: Final = re.compile(r"\(.*?\)|\[.*?\]|【.*?】")


def columns_of(cells: Sequence[str]) -> dict[int, Column]:
    """What the cells of a header row stand for, by place; empty where the row is no header: nothing names the entrant.

    A column that stands twice is given twice: the caller says so.
    """
    words = [_word(cell) for cell in cells]
    found = {place: column for place, word in enumerate(words) for column in Column if word in _WORDS[column]}
    teams = [place for place, word in enumerate(words) if word in _TEAM]
    named = Column.NAME in found.values()
    found |= dict.fromkeys(teams, Column.CLUB if named else Column.NAME)
    return dict(sorted(found.items())) if Column.NAME in found.values() else {}


def _word(cell: str) -> str:
    """`姓 名*` → `姓名`, `等级分（2026）` → `等级分`, `Ｎａｍｅ：` → `name`."""
    plain = _BRACKETED.sub("", unicodedata.normalize("NFKC", cell)).casefold()
    return "".join(plain.split()).strip("*:_")
