"""Entrants: list and search, register, read, change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from flask import Response, request
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.errors import Invalid
from qisai.formats.typed_text import unprintable
from qisai.ledger import feed
from qisai.web.field_texts import field_text
from qisai.web.idempotency import once
from qisai.web.identity import current_caller
from qisai.web.requests import Answer, decode_cursor, encode_cursor, feed_answer, version_seen, version_tag
from qisai.web.rights import Right, requires
from qisai.web.shapes import EventPath, page
from services.registration import answers
from services.registration.answers import Sight
from services.registration.entrant_schemas import (
    EntrantBody,
    EntrantChange,
    EntrantPath,
    EntrantsQuery,
    PersonBody,
    RegistrationBody,
)
from services.registration.operations import entrants as operations
from services.registration.operations.members import Person, Team
from services.registration.operations.registering import NewEntrant
from services.registration.operations.registering import register as register_entrant
from services.registration.process import database
from services.registration.queries import entrants as queries
from services.registration.states import by_slug
from services.registration.views.standing import sight

api = APIBlueprint("entrants", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="entrants")])


@api.get("/events/<int:event_id>/entrants")
@requires(Right.READ_EVENT)
def list_entrants(path: EventPath, query: EntrantsQuery) -> Response:
    """Entrants by number, then by Pinyin; the public sees those who are accepted."""
    after = _place(query.cursor)
    state = None if query.state is None else by_slug(query.state)
    with database().snapshot() as session:
        seen = sight(session, path.event_id)
        staff = seen is not Sight.PUBLIC
        wanted = queries.EntrantFilter(
            q=query.q, state=state, after=after, limit=query.limit + 1, staff=staff, by_name=query.sort == "name"
        )
        if staff:  # without a tag: it must never stand for the shorter list that the public sees under this address
            return _list(session, path.event_id, wanted, seen=seen)
        numbers = feed.numbers(session, path.event_id)
        return feed_answer(numbers.feed_no, lambda: _list(session, path.event_id, wanted, seen=seen))


def _list(session: Session, event_id: int, wanted: queries.EntrantFilter, *, seen: Sight) -> Response:
    rows = queries.entrants(session, event_id, wanted)
    shown = rows[: wanted.limit - 1]
    following = None
    if len(rows) > len(shown):
        last = shown[-1]
        number = 0 if wanted.by_name else queries.UNNUMBERED if last.number is None else last.number
        following = encode_cursor([number, last.sort_key, last.name, last.id])
    items = [answers.entrant(row, sight=seen) for row in shown]
    return Answer(body=page(items, after=following)).response()


@api.post("/events/<int:event_id>/entrants")
@requires(Right.MANAGE_ENTRANTS)
def register(path: EventPath, body: EntrantBody) -> Response:
    """Registers one entrant; a full event puts them on its waiting list. `warnings` name others of the same name."""
    caller = current_caller()
    entrant = new_entrant(body)
    with database().transaction() as session:

        def work() -> Answer:
            entrant_id = register_entrant(session, caller.actor, event_id=path.event_id, entrant=entrant)
            same = queries.namesakes(session, path.event_id, entrant, but=entrant_id)
            made = entrant_answer(session, path.event_id, entrant_id)
            headers = {**made.headers, "Location": f"/api/v1/events/{path.event_id}/entrants/{entrant_id}"}
            return Answer(body={**made.body, "warnings": warnings(body.name, same)}, status=201, headers=headers)

        return once(session, caller, work).response()


@api.get("/events/<int:event_id>/entrants/<int:entrant_id>")
@requires(Right.READ_EVENT)
def get_entrant(path: EntrantPath) -> Response:
    """One entrant with its version."""
    with database().snapshot() as session:
        seen = sight(session, path.event_id)
        return entrant_answer(session, path.event_id, path.entrant_id, sight=seen).response()


@api.patch("/events/<int:event_id>/entrants/<int:entrant_id>")
@requires(Right.MANAGE_ENTRANTS)
def change_entrant(path: EntrantPath, body: EntrantChange) -> Response:
    """Changes what is given at the version that was seen, and nothing else."""
    seen = version_seen()
    with database().transaction() as session:
        operations.change_entrant(
            session,
            current_caller().actor,
            event_id=path.event_id,
            entrant_id=path.entrant_id,
            seen_version=seen,
            changes=_changes(body),
        )
        return entrant_answer(session, path.event_id, path.entrant_id).response()


def entrant_answer(session: Session, event_id: int, entrant_id: int, *, sight: Sight = Sight.DESK) -> Answer:
    """One entrant as the API shows it. Raises `NotFound`."""
    row = queries.entrant(session, event_id, entrant_id, staff=sight is not Sight.PUBLIC)
    return Answer(body=answers.entrant(row, sight=sight), headers=version_tag(row.version))


def new_entrant(body: EntrantBody | RegistrationBody) -> NewEntrant:
    """What a body says of somebody who registers."""
    said = body.said()
    team = Team(members=people(said.pop("members", ())), substitutes=people(said.pop("substitutes", ())))
    return NewEntrant(**said, team=team)


def people(said: Sequence[PersonBody]) -> tuple[Person, ...]:
    """Members or substitutes as they were said."""
    return tuple(Person(name=one.name, birth_year=one.birth_year, external_id=one.external_id) for one in said)


def _changes(body: EntrantChange) -> dict[str, Any]:
    return {name: people(value) if name in ("members", "substitutes") else value for name, value in body.said().items()}


def warnings(name: str, same: queries.Namesakes) -> list[dict[str, Any]]:
    """What a desk should look at: somebody of the same name is in the event."""
    found = []
    if same.likely:
        detail = f"There is {name} in this event and neither club nor birth year tells the two apart."
        found.append(_warning("double-entry", detail, name, same.likely))
    if same.others:
        detail = f"There is another {name} in this event; make sure that this is another person."
        found.append(_warning("same-name", detail, name, same.others))
    return found


def _warning(slug: str, detail: str, name: str, entrants: Iterable[int]) -> dict[str, Any]:
    """In the caller's language."""
    said = {"variant": "added", "name": name}
    text = field_text(slug, detail, context=said, languages=request.accept_languages)
    return {"slug": slug, "detail": text, "entrants": list(entrants)}


def _place(cursor: str | None) -> queries.Place | None:
    values = decode_cursor(cursor, length=4)
    if values is None:
        return None
    number, key, name, last = values
    fits = (
        isinstance(number, int) and 0 <= number <= queries.UNNUMBERED and isinstance(last, int) and 0 < last < 1 << 63
    )
    if not fits or any(not isinstance(text, str) or unprintable(text) is not None for text in (key, name)):
        raise Invalid("bad-cursor", "The cursor is not one of ours; start again without it.")
    return queries.Place(number=number, sort_key=key, name=name, id=last)
