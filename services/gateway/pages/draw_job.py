"""The job behind a round's draw as the chief referee's page tells it: how far it is, or why it ended and what to do."""

from __future__ import annotations

from flask_babel import gettext as _

from qisai.client import Drawing, Job


def worth_telling(drawing: Drawing) -> Job | None:
    """The round's latest job, where it runs, or ended otherwise than well and no draw of the round came later."""
    job = drawing.job
    if job is None or job.state == "succeeded":
        return None
    latest = drawing.draws[0] if drawing.draws else None
    if job.is_active or latest is None:
        return job
    if job.has_draw:
        return job if latest.number == job.draw_no and latest.state == "draft" else None
    came_later = latest.created_at is not None and job.finished_at is not None and latest.created_at > job.finished_at
    return None if came_later else job


def what_to_do(job: Job) -> str:
    """The way on after a job that ended without a draw; the draft of a degraded one says itself what it needs."""
    if job.has_draw:
        return ""
    if job.outcome.get("slug") == "no-legal-draw":
        return str(
            _("Asking again finds the same until something of this has changed. The round can be paired by hand below.")
        )
    if job.state == "failed":
        return str(_("You can ask again, or pair this round by hand below."))
    return str(_("You can ask again."))
