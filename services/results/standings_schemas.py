"""Shapes of the wire for standings: what paths and queries may hold."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from qisai.db.entrants import Sex
from qisai.web.shapes import plain
from services.results.queries.categories import Category
from services.results.schemas import AfterQuery

_Rating = Annotated[int, Field(ge=0, le=4000)]


class CategoryQuery(AfterQuery):
    """A category of prizes: whoever has all of what is asked."""

    club: Annotated[str | None, Field(max_length=200), AfterValidator(lambda v: v if v is None else plain(v))] = None
    sex: Sex | None = None
    """Only for those who work at the event."""
    age_group: Annotated[str | None, Field(pattern=r"^[us]\d{1,2}$")] = None
    """`u12`: not yet 12 on 1 January of the event's year; `s50`: 50 in it or older. Only for those who work there."""
    rating_from: _Rating | None = None
    rating_to: _Rating | None = None

    def category(self) -> Category:
        """As the query takes it."""
        return Category(
            club=self.club,
            sex=self.sex,
            age_group=self.age_group,
            rating_from=self.rating_from,
            rating_to=self.rating_to,
        )


class Sheet(StrEnum):
    """What is written into a spreadsheet."""

    STANDINGS = "standings"
    CROSSTABLE = "crosstable"
    PAIRINGS = "pairings"


class SheetQuery(AfterQuery):
    what: Sheet
    """`pairings`: those of round `after`."""
