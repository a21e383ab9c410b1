"""`verify_draw`: what it believes of a stored draw. What it finds wrong is in the tests of `qisai verify`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.fields import swiss_field
from qisai.kernel import complete_draw, improve, pair_round, verify_draw
from qisai.kernel.model import FirstRound, FirstRoundMode, ForbiddenPair, Limits, LookAhead, Source, Stage
from tests.kernel.short_events import event

FIELD = swiss_field(60, rounds_played=4)


def test_every_draw_on_the_way_to_the_best_one_holds():
    drawn = list(improve(FIELD))
    found = [verify_draw(FIELD, draw) for draw in drawn]
    assert all(one.holds for one in found)
    assert (found[0].reproduced, found[-1].reproduced) == (True, True)


def test_a_draw_cut_short_need_not_be_reproduced_but_must_keep_rules_and_cost():
    field = swiss_field(60, rounds_played=6)
    cut = next(draw for draw in improve(field) if draw.stage is Stage.OPTIMAL)
    assert not cut.optimal
    found = verify_draw(field, cut)
    assert (found.reproduced, found.holds) == (None, True)
    wrong = replace(cut, cost={**cut.cost, "order": cut.cost["order"] + 1})
    assert not verify_draw(field, wrong).holds


@pytest.mark.parametrize("claim", [{"proven": ()}, {"look_ahead": LookAhead.KEPT}, {"relaxed": ("sides",)}])
def test_a_claim_that_is_not_true_is_found(claim):
    best = pair_round(FIELD)
    assert verify_draw(FIELD, best).holds
    assert not verify_draw(FIELD, replace(best, **claim)).holds


def test_a_search_is_reproduced_with_its_own_limits():
    field = swiss_field(60, rounds_played=6)
    tight = Limits(max_depth=0, max_steps=1)
    first = pair_round(field, stage=Stage.SEARCH, limits=tight)
    assert verify_draw(field, first, limits=tight).holds
    assert verify_draw(field, first).reproduced is False


OTHERS = [Source.EDITED, Source.REUSED, Source.MANUAL]


@pytest.mark.parametrize("source", OTHERS)
def test_a_draw_that_is_not_the_best_may_not_call_itself_so_whoever_made_it(source):
    best = pair_round(FIELD)
    pairs = [(board.first, board.second) for board in best.boards]
    (a, b), (c, d) = pairs[-2:]
    worse = complete_draw(FIELD, [*pairs[:-2], (a, d), (c, b)], best.bye, source=source)
    assert worse.cost != best.cost
    assert verify_draw(FIELD, worse).holds
    forged = verify_draw(FIELD, replace(worse, optimal=True, proven=tuple(best.cost)))
    assert (forged.false_claims, forged.holds) == (("optimal", "proven"), False)
    assert verify_draw(FIELD, replace(worse, proven=("order",))).false_claims == ("proven",)
    assert verify_draw(FIELD, replace(worse, proven=("beauty",))).false_claims == ("proven",)
    assert verify_draw(FIELD, replace(worse, look_ahead=LookAhead.KEPT)).false_claims == ("look_ahead",)


@pytest.mark.parametrize("source", OTHERS)
def test_the_best_draw_may_say_so_whoever_made_it(source):
    assert verify_draw(FIELD, replace(pair_round(FIELD), source=source)).holds


def test_a_draw_cut_short_may_not_call_proven_what_is_not():
    field = swiss_field(60, rounds_played=6)
    search = pair_round(field, stage=Stage.SEARCH)
    best = pair_round(field)
    differs = next(name for name in best.cost if best.cost[name] != search.cost[name])
    cut = replace(search, stage=Stage.OPTIMAL)
    assert verify_draw(field, cut).holds
    assert verify_draw(field, replace(cut, proven=(differs,))).false_claims == ("proven",)


def test_a_draw_that_runs_dry_may_not_say_that_it_goes_on():
    later = [ForbiddenPair(entrants=pair, from_round=2) for pair in ((1, 3), (2, 4), (1, 4), (2, 3))]
    small = event(4, rounds=2, forbidden=later, first_round=FirstRound(mode=FirstRoundMode.SYSTEM))
    best = pair_round(small)
    assert best.look_ahead is LookAhead.EXCLUDED
    dry = complete_draw(small, [(1, 2), (3, 4)], None, source=Source.MANUAL)
    assert verify_draw(small, dry).holds
    assert verify_draw(small, replace(dry, look_ahead=LookAhead.KEPT)).false_claims == ("look_ahead",)
    assert verify_draw(small, replace(best, source=Source.EDITED)).holds
    kept = replace(best, source=Source.EDITED, look_ahead=LookAhead.KEPT)
    assert verify_draw(small, kept).false_claims == ("look_ahead",)


def test_every_draw_on_the_way_holds_where_look_ahead_is_due():
    small = event(6, "1=2 3=4 5=6", "1=3 2=5 4=6", rounds=5)
    drawn = list(improve(small))
    assert drawn[0].look_ahead is LookAhead.OPEN
    assert all(verify_draw(small, draw).holds for draw in drawn)
    assert not verify_draw(small, replace(drawn[0], optimal=True)).holds
