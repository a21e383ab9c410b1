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
    SEED_SOURCE = "seed_source"
    SEED_DATE = "seed_date"
    MEMBERS = "members"
    SUBSTITUTES = "substitutes"
    SEX = "sex"
    BIRTH_YEAR = "birth_year"
    PHONE = "phone"
    EMAIL = "email"
    NOTES = "notes"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TEAM: Final = _words("队 隊 队名 隊名 队伍 隊伍 代表队 代表隊 参赛队 參賽隊 队名称 隊名稱 team teamname")
"""A club where persons enter, the entrant's name where no other column has one."""
_WORDS: Final[Mapping[Column, frozenset[str]]] = {
    Column.EXTERNAL_ID: _words(
        "编号 編號 序号 序號 号码 號碼 报名号 報名號 报名编号 報名編號 参赛号 參賽號 no no. nr number num id #"
    ),
    Column.NAME: _words(
        "姓名 名字 名称 名稱 选手 選手 选手姓名 選手姓名 棋手 棋手姓名 参赛者 參賽者 运动员 運動員"
        " name player fullname playername entrant"
    ),
    Column.CLUB: _words(
        "单位 單位 俱乐部 俱樂部 棋社 棋院 学校 學校 所属单位 所屬單位 参赛单位 參賽單位"
        " club school organisation organization"
    ),
    Column.SEED: _words("等级分 等級分 积分 積分 种子分 種子分 种子 種子 排名分 rating elo seed rtg ratingpoints"),
    Column.SEED_SOURCE: _words("等级分来源 等級分來源 ratingsource seedsource"),
    Column.SEED_DATE: _words("等级分日期 等級分日期 ratingdate seeddate"),
    Column.MEMBERS: _words("队员 隊員 成员 成員 队员名单 隊員名單 members players"),
    Column.SUBSTITUTES: _words("替补 替補 替补队员 替補隊員 候补 候補 substitutes reserves"),
    Column.SEX: _words("性别 性別 sex gender"),
    Column.BIRTH_YEAR: _words(
        "出生年 出生年份 出生日期 出生年月 生日 birthyear yearofbirth birthdate dateofbirth birthday dob born"
    ),
    Column.PHONE: _words(
        "电话 電話 手机 手機 手机号 手機號 联系电话 聯絡電話 聯繫電話 手机号码 phone mobile telephone tel"
    ),
    Column.EMAIL: _words("邮箱 郵箱 电子邮箱 電子郵箱 电子邮件 電子郵件 email e-mail mail"),
    Column.NOTES: _words("备注 備註 備注 notes note remarks remark"),
}
_LONGEST: Final = 100
"""Characters of a heading: of a longer text in that row nothing is asked."""
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
    """`姓 名*` → `姓名`, `等级分（2026）` → `等级分`, `Ｎａｍｅ：` → `name`; "" of what is too long for one."""
    if len(cell) > _LONGEST:
        return ""
    plain = _BRACKETED.sub("", unicodedata.normalize("NFKC", cell)).casefold()
    return "".join(plain.split()).strip("*:_")
