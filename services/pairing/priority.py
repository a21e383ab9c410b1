"""Coming last: workers and solvers give way to the processes that answer people."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

NICE: Final = 10
"""About a tenth of what another process gets where they compete. Not less: the deadline of a draw is by the clock on
the wall, and a solver that gets nothing is a draw that nobody gets."""
_AUTOGROUP: Final = Path("/proc/self/autogroup")


def step_back() -> None:
    """Lowers the priority of this process, and of its session where the kernel shares the processors among sessions.

    With autogroups, the default of most distributions, `nice` counts within a session only; a solver has one of its
    own, so without the second step it would get as much as all the processes of a service together.
    """
    os.nice(max(0, NICE - os.nice(0)))
    try:
        if _AUTOGROUP.exists() and os.getsid(0) == os.getpid():
            _AUTOGROUP.write_text(str(NICE))
    except OSError:
        return  # the kernel takes few changes a second, and none in some containers: then nice alone has to do
