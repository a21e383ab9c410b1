"""The people of a team: in order, with substitutes, and each of them in one team of an event only.

Two of them are one person where their numbers with the association are equal, or, where one of them has none, where
their names are equal and their birth years do not differ. So different people of one name are told apart by giving a
birth year or a number for both.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow, MemberRow
from qisai.db.events import EventRow
from qisai.db.many_rows import insert_many
from qisai.errors import Conflict, FieldError, Invalid
from qisai.kernel.profiles import Unit
from services.registration.states import GONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A member or a substitute of a team."""

    name: str
    birth_year: int | None = None
    external_id: str | None = None

    def is_same(self, other: Person) -> bool:
        """Whether the two must be taken for one person."""
        if self.external_id and other.external_id:
            return self.external_id == other.external_id
        if _plain(self.name) != _plain(other.name):
            return False
        return self.birth_year is None or other.birth_year is None or self.birth_year == other.birth_year


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """Whoever plays in order, and whoever may stand in."""

    members: tuple[Person, ...] = ()
    substitutes: tuple[Person, ...] = ()

    def people(self) -> tuple[Person, ...]:
        """All of them, in order."""
        return (*self.members, *self.substitutes)

    def rows(self) -> list[dict[str, Any]]:
        """As they are kept and compared."""
        return [
            {
                "name": person.name,
                "substitute": place >= len(self.members),
                "birth_year": person.birth_year,
                "external_id": person.external_id,
            }
            for place, person in enumerate(self.people())
        ]


NO_TEAM: Final = Team()


def team_of(rows: Sequence[Mapping[str, Any]] | None) -> Team:
    """A team as `Team.rows` wrote it."""
    people = [
        (
            row["substitute"],
            Person(name=row["name"], birth_year=row["birth_year"], external_id=row["external_id"]),
        )
        for row in rows or ()
    ]
    return Team(
        members=tuple(person for substitute, person in people if not substitute),
        substitutes=tuple(person for substitute, person in people if substitute),
    )


def _plain(name: str) -> str:
    """A name for comparison: width of characters, case and spaces make no other person."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Why somebody cannot be in a team: in words, and what translations name."""

    detail: str
    context: Mapping[str, Any]

    def said(self) -> dict[str, Any]:
        """The same beside what is said of a whole team, which has a name of its own."""
        return {"member" if key == "name" else key: value for key, value in self.context.items()}


class Memberships:
    """Who is in which team of an event. Read it while the event is held."""

    def __init__(self) -> None:
        self._by_name: dict[str, list[tuple[int | None, str, Person]]] = defaultdict(list)
        self._by_external_id: dict[str, list[tuple[int | None, str, Person]]] = defaultdict(list)

    def add(self, team: Iterable[Person], *, entrant_id: int | None, name: str) -> None:
        """Notes the people of a team; `entrant_id` None: one that is about to be entered."""
        for person in team:
            self._by_name[_plain(person.name)].append((entrant_id, name, person))
            if person.external_id:
                self._by_external_id[person.external_id].append((entrant_id, name, person))

    def complaint(self, team: Team, *, but: int | None = None) -> Elsewhere | None:
        """Who of these is in another team, or in this one twice; `but`: the entrant whose own team this is."""
        people = team.people()
        for place, person in enumerate(people):
            if any(person.is_same(other) for other in people[:place]):
                return Elsewhere(f"{person.name} stands twice", {"variant": "twice", "name": person.name})
            candidates = [*self._by_name[_plain(person.name)]]
            if person.external_id:
                candidates += self._by_external_id[person.external_id]
            for entrant_id, name, other in candidates:
                if (but is None or entrant_id != but) and person.is_same(other):
                    detail = (
                        f"{person.name} is in {name} already; where this is another person,"
                        " give birth years or numbers for both"
                    )
                    return Elsewhere(detail, {"variant": "team", "name": person.name, "team": name})
        return None


