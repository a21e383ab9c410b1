"""What those who operate read: alerts, breakers, jobs under way and what to do, in the page's language."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from flask_babel import gettext as _
from flask_babel import lazy_gettext as __
from flask_babel import ngettext

from qisai.client.draws import Job
from qisai.client.operations import Alert
from services.gateway.pages import wording

ALERTS: Final = {
    "draw-degraded": (
        __("A draw must be read and accepted first"),
        __("The chief referee decides; nothing to do here."),
    ),
    "draw-failed": (__("A draw failed"), __("The reason says what to change; else the round is paired by hand.")),
    "breaker-open": (
        __("Draws of this event take too long: quick draws only"),
        __("Allow more time when asking for the draw, or reset the breaker below once the cause is gone."),
    ),
    "worker-of-other-release": (
        __("No worker has the algorithm of this event"),
        __("Keep one worker of the release that began the event until it is over."),
    ),
    "queue-stuck": (__("Draws wait and none is finished"), __("Look at the workers below; restart them.")),
    "no-live-worker": (
        __("No pairing worker is alive"),
        __("Start the workers; what waits begins by itself. Until then rounds can be paired by hand."),
    ),
    "broker-away": (
        __("Redis does not answer"),
        __("Bring it back, also empty; what waits begins by itself. Nothing has to be asked for again."),
    ),
    "keeper-late": (
        __("No keeper is at work"),
        __("Restart the keeper. Draws are still made, but lost messages and jobs of dead workers wait for it."),
    ),
    "canary-late": (
        __("The test draw did not come back"),
        __("Look at the workers below; restart the one that takes nothing."),
    ),
}
BREAKERS: Final = {
    "closed": __("at rest"),
    "open": __("open: quick draws only"),
    "half_open": __("trying one draw in full"),
}
QUEUES: Final = {"pairing.small": __("small fields"), "pairing.large": __("large fields")}
STAGES: Final = {"search": __("quick search"), "optimal": __("looking for the best")}


def alert_title(alert: Alert) -> str:
    """What an alert is about."""
    title, _advice = ALERTS.get(alert.kind, (alert.kind, ""))
    return str(title)


def alert_advice(alert: Alert) -> str:
    """What to do about it."""
    _title, advice = ALERTS.get(alert.kind, ("", ""))
    return str(advice)


def alert_reason(alert: Alert) -> str:
    """What the alert knows beyond its kind."""
    detail = alert.detail
    if detail.get("detail"):
        return str(detail["detail"])
    if "oldest_seconds" in detail:
        waits = str(_("The oldest waits for %(time)s.", time=duration(detail["oldest_seconds"])))
        return " · ".join(filter(None, (str(QUEUES.get(detail.get("queue", ""), "")), waits)))
    if detail.get("state") == "half_open":
        return str(BREAKERS["half_open"])
    if "needs" in detail:
        return str(_("Needed: %(name)s", name=detail["needs"]))
    return ""


def progress(job: Job, *, sides: bool = True, with_time: bool = True) -> str:
    """How far a running job is. `sides`: whether its event shows any; `with_time`: how long the solver has run."""
    said = job.progress
    if not said:
        return ""
    parts = [str(STAGES.get(said.get("stage", ""), ""))]
    if with_time:
        parts.append(duration((said.get("elapsed_ms") or 0) / 1000))
    if said.get("best"):
        parts.append(_("best so far: %(cost)s", cost=wording.in_short(said["best"], sides=sides)))
    return " · ".join(part for part in parts if part)


def took(job: Job) -> str:
    """From the request to the end, or until now."""
    if job.requested_at is None:
        return ""
    return duration(((job.finished_at or datetime.now(UTC)) - job.requested_at).total_seconds())


def duration(seconds: float) -> str:
    """A time span as people say it."""
    if seconds < 120:
        number = f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.1f}"
        return str(_("%(number)s s", number=number))
    if seconds < 7200:
        return str(ngettext("%(num)d minute", "%(num)d minutes", round(seconds / 60)))
    return str(ngettext("%(num)d hour", "%(num)d hours", round(seconds / 3600)))


def load(value: float | None) -> str:
    """The machine's load for each core, in percent."""
    return "" if value is None else f"{100 * value:.0f} %"


def queues(names: Any) -> str:
    """Which fields a worker takes."""
    return str(_("small fields only") if tuple(names) == ("pairing.small",) else _("all fields"))
