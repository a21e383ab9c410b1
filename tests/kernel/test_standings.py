"""Standings: ranks, what counts after a round, corrections, and properties that must hold for every event."""

from __future__ import annotations

import json
import random
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qisai.errors import Invalid, NotFound
from qisai.kernel.json_text import parse_json
from qisai.kernel.model import Board, Entrant, Regulations, Result, Round, Tournament
from qisai.kernel.standings import standings
from qisai.kernel.standings_file import arithmetic_to_json, standings_to_json
from qisai.kernel.tie_breaks import TIE_BREAKS
from qisai.kernel.tournament_file import parse_tournament
from tests.kernel.crosstable import ranks, tournament, values
from tests.kernel.random_tournaments import tournaments

OPEN284 = Path(__file__).parents[2].parent / "shared" / "data" / "open284.json"
ALL = tuple(TIE_BREAKS)

EVENT = """
    1: 3w1 2b1 4w=
    2: 4b1 1w0 3b1
    3: 1b0 4w1 2w0
    4: 2w0 3b0 1b=
"""


def table(event: Tournament, *, after: int | None = None) -> list[tuple[int, int, int, dict[str, int | None]]]:
    """Everything a table shows, without the machinery behind it."""
    return [(row.rank, row.number, row.points, dict(row.values)) for row in standings(event, after=after).rows]


def test_points_come_first_then_each_tie_break_in_turn() -> None:
    found = standings(tournament(EVENT, tie_breaks=("opponents", "progressive", "direct")))
    assert [(row.rank, row.number, row.points / 2) for row in found.rows] == [
        (1, 1, 2.5),
        (2, 2, 2),
        (3, 3, 1),
        (4, 4, 0.5),
    ]
    assert found.after == 3
    assert found.tie_breaks == ("opponents", "progressive", "direct")


def test_entrants_equal_on_everything_share_a_rank_and_stand_by_number() -> None:
    event = tournament("4: 1w=\n1: 4b=\n3: 2w=\n2: 3b=\n5: F", tie_breaks=("progressive",))
    assert [(row.rank, row.number) for row in standings(event).rows] == [(1, 5), (2, 1), (2, 2), (2, 3), (2, 4)]
    assert [row.rank for row in standings(event, after=0).rows] == [1] * 5


def test_without_tie_breaks_points_alone_rank() -> None:
    assert ranks(standings(tournament(EVENT))) == {1: 1, 2: 2, 3: 3, 4: 4}


def test_standings_after_round_2_use_only_rounds_1_and_2() -> None:
    event = tournament(EVENT, tie_breaks=ALL)
    two = replace(event, rounds=event.rounds[:2])
    assert table(event, after=2) == table(two)


def test_correcting_round_1_is_recomputed_everywhere_and_twice_gives_the_same() -> None:
    event = tournament(
        "1: 2w1 3w1 4w= 5w0\n2: 1b0 - - -\n3: - 1b0 - -\n4: - - 1b= -\n5: - - - 1b1", tie_breaks=("progressive",)
    )
    assert values(standings(event), "progressive")[1] == 8
    board = event.rounds[0].boards[0]
    first = replace(event.rounds[0], boards=(replace(board, result=Result.DRAW),))
    corrected = replace(event, rounds=(first, *event.rounds[1:]))
    for _ in range(2):
        assert values(standings(corrected), "progressive")[1] == 6
    assert values(standings(corrected, after=1), "points") == {1: 0.5, 2: 0.5, 3: 0, 4: 0, 5: 0}


def test_a_withdrawn_entrants_past_rounds_look_as_they_were() -> None:
    event = tournament(EVENT, tie_breaks=ALL)
    gone = replace(
        event, entrants=tuple(replace(e, withdrawn_from=3 if e.number == 2 else None) for e in event.entrants)
    )
    assert table(gone) == table(event)


def test_a_board_without_result_and_an_adjourned_game_score_nothing_yet() -> None:
    event = tournament("1: 2wA 3w?\n2: 1bA U\n3: Z 1b?", tie_breaks=("opponents", "progressive"))
    found = standings(event)
    assert values(found, "points") == {1: 0, 2: 1, 3: 0}
    assert values(found, "opponents") == {1: 1, 2: 0, 3: 0}, "an adjourned game is a meeting, an unreported one not yet"
    assert [term.code for term in found.arithmetic(1, "opponents")] == ["adjourned"]


def test_byes_absence_and_forfeit_win_are_four_different_things() -> None:
    event = tournament("1: U\n2: H\n3: -\n4: 5w+\n5: 4b-\n6: Z\n7: F", tie_breaks=ALL)
    found = standings(event)
    assert values(found, "points") == {1: 1, 2: 0.5, 3: 0, 4: 1, 5: 0, 6: 0, 7: 1}
    assert values(found, "wins") == {1: 1, 2: 0, 3: 0, 4: 1, 5: 0, 6: 0, 7: 1}
    assert set(values(found, "wins_played").values()) == {0}
    codes = {number: [term.code for term in found.arithmetic(number, "points")] for number in range(1, 8)}
    assert codes == {
        1: ["pairing"],
        2: ["half"],
        3: ["absent"],
        4: ["second_forfeit"],
        5: ["second_forfeit"],
        6: ["zero"],
        7: ["full"],
    }


def test_the_arithmetic_of_points_says_what_each_round_gave() -> None:
    found = standings(tournament(EVENT, tie_breaks=("direct",)))
    assert arithmetic_to_json(found.arithmetic(1, "points"), found.scale("points")) == [
        {"round": 1, "opponent": 3, "value": 1, "reason": "points", "code": "first_win", "counted": True},
        {"round": 2, "opponent": 2, "value": 1, "reason": "points", "code": "second_win", "counted": True},
        {"round": 3, "opponent": 4, "value": 0.5, "reason": "points", "code": "draw", "counted": True},
    ]


