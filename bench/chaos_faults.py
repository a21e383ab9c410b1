"""The faults of the chaos campaign, chosen by a seed, each done to real processes and connections and undone again."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import redis

from tests.faults.stage import Part, Stage


@dataclass(frozen=True, slots=True)
class Fault:
    """What was done, and from when to when by this machine's clock, which is the database's too: seconds since 1970."""

    name: str
    began: float
    ended: float

    def explains(self, since: float, until: float, *, lag: float) -> bool:
        """Whether something that was so from `since` to `until` may be due to it, or to what was not yet back."""
        return self.began <= until and since <= self.ended + lag


@dataclass
class Breaker:
    """Breaks one thing after another."""

    stage: Stage
    rng: random.Random
    stopping: threading.Event
    done: list[Fault] = field(default_factory=list)

    def run(self) -> None:
        """Until told to stop: a fault, a pause of some seconds in which everything can recover, the next."""
        faults = self._faults()
        while not self.stopping.is_set():
            name = self.rng.choice(sorted(faults))
            began = time.time()
            faults[name]()
            self._note(name, began)
            self.stopping.wait(self.rng.uniform(0.5, 5))

    def once(self, name: str, seconds: float) -> None:
        """Redis away for long, as at a venue."""
        began = time.time()
        self.stage.valkey.kill()
        self.stopping.wait(seconds)
        self.stage.start_valkey()
        self._note(name, began)

    def _note(self, name: str, began: float) -> None:
        fault = Fault(name, began, time.time())
        self.done.append(fault)
        print(f"{time.strftime('%H:%M:%S')} {name} ({fault.ended - began:.1f} s)", flush=True)

    def _faults(self) -> dict[str, Callable[[], None]]:
        stage = self.stage
        return {
            "worker killed": lambda: self._restarted(self.rng.choice(stage.workers)),
            "all workers killed": self._all_workers,
            "pool process killed": self._pool_process,
            "solver killed": self._solver,
            "worker stopped": lambda: self._stopped(self.rng.choice(stage.workers)),
            "keeper killed": lambda: self._restarted(self.rng.choice(stage.keepers)),
            "keeper stopped": lambda: self._stopped(self.rng.choice(stage.keepers)),
            "broker emptied": self._emptied,
            "broker killed": self._broker_killed,
            "broker silent": lambda: self._silent(stage.to_valkey.stall, stage.to_valkey.restore),
            "connections to the database cut": lambda: self._cut(),
            "database silent": lambda: self._silent(stage.to_postgres.stall, stage.to_postgres.restore),
            "database restarted": lambda: self._database(signal.SIGINT),
            "database killed": lambda: self._database(signal.SIGQUIT),
            "solvers hang": lambda: self._steered("draw-then-hang"),
            "solvers hang at once": lambda: self._steered("hang"),
            "solvers crash": lambda: self._steered("crash"),
            "solvers are slow": lambda: self._steered("slow"),
        }

    def _restarted(self, part: Part) -> None:
        part.kill()
        time.sleep(self.rng.uniform(0, 2))
        part.start()

    def _all_workers(self) -> None:
        for worker in self.stage.workers:
            worker.kill()
        time.sleep(self.rng.uniform(1, 6))
        for worker in self.stage.workers:
            worker.start()

    def _pool_process(self) -> None:
        self._kill_one(self.rng.choice(self.stage.workers).family()[1:])

    def _solver(self) -> None:
        self._kill_one(self.rng.choice(self.stage.workers).family()[2:])

    def _kill_one(self, pids: list[int]) -> None:
        with suppress(ProcessLookupError):
            if pids:
                os.kill(self.rng.choice(pids), signal.SIGKILL)

    def _stopped(self, part: Part) -> None:
        part.send(signal.SIGSTOP)
        time.sleep(self.rng.uniform(1, 7))
        part.send(signal.SIGCONT)

    def _emptied(self) -> None:
        with suppress(redis.RedisError), self.stage.broker() as broker:
            broker.flushall()

    def _broker_killed(self) -> None:
        self.stage.valkey.kill()
        time.sleep(self.rng.uniform(0, 6))
        self.stage.start_valkey()

    def _silent(self, begin: Callable[[], None], end: Callable[[], None]) -> None:
        begin()
        time.sleep(self.rng.uniform(1, 4))
        end()

    def _cut(self) -> None:
        self.stage.to_postgres.refuse()
        time.sleep(self.rng.uniform(0, 2))
        self.stage.to_postgres.restore()

    def _database(self, number: int) -> None:
        self.stage.postgres.stop(number)
        time.sleep(self.rng.uniform(0, 2))
        self.stage.start_postgres()

    def _steered(self, behaviour: str) -> None:
        self.stage.steer(behaviour)
        time.sleep(self.rng.uniform(2, 6))
        self.stage.steer("normal")
