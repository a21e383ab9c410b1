"""The log of an event as the JSON of the API and as lines of a sheet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from qisai.db.entrants import EntrantState
from qisai.formats.sheet_csv import Cell
from qisai.kernel.names import Language, names
from services.results.answers import Json, moment

_HEAD: Final = (
    names("时间（UTC）", "時間（UTC）", "Time (UTC)"),
    names("类别", "類別", "Kind"),
    names("操作人", "操作人", "Who"),
    names("设备", "裝置", "Device"),
    names("轮次", "輪次", "Round"),
    names("台次", "檯次", "Board"),
    names("参赛者", "參賽者", "Entrant"),
    names("操作", "操作", "Action"),
    names("原值", "原值", "Before"),
    names("新值", "新值", "After"),
    names("理由", "理由", "Reason"),
)
_KINDS: Final = {
    "result": names("成绩", "成績", "result"),
    "conflict": names("被拒的成绩", "被拒的成績", "refused result"),
    "audit": names("操作", "操作", "action"),
    "transition": names("参赛状态", "參賽狀態", "entrant's state"),
}


def entry(row: Any) -> Json:
    """One row: what was done, by whom, to which round, board or entrant."""
    about = {name: getattr(row, name) for name in ("board", "board_id", "entrant_id")}
    return {
        "kind": row.kind,
        "id": row.id,
        "at": moment(row.at),
        "actor": row.actor,
        "device": row.device,
        "reason": row.reason,
        **({} if row.round is None else {"round": int(row.round) if row.round.isdigit() else None}),
        **{name: value for name, value in about.items() if value is not None},
        **_data(row),
    }


def head(language: Language) -> list[str]:
    """The sheet's headers."""
    return [word[language] for word in _HEAD]


def line(row: Any, *, entrants: Mapping[int, str], language: Language) -> list[Cell]:
    """One row of the sheet."""
    data = _data(row)
    before, after = (
        (data["from"], data["to"])
        if row.kind == "transition"
        else (data.get("old", data.get("present")), data.get("new", data.get("wanted")))
    )
    return [
        moment(row.at),
        _KINDS[row.kind][language],
        row.actor,
        row.device,
        int(row.round) if row.round and row.round.isdigit() else None,
        row.board,
        None if row.entrant_id is None else entrants.get(row.entrant_id, str(row.entrant_id)),
        data.get("action"),
        _said(before),
        _said(after),
        row.reason,
    ]


def _data(row: Any) -> Json:
    """What the kind says; states of entrants by their names."""
    if row.kind != "transition":
        return dict(row.data)
    return {name: None if value is None else EntrantState(value).name.lower() for name, value in dict(row.data).items()}


def _said(value: Any) -> str:
    """A logged value in one cell: `result: draw; swapped: false`; what is empty is left out."""
    match value:
        case None:
            return ""
        case dict():
            return "; ".join(f"{name}: {_said(one)}" for name, one in value.items() if one not in (None, "", [], {}))
        case list():
            return ", ".join(_said(one) for one in value)
        case bool():
            return "true" if value else "false"
    return str(value)
