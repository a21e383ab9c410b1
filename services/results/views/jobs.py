"""Pairing jobs: read one, cancel it."""

from __future__ import annotations

from flask import Response, request
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.web.identity import current_caller
from qisai.web.requests import Answer, version_tag
from qisai.web.rights import Right, requires
from services.results import draw_answers
from services.results.operations import draw_requests
from services.results.process import here
from services.results.queries import jobs as queries
from services.results.schemas import JobPath

api = APIBlueprint("jobs", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="jobs")])


@api.get("/jobs/<int:job_id>")
@requires(Right.READ_JOB, event_of=queries.EVENT_OF_JOB)
def get_job(path: JobPath) -> Response:
    """State, progress and outcome of a job."""
    with here().database.transaction() as session:
        return _answer(session, path.job_id)


@api.delete("/jobs/<int:job_id>")
@requires(Right.PAIR, event_of=queries.EVENT_OF_JOB)
def cancel_job(path: JobPath) -> Response:
    """Cancels a job that has not ended."""
    with here().database.transaction() as session:
        draw_requests.cancel_job(session, current_caller().actor, job_id=path.job_id)
        return _answer(session, path.job_id)


def _answer(session: Session, job_id: int) -> Response:
    row = queries.job(session, job_id)
    return Answer(body=draw_answers.job(row, request.accept_languages), headers=version_tag(row.version)).response()
