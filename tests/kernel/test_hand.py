"""Drawing by hand: whatever is changed, everybody has one place at most, and every broken rule is accounted for."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from qisai.errors import Invalid
from qisai.kernel.check import Breach, violations
from qisai.kernel.draw_file import draw_to_json, parse_draw
from qisai.kernel.model import Source, Tournament
from qisai.kernel.outcomes import over_the_board
from qisai.kernel.pairing import complete_draw, pair_round
from qisai.kernel.pairing.field import present_entrants
from qisai.kernel.pairing.hand import REASONED, Edit, Edited, EditKind, edit_draw, left_over, manual_draw, unreasoned
from qisai.kernel.simulation import Plan, simulate

NEVER = {Breach.TWICE, Breach.NOT_PRESENT, Breach.BOARD_TWICE, Breach.WRONG_ROUND, Breach.EMPTY_POOL}
NOTE = {"by": "孙裁判长", "at": "2026-05-01T09:00:00Z"}


def event(seed: int) -> Tournament:
    plan = Plan(entrants=9, rounds=4, seed=seed, absent=0.05, withdraw=0.02, forfeit=0.1)
    played = simulate(plan, pair=pair_round)
    return replace(played, regulations=replace(played.regulations, rounds=None))


def one_change(dice: random.Random, numbers: list[int]) -> Edit:
    kind = dice.choice(list(EditKind))
    count = {EditKind.UNPAIR: 1, EditKind.BYE: dice.choice((0, 1))}.get(kind, 2)
    return Edit(kind=kind, entrants=tuple(dice.sample(numbers, count)), reason=dice.choice(("", "双方同意")))


def check(tournament: Tournament, edited: Edited) -> None:
    draw = edited.draw
    broken = violations(tournament, draw)
    assert tuple(broken) == edited.violations
    assert not NEVER & {one.breach for one in broken}
    pool = {entrant.number for entrant in present_entrants(tournament)}
    placed = {n for board in draw.boards for n in (board.first, board.second)} | ({draw.bye} - {None})
    assert set(left_over(broken)) == pool - placed
    assert bool(draw.cost) == (placed == pool)
    without = unreasoned(broken, draw)
    assert [one.violation for one in edited.needed] == [one for one in without if one.breach in REASONED]
    assert parse_draw(draw_to_json(draw)) == draw  # what publishing reads


@pytest.mark.parametrize("seed", range(8))
def test_any_changes_leave_everybody_at_most_one_place_and_every_breach_accounted_for(seed: int) -> None:
    dice, tournament = random.Random(seed), event(seed % 3)
    numbers = [entrant.number for entrant in present_entrants(tournament)]
    draw, made = pair_round(tournament), 0
    while made < 30:
        edits = [one_change(dice, numbers) for _ in range(dice.randint(1, 3))]
        try:
            edited = edit_draw(tournament, draw, edits, note=NOTE)
        except Invalid as refused:
            if refused.slug != "bad-edit":
                raise
            continue  # a change that makes no sense here
        made += 1
        check(tournament, edited)
        assert len(edited.draw.edits) == len(draw.edits) + len(edits)
        draw = edited.draw
    assert draw.source is Source.EDITED


def test_a_complete_draw_by_hand_costs_what_the_same_pairs_cost_anywhere() -> None:
    tournament = event(1)
    best = pair_round(tournament)
    pairs = [(board.first, board.second) for board in best.boards]
    made = manual_draw(tournament, pairs, best.bye, reason="", note=NOTE)
    assert (made.draw.cost, made.violations, made.needed) == (best.cost, (), ())
    assert made.draw.boards == best.boards
    turned = manual_draw(tournament, [(b, a) for a, b in pairs], best.bye, reason="", note=NOTE).draw
    assert [(b.first, b.second) for b in turned.boards] == [(b.second, b.first) for b in best.boards]


def test_a_reason_lasts_as_long_as_its_breach_and_covers_no_other() -> None:
    tournament = event(2)
    draw = pair_round(tournament)
    present = {entrant.number for entrant in present_entrants(tournament)}
    both = [board for board in tournament.rounds[0].boards if {board.first, board.second} <= present]
    met = next(board for board in both if over_the_board(board.result))
    rematch: dict[str, Any] = {"kind": EditKind.PAIR, "entrants": (met.first, met.second)}
    without = edit_draw(tournament, draw, [Edit(**rematch)], note=NOTE)
    assert [(one.violation.breach, one.edit) for one in without.needed if one.violation.breach is Breach.REMATCH] == [
        (Breach.REMATCH, 0)
    ]
    wanted = edit_draw(tournament, draw, [Edit(**rematch, reason="重赛")], note=NOTE)
    kept = edit_draw(tournament, wanted.draw, [Edit(kind=EditKind.SIDES, entrants=(met.second, met.first))], note=NOTE)
    for edited in (wanted, kept):
        assert Breach.REMATCH not in {one.violation.breach for one in edited.needed}


def test_sides_of_a_stale_draw_follow_the_rules_but_for_those_that_a_person_set() -> None:
    tournament = event(1)
    best = pair_round(tournament)
    first = best.boards[0]
    turned = complete_draw(
        tournament,
        [(b.first, b.second) for b in best.boards],
        best.bye,
        source=Source.EDITED,
        kept_sides=[(b.second, b.first) for b in best.boards],
    )
    turned = replace(turned, edits=({"kind": "sides", "entrants": [first.second, first.first], "reason": "", **NOTE},))
    sides = edit_draw(tournament, turned, [], note=NOTE, is_stale=True).draw.boards
    assert (sides[0].first, sides[0].second) == (first.second, first.first)
    assert sides[1:] == best.boards[1:]
