"""The forecast before round 1: what it calls safe never runs dry, what it calls impossible always does."""

import random
from dataclasses import replace

import pytest

from qisai.kernel import NoLegalDraw, forecast, pair_round
from qisai.kernel.model import ForbiddenPair
from qisai.kernel.pairing.forecast import Ground, Outlook
from tests.kernel.short_events import event, played


@pytest.mark.parametrize(
    ("size", "rounds", "outlook"),
    [
        (8, 4, Outlook.SAFE),
        (8, 5, Outlook.MAY_RUN_DRY),
        (8, 7, Outlook.MAY_RUN_DRY),
        (8, 8, Outlook.IMPOSSIBLE),
        (7, 4, Outlook.SAFE),
        (7, 7, Outlook.MAY_RUN_DRY),
        (7, 8, Outlook.IMPOSSIBLE),
        (64, 7, Outlook.SAFE),
        (2, 1, Outlook.SAFE),
        (1, 1, Outlook.SAFE),
    ],
)
def test_without_restrictions_half_the_field_is_safe(size, rounds, outlook):
    assert forecast(event(size, rounds=rounds)).outlook is outlook


def test_eight_players_seven_rounds_are_warned_and_offered_a_round_robin():
    answer = forecast(event(8, rounds=7))
    assert (answer.safe_rounds, answer.first_doubtful, answer.round_robin, answer.look_ahead) == (4, 5, 7, True)
    assert forecast(event(40, rounds=30)).round_robin is None
    assert not forecast(event(40, rounds=30)).look_ahead


def test_without_planned_rounds_the_safe_number_is_told():
    answer = forecast(event(10))
    assert (answer.outlook, answer.ground, answer.safe_rounds) == (Outlook.SAFE, Ground.NO_ROUNDS, 5)


def family(*numbers, **rounds):
    return [ForbiddenPair(entrants=(a, b), **rounds) for a in numbers for b in numbers if a < b]


def test_a_small_family_in_a_large_field_changes_nothing():
    assert forecast(event(40, rounds=7, forbidden=family(1, 2, 3, 4, 5))).outlook is Outlook.SAFE


def test_forbidden_pairs_alone_can_block_a_round():
    answer = forecast(event(6, rounds=3, forbidden=family(1, 2, 3, 4, from_round=2)))
    assert (answer.outlook, answer.ground, answer.first_doubtful) == (Outlook.IMPOSSIBLE, Ground.ROUND_BLOCKED, 2)


def test_who_lacks_partners_is_named():
    bans = [ForbiddenPair(entrants=(1, other)) for other in range(2, 7)]
    answer = forecast(event(8, rounds=3, forbidden=bans))
    assert (answer.outlook, answer.ground, answer.short) == (Outlook.IMPOSSIBLE, Ground.TOO_MANY_ROUNDS, (1,))
    many = [ForbiddenPair(entrants=(1, other)) for other in range(2, 13)]
    doubtful = forecast(event(20, rounds=8, forbidden=many))
    assert doubtful.outlook is Outlook.MAY_RUN_DRY
    assert doubtful.short == (1,)


def test_a_small_field_without_any_course_is_impossible():
    # Two camps of three that may not mix: inside a camp nobody can be paired off.
    bans = [ForbiddenPair(entrants=(a, b), from_round=3) for a in (1, 2, 3) for b in (4, 5, 6)]
    assert forecast(event(6, rounds=3, forbidden=bans)).ground is Ground.ROUND_BLOCKED
    # 1–2 and 3–4 may only meet in the same rounds as everything else runs out: tried to the end.
    tight = [ForbiddenPair(entrants=(a, b)) for a, b in ((1, 2), (3, 4), (1, 3))]
    answer = forecast(event(6, rounds=4, forbidden=tight))
    assert answer.outlook is Outlook.IMPOSSIBLE


def test_safe_is_never_broken_and_impossible_never_played():
    rng = random.Random(3)
    seen = set()
    for _ in range(250):
        size, rounds = rng.randint(3, 13), rng.randint(1, 6)
        pairs = [(a, b) for a in range(1, size + 1) for b in range(a + 1, size + 1)]
        bans = [ForbiddenPair(entrants=pair) for pair in rng.sample(pairs, rng.randint(0, size // 2))]
        tournament = event(size, rounds=rounds, forbidden=bans)
        outlook = forecast(tournament).outlook
        seen.add(outlook)
        ended = play_anyhow(tournament, rounds, rng)
        assert not (outlook is Outlook.SAFE and ended < rounds), (size, rounds, bans)
        assert not (outlook is Outlook.IMPOSSIBLE and ended == rounds), (size, rounds, bans)
    assert seen == set(Outlook)


def play_anyhow(tournament, rounds, rng):
    """Rounds reached when every round is drawn without look-ahead, over random results."""
    blind = replace(tournament, regulations=replace(tournament.regulations, rounds=None))
    for done in range(rounds):
        try:
            draw = pair_round(blind, stage=rng.choice(["search", "optimal"]))
        except NoLegalDraw:
            return done
        marks = [f"{board.first}{rng.choice('><=')}{board.second}" for board in draw.boards]
        blind = played(blind, draw, " ".join(marks))
    return rounds
