"""Standings, crosstable and pairings as sheets: the API's documents laid out in columns, headers in one language.

Nothing is computed here: a cell holds what the document holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from qisai.formats.sheet_csv import Cell, csv_bytes
from qisai.kernel.crosstable import Fate
from qisai.kernel.model import ByeKind, Result
from qisai.kernel.names import Language, Names, names
from qisai.kernel.tie_breaks import TIE_BREAKS

Json = Mapping[str, Any]

_RANK: Final = names("名次", "名次", "Rank")
_NUMBER: Final = names("编号", "編號", "No.")
_NAME: Final = names("姓名", "姓名", "Name")
_CLUB: Final = names("单位", "單位", "Club")
_MEMBERS: Final = names("队员", "隊員", "Members")
_POINTS: Final = names("积分", "積分", "Points")
_ADJUSTMENT: Final = names("奖罚分", "獎罰分", "Adjustment")
_RESULT: Final = names("结果", "結果", "Result")
_ROUND_COLUMNS: Final = {
    "opponent": names("第{round}轮对手", "第{round}輪對手", "R{round} opponent"),
    "side": names("第{round}轮先后手", "第{round}輪先後手", "R{round} side"),
    "result": names("第{round}轮结果", "第{round}輪結果", "R{round} result"),
    "points": names("第{round}轮得分", "第{round}輪得分", "R{round} points"),
}
_SWAPPED: Final = names("（先后互换）", "（先後互換）", " (sides swapped)")
_SIDES: Final = {"first": names("先", "先", "first"), "second": names("后", "後", "second")}
_RESULTS: Final[Mapping[Result, Names]] = {
    Result.FIRST_WIN: names("{first}胜", "{first}勝", "{first} wins"),
    Result.SECOND_WIN: names("{second}胜", "{second}勝", "{second} wins"),
    Result.DRAW: names("和", "和", "draw"),
    Result.FIRST_FORFEIT: names("{first}弃权", "{first}棄權", "{first} forfeits"),
    Result.SECOND_FORFEIT: names("{second}弃权", "{second}棄權", "{second} forfeits"),
    Result.DOUBLE_FORFEIT: names("双方弃权", "雙方棄權", "both forfeit"),
    Result.ADJOURNED: names("封棋", "封棋", "adjourned"),
    Result.VOID: names("无效", "無效", "void"),
}
FATE_WORDS: Final[Mapping[Fate, Names]] = {
    Fate.WIN: names("胜", "勝", "won"),
    Fate.DRAW: names("和", "和", "draw"),
    Fate.LOSS: names("负", "負", "lost"),
    Fate.FORFEIT_WIN: names("对方弃权", "對方棄權", "won by forfeit"),
    Fate.FORFEIT_LOSS: names("弃权", "棄權", "forfeited"),
    Fate.ADJOURNED: names("封棋", "封棋", "adjourned"),
    Fate.VOID: names("无效", "無效", "void"),
}
BYE_WORDS: Final[Mapping[ByeKind, Names]] = {
    ByeKind.PAIRING: names("轮空", "輪空", "bye"),
    ByeKind.HALF: names("半分轮空", "半分輪空", "half-point bye"),
    ByeKind.FULL: names("全分轮空", "全分輪空", "full-point bye"),
    ByeKind.ZERO: names("零分轮空", "零分輪空", "zero-point bye"),
    ByeKind.ABSENT: names("缺席", "缺席", "absent"),
}


def standings_csv(document: Json, language: Language) -> bytes:
    """The API's standings: one line an entrant, every criterion in its order."""
    with_members = _with_members(document)
    head = [*_who_head(language, with_members=with_members), _POINTS[language], *_criteria_head(document, language)]
    rows = [
        [row["rank"], *_who(row, with_members=with_members), row["points"], *_values(document, row)]
        for row in document["rows"]
    ]
    return csv_bytes(head, rows)


