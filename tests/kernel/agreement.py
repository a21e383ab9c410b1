"""The kernel and the judge asked about the same tournament: where they differ, in words."""

from __future__ import annotations

import json
from typing import Any

from qisai.errors import QisaiError
from qisai.kernel import pair_round
from qisai.kernel.draw_file import draw_to_json
from qisai.kernel.tournament_file import parse_tournament
from tests.kernel.oracle import Answer, Draw, Event, best_draw, breaches, cross_cap, read, seated_boards
from tests.kernel.shrink import smallest_failing

Json = dict[str, Any]


def disagreement(tournament: Json) -> str | None:
    """None where both say the same: the draw with sides and boards, bye, whole cost, look-ahead; or no legal draw."""
    event = read(tournament)
    answer = best_draw(event)
    parsed = parse_tournament(tournament)
    try:
        drawn = draw_to_json(pair_round(parsed))
    except QisaiError as refused:
        if answer is not None:
            return f"refused ({refused.slug}), but {answer.draws[0]} is legal"
        byes_are_off = len(event.present) % 2 == 1 and not event.regulations["allow_bye"]
        if refused.slug != "no-legal-draw" and not byes_are_off:
            return f"refused with {refused.slug} where no draw is legal"
        return None
    if answer is None:
        return f"drew {_pairs(drawn)} where no draw is legal: {breaches(event, drawn)}"
    return _difference(event, answer, drawn)


def report(tournament: Json) -> str:
    """The disagreement over the smallest form of this tournament, with the tournament itself."""
    small = smallest_failing(tournament, lambda candidate: disagreement(candidate) is not None)
    return f"{disagreement(small)}\n{json.dumps(small)}"


def _difference(event: Event, answer: Answer, drawn: Json) -> str | None:
    pairs = _pairs(drawn)
    facts = {
        "breaches": (breaches(event, drawn), []),
        "cost": (list(drawn["cost"].items()), list(answer.cost.items())),
        "best draw": (pairs in answer.draws, True),
        "boards": (drawn["boards"], seated_boards(event, pairs)),
        "cross_cap": (drawn["cross_cap"], cross_cap(event, pairs)),
        "look_ahead": (drawn["look_ahead"], answer.look_ahead),
        "optimal": (drawn["optimal"], True),
        "proven": (drawn["proven"], list(answer.cost)),
        "relaxed": (drawn["relaxed"], []),
        "stage": (drawn["stage"], "first_round" if event.round == 1 else "optimal"),
    }
    differing = [f"{name}: kernel {got}, judge {want}" for name, (got, want) in facts.items() if got != want]
    if not differing:
        return None
    return f"kernel drew {pairs}, judge {answer.draws}; " + "; ".join(differing)


def _pairs(drawn: Json) -> Draw:
    pairs = [tuple(sorted((board["first"], board["second"]))) for board in drawn["boards"]]
    return Draw(tuple(sorted(pairs)), drawn["bye"])
