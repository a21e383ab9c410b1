"""Peak memory of one draw in a process of its own: `python -m bench.memory ENTRANTS ROUNDS_PLAYED` prints kilobytes."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from bench.fields import swiss_field
from qisai.kernel import pair_round


def peak_kilobytes() -> int:
    """Peak resident memory of this process since its program started.

    `ru_maxrss` also remembers the process it was forked from, so Linux's own figure for the program comes first.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    pair_round(swiss_field(int(sys.argv[1]), rounds_played=int(sys.argv[2])))
    print(peak_kilobytes())