def test_as_json_values_are_the_numbers_people_write() -> None:
    event = tournament(EVENT, tie_breaks=("sodos", "direct", "wins"))
    found = standings_to_json(standings(event))
    assert found["rows"][0] == {
        "rank": 1,
        "number": 1,
        "points": 2.5,
        "values": {"sodos": 3.25, "direct": None, "wins": 2},
    }
    assert json.loads(json.dumps(found)) == found


def test_what_is_not_there_is_refused() -> None:
    event = tournament(EVENT, tie_breaks=("direct",))
    for after in (-1, 4):
        with pytest.raises(Invalid, match="rounds 0 to 3"):
            standings(event, after=after)
    with pytest.raises(NotFound, match="no entrant 9"):
        standings(event).arithmetic(9, "points")
    with pytest.raises(NotFound, match="not among"):
        standings(event).arithmetic(1, "bh")
    unknown = replace(event, regulations=replace(event.regulations, tie_breaks=("elo",)))
    with pytest.raises(Invalid, match="elo"):
        standings(unknown)


def test_an_event_without_entrants_has_an_empty_table() -> None:
    assert standings(Tournament()).rows == ()


@pytest.mark.skipif(not OPEN284.exists(), reason="shared data not present")
def test_points_of_the_open_event_equal_sums_made_by_hand_from_the_file() -> None:
    raw = json.loads(OPEN284.read_text(encoding="utf-8"))
    by_hand: dict[int, float] = defaultdict(float)
    for round_ in raw["rounds"]:
        for board in round_["boards"]:
            by_hand[board["first"]] += {"first_win": 1, "draw": 0.5, "second_forfeit": 1}.get(board["result"], 0)
            by_hand[board["second"]] += {"second_win": 1, "draw": 0.5, "first_forfeit": 1}.get(board["result"], 0)
        for bye in round_["byes"]:
            by_hand[bye["entrant"]] += {"pairing": 1, "full": 1, "half": 0.5}.get(bye["kind"], 0)
    found = standings(parse_tournament(parse_json(OPEN284.read_bytes())), after=7)
    assert values(found, "points") == {entrant["number"]: by_hand[entrant["number"]] for entrant in raw["entrants"]}
    assert len(found.rows) == 284


@settings(max_examples=60, deadline=None)
@given(tournaments(smallest=2, largest=12), st.randoms())
def test_standings_never_depend_on_later_rounds_order_or_names(obj: dict[str, Any], rng: random.Random) -> None:
    obj["regulations"]["tie_breaks"] = list(ALL)
    event = parse_tournament(obj)
    after = rng.randint(0, len(event.rounds))
    expected = table(event, after=after)
    shuffled = list(event.entrants)
    rng.shuffle(shuffled)
    other = replace(
        event,
        entrants=tuple(replace(entrant, name=f"renamed {entrant.number}", club="") for entrant in shuffled),
        rounds=tuple(replace(r, boards=r.boards[::-1], byes=r.byes[::-1]) for r in event.rounds[:after]),
        next=None,
    )
    assert table(other, after=after) == expected
    assert table(event, after=after) == expected, "computing twice changes nothing"


@settings(max_examples=60, deadline=None)
@given(tournaments(smallest=2, largest=12))
def test_every_value_is_what_its_counted_terms_add_up_to_and_ranks_follow_the_values(obj: dict[str, Any]) -> None:
    obj["regulations"]["tie_breaks"] = [code for code in ALL if code != "aro"]
    obj["lots"] = {str(entrant["number"]): entrant["number"] % 3 for entrant in obj["entrants"]}
    event = parse_tournament(obj)
    found = standings(event)
    for row in found.rows:
        for code, value in (("points", row.points), *row.values.items()):
            terms = found.arithmetic(row.number, code)
            assert (sum(term.value for term in terms if term.counted) if terms else value or 0) == (value or 0)
    keys = [(row.points, row.values["opponents"]) for row in found.rows]
    assert keys == sorted(keys, reverse=True)
    assert [row.rank for row in found.rows] == sorted(row.rank for row in found.rows)


def shuffled(entrants: int) -> Tournament:
    """Nine rounds of arbitrary boards with arbitrary results."""
    rng = random.Random(1)
    numbers = list(range(1, entrants + 1))
    results = list(Result)
    rounds = []
    for number in range(1, 10):
        rng.shuffle(numbers)
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        boards = (
            Board(board=k, first=a, second=b, result=rng.choice(results)) for k, (a, b) in enumerate(pairs, start=1)
        )
        rounds.append(Round(number=number, boards=tuple(boards)))
    field = tuple(Entrant(number=number) for number in range(1, entrants + 1))
    return Tournament(regulations=Regulations(), entrants=field, rounds=tuple(rounds))


@pytest.mark.parametrize("regulations", [Regulations(), Regulations(tie_breaks=("direct",))], ids=["usual", "direct"])
def test_standings_of_ten_times_the_field_take_ten_times_the_work(regulations: Regulations) -> None:
    """Work in calls of Python functions, which are as many on every machine; squares would be a hundred times."""
    work = []
    for entrants in (200, 2000):
        event = replace(shuffled(entrants), regulations=regulations)
        calls = Counter[str]()
        sys.setprofile(lambda _frame, kind, _argument, calls=calls: calls.update((kind,)))
        try:
            table = standings(event)
        finally:
            sys.setprofile(None)
        assert len(table.rows) == entrants
        work.append(calls["call"] + calls["c_call"])
    assert work[1] < 13 * work[0]
