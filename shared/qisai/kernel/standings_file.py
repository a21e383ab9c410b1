"""Standings and the arithmetic behind them as plain JSON values: points and values as the numbers people write."""

from __future__ import annotations

from typing import Any

from qisai.kernel.standings import Standings, StandingsRow
from qisai.kernel.tie_breaks.criterion import Scale, Terms


def value_number(value: int | None, scale: Scale) -> int | float | None:
    """A value in a criterion's scale as a number: 29 quarter-points → 7.25, 4 half-points → 2."""
    if value is None:
        return None
    return value // scale if value % scale == 0 else value / scale


def standings_to_json(standings: Standings) -> dict[str, Any]:
    """The table: `after`, `tie_breaks` in order, and ranked `rows` with number, points and every criterion's value."""
    return {
        "after": standings.after,
        "tie_breaks": list(standings.tie_breaks),
        "rows": [row_to_json(row, standings) for row in standings.rows],
    }


def row_to_json(row: StandingsRow, standings: Standings) -> dict[str, Any]:
    """One row of the table."""
    return {
        "rank": row.rank,
        "number": row.number,
        "points": value_number(row.points, Scale.HALF),
        "values": {code: value_number(value, standings.scale(code)) for code, value in row.values.items()},
    }


def arithmetic_to_json(terms: Terms, scale: Scale) -> list[dict[str, Any]]:
    """The terms behind one value; those with `counted` true add up to it (`aro`: their mean is it)."""
    return [
        {
            "round": term.round,
            "opponent": term.opponent,
            "value": value_number(term.value, scale),
            "reason": term.reason.value,
            "code": term.code or None,
            "counted": term.counted,
        }
        for term in terms
    ]
