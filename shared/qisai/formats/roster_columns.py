"""How clubs head the columns of their rosters: Chinese (both scripts, Taiwanese words too) and English."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from enum import Enum, StrEnum
from typing import Final


class Column(StrEnum):
    """What a column holds; the value is its name in the API. A name in two columns is joined when rows are read."""

    EXTERNAL_ID = "external_id"
    NAME = "name"
    FIRST_NAME = "first_name"
    LAST_NAME = "last_name"
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


class _Perhaps(Enum):
    """Headings whose meaning hangs on the other columns."""

    TEAM = "team"
    """A club where persons enter, the entrant's name where no other column has one."""
    CHINESE_NAME = "chinese-name"
    OTHER_NAME = "other-name"
    """The name where no other column has one: lists give it in two scripts."""


_WORDS: Final[Mapping[Column | _Perhaps, frozenset[str]]] = {
    Column.EXTERNAL_ID: _words("编号 序号 号码 报名号 报名编号 参赛号 no no. nr number num id #"),
    Column.NAME: _words(
        "姓名 名字 名称 选手 选手姓名 选手名 选手名称 棋手 棋手姓名 棋手名 参赛者 参赛者姓名 参赛选手"
        " 参赛选手姓名 参赛棋手 参赛人 参赛人员 参赛人姓名 参赛人员姓名 参赛姓名 参赛运动员 运动员 运动员姓名"
        " 比赛选手 学生姓名 学员姓名 会员姓名 真实姓名 name names player playername player'sname playersname"
        " nameofplayer fullname entrant entrantname participant participants participantname"
        " participant'sname nameofparticipant competitor competitorname contestant contestantname athlete"
        " athletename"
    ),
    Column.FIRST_NAME: _words("名 firstname first givenname givennames forename"),
    Column.LAST_NAME: _words("姓 姓氏 lastname last surname familyname"),
    Column.CLUB: _words(
        "单位 单位名称 所属单位 所在单位 参赛单位 代表单位 报名单位 服务单位 工作单位 选送单位 俱乐部"
        " 俱乐部名称 所属俱乐部 代表俱乐部 棋社 棋院 棋会 道场 协会 所属协会 学校 学校名称 就读学校 所在学校"
        " 所属学校 参赛学校 代表学校 团体 所属团体 社团 机构 培训机构 club clubname nameofclub school"
        " schoolname nameofschool organisation organization affiliation institution"
    ),
    Column.SEED: _words(
        "等级分 当前等级分 目前等级分 最新等级分 积分 种子分 种子 排名分 rating currentrating elo seed rtg ratingpoints"
    ),
    Column.SEED_SOURCE: _words("等级分来源 ratingsource seedsource"),
    Column.SEED_DATE: _words("等级分日期 等级日期 ratingdate seeddate"),
    Column.MEMBERS: _words("队员 成员 队员名单 队员姓名 members players"),
    Column.SUBSTITUTES: _words("替补 替补队员 候补 substitutes reserves"),
    Column.SEX: _words("性别 sex gender m/f"),
    Column.BIRTH_YEAR: _words(
        "出生年 出生年份 出生日期 出生年月 出生年月日 生日 birthyear yearofbirth birthdate dateofbirth"
        " birthday dob yob born"
    ),
    Column.PHONE: _words(
        "电话 电话号码 手机 手机号 手机号码 行动电话 联系电话 联系手机 联络电话 联络手机 phone phoneno"
        " phonenumber mobile mobileno mobilephone telephone tel contactnumber"
    ),
    Column.EMAIL: _words("邮箱 电子邮箱 电子邮件 电邮 email e-mail mail emailaddress e-mailaddress"),
    Column.NOTES: _words("备注 notes note remarks remark"),
    _Perhaps.TEAM: _words(
        "队 队名 队伍 队伍名称 队名称 代表队 代表队名 代表队名称 参赛队 参赛队伍 参赛队名 参赛队名称 所属队伍"
        " team teamname"
    ),
    _Perhaps.CHINESE_NAME: _words("中文姓名 中文名 中文名字 chinesename nameinchinese"),
    _Perhaps.OTHER_NAME: _words("英文姓名 英文名 英文名字 englishname nameinenglish"),
}
"""Without spaces, in small letters and simplified characters."""
_SIMPLIFIED: Final = str.maketrans(
    "編號碼參賽選員運動隊單樂會場協學屬稱報務機構團體電話絡繫聯郵備註積種級來讀實別補訓當",
    "编号码参赛选员运动队单乐会场协学属称报务机构团体电话络系联邮备注积种级来读实别补训当",
)
"""Lists mix both scripts, sometimes in one word."""
_MEANINGS: Final = {word: meaning for meaning, words in _WORDS.items() for word in words}
_INSTEAD: Final = (_Perhaps.CHINESE_NAME, _Perhaps.OTHER_NAME, _Perhaps.TEAM)
"""What heads the names where nothing else does, the surest first."""
_PARTS: Final = frozenset({Column.FIRST_NAME, Column.LAST_NAME})
_ONE_OF_TWO: Final = _words("name 名字")
"""The name, or what stands beside the family's."""
_LONGEST: Final = 100
"""Characters of a heading: of a longer text in that row nothing is asked."""
_BRACKETED: Final = re.compile(r"\(.*?\)|\[.*?\]|【.*?】")
_PIECES: Final = re.compile("[^\x00-\x7f、]+|[^/|、,&\x80-\U0010ffff]+")
"""Parts of a heading that says one thing twice: in two languages, or with a stroke between two words."""


