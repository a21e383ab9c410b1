"""Each reason that `explain` gives, against the judge, which tries all legal draws with the choice not taken."""

import random
from collections import Counter

from qisai.errors import QisaiError
from qisai.kernel import complete_draw, explain, pair_round
from qisai.kernel.model import Source
from qisai.kernel.pairing.what_if import Why
from qisai.kernel.tournament_file import parse_tournament
from tests.kernel.oracle import cost, legal_draws, read
from tests.kernel.oracle.look_ahead import Continuation
from tests.kernel.random_tournaments import random_tournament, tight_tournament


class Judge:
    """One tournament, one draw of it, and all legal draws by their tuples."""

    def __init__(self, tournament, draw):
        self.event = read(tournament)
        self.cost = draw.cost
        self.draws = {drawn: cost(self.event, drawn) for drawn in legal_draws(self.event)}

    def is_true(self, reason, fits):
        """Whether the reason is what stands against every draw that `fits`."""
        others = {drawn: values for drawn, values in self.draws.items() if fits(drawn)}
        if reason.why is Why.NO_DRAW_LEFT:
            return not others
        if not others:
            return reason.why is Why.SIDE_LIMIT and reason.criterion is None
        least = min(others.values(), key=lambda values: tuple(values.values()))
        worse_at = next((name for name in self.cost if least[name] != self.cost[name]), None)
        if reason.why is Why.COSTS_MORE:
            return (reason.criterion, reason.value, reason.otherwise) == (
                worse_at,
                self.cost[worse_at],
                least[worse_at],
            ) and reason.otherwise > reason.value
        if reason.why is Why.SIDE_LIMIT:
            return worse_at == "side_breaches" and least[worse_at] > self.cost[worse_at]
        if reason.why is Why.LEADS_NOWHERE:
            cheaper = [drawn for drawn, values in others.items() if tuple(values.values()) < tuple(self.cost.values())]
            going_on = Continuation(self.event)
            return bool(cheaper) and not any(going_on.exists_after(drawn) for drawn in cheaper)
        assert reason.why is Why.NOTHING, reason
        return tuple(least.values()) <= tuple(self.cost.values())


def judged(tournament, draw, *, best):
    """How often each reason came; every one of them is true."""
    seen = Counter()
    judge = Judge(tournament, draw)
    event = judge.event
    for number in event.present:
        told = explain(parse_tournament(tournament), draw, number, worked_out=3)
        for reason in told.better:
            pair = tuple(sorted((number, reason.number)))
            seen[reason.why, reason.criterion] += 1
            if reason.why is Why.MET:
                assert pair in event.met
            elif reason.why is Why.FORBIDDEN:
                assert event.is_forbidden(pair, event.round)
                assert pair not in event.met
            elif reason.why is not Why.NEEDED_ELSEWHERE:
                assert judge.is_true(reason, lambda drawn, pair=pair: pair in drawn.pairs), (number, reason)
            assert not (best and reason.why is Why.NOTHING)
        if told.floated:
            seen[told.floated.why, "float"] += 1
            stays = {other for other in event.present if event.score(other) == event.score(number)}
            assert judge.is_true(
                told.floated,
                lambda drawn, who=number, stays=stays: any(who in p and set(p) <= stays for p in drawn.pairs),
            ), (number, told.floated)
        if told.bye:
            seen[told.bye.why, "bye"] += 1
            if told.bye.why is Why.ONLY_ONE_ELIGIBLE:
                assert {drawn.bye for drawn in judge.draws} == {number}
            else:
                assert judge.is_true(told.bye, lambda drawn, who=number: drawn.bye != who), (number, told.bye)
    return seen


def test_every_reason_of_the_best_draw_is_what_decides():
    seen = Counter()
    for seed in range(120):
        tournament = (tight_tournament if seed % 4 == 0 else random_tournament)(random.Random(seed), largest=8)
        try:
            draw = pair_round(parse_tournament(tournament))
        except QisaiError:
            continue
        seen += judged(tournament, draw, best=True)
    reasons = Counter(why for why, _ in seen.elements())
    assert {*Why} - set(reasons) <= {Why.NOTHING, Why.NOT_WORKED_OUT}
    assert {name for why, name in seen if why is Why.COSTS_MORE} > {"float", "bye", "max_gap", "side_clashes", "order"}


def test_every_reason_of_a_draw_that_is_not_the_best_is_true():
    seen = Counter()
    for seed in range(1000, 1030):
        tournament = random_tournament(random.Random(seed), largest=8)
        drawn = list(legal_draws(read(tournament)))
        if not drawn:
            continue
        pairs, bye = random.Random(seed).choice(drawn)
        draw = complete_draw(parse_tournament(tournament), pairs, bye, source=Source.MANUAL)
        seen += judged(tournament, draw, best=False)
    assert sum(count for (why, _), count in seen.items() if why is Why.NOTHING) > 20


def test_under_score_names_the_gap_where_the_gap_decides():
    """Side limits stand behind the gaps there: either is named where it is what decides."""
    named = Counter()
    for seed in range(240):
        tournament = random_tournament(random.Random(seed), largest=8)
        tournament["regulations"] |= {"system": "score_group", "side_priority": "under_score", "first_move": True}
        try:
            draw = pair_round(parse_tournament(tournament))
        except QisaiError:
            continue
        if draw.cost["side_breaches"] or seed % 4 == 0:
            named += judged(tournament, draw, best=True)
    assert any(why is Why.SIDE_LIMIT for why, _ in named)
    assert any(name in ("max_gap", "gap_squares", "cross_pairs") for why, name in named if why is Why.COSTS_MORE)
