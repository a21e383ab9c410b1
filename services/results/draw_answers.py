"""Draws and jobs as the JSON of the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from werkzeug.datastructures import LanguageAccept

from qisai.db.jobs import JobState
from qisai.db.rounds import DrawRow, DrawState
from qisai.kernel.check import Violation
from qisai.kernel.draw_file import parse_draw
from qisai.kernel.pairing.hand import unreasoned
from qisai.kernel.regulations_file import points_number
from services.results.answers import Json, entrant, moment
from services.results.job_reasons import in_words
from services.results.operations.hand_draws import ByHand
from services.results.queries.draws import Today


def summary(row: Any, pairing_no_now: int) -> Json:
    """One draw without its boards. `stale`: pairing's input changed since; it cannot be published."""
    return {
        "number": row.number,
        "state": row.state.value,
        "source": row.source.value,
        "stale": row.state is DrawState.DRAFT and row.pairing_no != pairing_no_now,
        "needs_acceptance": row.needs_acceptance and row.accepted_at is None,
        "accepted_at": moment(row.accepted_at),
        "accepted_by": row.accepted_by,
        "version": row.version,
        "created_at": moment(row.created_at),
    }


def whole(row: DrawRow, *, names: Mapping[int, Any], today: Today) -> Json:
    """One draw with boards and names, the bye, its cost, its document, and what of it breaks the rules today."""
    document = row.document
    bye = document.get("bye")
    without = unreasoned(today.violations, parse_draw(document)) if today.violations else []
    return {
        **summary(row, today.pairing_no),
        "round": row.round_no,
        "boards": [
            {"number": board["board"], **{side: who(board[side], names) for side in ("first", "second")}}
            for board in document["boards"]
        ],
        "bye": None if bye is None else who(bye, names),
        "left_over": [{**who(number, names), "points": points_number(score)} for number, score in today.left_over],
        "cost": document.get("cost", {}),
        "edits": document.get("edits", []),
        "violations": [{**_violation(one), "has_reason": one not in without} for one in today.violations],
        "document": document,
    }


def preview(made: ByHand, *, names: Mapping[int, Any], today: Today) -> Json:
    """As `whole`, of a draft that is not stored, with the changes that would need a reason."""
    return {
        **whole(made.row, names=names, today=today),
        "dry_run": True,
        "reasons_needed": [{"edit": one.edit, **_violation(one.violation)} for one in made.edited.needed],
    }


def _violation(violation: Violation) -> Json:
    return {
        "breach": violation.breach.value,
        "detail": violation.detail,
        "entrants": list(violation.entrants),
        "board": violation.board,
    }


def who(number: int, names: Mapping[int, Any]) -> Json:
    """An entrant of a draw by number; one who is not in the event any more has the number only."""
    row = names.get(number)
    return {"entrant_id": None, "number": number, "name": "", "club": ""} if row is None else entrant(row)


def job(row: Any, languages: LanguageAccept) -> Json:
    """One pairing job, its reasons in the caller's language. `waiting` says why a queued job is not running yet."""
    return {
        "id": row.id,
        "event_id": row.event_id,
        "round_no": row.round_no,
        "state": row.state.value,
        "queue": row.queue,
        "size": row.size,
        "limits": row.limits,
        "requested_at": moment(row.requested_at),
        "requested_by": row.requested_by,
        "started_at": moment(row.started_at),
        "finished_at": moment(row.finished_at),
        "attempts": row.attempts,
        "restarts": row.restarts,
        "worker": row.worker,
        "progress": row.progress,
        "outcome": None if row.outcome is None else in_words(row.outcome, languages),
        "draw": None if row.draw_number is None else {"number": row.draw_number},
        "waiting": _waiting(row, languages),
        "version": row.version,
    }


def _waiting(row: Any, languages: LanguageAccept) -> Json | None:
    """The message is only a nudge: without one the keeper finds the job, so waiting for the queue is no fault."""
    if row.state is not JobState.QUEUED:
        return None
    if row.waited is None:
        said = in_words({"slug": "not-due", "detail": "Tried before and waits a little."}, languages)
        return {"reason": "not-due", "detail": said["detail"], "due_at": moment(row.due_at)}
    said = in_words({"slug": "waiting-for-a-worker", "detail": "Waiting for the queue."}, languages)
    return {"reason": "waiting-for-a-worker", "detail": said["detail"], "seconds": round(float(row.waited), 1)}
