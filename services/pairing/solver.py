"""The solver process: `python -m services.pairing.solver`. JSON lines in, JSON lines out; no database, no network.

One request a line: `{"job": 7, "tournament": {…}, "stage": "optimal", "limits": {"max_depth": …, "max_steps": …},
"cpu_seconds": 20}`. Answers, each with the job's number: `{"type": "draw", "draw": {…}}` for every better draw, then
one of `{"type": "done"}`, `{"type": "no_legal_draw", "slug", "detail", "reason"}`, `{"type": "bad_input", …}`.

It stays warm between jobs. It lowers its own priority, caps its own memory and CPU time, and dies with its parent, so
that a worker killed with -9 leaves nothing behind that burns a core.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from collections.abc import Iterator
from typing import Any, Final

from qisai.errors import QisaiError
from qisai.kernel.draw_file import draw_to_json
from qisai.kernel.model import Limits
from qisai.kernel.pairing import improve, pair_round
from qisai.kernel.pairing.no_legal_draw import NoLegalDraw
from qisai.kernel.tournament_file import parse_tournament
from services.pairing.priority import step_back

_PR_SET_PDEATHSIG: Final = 1
PARENT_VARIABLE: Final = "QISAI_SOLVER_PARENT"
"""Pid of the worker, so that a parent who died before the death signal was set is noticed."""
MEMORY_VARIABLE: Final = "QISAI_SOLVER_MEMORY_BYTES"


def main() -> int:
    """Serves requests from standard input until it closes."""
    die_with_parent()
    limit_memory()
    step_back()
    for line in sys.stdin:
        if not line.strip():
            continue
        request = json.loads(line)
        _limit_cpu(int(request["cpu_seconds"]))
        for answer in _answers(request):
            answer["job"] = request["job"]
            sys.stdout.write(json.dumps(answer, ensure_ascii=False, separators=(",", ":")) + "\n")
            sys.stdout.flush()
    return 0


def _answers(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    limits = Limits(**request["limits"])
    try:
        tournament = parse_tournament(request["tournament"])
        if request["stage"] == "search":
            draws = iter([pair_round(tournament, stage="search", limits=limits)])
        else:
            draws = improve(tournament, limits=limits)
        for draw in draws:
            yield {"type": "draw", "draw": draw_to_json(draw)}
    except NoLegalDraw as error:
        yield {"type": "no_legal_draw", "slug": error.slug, "detail": error.detail, "reason": error.reason}
    except QisaiError as error:
        yield {"type": "bad_input", "slug": error.slug, "detail": error.detail, "reason": error.context}
    except MemoryError:
        yield {"type": "out_of_memory"}
    else:
        yield {"type": "done"}


def die_with_parent() -> None:
    """Ends this process when its parent does, also one that ended already. Linux; elsewhere closed input ends it."""
    parent = int(os.environ.get(PARENT_VARIABLE, "0"))
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent and os.getppid() != parent:
        sys.exit(0)


def limit_memory() -> None:
    """Caps the address space at what the worker allows, in bytes."""
    limit = int(os.environ.get(MEMORY_VARIABLE, "0"))
    if limit:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _limit_cpu(seconds: int) -> None:
    """The last wall: the kernel of the machine ends a solver that neither finishes nor is ended from outside."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


if __name__ == "__main__":
    sys.exit(main())