def columns_of(cells: Sequence[str]) -> dict[int, Column]:
    """What the cells of a header row stand for, by place; empty where the row is no header: nothing names the entrant.

    A column that stands twice is given twice, and a part of the name beside the name where it is not sure what the name
    is then: the caller says so.
    """
    meanings = {place: meaning for place, cell in enumerate(cells) if (meaning := _meaning(cell)) is not None}
    found = {place: meaning for place, meaning in meanings.items() if isinstance(meaning, Column)}
    names = {_word(cells[place]) for place, column in found.items() if column is Column.NAME}
    parts = _PARTS.intersection(found.values())
    is_unsure = len(parts) == 1 and names and names <= _ONE_OF_TWO
    is_joined = parts == _PARTS and not names
    if not (is_unsure or is_joined):
        found = {place: column for place, column in found.items() if column not in _PARTS}
    if not (names or is_joined):
        instead = next((one for one in _INSTEAD if one in meanings.values()), None)
        if instead is None:
            return {}
        found |= {place: Column.NAME for place, meaning in meanings.items() if meaning is instead}
    teams = {place: Column.CLUB for place, meaning in meanings.items() if meaning is _Perhaps.TEAM}
    return dict(sorted((teams | found).items()))


def is_heading(cell: str) -> bool:
    """Whether the cell alone heads something that a roster may hold."""
    return _meaning(cell) is not None


def is_team_heading(cell: str) -> bool:
    """Whether the cell heads names of teams: clubs where persons enter."""
    return _meaning(cell) is _Perhaps.TEAM


def names_somebody(cell: str) -> bool:
    """Whether below this heading names of entrants stand, or parts of them."""
    return _meaning(cell) in (Column.NAME, *_PARTS, *_Perhaps)


def _meaning(cell: str) -> Column | _Perhaps | None:
    """By the whole heading, else by its pieces where all of them say the same; a team and a club are a club."""
    word = _word(cell)
    if word in _MEANINGS or not word:
        return _MEANINGS.get(word)
    pieces = {_MEANINGS.get(piece.strip("*:_.")) for piece in _PIECES.findall(word)}
    if pieces == {_Perhaps.TEAM, Column.CLUB}:
        return Column.CLUB
    return pieces.pop() if len(pieces) == 1 else None


def _word(cell: str) -> str:
    """`姓 名*` → `姓名`, `等级分（2026）` → `等级分`, `Ｎａｍｅ：` → `name`; "" of what is too long for one."""
    if len(cell) > _LONGEST:
        return ""
    plain = _BRACKETED.sub("", unicodedata.normalize("NFKC", cell)).casefold()
    return "".join(plain.split()).strip("*:_.").replace("’", "'").translate(_SIMPLIFIED)
