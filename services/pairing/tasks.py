"""Celery tasks: a few lines each. The message names a job; the row says everything else."""

from __future__ import annotations

from qisai import telemetry
from qisai.queue.names import TASK_PAIR
from services.pairing.app import app, bench
from services.pairing.operations import work


@app.task(name=TASK_PAIR)  # type: ignore[untyped-decorator]
def pair(job_id: int, request_id: str) -> None:
    """Pairs the round that job `job_id` asks for, on behalf of request `request_id`."""
    token = telemetry.request_id.set(request_id)
    try:
        here = bench()
        work(here.database, here.solver, job_id=job_id, terms=here.terms)
    finally:
        telemetry.request_id.reset(token)
