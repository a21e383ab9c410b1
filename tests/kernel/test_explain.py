"""Why this pair: reasons as data, each true when tried."""

import json

import pytest

from qisai.errors import NotFound
from qisai.kernel import complete_draw, explain, pair_round
from qisai.kernel.model import FirstRound, FirstRoundMode, ForbiddenPair, LookAhead, Source
from qisai.kernel.pairing.what_if import Why
from qisai.kernel.sides import SideRule
from tests.kernel.short_events import event, opponents, played

SYSTEM = FirstRound(mode=FirstRoundMode.SYSTEM)


def reasons(tournament, number, draw=None, **options):
    explanation = explain(tournament, draw or pair_round(tournament), number, **options)
    json.dumps(explanation.as_data())
    return explanation, {better.number: better for better in explanation.better}


def test_the_ideal_partner_has_nothing_ruled_out():
    explanation, better = reasons(event(4, first_round=SYSTEM), 1)
    assert (explanation.opponent, explanation.ideal, better) == (2, 2, {})
    assert explanation.board == 1


def test_met_names_the_round():
    explanation, better = reasons(event(4, "1=2 3=4"), 1)
    assert explanation.ideal == 2
    assert (better[2].why, better[2].round) == (Why.MET, 1)


def test_forbidden_is_told_apart_from_met():
    tournament = event(4, forbidden=[ForbiddenPair(entrants=(1, 2))], first_round=SYSTEM)
    _, better = reasons(tournament, 1)
    assert better[2].why is Why.FORBIDDEN
    assert better[2].round is None


def test_side_limit():
    # 1 and 3 were first twice, 5 and 6 have met nobody of them and had one game on each side.
    tournament = event(8, "1=2 3=4 5=6 7=8", "1=4 3=2 6=7 8=5")
    draw = pair_round(tournament)
    _, better = reasons(tournament, 1, draw)
    assert better[3].why is Why.SIDE_LIMIT
    assert better[3].partner not in (None, 1)


@pytest.mark.parametrize("results", ["1=5 2>6 3<7 4=8", "1>5 2>6 3>7 4<8", "5>1 2=6 7>3 4=8"])
def test_costs_more_is_true_when_the_pair_is_forced(results):
    tournament = event(8, results, "6=1 5>2 8<3 7>4")
    draw = pair_round(tournament)
    checked = 0
    for number in range(1, 9):
        explanation, better = reasons(tournament, number, draw, worked_out=8)
        for other, reason in better.items():
            if reason.why is Why.COSTS_MORE:
                checked += 1
                cheapest = min(costs_with(tournament, {number, other}))
                at = list(draw.cost).index(reason.criterion)
                assert cheapest[:at] == tuple(draw.cost.values())[:at]
                assert (draw.cost[reason.criterion], cheapest[at]) == (reason.value, reason.otherwise)
        assert explanation.better_count == len(better)
    assert checked > 2


def costs_with(tournament, pair):
    """Costs of every legal draw that has the pair."""
    met = {frozenset((b.first, b.second)) for r in tournament.rounds for b in r.boards}

    def pairings(numbers):
        if not numbers:
            yield []
            return
        one, *rest = numbers
        for other in rest:
            if frozenset((one, other)) not in met:
                yield from ([(one, other), *more] for more in pairings([n for n in rest if n != other]))

    for pairs in pairings([entrant.number for entrant in tournament.entrants]):
        if any(set(one) == pair for one in pairs):
            yield tuple(complete_draw(tournament, pairs, None, source=Source.MANUAL).cost.values())


def test_no_draw_left_where_the_others_could_not_be_paired():
    # After two rounds 1–4 2–3 are the only legal pairs; let 1 prefer 2, whom it may meet, but 3 and 4 have met.
    tournament = event(4, "1=3 2=4", "1A 2A 3=4", first_round=SYSTEM)
    draw = pair_round(tournament)
    assert opponents(draw) == {(1, 4), (2, 3)}
    _, better = reasons(tournament, 2, draw)
    assert all(reason.why in (Why.NO_DRAW_LEFT, Why.MET) for reason in better.values())


