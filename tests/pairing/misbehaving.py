"""Solvers that misbehave, as real processes: `python -m tests.pairing.misbehaving KIND`, in place of the real one.

Given to `Solver(command=…)` by tests; no setting of the product reaches this.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from qisai.kernel.draw_file import draw_to_json
from qisai.kernel.model import Source
from qisai.kernel.pairing import complete_draw, pair_round
from qisai.kernel.tournament_file import parse_tournament
from services.pairing.solver import die_with_parent, limit_memory


def say(request: dict[str, Any], answer: dict[str, Any]) -> None:
    """One answer, as the real solver writes it."""
    print(json.dumps({**answer, "job": request["job"]}), flush=True)


def main(kind: str) -> None:
    """Misbehaves for each request, under the real solver's limits."""
    die_with_parent()
    limit_memory()
    for line in sys.stdin:
        request = json.loads(line)
        tournament = parse_tournament(request["tournament"])
        if kind in ("one-draw-then-hang", "one-draw-then-crash", "rematch"):
            draw = draw_to_json(pair_round(tournament, stage="search"))
            if kind == "rematch":
                for board, past in zip(draw["boards"], request["tournament"]["rounds"][0]["boards"], strict=True):
                    board.update(first=past["first"], second=past["second"])
            say(request, {"type": "draw", "draw": draw})
        if kind == "poor-draw-then-hang":
            poor = complete_draw(tournament, [(1, 4), (2, 3)], None, source=Source.COMPUTED)
            say(request, {"type": "draw", "draw": draw_to_json(poor)})
        if kind.endswith("hang"):
            while True:
                time.sleep(1)
        if kind.endswith("crash"):
            os.abort()
        if kind == "eat-memory":
            hoard = []
            while True:
                hoard.append(bytearray(64 << 20))
        if kind == "nonsense":
            print("{ this is not JSON", flush=True)
        else:
            say(request, {"type": "done"})


if __name__ == "__main__":
    main(sys.argv[1])
