"""`verify_draw`: what it believes of a stored draw. What it finds wrong is in the tests of `qisai verify`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.fields import swiss_field
from qisai.kernel import improve, pair_round, verify_draw
from qisai.kernel.model import Limits, LookAhead, Stage

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
