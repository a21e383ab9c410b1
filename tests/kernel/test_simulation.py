"""Simulated events: reproducible, well-formed, and with everything in them that was asked for."""

from __future__ import annotations

import collections
from dataclasses import replace
from typing import Any

import pytest

from qisai.errors import Invalid
from qisai.kernel.check import violations
from qisai.kernel.model import ByeKind, Draw, LateEntry, Regulations, Result, Tournament
from qisai.kernel.pairing import pair_round
from qisai.kernel.simulation import RATES, Plan, open_event, play_round, simulate
from qisai.kernel.tournament_file import parse_tournament, tournament_to_json

BUSY = Plan(
    entrants=40,
    rounds=6,
    seed=5,
    absent=0.05,
    half_bye=0.03,
    zero_bye=0.03,
    full_bye=0.02,
    withdraw=0.04,
    returning=0.4,
    forfeit=0.12,
    void=0.04,
    adjourned=0.06,
    late=0.15,
)


def quick(tournament: Tournament) -> Draw:
    return pair_round(tournament, stage="search")


def test_the_same_plan_gives_the_same_event_and_another_seed_another() -> None:
    assert simulate(BUSY, pair=quick) == simulate(BUSY, pair=quick)
    assert simulate(replace(BUSY, seed=6), pair=quick) != simulate(BUSY, pair=quick)


def test_a_simulated_event_is_a_well_formed_tournament_file_with_every_result_and_bye() -> None:
    found = simulate(BUSY, pair=quick)
    assert parse_tournament(tournament_to_json(found)) == replace(
        found,
        rounds=tuple(replace(r, byes=tuple(sorted(r.byes, key=lambda bye: bye.entrant))) for r in found.rounds),
    )
    assert (len(found.entrants), len(found.rounds), found.next) == (40, 6, None)
    results = {board.result for round_ in found.rounds for board in round_.boards}
    assert results >= set(Result) - {Result.ADJOURNED}
    assert {bye.kind for round_ in found.rounds for bye in round_.byes} == set(ByeKind)


def test_nothing_but_games_happens_at_rates_of_zero() -> None:
    found = simulate(Plan(entrants=16, rounds=4), pair=quick)
    assert all(entrant.withdrawn_from is None for entrant in found.entrants)
    for round_ in found.rounds:
        assert (len(round_.boards), round_.byes) == (8, ())
        assert {board.result for board in round_.boards} <= {Result.FIRST_WIN, Result.SECOND_WIN, Result.DRAW}


def test_the_stronger_win_more_often() -> None:
    found = simulate(Plan(entrants=60, rounds=6, seed=1), pair=quick)
    seed = {entrant.number: entrant.seed or 0 for entrant in found.entrants}
    won = collections.Counter(
        (seed[board.first] > seed[board.second]) == (board.result is Result.FIRST_WIN)
        for round_ in found.rounds
        for board in round_.boards
        if board.result is not Result.DRAW and seed[board.first] != seed[board.second]
    )
    assert won[True] > won[False] * 1.5


def test_late_entrants_get_the_next_numbers_and_byes_for_the_rounds_they_missed() -> None:
    plan = Plan(entrants=30, rounds=6, seed=2, late=0.3, regulations=Regulations(late_entry=LateEntry.HALF))
    event = open_event(plan)
    on_time = len(event.entrants)
    assert on_time < 30
    found = simulate(plan, pair=quick)
    assert [entrant.number for entrant in found.entrants] == list(range(1, 31))
    last = found.entrants[-1].number
    missed = [bye.kind for round_ in found.rounds for bye in round_.byes if bye.entrant == last]
    assert missed[0] is ByeKind.HALF
    assert all(entrant in found.entrants for entrant in event.entrants), "no earlier number moves"


def test_two_are_always_on_time() -> None:
    assert len(open_event(Plan(entrants=9, rounds=4, late=1.0)).entrants) == 2


def test_adjourned_games_are_decided_after_the_next_round_and_the_last_round_has_none() -> None:
    plan = Plan(entrants=20, rounds=3, adjourned=1.0)
    event = open_event(plan)
    event = play_round(plan, event, quick(event))
    assert {board.result for board in event.rounds[0].boards} == {Result.ADJOURNED}
    event = play_round(plan, event, quick(event))
    assert Result.ADJOURNED not in {board.result for board in event.rounds[0].boards}
    event = play_round(plan, event, quick(event))
    assert Result.ADJOURNED not in {board.result for round_ in event.rounds for board in round_.boards}


def test_withdrawn_entrants_can_return_and_two_always_stay() -> None:
    plan = Plan(entrants=12, rounds=5, withdraw=1.0, returning=0.0)
    event = open_event(plan)
    event = play_round(plan, event, quick(event))
    assert sum(entrant.withdrawn_from is None for entrant in event.entrants) == 2
    back = simulate(Plan(entrants=12, rounds=5, seed=3, withdraw=0.3, returning=0.5), pair=quick)
    boards_by_round = [{n for b in r.boards for n in (b.first, b.second)} for r in back.rounds]
    assert any(
        n in boards_by_round[k + 2] and n not in boards_by_round[k + 1] and n in boards_by_round[k]
        for n in range(1, 13)
        for k in range(3)
    )


@pytest.mark.parametrize("stay_away", ["absent", "half_bye"])
def test_there_is_always_a_board_to_play(stay_away: str) -> None:
    found = simulate(Plan(entrants=9, rounds=1, **{stay_away: 1.0}), pair=quick)
    assert len(found.rounds[0].boards) == 1


def test_every_draw_along_the_way_keeps_the_rules() -> None:
    event = open_event(BUSY)
    for _ in range(BUSY.rounds):
        draw = quick(event)
        assert violations(event, draw) == []
        event = play_round(BUSY, event, draw)


def test_progress_is_told_round_by_round() -> None:
    heard: list[int] = []
    simulate(Plan(entrants=6, rounds=3), pair=quick, progress=heard.append)
    assert heard == [1, 2, 3]


@pytest.mark.parametrize(
    "wrong",
    [{"entrants": 1}, {"entrants": 20_001}, {"rounds": 0}, {"rounds": 101}, {"seed": -1}]
    + [{rate: value} for rate in RATES for value in (-0.1, 1.1, float("nan"))],
)
def test_a_plan_that_cannot_be_played_is_refused_by_name(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as caught:
        Plan(**({"entrants": 8, "rounds": 3} | wrong))
    assert [error.pointer for error in caught.value.errors] == [f"/{name}" for name in wrong]
