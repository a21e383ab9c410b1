"""Look-ahead for small fields: only draws that leave a continuation count."""

import random
import time
from dataclasses import replace
from itertools import pairwise

from qisai.kernel import NoLegalDraw, improve, pair_round, rank_of, violations
from qisai.kernel.model import FirstRound, FirstRoundMode, ForbiddenPair, LookAhead
from qisai.kernel.pairing.small_fields import pairings
from qisai.kernel.tournament_file import parse_tournament
from tests.kernel.hostile_small_fields import hostile_small_field
from tests.kernel.short_events import event, opponents, played

SYSTEM = FirstRound(mode=FirstRoundMode.SYSTEM)


def test_six_players_four_rounds_never_run_dry_with_look_ahead():
    for seed in range(40):
        rng = random.Random(seed)
        tournament = event(6, rounds=4, lot_seed=seed)
        for _ in range(4):
            draw = pair_round(tournament)
            marks = [f"{b.first}{rng.choice('><=')}{b.second}" for b in draw.boards]
            tournament = played(tournament, draw, " ".join(marks))
        assert len(tournament.rounds) == 4


def test_the_best_draw_is_kept_where_it_goes_on():
    draw = pair_round(event(4, "1=2 3=4", rounds=3))
    assert draw.look_ahead is LookAhead.KEPT
    assert draw.optimal


def test_a_cheaper_draw_that_leads_nowhere_is_passed_over():
    found = None
    for seed in range(200):
        rng = random.Random(seed)
        tournament = event(6, rounds=5, first_round=SYSTEM)
        for _ in range(2):
            draw = pair_round(event_without_rounds(tournament))
            marks = [f"{b.first}{rng.choice('><=')}{b.second}" for b in draw.boards]
            tournament = played(tournament, draw, " ".join(marks))
        draw = pair_round(tournament)
        if draw.look_ahead is LookAhead.EXCLUDED:
            found = tournament, draw
            break
    assert found is not None
    tournament, draw = found
    cheaper = pair_round(event_without_rounds(tournament))
    assert tuple(cheaper.cost.values()) < tuple(draw.cost.values())
    assert draw.optimal
    assert runs_dry(played(tournament, cheaper))
    assert not runs_dry(played(tournament, draw))


def event_without_rounds(tournament):
    return replace(tournament, regulations=replace(tournament.regulations, rounds=None))


def runs_dry(tournament):
    """Exhaustively, over all draws of all rounds to come."""
    drawn = len(tournament.rounds)
    met = {tuple(sorted((b.first, b.second))) for r in tournament.rounds for b in r.boards}
    numbers = [entrant.number for entrant in tournament.entrants]
    return not goes_on(numbers, met, tournament.regulations.rounds - drawn)


def goes_on(numbers, met, rounds):
    return rounds == 0 or any(goes_on(numbers, met | set(pairs), rounds - 1) for pairs in all_pairings(numbers, met))


def all_pairings(numbers, met):
    if not numbers:
        yield ()
        return
    one, *rest = numbers
    for other in rest:
        if (one, other) not in met:
            for pairs in all_pairings([n for n in rest if n != other], met):
                yield ((one, other), *pairs)


def test_no_look_ahead_without_rounds_in_the_last_one_or_beyond_twelve():
    assert pair_round(event(4, "1=2 3=4")).look_ahead is LookAhead.NONE
    assert pair_round(event(4, "1=2 3=4", rounds=2)).look_ahead is LookAhead.NONE
    assert pair_round(event(13, rounds=5)).look_ahead is LookAhead.NONE
    assert pair_round(event(12, rounds=5)).look_ahead is LookAhead.KEPT


def test_withdrawn_entrants_do_not_count_towards_the_twelve_and_absent_ones_do():
    gone = {13: {"withdrawn_from": 1}}
    assert pair_round(event(13, entrants=gone, rounds=5)).look_ahead is LookAhead.KEPT
    assert pair_round(event(13, absent=[13], rounds=5)).look_ahead is LookAhead.NONE


def test_where_no_draw_goes_on_the_best_one_stands():
    draw = pair_round(event(4, rounds=6))
    assert draw.look_ahead is LookAhead.NONE
    assert draw.optimal


