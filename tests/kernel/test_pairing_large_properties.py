"""Fields too large for brute force: the judge still knows what a draw costs, what is legal, and what a swap wins."""

import random
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qisai.errors import QisaiError
from qisai.kernel import pair_round
from qisai.kernel.draw_file import draw_to_json, parse_draw
from qisai.kernel.scoring import pairing_scores
from qisai.kernel.tournament_file import parse_tournament
from qisai.kernel.verification import verify_draw
from tests.kernel.oracle import Draw, breaches, cost, cross_cap, has_legal_draw, read, seated_boards
from tests.kernel.oracle.criteria import bye_terms, pair_terms, stage_a_names
from tests.kernel.oracle.legality import bye_candidates, may_meet
from tests.kernel.random_tournaments import random_tournament, tournaments

SOME = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
LARGER = tournaments(smallest=13, largest=40)
RESULTS = ["first_win", "second_win", "draw", "first_forfeit", "second_forfeit", "double_forfeit", "adjourned", "void"]


def drawn(tournament):
    """The draw as JSON, or None where the kernel refuses."""
    try:
        return draw_to_json(pair_round(parse_tournament(tournament)))
    except QisaiError:
        return None


def opponents(drawing):
    pairs = [tuple(sorted((board["first"], board["second"]))) for board in drawing["boards"]]
    return Draw(tuple(sorted(pairs)), drawing["bye"])


def neighbours(event, draw):
    """All legal draws that differ from this one by two pairs exchanging partners, or by a pair and the bye doing so."""
    for one, other in combinations(draw.pairs, 2):
        rest = [pair for pair in draw.pairs if pair not in (one, other)]
        (a, b), (c, d) = one, other
        for new in (((a, c), (b, d)), ((a, d), (b, c))):
            if all(may_meet(event, *pair) for pair in new):
                yield Draw(tuple(sorted([*rest, *(tuple(sorted(pair)) for pair in new)])), draw.bye)
    for pair in draw.pairs if draw.bye is not None else ():
        rest = [kept for kept in draw.pairs if kept != pair]
        for freed, stays in (pair, pair[::-1]):
            if freed in bye_candidates(event) and may_meet(event, stays, draw.bye):
                yield Draw(tuple(sorted([*rest, tuple(sorted((stays, draw.bye)))])), freed)


class Judge:
    """Whole tuples of many draws of one field: what a pair adds is worked out once."""

    def __init__(self, event):
        self.event = event
        self.names = stage_a_names(event)
        self.terms = {}

    def stage_a(self, draw):
        parts = [self.of(bye_terms, draw.bye)] if draw.bye is not None else []
        parts += [self.of(pair_terms, pair) for pair in draw.pairs]
        return tuple(
            (max if name == "max_gap" else sum)(part[at] for part in parts) for at, name in enumerate(self.names)
        )

    def of(self, terms, who):
        if who not in self.terms:
            values = terms(self.event, who)
            self.terms[who] = [values[name] for name in self.names]
        return self.terms[who]

    def is_better(self, draw, than):
        mine, other = self.stage_a(draw), self.stage_a(than)
        if mine != other:
            return mine < other
        return tuple(cost(self.event, draw).values()) < tuple(cost(self.event, than).values())


@SOME
@given(LARGER)
def test_the_judge_agrees_on_cost_sides_boards_and_on_whether_there_is_a_draw(tournament):
    event, drawing = read(tournament), drawn(tournament)
    if drawing is None:
        assert not has_legal_draw(event)
        return
    draw = opponents(drawing)
    assert breaches(event, drawing) == []
    assert drawing["cost"] == cost(event, draw)
    assert drawing["boards"] == seated_boards(event, draw)
    assert drawing["cross_cap"] == cross_cap(event, draw)
    assert drawing["optimal"]
    assert drawing["look_ahead"] == "none" or len(event.not_withdrawn) <= 12


@settings(SOME, max_examples=25)
@given(LARGER)
def test_no_exchange_of_two_partners_makes_a_better_draw(tournament):
    event, drawing = read(tournament), drawn(tournament)
    if drawing is None or drawing["look_ahead"] != "none":
        return
    draw, judge = opponents(drawing), Judge(event)
    assert [other for other in neighbours(event, draw) if judge.is_better(other, than=draw)] == []


@pytest.mark.parametrize("seed", range(4))
def test_the_judge_sees_that_a_draw_with_two_partners_exchanged_is_worse(seed):
    """The test above can fail: what it looks for is found in draws that are not the best."""
    tournament = random_tournament(random.Random(seed), smallest=20, largest=30, rounds=3)
    event = read(tournament)
    best, judge = opponents(drawn(tournament)), Judge(event)
    worse = [other for other in neighbours(event, best) if judge.is_better(best, than=other)]
    assert worse
    assert all(any(judge.is_better(back, than=other) for back in neighbours(event, other)) for other in worse[:20])


@SOME
@given(LARGER)
def test_a_stored_draw_is_verified_and_reproduced(tournament):
    drawing = drawn(tournament)
    if drawing is not None:
        found = verify_draw(parse_tournament(tournament), parse_draw(drawing))
        assert found.holds
        assert found.reproduced


@SOME
@given(LARGER, st.data())
def test_a_corrected_result_moves_what_a_recomputation_from_the_file_says(tournament, data):
    rounds = [past for past in tournament["rounds"] if past["boards"]]
    if not rounds:
        return
    board = data.draw(st.sampled_from(data.draw(st.sampled_from(rounds))["boards"]))
    board["result"] = data.draw(st.sampled_from(RESULTS))
    event = read(tournament)
    scores = pairing_scores(parse_tournament(tournament))
    assert {number: event.score(number) for number in event.entrants} == dict(scores)
    drawing = drawn(tournament)
    if drawing is not None:
        assert breaches(event, drawing) == []
        assert drawing["cost"] == cost(event, opponents(drawing))


@SOME
@given(LARGER, st.data())
def test_more_forbidden_pairs_never_improve_the_draw(tournament, data):
    tournament["regulations"]["rounds"] = None
    before = drawn(tournament)
    numbers = [entrant["number"] for entrant in tournament["entrants"]]
    pairs = data.draw(st.lists(st.lists(st.sampled_from(numbers), min_size=2, max_size=2, unique=True), max_size=6))
    if before is not None and before["boards"]:
        hit = data.draw(st.sampled_from(before["boards"]))
        pairs.append([hit["first"], hit["second"]])
    known = {frozenset(ban["entrants"]) for ban in tournament["forbidden_pairs"]}
    added = {frozenset(pair): pair for pair in pairs if frozenset(pair) not in known}
    tournament["forbidden_pairs"] += [{"entrants": pair} for pair in added.values()]
    after = drawn(tournament)
    if before is None:
        assert after is None
    elif after is not None:
        assert tuple(after["cost"].values()) >= tuple(before["cost"].values())
