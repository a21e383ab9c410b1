"""What a correction would move, as the JSON of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qisai.kernel.correction import LaterRound, Move
from qisai.kernel.model import Result
from qisai.kernel.standings import Standings, StandingsRow
from qisai.kernel.standings_file import value_number
from qisai.kernel.tie_breaks.criterion import Scale
from services.results.answers import Json, board, value_of
from services.results.queries.corrections import Asked, Preview


def preview(found: Asked, made: Preview, *, wanted: Json) -> Json:
    """`moves`: everybody whose line changes, with both; `later_rounds`: each published round behind the board's.

    Of such a round `agreed_before` says whether today's results give it, `differs` has every published board that the
    corrected ones would not, with `differed_before` where today's do not either; so too its `bye`, None where the same.
    """
    return {
        "board": board(found.row, with_note=True),
        "old": value_of(found.row),
        "new": {**value_of(found.row), **wanted},
        "after": made.table.after,
        "moves": [_move(move, made.table, made.names) for move in made.moves],
        "later_rounds": [_later(one, made.names) for one in made.later],
        "blockers": [{"slug": one.slug, "detail": one.detail, **one.context} for one in made.blockers],
    }


def _move(move: Move, table: Standings, names: Mapping[int, str]) -> Json:
    number = move.after.number
    return {
        "number": number,
        "name": names[number],
        "old": _line(move.before, table),
        "new": _line(move.after, table),
    }


def _line(row: StandingsRow, table: Standings) -> Json:
    values = {code: value_number(value, table.scale(code)) for code, value in row.values.items()}
    return {"rank": row.rank, "points": value_number(row.points, Scale.HALF), "values": values}


def _later(one: LaterRound, names: Mapping[int, str]) -> Json:
    return {
        "round": one.number,
        "method": "paired_again" if one.paired_again else "rules_only",
        "agreed_before": one.agreed_before,
        "differs": [
            {
                "board": at.board,
                "first": _who(at.first, names),
                "second": _who(at.second, names),
                "differed_before": at.board in one.differed_before,
            }
            for at in one.differs
        ],
        "bye": _bye(one, names),
        "breaks": [{"breach": v.breach.value, "detail": v.detail, "entrants": list(v.entrants)} for v in one.breaks],
        "no_legal_draw": one.no_legal_draw,
    }


def _bye(one: LaterRound, names: Mapping[int, str]) -> Json | None:
    if one.bye is None:
        return None
    published, would_be = (None if number is None else _who(number, names) for number in one.bye)
    return {"published": published, "would_be": would_be, "differed_before": one.bye_differed_before}


def _who(number: int, names: Mapping[int, str]) -> Json:
    return {"number": number, "name": names[number]}


def wanted_value(result: Result | None, swapped: bool | None) -> dict[str, Any]:
    """What of a board the correction changes."""
    changed: dict[str, Any] = {"result": None if result is None else result.value}
    return changed if swapped is None else {**changed, "swapped": swapped}
