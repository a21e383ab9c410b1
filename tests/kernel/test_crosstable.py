"""The crosstable shows what was entered, and its cells add up to the points beside them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from qisai.errors import Invalid
from qisai.kernel.categories import BirthYears, birth_years, places
from qisai.kernel.crosstable import CrosstableCell, Fate, Side, crosstable, crosstable_to_json
from qisai.kernel.model import ByeKind, Result
from qisai.kernel.standings import standings
from qisai.kernel.tournament_file import parse_tournament
from tests.kernel.crosstable import BYES, MIRROR, OUTCOMES, tournament
from tests.kernel.random_tournaments import Json, tournaments

EVERYTHING = """
    1: 2w1 3b= 4w? U
    2: 1b0 4wA 3w+ H
    3: 4wX 1w= 2b- Z
    4: 3bX 2bA 1b? F
    5: -   6wV -   6b1
    6: U   5bV H   5w0
"""


def written(cell: CrosstableCell) -> str:
    """A cell in the notation of the table it came from."""
    if cell.bye is not None:
        return next((sign for sign, kind in BYES.items() if kind is cell.bye), "-")
    sign = next(outcome for outcome, result in OUTCOMES.items() if result is cell.result)[1]
    if cell.side is Side.FIRST:
        return f"{cell.opponent}w{sign}"
    return f"{cell.opponent}b{MIRROR.get(sign, sign)}"


def test_every_kind_of_cell_comes_back_as_it_was_written() -> None:
    found = crosstable(standings(tournament(EVERYTHING)))
    lines = {row.place.number: [written(cell) for cell in row.cells] for row in found}
    wanted = (line.split(":") for line in EVERYTHING.strip().splitlines())
    assert lines == {int(number): cells.split() for number, cells in wanted}


def test_each_side_reads_what_its_game_came_to() -> None:
    fates = {
        row.place.number: [cell.fate for cell in row.cells] for row in crosstable(standings(tournament(EVERYTHING)))
    }
    win, loss, draw = Fate.WIN, Fate.LOSS, Fate.DRAW
    assert fates == {
        1: [win, draw, None, None],
        2: [loss, Fate.ADJOURNED, Fate.FORFEIT_WIN, None],
        3: [Fate.FORFEIT_LOSS, draw, Fate.FORFEIT_LOSS, None],
        4: [Fate.FORFEIT_LOSS, Fate.ADJOURNED, None, None],
        5: [None, Fate.VOID, None, win],
        6: [None, Fate.VOID, None, loss],
    }


@settings(max_examples=60, deadline=None)
@given(tournaments(largest=8))
def test_rounds_and_adjustment_add_up_to_the_points_in_the_order_of_the_standings(document: Json) -> None:
    event = parse_tournament(document)
    for after in range(len(event.rounds) + 1):
        table = standings(event, after=after)
        rows = crosstable(table)
        assert [row.place for row in rows] == list(table.rows)
        for row in rows:
            assert [cell.round for cell in row.cells] == list(range(1, after + 1))
            assert sum(cell.points for cell in row.cells) + row.adjustment == row.place.points


@settings(max_examples=60, deadline=None)
@given(tournaments(largest=8))
def test_both_ends_of_a_board_tell_the_same(document: Json) -> None:
    event = parse_tournament(document)
    rows = {row.place.number: row for row in crosstable(standings(event))}
    for number, row in rows.items():
        for cell in row.cells:
            if cell.opponent is None:
                assert (cell.side, cell.result) == (None, None)
                assert cell.bye in ByeKind
                continue
            other = rows[cell.opponent].cells[cell.round - 1]
            assert (other.opponent, other.result, other.bye) == (number, cell.result, None)
            assert {cell.side, other.side} == {Side.FIRST, Side.SECOND}


def test_games_without_a_first_move_show_no_sides() -> None:
    table = standings(tournament("1: 2w1\n2: 1b0"))
    for with_sides, expected in ((True, {"first", "second"}), (False, {None})):
        rows = crosstable_to_json(table, with_sides=with_sides)
        assert {cell["side"] for row in rows for cell in row["cells"]} == expected
    assert {cell["result"] for row in rows for cell in row["cells"]} == {Result.FIRST_WIN.value}


def test_places_in_a_category_are_shared_where_ranks_are() -> None:
    assert places([]) == []
    assert places([3]) == [1]
    assert places([2, 5, 5, 9, 9, 9, 20]) == [1, 2, 2, 4, 4, 4, 7]


def test_age_groups_follow_the_year_of_the_event() -> None:
    assert birth_years("u12", year=2026) == BirthYears(earliest=2014)
    assert birth_years("s50", year=2026) == BirthYears(latest=1976)
    for word in ("12", "u", "u123", "x12", "u12 ", "U12"):
        with pytest.raises(Invalid, match="no age group"):
            birth_years(word, year=2026)
