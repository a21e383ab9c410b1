"""The log of an event in words: what was done, to what, from which value to which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from flask_babel import gettext as _
from flask_babel import lazy_gettext as __

from qisai.client import BoardLog, BoardView, Event
from qisai.client.reading import Json, moment
from qisai.kernel.model import Result
from services.gateway.pages import draft_words, log_values, wording

KINDS: Final = {
    "result": __("results"),
    "conflict": __("refused results"),
    "audit": __("steps"),
    "transition": __("entrants' states"),
}
ACTIONS: Final = {
    "alert.acknowledge": __("alert seen"),
    "attendance.deadline": __("deadline of a round's check-in"),
    "breaker.reset": __("breaker reset"),
    "draw.accept": __("draft accepted"),
    "draw.edit": __("draft changed by hand"),
    "draw.make": __("draft made by hand"),
    "draw.publish": __("round published"),
    "draw.request": __("draw asked for"),
    "entrant.absence": __("absence announced"),
    "entrant.attendance": __("check-in for a round"),
    "entrant.bulk": __("many entrants moved at once"),
    "entrant.bulk_undo": __("step of many taken back"),
    "entrant.bye": __("bye asked for"),
    "entrant.change": __("entrant changed"),
    "entrant.import": __("roster imported"),
    "entrant.link": __("further link to one's own entry"),
    "event.change": __("event changed"),
    "event.create": __("event made"),
    "event.import": __("event imported"),
    "event.running": __("event started, or taken up again"),
    "event.finished": __("event finished"),
    "event.open": __("registration opened"),
    "event.closed": __("registration closed, or the start taken back"),
    "event.draft": __("event back in preparation"),
    "event.archived": __("event archived"),
    "grant.create": __("role given"),
    "grant.delete": __("role taken away"),
    "invitation.accept": __("invitation accepted"),
    "invitation.create": __("somebody invited"),
    "invitation.revoke": __("invitation withdrawn"),
    "job.cancel": __("draw cancelled"),
    "job.cancelled": __("draw cancelled"),
    "job.degraded": __("draw done, not the best"),
    "job.failed": __("draw failed"),
    "job.succeeded": __("draw done"),
    "job.superseded": __("draw overtaken by changes"),
    "lots.draw": __("numbers drawn"),
    "pair.allow": __("pair allowed again"),
    "pair.allow_same_club": __("pairs of one club allowed again"),
    "pair.forbid": __("pair forbidden"),
    "pair.forbid_same_club": __("pairs of one club forbidden"),
    "points.adjust": __("points given or taken"),
    "points.restore": __("points decision taken back"),
    "round.clock": __("round clock"),
    "round.close": __("round closed"),
    "round.reopen": __("round opened again"),
    "round.unpublish": __("round taken back"),
}
_CLOCK: Final = {
    "start": __("started"),
    "pause": __("paused"),
    "resume": __("goes on"),
    "adjust": __("adjusted"),
    "stop": __("stopped"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of a log: when, who, what; `subject` says of whom or where; `refused`: it changed nothing."""

    at: datetime | None
    who: str
    device: str
    what: str
    reason: str
    before: str = ""
    after: str = ""
    round: int | None = None
    board: int | None = None
    entrant_id: int | None = None
    refused: bool = False


def result_value(event: Event, value: Mapping[str, Any] | None, board: BoardView | None = None) -> str:
    """A logged value of a board: result, sides, note."""
    if not value:
        return "–"
    found = value.get("result")
    text = wording.result(event, Result(found)) if found in set(Result) else _("no result")
    if board is not None and found in set(Result):
        text = wording.result(event, Result(found), board).removesuffix(_(" (sides swapped)"))
    if value.get("swapped") and wording.shows_sides(event):
        text += _(" (sides swapped)")
    return f"{text} · {value['note']}" if value.get("note") else text


def board_history(log: BoardLog, event: Event, board: BoardView) -> list[Line]:
    """Everything that happened to a board, latest first, what was refused too."""
    lines = [
        Line(
            at=moment(one["at"]),
            who=one["actor"],
            device=one.get("device") or "",
            what=_("entered"),
            reason=log_values.reason(one.get("reason") or ""),
            before=result_value(event, one["old"], board),
            after=result_value(event, one["new"], board),
        )
        for one in log.changes
    ]
    lines += [
        Line(
            at=moment(one["at"]),
            who=one["actor"],
            device=one.get("device") or "",
            what=_("refused: somebody else was first"),
            reason="",
            before=result_value(event, one["present"], board),
            after=result_value(event, one["wanted"], board),
            refused=True,
        )
        for one in log.conflicts
    ]
    return sorted(lines, key=lambda line: line.at.timestamp() if line.at else 0, reverse=True)


def line(
    entry: Json, event: Event, names: Mapping[int, str], *, people: Mapping[int, str], whole: bool = False
) -> Line:
    """One entry of the event's log. `names`: of entrants by number, `people`: by id; `whole`: however long it is."""
    kind = entry["kind"]
    before, after = "", ""
    if kind == "result":
        what = _("result entered")
        before, after = (result_value(event, entry.get(name)) for name in ("old", "new"))
    elif kind == "conflict":
        what = _("result refused: somebody else was first")
        before, after = (result_value(event, entry.get(name)) for name in ("present", "wanted"))
    elif kind == "transition":
        what = _("entrant's state")
        before, after = (_state(entry.get(name)) for name in ("from", "to"))
    else:
        what, before, after = _step(entry, event, names, people)
    return Line(
        at=moment(entry["at"]),
        who=log_values.actor(entry.get("actor") or ""),
        device=entry.get("device") or "",
        what=what,
        reason=log_values.reason(entry.get("reason") or ""),
        before=before if whole else log_values.cut(before),
        after=after if whole else log_values.cut(after),
        round=entry.get("round"),
        board=entry.get("board"),
        entrant_id=entry.get("entrant_id"),
        refused=kind == "conflict",
    )


def _state(name: str | None) -> str:
    return "" if name is None else str(wording.ENTRANT_STATES.get(name, name))


def _step(entry: Json, event: Event, names: Mapping[int, str], people: Mapping[int, str]) -> tuple[str, str, str]:
    action = str(entry.get("action") or "")
    what = str(ACTIONS.get(action, action))
    new = entry.get("new")
    if action == "round.clock" and isinstance(new, Mapping):
        seconds = new.get("seconds")
        clock = str(_CLOCK.get(str(new.get("action")), ""))
        if seconds is not None:
            clock = " ".join((clock, _("%(minutes)s min", minutes=f"{seconds / 60:+g}")))
        return what, "", clock
    before, after = log_values.before_and_after(entry.get("old"), new, action=action, people=people, event=event)
    if isinstance(new, Mapping) and new.get("edits"):
        changes = "; ".join(draft_words.edit(one, names) for one in new["edits"])
        after = "; ".join(part for part in (after, changes) if part)
    return what, before, after
