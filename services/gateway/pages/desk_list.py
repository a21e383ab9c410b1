"""The desk's list as a page shows it: what each entrant is found by, in which order, and what comes next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from qisai.client import Entrant
from qisai.db import name_keys
from services.gateway.pages.entrant_steps import OfferedStep

MOST_ROWS: Final = 600
"""Rows of one page: a phone stays quick; whoever is beyond is found by searching."""
_LAST: Final = 1 << 30
_BY_NUMBER: Final = "number"


@lru_cache(maxsize=20_000)
def letters(name: str) -> tuple[str, str]:
    """Pinyin without spaces, and its initials: `chenyi`, `cy`. Other scripts in lower case."""
    syllables = name_keys.sort_key(name).split()
    return "".join(syllables), "".join(syllable[:1] for syllable in syllables)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskRow:
    """An entrant with the step that usually comes next."""

    entrant: Entrant
    next: OfferedStep | None

    @property
    def letters(self) -> str:
        """What the entrant is found by besides what is shown."""
        return " ".join(letters(self.entrant.name))


def rows(entrants: Iterable[Entrant], steps: Sequence[OfferedStep], *, sort: str) -> list[DeskRow]:
    """The list in the order that was asked for."""
    following = {step.source: step for step in steps if step.is_next}
    ordered = sorted(entrants, key=SORTS.get(sort, SORTS[_BY_NUMBER]))
    return [DeskRow(entrant=entrant, next=following.get(entrant.state)) for entrant in ordered]


def _number(entrant: Entrant) -> Any:
    return (entrant.number or _LAST, name_keys.name_order(entrant.name), entrant.id)


_PLACES: Final[Mapping[str, int]] = {
    state: place
    for place, state in enumerate(
        (
            "registered", "approved", "checked_in", "seated", "waiting", "withdrawn", "disqualified", "rejected",
            "cancelled",
        )
    )
}  # fmt: skip
SORTS: Final[Mapping[str, Callable[[Entrant], Any]]] = {
    _BY_NUMBER: _number,
    "name": lambda one: (name_keys.name_order(one.name), one.id),
    "club": lambda one: (not one.club, name_keys.name_order(one.club), *_number(one)),
    "rating": lambda one: (one.seed is None, -(one.seed or 0), *_number(one)),
    "state": lambda one: (_PLACES.get(one.state, 0), one.waiting_place or 0, *_number(one)),
    "entered": lambda one: one.id,
}
"""Orders of the list; `state` has the waiting list in its order."""
