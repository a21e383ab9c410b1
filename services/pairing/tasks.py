"""Celery tasks: a few lines each. The message names a job; the row says everything else."""

from __future__ import annotations

from qisai import telemetry
from qisai.queue.names import TASK_PAIR
from services.pairing.app import app, bench, is_stopping
from services.pairing.operations import serve


@app.task(name=TASK_PAIR)  # type: ignore[untyped-decorator]
def pair(job_id: int, request_id: str) -> None:
    """Works because a message came, sent for job `job_id` on behalf of request `request_id`."""
    token = telemetry.request_id.set(request_id)
    try:
        here = bench()
        serve(here.database, here.solver, nudged=job_id, terms=here.terms, is_stopping=is_stopping)
    finally:
        telemetry.request_id.reset(token)