def crosstable_csv(document: Json, language: Language) -> bytes:
    """The API's crosstable: the standings with opponent, side, result and points of each round in columns of their own.

    The column of sides is left out where the game has none.
    """
    with_members = _with_members(document)
    columns = [name for name in _ROUND_COLUMNS if document["sides"] or name != "side"]
    head = [
        *_who_head(language, with_members=with_members),
        *(
            _ROUND_COLUMNS[name][language].format(round=number)
            for number in range(1, document["after"] + 1)
            for name in columns
        ),
        _ADJUSTMENT[language],
        _POINTS[language],
        *_criteria_head(document, language),
    ]
    rows = [
        [
            row["rank"],
            *_who(row, with_members=with_members),
            *(value for cell in row["cells"] for value in _cell(cell, columns, language)),
            row["adjustment"],
            row["points"],
            *_values(document, row),
        ]
        for row in document["rows"]
    ]
    return csv_bytes(head, rows)


def pairings_csv(
    boards: Sequence[Json], byes: Sequence[Json], language: Language, *, board: str, sides: tuple[str, str] | None
) -> bytes:
    """A round's boards and byes as the API lists them, as drawn. `board`, `sides`: what the event calls them."""
    first, second = sides or (names("甲方", "甲方", "One")[language], names("乙方", "乙方", "Other")[language])
    head = [board]
    for side in (first, second):
        head += [f"{side} {_NUMBER[language]}", f"{side} {_NAME[language]}", f"{side} {_CLUB[language]}"]
    rows: list[list[Cell]] = []
    for one in boards:
        result = _result(one, language, first=first, second=second)
        rows.append([one["number"], *_player(one["first"]), *_player(one["second"]), result])
    rows += [["", *_player(bye), "", "", "", BYE_WORDS[ByeKind(bye["kind"])][language]] for bye in byes]
    return csv_bytes([*head, _RESULT[language]], rows)


def cell_words(cell: Json, language: Language) -> str:
    """What a round came to for the entrant, or the kind of bye, in words; nothing where it is not reported."""
    if cell["bye"] is not None:
        return BYE_WORDS[ByeKind(cell["bye"])][language]
    return "" if cell["fate"] is None else FATE_WORDS[Fate(cell["fate"])][language]


def _result(board: Json, language: Language, *, first: str, second: str) -> str:
    """Of the sides as played: with `swapped` the second as drawn moved first, and that is said."""
    if board["result"] is None:
        return ""
    words = _RESULTS[Result(board["result"])][language].format(first=first, second=second)
    return words + _SWAPPED[language] if board["swapped"] else words


def _player(who: Json) -> list[Cell]:
    return [who["number"], who["name"], who["club"]]


def _with_members(document: Json) -> bool:
    return any("members" in row for row in document["rows"])


def _who_head(language: Language, *, with_members: bool) -> list[str]:
    members = [_MEMBERS[language]] if with_members else []
    return [_RANK[language], _NUMBER[language], _NAME[language], *members, _CLUB[language]]


def _who(row: Json, *, with_members: bool) -> list[Cell]:
    members = ["、".join(row.get("members") or ())] if with_members else []
    return [row["number"], row["name"], *members, row["club"]]


def _criteria_head(document: Json, language: Language) -> list[str]:
    codes = [criterion["code"] for criterion in document["criteria"]]
    return [TIE_BREAKS[code].names[language] if code in TIE_BREAKS else code for code in codes]


def _values(document: Json, row: Json) -> list[Cell]:
    return [row["values"][criterion["code"]] for criterion in document["criteria"]]


def _cell(cell: Json, columns: Sequence[str], language: Language) -> list[Cell]:
    written: dict[str, Cell] = {
        "opponent": cell["opponent"],
        "side": _SIDES[cell["side"]][language] if cell["side"] else "",
        "result": cell_words(cell, language),
        "points": cell["points"],
    }
    return [written[name] for name in columns]
