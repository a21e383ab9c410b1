"""Points that the chief referee gave or took: in standings from their round on, nowhere else (rules.md section 9)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from qisai.errors import Invalid
from qisai.kernel.canonical import tournament_sha256
from qisai.kernel.model import Tournament
from qisai.kernel.pairing import pair_round
from qisai.kernel.standings import standings
from qisai.kernel.standings_file import arithmetic_to_json
from qisai.kernel.tournament_file import parse_tournament, tournament_to_json

PENALTY = {"entrant": 1, "points": -1.5, "after_round": 2, "reason": "迟到"}


def event(**more: Any) -> Tournament:
    """Four entrants, two rounds: 1 won both, 2 and 3 one each."""
    rounds = [
        [(1, 3, "first_win"), (2, 4, "first_win")],
        [(1, 2, "first_win"), (3, 4, "first_win")],
    ]
    return parse_tournament(
        {
            "format": "qisai.tournament/1",
            "entrants": [{"number": number} for number in range(1, 5)],
            "rounds": [
                {
                    "number": number,
                    "boards": [
                        {"board": at, "first": first, "second": second, "result": result}
                        for at, (first, second, result) in enumerate(boards, start=1)
                    ],
                }
                for number, boards in enumerate(rounds, start=1)
            ],
            **more,
        }
    )


def test_an_adjustment_counts_in_points_from_its_round_on() -> None:
    table = standings(event(adjustments=[PENALTY]))
    assert [(row.number, row.points) for row in table.rows] == [(2, 2), (3, 2), (1, 1), (4, 0)]
    before = standings(event(adjustments=[PENALTY]), after=1)
    assert before.rows == standings(event(), after=1).rows


def test_tie_breaks_read_games_only() -> None:
    """Whoever met the penalised entrant has the same tie-breaks as before."""
    plain = {row.number: row.values for row in standings(event()).rows}
    adjusted = {row.number: row.values for row in standings(event(adjustments=[PENALTY])).rows}
    for code in ("opponents", "progressive"):
        assert {n: values[code] for n, values in adjusted.items()} == {n: values[code] for n, values in plain.items()}


def test_the_arithmetic_of_points_lists_the_adjustment_and_adds_up() -> None:
    table = standings(event(adjustments=[PENALTY]))
    terms = arithmetic_to_json(table.arithmetic(1, "points"), table.scale("points"))
    assert [term["value"] for term in terms] == [1, 1, -1.5]
    assert (terms[-1]["reason"], terms[-1]["round"]) == ("adjustment", 2)


def test_pairing_and_the_hash_do_not_hang_on_adjustments() -> None:
    plain, adjusted = event(), event(adjustments=[PENALTY])
    assert tournament_sha256(plain) == tournament_sha256(adjusted)
    assert pair_round(plain) == pair_round(adjusted)


def test_the_file_gives_adjustments_back_and_leaves_out_an_empty_list() -> None:
    adjusted = event(adjustments=[PENALTY])
    assert tournament_to_json(adjusted)["adjustments"] == [PENALTY]
    assert parse_tournament(tournament_to_json(adjusted)) == adjusted
    assert "adjustments" not in tournament_to_json(replace(adjusted, adjustments=()))


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"entrant": 9}, "/adjustments/0/entrant"),
        ({"points": 0}, "/adjustments/0/points"),
        ({"points": 0.3}, "/adjustments/0/points"),
        ({"points": -101}, "/adjustments/0/points"),
        ({"points": "1"}, "/adjustments/0/points"),
        ({"after_round": 0}, "/adjustments/0/after_round"),
        ({"reason": "x" * 501}, "/adjustments/0/reason"),
        ({"by": "x"}, "/adjustments/0/by"),
    ],
)
def test_a_bad_adjustment_is_refused_with_its_place(change: dict[str, Any], pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        event(adjustments=[PENALTY | change])
    assert [fault.pointer for fault in refused.value.errors] == [pointer]
