"""One's own entry and the check-in for a round, as the API shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from qisai.client.reading import Json, moment


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnEntry:
    """Somebody's own entry, behind its link."""

    id: int
    event: Mapping[str, Any]
    """id, name, starts_on, venue, time_zone."""
    name: str
    state: str
    club: str = ""
    number: int | None = None
    waiting_place: int | None = None
    can_cancel: bool = False
    said: Mapping[str, Any] = field(default_factory=dict)
    """What the person said: members, substitutes, sex, birth_year, phone, email."""
    token: str | None = None
    """The secret of the link; given once, when the entry is made."""

    @classmethod
    def from_json(cls, body: Json) -> OwnEntry:
        """From the API's object."""
        said = ("members", "substitutes", "sex", "birth_year", "phone", "email")
        return cls(
            id=body["id"],
            event=body["event"],
            name=body["name"],
            state=body["state"],
            club=body.get("club") or "",
            number=body.get("number"),
            waiting_place=body.get("waiting_place"),
            can_cancel=bool(body.get("can_cancel")),
            said={name: body.get(name) for name in said},
            token=body.get("token"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attendance:
    """Check-in for one round: until when (None: there is none), ids of the seated who came and who did not."""

    round: int
    until: str | None
    present: tuple[int, ...]
    missing: tuple[int, ...]

    @classmethod
    def from_json(cls, body: Json) -> Attendance:
        """From the API's object."""
        return cls(
            round=body["round"], until=body["until"], present=tuple(body["present"]), missing=tuple(body["missing"])
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ForbiddenPair:
    """Two entrants (ids) who do not meet in these rounds; `to_round` None: to the end."""

    id: int
    entrants: tuple[int, int]
    from_round: int = 1
    to_round: int | None = None

    @classmethod
    def from_json(cls, body: Json) -> ForbiddenPair:
        """From the API's object."""
        a, b = body["entrants"]
        return cls(id=body["id"], entrants=(a, b), from_round=body["from_round"], to_round=body["to_round"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """One change of an entrant's state; `source` None: the registration itself."""

    source: str | None
    to: str
    at: datetime | None
    actor: str
    reason: str = ""

    @classmethod
    def from_json(cls, body: Json) -> Transition:
        """From the API's object."""
        return cls(
            source=body["from"], to=body["to"], at=moment(body["at"]), actor=body["actor"], reason=body["reason"] or ""
        )
