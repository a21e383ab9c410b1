"""Drafts changed or made by hand: each is a new draft in the place of the one before, which stays readable.

Order of locks: the draw, the event's feed. Publishing takes the round first, but meets this at the draw: whoever
changes its row second finds it no draft any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.jobs import IS_ACTIVE, JobRow
from qisai.db.rounds import DrawRow, DrawState
from qisai.db.session import now
from qisai.db.snapshot import Snapshot
from qisai.errors import Blocker, Conflict, FieldError, Invalid, PreconditionMissing
from qisai.kernel.draw_file import MAX_LIST, draw_to_json, parse_draw
from qisai.kernel.model import Draw
from qisai.kernel.pairing.hand import Edit, Edited, Needed, edit_draw, manual_draw
from qisai.kernel.tournament_file import tournament_to_json
from qisai.ledger import audit, feed
from qisai.ledger.actor import Actor
from services.results.answers import moment
from services.results.operations.drawable import read_drawable
from services.results.operations.draws import change_draw, require_seen, stale
from services.results.queries import draws as queries


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenDraft:
    """A draft as somebody saw it."""

    number: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ByHand:
    """What a person's changes come to; `row` is not stored yet."""

    row: DrawRow
    edited: Edited
    snapshot: Snapshot


def preview_edits(
    session: Session, actor: Actor, *, event_id: int, round_no: int, number: int, seen_version: int, edits: list[Edit]
) -> ByHand:
    """What the changes would make of a draft; nothing is written. Raises as `edit_draft`, but asks for no reason."""
    old = queries.draw(session, event_id, round_no=round_no, number=number)
    require_seen(old, seen_version)
    return _edited(session, actor, old, edits)


def edit_draft(
    session: Session, actor: Actor, *, event_id: int, round_no: int, number: int, seen_version: int, edits: list[Edit]
) -> int:
    """The number of the new draft with the changes, of today's field; somebody may still be left over.

    Raises `NotFound`, `Stale`, the `Conflict` of `read_drawable`, `draw-not-draft`, `job-running` (its draw would take
    this one's place), `draw-stale` where the field changed meanwhile, `Invalid` `bad-edit` or `reason-needed`.
    """
    old = queries.draw(session, event_id, round_no=round_no, number=number)
    require_seen(old, seen_version)
    made = _edited(session, actor, old, edits)
    _require_reasons(made.edited.needed, [f"/edits/{index}/reason" for index in range(len(edits))])
    change_draw(session, old, values={"state": DrawState.REPLACED})
    added = [dict(edit) for edit in made.row.document["edits"][-len(edits) :]]
    _store(session, actor, made, action="draw.edit", old={"draw": number}, new={"edits": added})
    return made.row.number


def make_draft(
    session: Session,
    actor: Actor,
    *,
    event_id: int,
    round_no: int,
    pairs: Sequence[tuple[int, int]],
    bye: int | None,
    reason: str,
    replaces: SeenDraft | None,
) -> int:
    """The number of a draft made by hand; without pairs it is the list of the pool to start from.

    A draft that is there already is replaced, if `replaces` is that one. Raises as `edit_draft`; `PreconditionMissing`
    where a draft is there that nobody said to have seen; `Invalid` `draw-incomplete` for somebody twice or not present.
    """
    snapshot = read_drawable(session, event_id, round_no=round_no)
    _refuse_active_job(session, event_id, round_no)
    replaced = _draft_to_replace(session, event_id, round_no, replaces)
    edited = manual_draw(snapshot.tournament, pairs, bye, reason=reason, note=_note(session, actor))
    _require_reasons(edited.needed, ["/reason"])
    made = ByHand(row=_row(edited.draw, snapshot, event_id, round_no), edited=edited, snapshot=snapshot)
    if replaced is not None:
        change_draw(session, replaced, values={"state": DrawState.REPLACED})
    old = None if replaced is None else {"draw": replaced.number}
    _store(session, actor, made, action="draw.make", old=old, new={"pairs": len(pairs), "reason": reason})
    return made.row.number