def test_needed_elsewhere_without_working_out():
    tournament = event(8, "1=5 2=6 3=7 4=8", "6>1 5>2 8>3 7>4")
    draw = pair_round(tournament)
    for number in range(1, 9):
        for reason in reasons(tournament, number, draw, worked_out=0)[1].values():
            assert reason.why in (Why.MET, Why.SIDE_LIMIT, Why.NEEDED_ELSEWHERE)
            assert reason.criterion is None


def test_a_draw_by_hand_that_misses_a_better_one_says_so():
    tournament = event(4, first_round=SYSTEM)
    by_hand = complete_draw(tournament, [(1, 4), (2, 3)], None, source=Source.MANUAL)
    _, better = reasons(tournament, 1, by_hand)
    assert better[2].why is Why.NOTHING


def test_a_draw_passed_over_by_look_ahead_is_told():
    later = [ForbiddenPair(entrants=pair, from_round=2) for pair in ((1, 3), (2, 4), (1, 4), (2, 3))]
    tournament = event(4, rounds=2, forbidden=later, first_round=SYSTEM)
    draw = pair_round(tournament)
    assert draw.look_ahead is LookAhead.EXCLUDED
    _, better = reasons(tournament, 1, draw)
    assert better[2].why is Why.LEADS_NOWHERE


def test_float_says_direction_gap_and_what_staying_would_cost():
    tournament = event(6, "1>2 3>4 5>6")
    draw = pair_round(tournament)
    assert (2, 5) in opponents(draw)
    down, _ = reasons(tournament, 5, draw)
    assert (down.floated.direction, down.floated.gap) == ("down", 2)
    assert (down.floated.why, down.floated.criterion) == (Why.COSTS_MORE, "float_places")
    up, _ = reasons(tournament, 2, draw)
    assert up.floated.direction == "up"
    assert reasons(tournament, 1, draw)[0].floated is None


def test_bye_says_why_it_was_this_one():
    tournament = event(5, "1>2 3>4 5U")
    draw = pair_round(tournament)
    explanation, _ = reasons(tournament, draw.bye, draw)
    assert explanation.opponent is None
    assert explanation.side is None
    assert (explanation.bye.had, explanation.bye.eligible) == (0, 4)
    assert explanation.bye.why is Why.COSTS_MORE
    assert explanation.better_count == 4


def test_bye_of_the_only_one_eligible():
    tournament = event(3, "1=2 3U", "1=3 2U")
    explanation, _ = reasons(tournament, 1)
    assert explanation.bye.why is Why.ONLY_ONE_ELIGIBLE


def test_sides_name_the_rule_and_a_turned_board_is_by_hand():
    tournament = event(4, "1=2 3=4")
    draw = pair_round(tournament)
    explanation, _ = reasons(tournament, 1, draw)
    assert explanation.side.rule in SideRule
    assert explanation.side.sides == (1,)
    pairs = [(board.first, board.second) for board in draw.boards]
    turned = complete_draw(tournament, pairs, None, source=Source.EDITED, kept_sides=[(b, a) for a, b in pairs])
    by_hand, _ = reasons(tournament, 1, turned)
    assert by_hand.side.rule is SideRule.BY_HAND
    assert by_hand.side.side != explanation.side.side


def test_everybody_in_a_draw_can_be_explained():
    tournament = event(9)
    for _ in range(3):
        draw = pair_round(tournament)
        for number in range(1, 10):
            explanation, _ = reasons(tournament, number, draw)
            assert (explanation.bye is None) == (explanation.opponent is not None)
        tournament = played(tournament, draw)


def test_somebody_without_a_place_is_refused():
    tournament = event(5, absent=[5])
    draw = pair_round(tournament)
    for number in (5, 77):
        with pytest.raises(NotFound, match=f"entrant {number} has no place"):
            explain(tournament, draw, number)


def test_a_draw_for_another_pool_is_explained_without_costs():
    draw = pair_round(event(5, first_round=SYSTEM))
    smaller = event(5, absent=[5], first_round=SYSTEM)
    by_hand, better = reasons(smaller, 1, draw)
    assert by_hand.opponent == 2
    assert better == {}
