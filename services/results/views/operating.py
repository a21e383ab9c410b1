"""What ops see and may do: the queue, jobs, workers, breakers, alerts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Response, request
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.db.jobs import BreakerRow
from qisai.web.identity import current_caller
from qisai.web.requests import Answer, encode_cursor
from qisai.web.rights import Right, requires
from services.results import alert_answers, answers, draw_answers
from services.results.answers import moment
from services.results.cursors import id_before
from services.results.operations import draw_requests
from services.results.operations import operating as operations
from services.results.process import here
from services.results.queries import jobs as jobs_queries
from services.results.queries import operating as queries
from services.results.schemas import AlertPath, AlertsQuery, EventPath, JobPath, JobsQuery, QueueQuery

api = APIBlueprint("operating", __name__, url_prefix="/api/v1/ops", abp_tags=[Tag(name="ops")])
_RECENT = 20
_SHOWN = 100


@api.get("/queue")
@requires(Right.OPERATE)
def get_queue(query: QueueQuery) -> Response:
    """Depth and age, jobs by state, jobs under way, in trouble and latest, the last hours in 60 steps, keepers."""
    with here().database.snapshot() as session:
        found = queries.queue(session, hours=query.hours)
        active = _jobs(session, jobs_queries.active(session, limit=_SHOWN))
        in_trouble = _jobs(session, jobs_queries.in_trouble(session, hours=query.hours, limit=_SHOWN))
        recent = _jobs(session, jobs_queries.jobs(session, limit=_RECENT))
        keepers = queries.keepers(session)
    history = [
        {"minute": moment(row.minute), "finished": row.finished, "failed": row.failed, "waiting": row.waiting}
        for row in found.history
    ]
    body = {
        "depth": found.depth,
        "oldest_due_seconds": found.oldest_due_seconds,
        "by_state": found.by_state,
        "active": active,
        "in_trouble": in_trouble,
        "recent": recent,
        "history": history,
        "keepers": [_keeper(row) for row in keepers],
        "keeper_is_late": not any(row.leads for row in keepers),
    }
    return Answer(body=body).response()


@api.get("/jobs")
@requires(Right.OPERATE)
def list_jobs(query: JobsQuery) -> Response:
    """Jobs, latest first."""
    with here().database.transaction() as session:
        rows = jobs_queries.jobs(
            session,
            state=query.state,
            event_id=query.event_id,
            before_id=id_before(query.cursor),
            limit=query.limit + 1,
        )
        items = _jobs(session, rows)
    return _page(items, limit=query.limit)


@api.post("/jobs/<int:job_id>/cancel")
@requires(Right.OPERATE)
def cancel_job(path: JobPath) -> Response:
    """Cancels a job of any event that has not ended."""
    with here().database.transaction() as session:
        draw_requests.cancel_job(session, current_caller().actor, job_id=path.job_id)
        (body,) = _jobs(session, [jobs_queries.job(session, path.job_id)])
        return Answer(body=body).response()


@api.get("/workers")
@requires(Right.OPERATE)
def list_workers() -> Response:
    """Pairing workers, when each was last seen, and whether it is alive by that."""
    with here().database.transaction() as session:
        rows = queries.workers(session, lease_seconds=here().lease_seconds)
    items = [
        {
            "name": row.name,
            "host": row.host,
            "pid": row.pid,
            "release": row.release,
            "algorithms": row.algorithms,
            "queues": row.queues,
            "started_at": moment(row.started_at),
            "seen_at": moment(row.seen_at),
            "seen_seconds_ago": round(float(row.age), 1),
            "is_alive": row.is_alive,
            "job_id": row.job_id,
            "load": None if row.load is None else round(row.load, 2),
        }
        for row in rows
    ]
    return Answer(body=answers.page(items)).response()


@api.get("/breakers")
@requires(Right.OPERATE)
def list_breakers() -> Response:
    """Circuit breakers by event."""
    with here().database.transaction() as session:
        rows = queries.breakers(session)
        names = queries.event_names(session, (row.event_id for row in rows))
        items = [{**_breaker(row), "event_name": names.get(row.event_id)} for row in rows]
    return Answer(body=answers.page(items)).response()


@api.post("/breakers/<int:event_id>/reset")
@requires(Right.OPERATE)
def reset_breaker(path: EventPath) -> Response:
    """Closes an event's breaker."""
    with here().database.transaction() as session:
        row = operations.reset_breaker(session, current_caller().actor, event_id=path.event_id)
        return Answer(body=_breaker(row)).response()


@api.get("/alerts")
@requires(Right.OPERATE)
def list_alerts(query: AlertsQuery) -> Response:
    """Alerts, latest first."""
    with here().database.transaction() as session:
        rows = queries.alerts(
            session,
            only_open=query.open,
            severity=query.severity,
            before_id=id_before(query.cursor),
            limit=query.limit + 1,
        )
        names = queries.event_names(session, (row.event_id for row in rows))
        items = alert_answers.alerts(rows, names, request.accept_languages)
    return _page(items, limit=query.limit)


@api.post("/alerts/<int:alert_id>/acknowledge")
@requires(Right.OPERATE)
def acknowledge_alert(path: AlertPath) -> Response:
    """Notes who has seen an alert; who was first stays."""
    with here().database.transaction() as session:
        row = operations.acknowledge(session, current_caller().actor, alert_id=path.alert_id)
        return Answer(body=alert_answers.alert(row, request.accept_languages)).response()


def _jobs(session: Session, rows: Sequence[Any]) -> list[dict[str, Any]]:
    names = queries.event_names(session, (row.event_id for row in rows))
    languages = request.accept_languages
    return [{**draw_answers.job(row, languages), "event_name": names.get(row.event_id)} for row in rows]


def _page(items: list[dict[str, Any]], *, limit: int) -> Response:
    shown = items[:limit]
    following = encode_cursor([shown[-1]["id"]]) if len(items) > limit else None
    return Answer(body=answers.page(shown, after=following)).response()


def _keeper(row: Any) -> dict[str, Any]:
    return {
        "name": row.name,
        "host": row.host,
        "pid": row.pid,
        "release": row.release,
        "is_leading": row.is_leading,
        "started_at": moment(row.started_at),
        "seen_at": moment(row.seen_at),
        "seen_seconds_ago": round(float(row.age), 1),
    }


def _breaker(row: BreakerRow) -> dict[str, Any]:
    return {
        "event_id": row.event_id,
        "state": row.state.value,
        "timeouts": row.timeouts,
        "opened_at": moment(row.opened_at),
        "trial_job_id": row.trial_job_id,
        "version": row.version,
        "updated_at": moment(row.updated_at),
    }
