"""Who belongs to a category of prizes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import EntrantRow, Sex
from qisai.db.events import EventRow
from qisai.kernel.categories import birth_years


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """What all members of a category have in common; None: nothing is asked. Ratings include both ends."""

    club: str | None = None
    sex: Sex | None = None
    age_group: str | None = None
    rating_from: int | None = None
    rating_to: int | None = None

    @property
    def is_everybody(self) -> bool:
        """Whether nothing is asked at all."""
        return self == Category()

    @property
    def is_private(self) -> bool:
        """Whether it tells something of its members that only those who work at the event may know."""
        return self.sex is not None or self.age_group is not None

    def asked(self) -> dict[str, Any]:
        """What is asked, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def members(session: Session, event_id: int, category: Category) -> frozenset[int]:
    """Numbers of the entrants in the category: one query. Who has no value where one is asked is not in it.

    Raises `Invalid` for a word that is no age group.
    """
    e = EntrantRow
    query = sa.select(e.number).where(e.event_id == event_id, e.number.is_not(None))
    if category.club is not None:
        query = query.where(e.club == category.club)
    if category.sex is not None:
        query = query.where(e.sex == category.sex)
    if category.rating_from is not None:
        query = query.where(e.seed >= category.rating_from)
    if category.rating_to is not None:
        query = query.where(e.seed <= category.rating_to)
    if category.age_group is not None:
        years = birth_years(category.age_group, year=_year_of(session, event_id))
        if years.earliest is not None:
            query = query.where(e.birth_year >= years.earliest)
        if years.latest is not None:
            query = query.where(e.birth_year <= years.latest)
    return frozenset(session.scalars(query))


def _year_of(session: Session, event_id: int) -> int:
    """The year in which the event starts; before a date is set, the year in which it was made."""
    began = sa.func.coalesce(EventRow.starts_on, sa.cast(EventRow.created_at, sa.Date))
    return session.execute(
        sa.select(sa.cast(sa.extract("year", began), sa.Integer)).where(EventRow.id == event_id)
    ).scalar_one()