def test_search_stage_looks_ahead_too():
    history = ("1=2 3=4 5=6",)
    draw = pair_round(event(6, *history, rounds=5), stage="search")
    assert not runs_dry(played(event(6, *history, rounds=5), draw))
    assert draw.look_ahead in (LookAhead.KEPT, LookAhead.EXCLUDED)


def test_forbidden_pairs_of_later_rounds_are_seen():
    # In round 2 only 1–4 2–3 will be legal, so round 1 must not use them.
    later = [ForbiddenPair(entrants=pair, from_round=2) for pair in ((1, 2), (3, 4), (1, 3), (2, 4))]
    draw = pair_round(event(4, rounds=2, forbidden=later))
    assert opponents(draw) != {(1, 4), (2, 3)}
    assert draw.look_ahead is LookAhead.EXCLUDED


def test_withdrawal_known_for_a_later_round_is_seen():
    # From round 2 on only 1, 2 and 3 play, one with the bye. Two of them meet in round 1, so two rounds are left.
    leaving = {4: {"withdrawn_from": 2}}
    assert pair_round(event(4, rounds=3, entrants=leaving)).look_ahead is LookAhead.KEPT
    assert pair_round(event(4, rounds=4, entrants=leaving)).look_ahead is LookAhead.NONE
    # Three rounds of 1 to 4 need all six pairs, and round 1 takes one of them.
    assert pair_round(event(5, rounds=4, entrants={5: {"withdrawn_from": 2}})).look_ahead is LookAhead.NONE
    assert pair_round(event(5, rounds=4)).look_ahead is LookAhead.KEPT


def test_full_fields_of_twelve_are_decided_fast():
    slowest = 0.0
    for seed in range(12):
        rng = random.Random(seed)
        tournament = event(12, rounds=11, lot_seed=seed)
        for _ in range(11):
            start = time.perf_counter()
            draw = pair_round(tournament)
            slowest = max(slowest, time.perf_counter() - start)
            marks = [f"{b.first}{rng.choice('><=')}{b.second}" for b in draw.boards]
            tournament = played(tournament, draw, " ".join(marks))
        assert len(tournament.rounds) == 11
    assert slowest < 2


def test_all_pairings_of_a_complete_field_are_met_once():
    everybody = [0b111111 & ~(1 << v) for v in range(6)]
    found = {tuple(sorted(pairs)) for pairs in pairings(0b111111, everybody)}
    assert len(found) == len(list(pairings(0b111111, everybody))) == 15


def test_improve_gives_its_first_draw_before_looking_ahead_and_then_only_better_ones():
    kinds = set()
    for seed in range(60):
        tournament = parse_tournament(hostile_small_field(random.Random(seed), smallest=6))
        try:
            draws = list(improve(tournament))
        except NoLegalDraw:
            continue
        assert all(violations(tournament, draw) == [] for draw in draws)
        if len(draws) > 1 and draws[0].look_ahead is LookAhead.OPEN:
            kinds.add(draws[1].look_ahead)
            assert not draws[0].optimal
            assert not draws[0].proven
        assert all(draw.look_ahead is not LookAhead.OPEN for draw in draws[1:])
        ranks = [rank_of(draw) for draw in draws]
        assert ranks == sorted(ranks, reverse=True)
        assert all(one != other for one, other in pairwise(draws))
        assert draws[-1] == pair_round(tournament) or draws[-1].cost == pair_round(tournament).cost
    assert kinds == {LookAhead.NONE, LookAhead.KEPT, LookAhead.EXCLUDED}


def test_a_dearer_draw_that_goes_on_ranks_before_a_cheaper_one_not_known_to():
    later = [ForbiddenPair(entrants=pair, from_round=2) for pair in ((1, 2), (3, 4), (1, 3), (2, 4))]
    first, best = list(improve(event(4, rounds=2, forbidden=later)))
    assert (first.look_ahead, best.look_ahead) == (LookAhead.OPEN, LookAhead.EXCLUDED)
    assert tuple(first.cost.values()) < tuple(best.cost.values())
    assert rank_of(best) < rank_of(first)
