"""Changing a game profile for the whole association: new events start from it, those that exist have their own copy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.events import ProfileRow
from qisai.db.session import compare_and_set
from qisai.errors import FieldError, Invalid, Stale
from qisai.kernel.profiles import Unit
from qisai.ledger import audit
from qisai.ledger.actor import Actor
from qisai.web.shapes import moment
from services.registration import answers
from services.registration.operations.regulations import merged
from services.registration.queries import events as queries


def change_profile(
    session: Session, actor: Actor, *, code: str, seen_version: int, changes: Mapping[str, Any], reason: str = ""
) -> ProfileRow:
    """Changes what is given; `regulations` are merged over the present ones. Logged with before and after.

    Raises `NotFound`, `Stale`, `Invalid` for regulations that cannot be or that the game does not use.
    """
    row = queries.profile(session, code)
    before = answers.game(row.data)
    data = {**before, **changes}
    if "regulations" in changes:
        data["regulations"] = merged(changes["regulations"], base=before["regulations"], profile=before)
    if "team_size" in changes and before["unit"] == Unit.INDIVIDUAL:
        detail = "is not used: in this game individuals play; leave it out"
        fault = FieldError("/team_size", detail, "not-used", {"variant": "person"})
        raise Invalid("not-used", f"/team_size {detail}.", errors=[fault])
    values = {"data": data, "version": seen_version + 1, "updated_at": sa.func.now()}
    where = [ProfileRow.code == code, ProfileRow.version == seen_version]
    old = {name: before[name] for name in data if data[name] != before[name]}
    if not compare_and_set(session, ProfileRow, where=where, values=values):
        raise _stale(session, code)
    new = {name: data[name] for name in old}
    audit.record(session, actor, action="profile.change", subject=f"profile:{code}", old=old, new=new, reason=reason)
    return queries.profile(session, code)


def _stale(session: Session, code: str) -> Stale:
    row = queries.profile(session, code)
    last = next(iter(queries.profile_history(session, code)), None)
    current = {
        **answers.profile(row),
        "updated_by": None if last is None else last.actor_name,
        "updated_at": moment(row.updated_at),
    }
    return Stale("stale", f"The game {code} was changed meanwhile.", current=current)
