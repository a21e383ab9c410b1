"""Importing a whole event from `qisai.tournament/1`: everything or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from unicodedata import normalize

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantState, TransitionRow
from qisai.db.events import EventRow, EventState, ProfileRow
from qisai.db.rounds import ResultLogRow
from qisai.db.session import now
from qisai.db.snapshot_writing import REPORTED_VERSION, Written, state_of, write_tournament
from qisai.errors import FieldError, Invalid
from qisai.formats.typed_text import is_visible, tidy
from qisai.kernel.model import Tournament
from qisai.kernel.profiles import PROFILES
from qisai.kernel.regulations_file import regulations_to_json, used_fields
from qisai.kernel.tournament_file import MAX_NAME, parse_tournament
from qisai.ledger import audit, feed
from qisai.ledger.actor import Actor
from services.results.answers import board_value

LARGEST_NUMBER: Final = 99_999
_REASON: Final = "imported"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What came of it."""

    event_id: int
    name: str
    state: EventState
    entrants: int
    rounds: int


def import_event(
    session: Session, actor: Actor, *, document: Any, name: str, profile: str | None, is_public: bool
) -> Imported:
    """A new event of the caller's with the file's field, rounds, results and regulations.

    With rounds it is running and frozen; without any it is closed, ready for round 1. `profile` is the game of a file
    that names none. Every result gets its row in the result log. Raises `Invalid` with a pointer for every fault.
    """
    tournament = _with_composed_names(_with_profile(parse_tournament(document), profile))
    _fit_to_platform(tournament, document)
    code = tournament.regulations.profile
    data = session.execute(sa.select(ProfileRow.data).where(ProfileRow.code == code)).scalar_one_or_none()
    if data is None:
        raise _no_profile(f"the game {code!r} is not on this platform")
    started = bool(tournament.rounds)
    event = EventRow(
        name=name,
        state=EventState.RUNNING if started else EventState.CLOSED,
        profile=code,
        profile_copy=data,
        regulations=used_fields(regulations_to_json(tournament.regulations)),
        is_public=is_public,
        time_zone="Asia/Shanghai",
        algorithm=tournament.algorithm if started else None,
        frozen_at=now(session) if started else None,
        created_by=actor.account_id,
    )
    session.add(event)
    session.flush()
    feed.open_feed(session, event.id)
    written = write_tournament(session, tournament, event_id=event.id, by=actor.name, account_id=actor.account_id)
    _log_transitions(session, actor, tournament, written, event_id=event.id)
    _log_results(session, actor, written, event_id=event.id)
    new = {"name": name, "entrants": len(tournament.entrants), "rounds": len(tournament.rounds)}
    audit.record(session, actor, action="event.import", subject=f"event:{event.id}", event_id=event.id, new=new)
    feed.publish(session, event.id, "event.imported", data={"rounds": len(tournament.rounds)}, pairing=True)
    return Imported(
        event_id=event.id,
        name=name,
        state=event.state,
        entrants=len(tournament.entrants),
        rounds=len(tournament.rounds),
    )


def _with_profile(tournament: Tournament, profile: str | None) -> Tournament:
    if tournament.regulations.profile is not None:
        return tournament
    if profile is None:
        raise _no_profile(f"names no game: say one of {', '.join(PROFILES)}, here or as ?profile=")
    return replace(tournament, regulations=replace(tournament.regulations, profile=profile))


def _with_composed_names(tournament: Tournament) -> Tournament:
    """Names in NFC, as the platform stores them, so that one name is one sequence of characters everywhere."""
    entrants = tuple(
        replace(
            entrant,
            name=normalize("NFC", entrant.name),
            club=normalize("NFC", entrant.club),
            members=tuple(normalize("NFC", member) for member in entrant.members),
        )
        for entrant in tournament.entrants
    )
    return replace(tournament, entrants=entrants)


def _no_profile(detail: str) -> Invalid:
    fault = FieldError("/regulations/profile", detail, "unknown-profile", {"known": ", ".join(PROFILES)})
    return Invalid("no-profile", "The file must name its game.", errors=[fault])


def _fit_to_platform(tournament: Tournament, document: Mapping[str, Any]) -> None:
    """What a file may leave out or exceed and an event on the platform may not. The document is known to be sound."""
    errors = []
    names = {entrant.number: entrant.name for entrant in tournament.entrants}
    for index, entrant in enumerate(document["entrants"]):
        name = names[entrant["number"]]
        if not is_visible(tidy(name)):
            detail = "is missing: an entrant of an event has a name that can be seen"
            errors.append(FieldError(f"/entrants/{index}/name", detail, "missing"))
        errors += [
            FieldError(f"/entrants/{index}/members/{place}", "must have a character that can be seen", "invisible")
            for place, member in enumerate(entrant.get("members") or ())
            if not is_visible(tidy(member))
        ]
        if len(name) > MAX_NAME:  # some characters become two when composed
            detail = f"has more than {MAX_NAME} characters"
            errors.append(FieldError(f"/entrants/{index}/name", detail, "too-long", {"most": MAX_NAME}))
        if entrant["number"] > LARGEST_NUMBER:
            detail = f"is {entrant['number']}, but numbers go up to {LARGEST_NUMBER}"
            said = {"value": entrant["number"], "low": 1, "high": LARGEST_NUMBER}
            errors.append(FieldError(f"/entrants/{index}/number", detail, "range", said))
    if not tournament.entrants:
        errors.append(FieldError("/entrants", "has nobody in it", "nobody"))
    if errors:
        first = errors[0]
        raise Invalid("invalid-tournament", f"The event cannot be taken: {first.pointer} {first.detail}", errors=errors)


def _log_transitions(
    session: Session, actor: Actor, tournament: Tournament, written: Written, *, event_id: int
) -> None:
    by = _who(actor) | {"event_id": event_id, "reason": _REASON}
    by.pop("device")
    rows = []
    for entrant in tournament.entrants:
        steps: list[tuple[EntrantState | None, EntrantState]] = [(None, EntrantState.SEATED)]
        if state_of(entrant) is not EntrantState.SEATED:
            steps.append((EntrantState.SEATED, state_of(entrant)))
        rows += [
            {"entrant_id": written.entrant_ids[entrant.number], "from_state": before, "to_state": after, **by}
            for before, after in steps
        ]
    session.execute(sa.insert(TransitionRow), rows)


def _log_results(session: Session, actor: Actor, written: Written, *, event_id: int) -> None:
    old = board_value(result=None, swapped=False, note="")
    same = _who(actor) | {"event_id": event_id, "reason": _REASON, "version": REPORTED_VERSION, "old": old}
    rows = [
        {
            "board_id": board.board_id,
            "round_no": board.round_no,
            "new": board_value(result=board.result, swapped=False, note=""),
            **same,
        }
        for board in written.reported
    ]
    if rows:
        session.execute(sa.insert(ResultLogRow), rows)


def _who(actor: Actor) -> dict[str, Any]:
    return {
        "actor_account_id": actor.account_id,
        "actor_name": actor.name,
        "device": actor.device,
        "request_id": actor.request_id,
    }
