"""How a worker works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qisai.kernel.model import ALGORITHM
from qisai.queue.names import QUEUES
from services.pairing import breaker


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a worker works: its name, its lease in seconds, attempts a job gets, deadline in milliseconds by default, the
    queues it takes jobs of, the algorithms it has."""

    worker: str
    lease_seconds: int
    max_attempts: int
    deadline_ms: int
    queues: Sequence[str] = QUEUES
    algorithms: Sequence[str] = (ALGORITHM,)
    breaker_pause_seconds: int = breaker.PAUSE_SECONDS