def _draft_to_replace(session: Session, event_id: int, round_no: int, seen: SeenDraft | None) -> DrawRow | None:
    here = (DrawRow.event_id == event_id, DrawRow.round_no == round_no, DrawRow.state == DrawState.DRAFT)
    draft = session.scalars(sa.select(DrawRow).where(*here)).one_or_none()
    if seen is None:
        if draft is not None:
            detail = f"Draft {draft.number} is there: say that you saw it, by its number (replaces) and If-Match."
            raise PreconditionMissing("version-needed", detail)
        return None
    if draft is None:
        draft = queries.draw(session, event_id, round_no=round_no, number=seen.number)
    elif draft.number != seen.number:
        raise stale(draft)
    require_seen(draft, seen.version)
    return draft


def _edited(session: Session, actor: Actor, old: DrawRow, edits: list[Edit]) -> ByHand:
    snapshot = read_drawable(session, old.event_id, round_no=old.round_no)
    _refuse_active_job(session, old.event_id, old.round_no)
    document = parse_draw(old.document)
    if len(document.edits) + len(edits) > MAX_LIST:
        raise Invalid("bad-edit", f"This draw was changed {MAX_LIST} times; make a new one.")
    edited = edit_draw(
        snapshot.tournament,
        document,
        edits,
        note=_note(session, actor),
        is_stale=old.pairing_no != snapshot.pairing_no,
    )
    row = _row(edited.draw, snapshot, old.event_id, old.round_no)
    row.needs_acceptance = old.needs_acceptance and old.accepted_at is None
    row.number, row.version, row.created_at = old.number, old.version, now(session)
    return ByHand(row=row, edited=edited, snapshot=snapshot)


def _row(draw: Draw, snapshot: Snapshot, event_id: int, round_no: int) -> DrawRow:
    return DrawRow(
        event_id=event_id,
        round_no=round_no,
        state=DrawState.DRAFT,
        source=draw.source,
        pairing_no=snapshot.pairing_no,
        document=draw_to_json(draw),
        snapshot=tournament_to_json(snapshot.tournament),
        needs_acceptance=False,
    )


def _store(
    session: Session, actor: Actor, made: ByHand, *, action: str, old: dict[str, Any] | None, new: dict[str, Any]
) -> None:
    """Inserts the draft behind the one it replaces. Two at once: the second waits at its key and is refused."""
    row = made.row
    here = (DrawRow.event_id == row.event_id, DrawRow.round_no == row.round_no)
    latest = session.execute(sa.select(sa.func.max(DrawRow.number)).where(*here)).scalar_one()
    row.number, row.version = (latest or 0) + 1, 1
    session.add(row)
    try:
        session.flush()
    except sa.exc.IntegrityError as error:
        raise Conflict("draw-not-draft", "Another draw of this round was stored meanwhile; look again.") from error
    new = {"draw": row.number, "source": row.source.value, **new}
    subject = f"round:{row.round_no}"
    audit.record(session, actor, action=action, subject=subject, event_id=row.event_id, old=old, new=new)
    data = {"round": row.round_no, "draw": row.number}
    numbers = feed.publish(session, row.event_id, "draw.edited", data=data)
    if numbers.pairing_no != row.pairing_no:
        raise Conflict("draw-stale", "Results or the field changed while this was written; look again and repeat it.")


def _require_reasons(needed: Sequence[Needed], places: Sequence[str]) -> None:
    """Raises `Invalid` `reason-needed`, with the place of each change that breaks a rule without saying why."""
    errors = [
        FieldError(
            places[one.edit], f"{one.violation.detail}: say why this is wanted", "reason-needed", {"variant": "rule"}
        )
        for one in needed
        if one.edit is not None
    ]
    if errors:
        detail = f"A change that breaks a rule needs a reason: {errors[0].detail}"
        raise Invalid("reason-needed", detail, errors=errors)


def _refuse_active_job(session: Session, event_id: int, round_no: int) -> None:
    here = (JobRow.event_id == event_id, JobRow.round_no == round_no, IS_ACTIVE)
    job_id = session.execute(sa.select(JobRow.id).where(*here)).scalar_one_or_none()
    if job_id is not None:
        detail = f"Job {job_id} is drawing this round and would replace the draft: wait for it, or cancel it."
        blocker = Blocker("job-running", detail, {"job": job_id})
        raise Conflict("job-running", detail, blockers=[blocker], job=job_id)


def _note(session: Session, actor: Actor) -> dict[str, Any]:
    return {"by": actor.name, "at": moment(now(session))}
