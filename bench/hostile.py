"""Hard fields: time, steps, memory, and whether the draw is proven the best."""

from __future__ import annotations

import subprocess
import sys
from time import process_time

from bench.hostile_fields import hostile_fields
from bench.memory import peak_kilobytes
from bench.report import machine, table
from qisai.kernel import pair_round


def run() -> str:
    """The table of this part; each field in a process of its own, for its memory."""
    rows = []
    for number, name in enumerate(hostile_fields()):
        command = [sys.executable, "-m", "bench.hostile", str(number)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        seconds, steps, optimal, kilobytes = float(printed[0]), int(printed[1]), printed[2] == "True", int(printed[3])
        best = "yes" if optimal else "no"
        rows.append((name, f"{seconds:.2f} s", f"{steps:,}", best, f"{kilobytes / 1024:.0f} MB"))
        print("hostile", *rows[-1], flush=True)
    return "\n\n".join(
        [
            "## Hard fields",
            f"Each in a process of its own, cold; processor time from tournament value to draw value. {machine()}.",
            table(("field", "time", "steps", "proven the best", "peak memory"), rows),
        ]
    )


def _draw_one(number: int) -> None:
    tournament = list(hostile_fields().values())[number]()
    start = process_time()
    draw = pair_round(tournament)
    print(process_time() - start, draw.budget_used.get("steps", 0), draw.optimal, peak_kilobytes())


if __name__ == "__main__":
    _draw_one(int(sys.argv[1]))
