"""Faults mixed under load, then what must hold: `make chaos` (`python -m bench.chaos --help`).

Events are played by chief referees while a seeded hand kills, stops, cuts, empties and restarts everything. At the end
everything works again, the events at hand are played out, and the invariants are checked: no committed result lost, no
round, board, entrant or job twice, every job ended, every log complete, every alert with a cause at its time, nothing
to be asked again for want of Redis alone. Ends with 1 if not.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
import time
from collections import Counter

import sqlalchemy as sa

from bench.chaos_checks import CHECKS
from bench.chaos_faults import Breaker
from bench.chaos_load import Acknowledged, Driver
from tests.faults.stage import BOTH, SMALL, Stage, raised
from tests.servers import comes_true

SETTINGS = {
    "QISAI_LOG_LEVEL": "warning",
    "QISAI_PAIRING_LEASE_SECONDS": "3",
    "QISAI_CANARY_SECONDS": "5",
    "QISAI_PAIRING_MAX_ATTEMPTS": "5",
    "QISAI_BREAKER_PAUSE_SECONDS": "5",
}


def campaign(stage: Stage, *, seed: int, seconds: float, drivers: int, away: float) -> list[str]:
    """One campaign on a running installation; what was found wrong."""
    rng = random.Random(seed)
    done, calm, over = Acknowledged(), threading.Event(), threading.Event()
    crowd = [Driver(stage, done, seed=rng.getrandbits(30), stopping=over) for _ in range(drivers)]
    hand = Breaker(stage, rng, calm)
    stage.add_keeper().start()
    if not comes_true(stage.is_whole, seconds=120):
        return [f"it did not start: {sorted(stage.open_alerts())}"]
    with stage.owner() as session:
        session.execute(sa.text("DELETE FROM alert"))  # of the start, which is no fault
    for driver in crowd:
        driver.start()
    threading.Timer(seconds, calm.set).start()
    if away:
        hand.once(f"broker away for {away:.0f} s", away)
    hand.run()
    over.set()
    stage.steer("normal")
    for part in (*stage.workers, *stage.keepers):
        part.start()
    for driver in crowd:
        driver.join(timeout=300)
        if driver.is_alive():
            done.trouble(f"{driver.name} does not come to an end")
    if not comes_true(stage.is_whole, seconds=60):
        done.trouble(f"not whole again: {sorted(stage.open_alerts())}")
    print(f"\nfaults: {_listed(Counter(fault.name for fault in hand.done))}\nload: {_listed(done.counts)}")
    wrong = list(done.troubles)
    for check in CHECKS:
        found = list(check(stage, done, hand.done))
        print(f"{'FAILED' if found else 'ok':>6} {check.__name__.replace('_', ' ')}")
        wrong += [f"{check.__name__}: {text}" for text in found]
    return wrong


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def main(arguments: list[str] | None = None) -> int:
    """Command line; 1 if anything was found wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.chaos", description="mix faults under load, check invariants"
    )
    parser.add_argument("--seed", type=int, default=int(time.time()), help="chooses faults, fields and results")
    parser.add_argument("--minutes", type=float, default=4, help="how long faults are done")
    parser.add_argument("--drivers", type=int, default=8, help="events played at a time")
    parser.add_argument("--away", type=float, default=60, help="first Redis is away for so many seconds; 0: not")
    options = parser.parse_args(arguments)
    print(f"seed {options.seed}", flush=True)
    with raised(workers=(SMALL, BOTH), environment=SETTINGS) as stage:
        seconds = options.minutes * 60
        wrong = campaign(stage, seed=options.seed, seconds=seconds, drivers=options.drivers, away=options.away)
        for text in wrong:
            print(f"WRONG: {text}")
        if wrong:
            for part in (*stage.workers, *stage.keepers):
                print(f"--- {part.name}\n{part.log.read_text(errors='replace')[-3000:]}")
    print(f"{len(wrong)} found wrong; the same again: python -m bench.chaos --seed {options.seed}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
