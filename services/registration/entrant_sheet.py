"""Entrants as a table for a spreadsheet, headed with words that the import understands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from qisai.db.entrants import EntrantState, Sex
from qisai.db.events import EventRow
from qisai.formats.sheet_csv import Cell
from services.registration.answers import Sight
from services.registration.operations.members import is_team_event

LANGUAGES: Final = ("zh-Hans", "zh-Hant", "en")
_STATES: Final[Mapping[EntrantState, tuple[str, str, str]]] = {
    EntrantState.WAITING: ("候补", "候補", "waiting"),
    EntrantState.REGISTERED: ("已报名", "已報名", "registered"),
    EntrantState.APPROVED: ("已批准", "已核准", "approved"),
    EntrantState.CHECKED_IN: ("已签到", "已簽到", "checked in"),
    EntrantState.SEATED: ("已入座", "已入座", "seated"),
    EntrantState.WITHDRAWN: ("已退赛", "已退賽", "withdrawn"),
    EntrantState.DISQUALIFIED: ("取消资格", "取消資格", "disqualified"),
    EntrantState.REJECTED: ("未通过", "未通過", "rejected"),
    EntrantState.CANCELLED: ("已取消", "已取消", "cancelled"),
}
_SEXES: Final[Mapping[Sex, tuple[str, str, str]]] = {
    Sex.FEMALE: ("女", "女", "female"),
    Sex.MALE: ("男", "男", "male"),
}
_APART: Final = "、"


def state_name(state: EntrantState, language: str) -> str:
    """What a state is called, in one of `LANGUAGES`."""
    return _STATES[state][LANGUAGES.index(language)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Heads and rows; `widths` in characters."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    widths: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    heads: tuple[str, str, str]
    value: Callable[[Any, int], Cell]
    width: int = 12
    sight: Sight = Sight.PUBLIC
    of_teams: bool | None = None
    """Only where teams enter, only where persons do, or (None) anyway."""


def _members(row: Any, _: int) -> str:
    return _APART.join(one["name"] for one in row.people or () if not one["substitute"])


def _substitutes(row: Any, _: int) -> str:
    return _APART.join(one["name"] for one in row.people or () if one["substitute"])


_COLUMNS: Final = (
    _Column(heads=("签号", "籤號", "Lot"), value=lambda row, _: row.number, width=6),
    _Column(heads=("编号", "編號", "ID"), value=lambda row, _: row.external_id, sight=Sight.STAFF),
    _Column(heads=("姓名", "姓名", "Name"), value=lambda row, _: row.name, width=20, of_teams=False),
    _Column(heads=("队名", "隊名", "Team"), value=lambda row, _: row.name, width=20, of_teams=True),
    _Column(heads=("单位", "單位", "Club"), value=lambda row, _: row.club, width=20),
    _Column(heads=("队员", "隊員", "Members"), value=_members, width=30, of_teams=True),
    _Column(
        heads=("替补", "替補", "Substitutes"),
        value=_substitutes,
        width=20,
        of_teams=True,
    ),
    _Column(heads=("等级分", "等級分", "Rating"), value=lambda row, _: row.seed, width=8),
    _Column(
        heads=("等级分来源", "等級分來源", "Rating source"), value=lambda row, _: row.seed_source, sight=Sight.STAFF
    ),
    _Column(
        heads=("等级分日期", "等級分日期", "Rating date"),
        value=lambda row, _: None if row.seed_date is None else row.seed_date.isoformat(),
        sight=Sight.STAFF,
    ),
    _Column(
        heads=("性别", "性別", "Sex"),
        value=lambda row, at: None if row.sex is None else _SEXES[row.sex][at],
        width=6,
        sight=Sight.DESK,
        of_teams=False,
    ),
    _Column(
        heads=("出生年", "出生年", "Birth year"),
        value=lambda row, _: row.birth_year,
        width=8,
        sight=Sight.DESK,
        of_teams=False,
    ),
    _Column(heads=("电话", "電話", "Phone"), value=lambda row, _: row.phone, width=16, sight=Sight.DESK),
    _Column(heads=("邮箱", "郵箱", "E-mail"), value=lambda row, _: row.email, width=24, sight=Sight.DESK),
    _Column(heads=("备注", "備註", "Notes"), value=lambda row, _: row.notes, width=24, sight=Sight.DESK),
    _Column(heads=("状态", "狀態", "State"), value=lambda row, at: _STATES[row.state][at], width=10),
)


def table(rows: Sequence[Any], *, event: EventRow, sight: Sight, language: str) -> Table:
    """Everybody of `rows`, with the columns that may be seen and that the event's game has."""
    at, teams = LANGUAGES.index(language), is_team_event(event)
    columns = [one for one in _COLUMNS if one.sight <= sight and one.of_teams in (None, teams)]
    return Table(
        title=("选手", "選手", "Entrants")[at],
        head=[column.heads[at] for column in columns],
        rows=[[column.value(row, at) for column in columns] for row in rows],
        widths=[column.width for column in columns],
    )
