"""Names of tasks and queues, as constants: what a message says is one of these."""

from __future__ import annotations

from typing import Final

TASK_PAIR: Final = "qisai.pair"
"""Argument: the job's id and the request id. The job row says the rest."""

QUEUE_SMALL: Final = "pairing.small"
QUEUE_LARGE: Final = "pairing.large"
QUEUES: Final = (QUEUE_SMALL, QUEUE_LARGE)

SMALL_FIELD: Final = 600
"""Largest field, in entrants, whose draw goes to the small queue."""


def queue_for(entrants: int) -> str:
    """Queue of a field of this size."""
    return QUEUE_SMALL if entrants <= SMALL_FIELD else QUEUE_LARGE
