"""The kernel against the judge, which tries every legal draw: same draw, same sides and boards, same whole cost.

`QISAI_BRUTE_FORCE_FIELDS` sets how many random fields are compared (1,500 where not set) and
`QISAI_BRUTE_FORCE_SEED` the first seed, so that more and other fields can be run: each seed is one field.
"""

import os
import random
from collections import Counter

import pytest

from tests.kernel.agreement import disagreement, report
from tests.kernel.oracle import best_draw, read
from tests.kernel.random_tournaments import random_tournament

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


def test_the_random_fields_reach_every_part_of_the_rules():
    seen: Counter[str] = Counter()
    for seed in range(600):
        event = read(random_tournament(random.Random(seed)))
        answer = best_draw(event)
        seen["no legal draw"] += answer is None
        if answer is not None:
            seen.update(name for name, value in answer.cost.items() if value > 0)
            seen[f"look-ahead {answer.look_ahead}"] += 1
            seen["fixed board"] += any("fixed_board" in event.entrants[number] for number in event.present)
    rare = {"club_pairs": 1, "look-ahead excluded": 1}
    expected = {
        *("bye_score", "bye_unplayed", "side_breaches", "leaders_apart", "max_gap", "gap_squares", "cross_pairs"),
        *("strong_clashes", "side_clashes", "float_history", "repeat_floats", "float_places", "float_lots"),
        *("order", "pair_lots", "club_pairs", "no legal draw", "fixed board"),
        *("look-ahead none", "look-ahead kept", "look-ahead excluded"),
    }
    assert {name for name in expected if seen[name] < rare.get(name, 5)} == set()
