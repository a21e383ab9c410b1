"""The operations page: the queue, its workers, breakers, alerts and services, with a chart of the last hours."""

from __future__ import annotations

from dataclasses import dataclass

from flask import Blueprint, redirect, render_template, request, url_for
from flask_babel import gettext as _
from werkzeug.wrappers import Response

from qisai.client import QueueView
from qisai.client.operations import ServiceHealth
from qisai.web.rights import Right, requires
from services.gateway.health import all_services
from services.gateway.pages import operation_words
from services.gateway.pages.site import client, for_those_who, telling
from services.gateway.parts import parts

pages = Blueprint("operations_pages", __name__)

WIDTH, HEIGHT = 600, 80
HOURS = (1, 6, 24)


@dataclass(frozen=True, slots=True)
class Bar:
    """One step of the chart, in its units: finished and failed stand on each other, from the bottom; what waited at the
    end of the step is a line over them."""

    x: float
    width: float
    finished: float
    failed: float
    waiting: float
    label: str


@pages.get("/queue")
@requires(Right.PUBLIC)
def queue() -> str:
    """What waits, what runs, what went wrong."""
    for_those_who(Right.OPERATE)
    asking = client().operations
    hours = request.args.get("hours", type=int)
    found = asking.queue(hours=hours if hours in HOURS else 1)
    services = [ServiceHealth.from_json(health.json()) for health in all_services(parts())]
    return render_template(
        "queue.html",
        queue=found,
        bars=bars(found),
        chart=(WIDTH, HEIGHT),
        hours=hours if hours in HOURS else 1,
        choices=HOURS,
        saying=operation_words,
        workers=asking.workers(),
        breakers=asking.breakers(),
        alerts=asking.alerts(),
        services=services,
    )


@pages.post("/queue/alerts/<int:alert_id>")
@requires(Right.PUBLIC)
def acknowledge(alert_id: int) -> Response:
    """Notes who has seen an alert."""
    with telling(_("Noted.")):
        client().operations.acknowledge(alert_id)
    return redirect(url_for("operations_pages.queue"), code=303)


@pages.post("/queue/jobs/<int:job_id>")
@requires(Right.PUBLIC)
def cancel(job_id: int) -> Response:
    """Cancels a job."""
    with telling(_("The job is cancelled.")):
        client().operations.cancel_job(job_id)
    return redirect(url_for("operations_pages.queue"), code=303)


@pages.post("/queue/breakers")
@requires(Right.PUBLIC)
def reset() -> Response:
    """Closes an event's breaker."""
    with telling(_("The breaker is reset.")):
        client().operations.reset_breaker(request.form.get("event", type=int) or 0)
    return redirect(url_for("operations_pages.queue"), code=303)


def bars(queue: QueueView) -> list[Bar]:
    """The last hours, scaled to the busiest step."""
    most = max((max(row["finished"] + row["failed"], row["waiting"]) for row in queue.history), default=0) or 1
    width = WIDTH / max(len(queue.history), 1)
    return [
        Bar(
            x=round(position * width, 1),
            width=round(width * 0.8, 1),
            finished=round(HEIGHT * row["finished"] / most, 1),
            failed=round(HEIGHT * row["failed"] / most, 1),
            waiting=round(HEIGHT * row["waiting"] / most, 1),
            label=_(
                "%(time)s UTC: %(finished)s finished, %(failed)s failed, %(waiting)s waiting",
                time=str(row["minute"])[11:16],
                finished=row["finished"],
                failed=row["failed"],
                waiting=row["waiting"],
            ),
        )
        for position, row in enumerate(queue.history)
    ]
