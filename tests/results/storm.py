"""One referee among many in a process of its own: writes results as fast as it can, often on an old version.

Run as `python -m tests.results.storm` with its orders as JSON in the first argument. Says "ready" and waits for a line,
so that all begin at once; prints what came of each write.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from qisai.db.session import Database
from qisai.errors import QisaiError
from qisai.kernel.model import Result
from qisai.ledger.actor import Actor
from services.results.operations.results import Rights, StaleResult, Wanted, log_refused_write, record_result

RESULTS = (Result.FIRST_WIN, Result.SECOND_WIN, Result.DRAW, Result.VOID, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """Whom to be and what to write on. `is_correcting`: a chief referee's writes, into closed rounds too."""

    url: str
    name: str
    seed: int
    writes: int
    boards: list[int]
    is_chief: bool
    is_correcting: bool


@dataclass(slots=True, kw_only=True)
class Report:
    """`accepted`: [board, version, result]; `repeated`: writes sent again, answered as before; `refused` by slug."""

    accepted: list[list[Any]] = field(default_factory=list)
    repeated: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    stale: int = 0


class Storm:
    """One referee."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._random = random.Random(orders.seed)
        self._database = Database(orders.url, application="storm", pool_size=1)
        self._actor = Actor(account_id=orders.seed, name=orders.name, device=f"device-{orders.seed}")
        self._rights = Rights(is_chief=orders.is_chief, may_enter=lambda _number: True)
        self._seen = dict.fromkeys(orders.boards, 1)
        self._tried = 0
        self.report = Report()

    def run(self) -> None:
        """All writes; every tenth accepted one is sent again, as after a lost answer. A closed round is tried again."""
        while self._tried < self._orders.writes:
            board = self._random.choice(self._orders.boards)
            wanted = Wanted(result=self._random.choice(RESULTS), reason="复核" if self._orders.is_chief else "")
            seen = self._seen[board]
            if not self._write(board, seen, wanted):
                continue
            if self._random.random() < 0.1:
                self._write(board, seen, wanted, again=True)
        self._database.close()

    def _write(self, board: int, seen: int, wanted: Wanted, *, again: bool = False) -> bool:
        self._tried += 1
        try:
            with self._database.transaction() as session:
                row = record_result(
                    session,
                    self._actor,
                    board_id=board,
                    seen_version=seen,
                    wanted=wanted,
                    rights=self._rights,
                    correcting=self._orders.is_correcting,
                )
        except StaleResult as error:
            with self._database.transaction() as session:
                log_refused_write(session, self._actor, error.refused)
            self._seen[board] = error.refused.present_version
            self.report.stale += 1
            return False
        except QisaiError as error:
            self.report.refused[error.slug] = self.report.refused.get(error.slug, 0) + 1
            if error.slug == "round-closed":
                self._tried -= 1
                time.sleep(0.02)
            return False
        self._seen[board] = row.version
        if again:
            self.report.repeated += 1
        else:
            result = None if wanted.result is None else wanted.result.value
            self.report.accepted.append([board, row.version, result])
        return True


def said(output: bytes) -> Report:
    """The report of a process by what it printed."""
    return Report(**json.loads(output))


def arguments(orders: Orders) -> Iterator[str]:
    """The command line of a process with these orders."""
    yield from (sys.executable, "-m", "tests.results.storm", json.dumps(asdict(orders)))


if __name__ == "__main__":
    storm = Storm(Orders(**json.loads(sys.argv[1])))
    print("ready", flush=True)
    sys.stdin.readline()
    storm.run()
    print(json.dumps(asdict(storm.report)))