def memberships(session: Session, event_id: int, *, but: Collection[int] = ()) -> Memberships:
    """The teams of an event, without those that cancelled or were rejected and those in `but`: one query."""
    e, m = EntrantRow, MemberRow
    columns = (m.entrant_id, e.name.label("team"), m.name, m.birth_year, m.external_id)
    query = sa.select(*columns).join(e, e.id == m.entrant_id).where(e.event_id == event_id, e.state.not_in(GONE))
    if but:
        query = query.where(e.id.not_in(but))
    found = Memberships()
    for row in session.execute(query):
        person = Person(name=row.name, birth_year=row.birth_year, external_id=row.external_id)
        found.add([person], entrant_id=row.entrant_id, name=row.team)
    return found


def is_team_event(event: EventRow) -> bool:
    """Whether teams enter, not persons."""
    return bool(event.profile_copy["unit"] != Unit.INDIVIDUAL)


def unused_fields(event: EventRow, values: Mapping[str, Any]) -> list[FieldError]:
    """Fields that say something the event's game does not have: members of persons, birth years of teams."""
    if is_team_event(event):
        detail = "is not used: in this game teams enter; say it of their members"
        said = {"variant": "team"}
        return [FieldError(f"/{name}", detail, "not-used", said) for name in ("sex", "birth_year") if values.get(name)]
    detail = "is not used: in this game persons enter, not teams"
    said = {"variant": "person"}
    return [FieldError(f"/{name}", detail, "not-used", said) for name in ("members", "substitutes") if values.get(name)]


def size_complaint(event: EventRow, team: Team) -> str | None:
    """What is wrong with the number of members, None where nothing is."""
    size = event.profile_copy.get("team_size") or 0
    if size and len(team.members) > size:
        return f"has {len(team.members)} names, but a team of this game has {size}"
    return None


def require_team_fits(session: Session, event: EventRow, team: Team, *, but: int | None = None) -> None:
    """Raises `Invalid` for more members than the game has, `Conflict` `member-elsewhere` for one in another team."""
    complaint = size_complaint(event, team)
    if complaint is not None:
        said = {"count": len(team.members), "size": event.profile_copy.get("team_size")}
        fault = FieldError("/members", complaint, "members", said)
        raise Invalid("members", f"members: {complaint}.", errors=[fault])
    if not team.people():
        return
    elsewhere = memberships(session, event.id).complaint(team, but=but)
    if elsewhere is not None:
        detail = f"The team cannot be taken: {elsewhere.detail}."
        raise Conflict("member-elsewhere", detail, **elsewhere.said())


def set_members(session: Session, teams: Mapping[int, Team], *, fresh: bool = False) -> None:
    """The people of entrants by id, in order, in place of those they had (`fresh`: they had none yet)."""
    if teams and not fresh:
        session.execute(sa.delete(MemberRow).where(MemberRow.entrant_id.in_(teams)))
    rows = [
        {
            "entrant_id": entrant_id,
            "position": position,
            "name": row["name"],
            "is_substitute": row["substitute"],
            "birth_year": row["birth_year"],
            "external_id": row["external_id"],
        }
        for entrant_id, team in teams.items()
        for position, row in enumerate(team.rows(), start=1)
    ]
    insert_many(session, MemberRow, rows)


def returning_complaints(session: Session, event: EventRow, rows: Sequence[Any]) -> dict[int, Elsewhere]:
    """Of teams that come back after they cancelled or were rejected: who has a member that plays elsewhere now."""
    back = [row.id for row in rows if row.state in GONE]
    if not back or not is_team_event(event):
        return {}
    m = MemberRow
    query = sa.select(m.entrant_id, m.name, m.birth_year, m.external_id).where(m.entrant_id.in_(back))
    teams: dict[int, list[Person]] = defaultdict(list)
    for row in session.execute(query.order_by(m.entrant_id, m.position)):
        person = Person(name=row.name, birth_year=row.birth_year, external_id=row.external_id)
        teams[row.entrant_id].append(person)
    elsewhere, names = memberships(session, event.id), {row.id: row.name for row in rows}
    found = {}
    for entrant_id, people in teams.items():
        complaint = elsewhere.complaint(Team(members=tuple(people)))
        if complaint is not None:
            found[entrant_id] = complaint
        else:
            elsewhere.add(people, entrant_id=entrant_id, name=names[entrant_id])
    return found
