"""The real solver, or one that misbehaves, as a file says: `python -m tests.faults.steered_solver FOLDER`.

`FOLDER/behaviour` holds one word, read anew for each request; the keeper's canary is left alone. `FOLDER/held-<job>`
appears, with the pid in it, when a request has come. No setting of the product reaches this: only the worker of the
tests (`tests.faults.steered_worker`) starts it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from qisai.kernel.draw_file import draw_to_json
from qisai.kernel.pairing import pair_round
from qisai.kernel.tournament_file import parse_tournament
from services.pairing import solver
from services.pairing.priority import step_back

CANARY = 8
"""Entrants of the keeper's canary; tests have fields of other sizes."""
EATEN = 4 << 30


def main(folder: Path) -> int:
    """Serves requests as the real solver does."""
    solver.die_with_parent()
    solver.limit_memory()
    step_back()
    for line in sys.stdin:
        request = json.loads(line)
        if len(request["tournament"]["entrants"]) != CANARY:
            (folder / f"held-{request['job']}.new").write_text(str(os.getpid()))
            (folder / f"held-{request['job']}.new").rename(folder / f"held-{request['job']}")
            try:
                misbehave(folder, request)
            except MemoryError:  # told as the real solver tells it
                say(request, {"type": "out_of_memory"})
                continue
        for answer in solver._answers(request):
            say(request, answer)
    return 0


def say(request: dict[str, Any], answer: dict[str, Any]) -> None:
    """One answer, as the real solver writes it."""
    print(json.dumps({**answer, "job": request["job"]}), flush=True)


def behaviour(folder: Path) -> str:
    """The word of the moment."""
    return (folder / "behaviour").read_text().strip()


def misbehave(folder: Path, request: dict[str, Any]) -> None:
    """Does what the file says before the request is answered; returns if that is not for ever."""
    while behaviour(folder) == "hold":
        time.sleep(0.02)
    kind = behaviour(folder)
    if kind == "slow":
        time.sleep(0.5)
    if kind in ("draw-then-hang", "draw-then-crash", "rematch"):
        draw = draw_to_json(pair_round(parse_tournament(request["tournament"]), stage="search"))
        if kind == "rematch":
            past = request["tournament"]["rounds"][0]["boards"]
            for board, met in zip(draw["boards"], past, strict=True):
                board.update(first=met["first"], second=met["second"])
        say(request, {"type": "draw", "draw": draw})
    if kind.endswith("hang"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # nor does it listen to anybody
        while True:
            sum(range(10_000))
    if kind.endswith("crash"):
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind == "rematch":
        while True:
            time.sleep(1)
    if kind == "eat-memory":
        hoard: list[bytearray] = []
        while sum(map(len, hoard)) < EATEN:
            hoard.append(bytearray(64 << 20))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
