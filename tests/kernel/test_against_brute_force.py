"""The kernel against the judge, which tries every legal draw: same draw, same sides and boards, same whole cost.

`QISAI_BRUTE_FORCE_FIELDS` sets how many random fields are compared (1,500 where not set) and
`QISAI_BRUTE_FORCE_SEED` the first seed, so that more and other fields can be run: each seed is one field.
"""

import os
import random
from collections import Counter

import pytest

from qisai.kernel.pairing.edit import drawing_of
from qisai.kernel.pairing.small_fields import draws_best_first
from qisai.kernel.tournament_file import parse_tournament
from tests.kernel.agreement import disagreement, report
from tests.kernel.oracle import Draw, best_draw, read
from tests.kernel.oracle.best import best_first
from tests.kernel.oracle.sides import outside
from tests.kernel.random_tournaments import random_tournament, tight_tournament

CHUNKS = 15
FIELDS = int(os.environ.get("QISAI_BRUTE_FORCE_FIELDS", "1500"))
FIRST_SEED = int(os.environ.get("QISAI_BRUTE_FORCE_SEED", "0"))


@pytest.mark.timeout(0 if FIELDS > 1500 else 120)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_kernel_agrees_with_brute_force_on_random_fields(chunk):
    for seed in range(FIRST_SEED + chunk, FIRST_SEED + FIELDS, CHUNKS):
        tournament = random_tournament(random.Random(seed))
        if disagreement(tournament) is not None:
            pytest.fail(f"field {seed}: {report(tournament)}")


@pytest.mark.parametrize("chunk", range(3))
def test_kernel_agrees_with_brute_force_where_the_planned_rounds_hardly_fit(chunk):
    for seed in range(FIRST_SEED + chunk, FIRST_SEED + FIELDS // 5, 3):
        tournament = tight_tournament(random.Random(seed))
        if disagreement(tournament) is not None:
            pytest.fail(f"tight field {seed}: {report(tournament)}")


def test_all_draws_of_a_small_field_come_in_the_order_of_the_judge():
    for seed in range(150):
        tournament = random_tournament(random.Random(seed), largest=8)
        drawing = drawing_of(parse_tournament(tournament))
        number = drawing.field.number
        found = [
            Draw(
                tuple(sorted(tuple(sorted((number[i], number[j]))) for i, j in pairs)),
                None if bye is None else number[bye],
            )
            for pairs, bye in draws_best_first(drawing.view, drawing.system)
        ]
        if drawing.field.regulations.allow_bye or not drawing.field.odd:
            assert found == [draw for _, equal in best_first(read(tournament)) for draw in equal], seed


def leaders_beyond_limits(event, draw):
    """Whether the draw has a pair that only the exception for leaders in the last round keeps from being a breach."""
    top = max(event.score(number) for number in event.present)
    leaders = [pair for pair in draw.pairs if event.score(pair[0]) == event.score(pair[1]) == top]
    return (
        event.has_side_criteria
        and event.is_last_round
        and any(outside(event, a, b) and outside(event, b, a) for a, b in leaders)
    )


def test_the_random_fields_reach_every_part_of_the_rules():
    seen: Counter[str] = Counter()
    for seed in range(400):
        event = read(random_tournament(random.Random(seed)))
        answer = best_draw(event)
        seen["no legal draw"] += answer is None
        if answer is not None:
            seen.update(name for name, value in answer.cost.items() if value > 0)
            seen[f"look-ahead {answer.look_ahead}"] += 1
            seen["leaders beyond the limits in the last round"] += leaders_beyond_limits(event, answer.draws[0])
            seen["fixed board"] += any("fixed_board" in event.entrants[number] for number in event.present)
    rare = {"club_pairs": 1, "look-ahead excluded": 1, "leaders beyond the limits in the last round": 1}
    expected = {
        *("bye_score", "bye_unplayed", "side_breaches", "leaders_apart", "max_gap", "gap_squares", "cross_pairs"),
        *("strong_clashes", "side_clashes", "float_history", "repeat_floats", "float_places", "float_lots"),
        *("order", "pair_lots", "club_pairs", "no legal draw", "fixed board"),
        "leaders beyond the limits in the last round",
        *("look-ahead none", "look-ahead kept", "look-ahead excluded"),
    }
    assert {name for name in expected if seen[name] < rare.get(name, 5)} == set()
