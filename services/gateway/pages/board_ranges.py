"""Whose boards are whose: a referee limited to a range is shown that range, and no buttons beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flask_babel import gettext as _

from qisai.client import BoardView, Event
from qisai.db.accounts import Role
from qisai.web.identity import Grant
from services.gateway.pages import wording
from services.gateway.pages.site import viewer


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnBoards:
    """The ranges of board numbers that the viewer enters; None: every board."""

    ranges: tuple[tuple[int, int], ...] | None

    def has(self, number: int) -> bool:
        """Whether the viewer may enter this board's result."""
        return self.ranges is None or any(low <= number <= high for low, high in self.ranges)

    def of(self, boards: Sequence[BoardView]) -> list[BoardView]:
        """Those among them."""
        return [board for board in boards if self.has(board.number)]

    @property
    def in_words(self) -> str:
        """Such as `1–20, 41`; nothing where there is no limit."""
        return ", ".join(str(low) if low == high else f"{low}–{high}" for low, high in self.ranges or ())


def own_boards(event: Event) -> OwnBoards:
    """What the viewer's roles in this event say; the results service decides by the same grants."""
    here = [grant for grant in viewer().grants if grant.event_id in (None, event.id)]
    ranges = [grant.boards for grant in here if grant.role is Role.REFEREE]
    if any(_is_unlimited(grant) for grant in here):
        return OwnBoards(ranges=None)
    return OwnBoards(ranges=tuple(sorted(one for one in ranges if one is not None)))


def not_yours(event: Event, own: OwnBoards) -> str:
    """That a board is none of the viewer's."""
    return str(_("Not one of yours. Yours: %(board)s %(range)s", board=wording.board_word(event), range=own.in_words))


def _is_unlimited(grant: Grant) -> bool:
    is_referee = grant.role is Role.REFEREE and grant.boards is None
    return is_referee or grant.role in (Role.ASSOCIATION_ADMIN, Role.CHIEF_REFEREE)
