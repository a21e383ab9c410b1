"""Words for what the API says in codes: results, states, criteria, costs. Texts are English here and in `.po` files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask_babel import gettext as _
from flask_babel import lazy_gettext as __
from flask_babel import ngettext

from qisai.client import BoardView, Event, RoundCell, RoundView
from qisai.kernel.crosstable import Fate
from qisai.kernel.model import Result
from qisai.kernel.profiles import Unit
from qisai.kernel.tie_breaks import TIE_BREAKS
from services.gateway.pages.language import language

EVENT_STATES: Final = {
    "draft": __("draft"),
    "open": __("registration open"),
    "closed": __("registration closed"),
    "running": __("running"),
    "finished": __("finished"),
    "archived": __("archived"),
}
ENTRANT_STATES: Final = {
    "waiting": __("waiting list"),
    "registered": __("registered"),
    "approved": __("approved"),
    "checked_in": __("checked in"),
    "seated": __("seated"),
    "withdrawn": __("withdrawn"),
    "disqualified": __("disqualified"),
    "rejected": __("rejected"),
    "cancelled": __("cancelled"),
}
ROUND_STATES: Final = {"pending": __("not drawn yet"), "published": __("published"), "closed": __("closed")}
JOB_STATES: Final = {
    "queued": __("waiting"),
    "running": __("computing"),
    "succeeded": __("done"),
    "degraded": __("done, not the best"),
    "failed": __("failed"),
    "cancelled": __("cancelled"),
    "superseded": __("overtaken"),
}
DRAW_STATES: Final = {
    "draft": __("draft, not published"),
    "published": __("published"),
    "replaced": __("replaced"),
    "unpublished": __("taken back"),
}
SOURCES: Final = {
    "computed": __("computed"),
    "reused": __("an earlier draw given again"),
    "edited": __("changed by hand"),
    "manual": __("made by hand"),
}
BYES: Final = {
    "pairing": __("bye"),
    "half": __("half-point bye"),
    "full": __("full-point bye"),
    "zero": __("zero-point bye"),
    "absent": __("absent"),
}
COSTS: Final = {
    "bye_score": __("score of who gets the bye"),
    "bye_unplayed": __("rounds the bye's entrant did not play before"),
    "side_breaches": __("pairs outside the side limits"),
    "leaders_apart": __("leaders who do not meet each other"),
    "max_gap": __("largest gap in points"),
    "gap_squares": __("sum of squared gaps"),
    "cross_pairs": __("pairs across score groups"),
    "strong_clashes": __("strong clashes over the side"),
    "side_clashes": __("clashes over the side"),
    "float_history": __("repeated floats"),
    "repeat_floats": __("repeated floats"),
    "float_places": __("distance of floaters from the edge of their group"),
    "float_lots": __("lots of the floaters"),
    "club_pairs": __("pairs of one club"),
    "order": __("distance from the ideal order"),
    "pair_lots": __("lots of the pairs"),
}
IN_HALF_POINTS: Final = frozenset({"bye_score", "max_gap"})
"""Costs that are scores, kept in half-points."""
OF_SIDES: Final = frozenset({"side_breaches", "strong_clashes", "side_clashes"})
LOT_MODES: Final = {
    "machine": __("by machine"),
    "seeding": __("in seeding order"),
    "hand": __("by hand"),
}
SYSTEMS: Final = {
    "score_group": __("Swiss, by score groups"),
    "draw_number": __("Swiss, by draw numbers"),
    "round_robin": __("round robin"),
}
UNITS: Final = {"individual": __("individual"), "partners": __("pairs of partners"), "team": __("teams")}
SEVERITIES: Final = {"info": __("note"), "warning": __("warning"), "critical": __("critical")}
SERVICE_STATES: Final = {"ready": __("ready"), "away": __("away")}
ROLES: Final = {
    "association_admin": __("administrator"),
    "organiser": __("organiser"),
    "chief_referee": __("chief referee"),
    "referee": __("referee"),
    "desk": __("desk"),
    "ops": __("operations"),
}
RESULT_KEYS: Final[tuple[tuple[str, Result], ...]] = (
    ("1", Result.FIRST_WIN),
    ("0", Result.DRAW),
    ("2", Result.SECOND_WIN),
    ("8", Result.FIRST_FORFEIT),
    ("9", Result.SECOND_FORFEIT),
    ("7", Result.DOUBLE_FORFEIT),
    ("5", Result.ADJOURNED),
    ("6", Result.VOID),
)
"""The key that enters each result; Backspace takes a result back."""
SCORES: Final[Mapping[Result, str]] = {
    Result.FIRST_WIN: "1 – 0",
    Result.SECOND_WIN: "0 – 1",
    Result.DRAW: "½ – ½",
    Result.FIRST_FORFEIT: "− : +",
    Result.SECOND_FORFEIT: "+ : −",
    Result.DOUBLE_FORFEIT: "− : −",
}


MIRRORED: Final[Mapping[Result, Result]] = {
    Result.FIRST_WIN: Result.SECOND_WIN,
    Result.SECOND_WIN: Result.FIRST_WIN,
    Result.FIRST_FORFEIT: Result.SECOND_FORFEIT,
    Result.SECOND_FORFEIT: Result.FIRST_FORFEIT,
}
FATES: Final[Mapping[Fate, Any]] = {
    Fate.WIN: __("won"),
    Fate.DRAW: __("draw"),
    Fate.LOSS: __("lost"),
    Fate.FORFEIT_WIN: __("won by forfeit"),
    Fate.FORFEIT_LOSS: __("forfeited"),
    Fate.ADJOURNED: __("adjourned"),
    Fate.VOID: __("void"),
}
FATE_MARKS: Final[Mapping[Fate, str]] = {
    Fate.WIN: "1",
    Fate.DRAW: "½",
    Fate.LOSS: "0",
    Fate.FORFEIT_WIN: "+",
    Fate.FORFEIT_LOSS: "−",
    Fate.ADJOURNED: "…",
    Fate.VOID: "×",
}
"""A game in a cell of the crosstable, as the entrant sees it."""
SEXES: Final = {"female": __("female"), "male": __("male")}
OUTCOMES: Final = {
    "new": __("new"),
    "same": __("unchanged"),
    "changed": __("changed"),
    "refused": __("refused"),
}
"""What a roster's row leads to."""


def named(names: Mapping[str, str], fallback: str = "") -> str:
    """The one of several names that is in the page's language."""
    return names.get(language()) or names.get("en") or fallback


def shows_sides(event: Event) -> bool:
    """Whether the event's screens speak of sides: never for teams and partners, and not without a first move."""
    copy = event.profile_copy
    return copy is not None and copy.unit == Unit.INDIVIDUAL and copy.first_move


def round_to_draw(event: Event, rounds: Sequence[RoundView]) -> int:
    """The round that the chief referee's page is about now: the last one until it is closed, then the one after it."""
    if not rounds:
        return 1
    last = rounds[-1]
    planned = event.regulations.get("rounds")
    goes_on = last.state == "closed" and (planned is None or last.number < planned)
    return last.number + 1 if goes_on else last.number


def game(event: Event) -> str:
    """The game's name."""
    return named(event.profile_copy.names, event.profile) if event.profile_copy else event.profile


def entrant_word(event: Event) -> str:
    """What is entered in a column of names where the event shows no sides."""
    is_team = event.profile_copy is not None and event.profile_copy.unit != Unit.INDIVIDUAL
    return str(_("Team") if is_team else _("Name"))


def costs(given: Mapping[str, int], *, sides: bool = True) -> list[tuple[str, int]]:
    """The criteria of a draw in the order in which they decide; JSON from a database has lost it.

    `sides`: whether the event shows any; else those about sides are left out.
    """
    return [(name, given[name]) for name in COSTS if name in given and (sides or name not in OF_SIDES)]


def in_short(given: Mapping[str, int], *, sides: bool = True) -> str:
    """What a draw costs, as a referee asks for it. `sides` as in `costs`."""
    given = dict(costs(given, sides=sides))
    parts: list[str] = [
        _("largest gap: %(points)s", points=points(given.get("max_gap", 0) / 2)),
        ngettext("%(num)d pair across score groups", "%(num)d pairs across score groups", given.get("cross_pairs", 0)),
    ]
    if "side_clashes" in given:
        parts.append(ngettext("%(num)d clash over the side", "%(num)d clashes over the side", given["side_clashes"]))
    if given.get("side_breaches"):
        count = given["side_breaches"]
        parts.append(ngettext("%(num)d pair outside the side limits", "%(num)d pairs outside the side limits", count))
    return " · ".join(parts)


def board_word(event: Event) -> str:
    """What a board is called: board or table."""
    return named(event.profile_copy.board, _("Board")) if event.profile_copy else _("Board")


def side_names(event: Event) -> tuple[str, str] | None:
    """Names of first and second, None where the event shows no sides."""
    copy = event.profile_copy
    if copy is None or not shows_sides(event) or len(copy.sides) != 2:
        return None
    return named(copy.sides[0]), named(copy.sides[1])


def result(event: Event, value: Result | None, board: BoardView | None = None) -> str:
    """A result in words: by side where the event shows sides, else by the team that won."""
    if value is None:
        return ""
    sides = side_names(event)
    first, second = sides or (
        (board.first.name, board.second.name) if board is not None else (_("the left one"), _("the right one"))
    )
    words: dict[Result, str] = {
        Result.FIRST_WIN: _("%(who)s wins", who=first),
        Result.SECOND_WIN: _("%(who)s wins", who=second),
        Result.DRAW: _("draw") if sides else _("level"),
        Result.FIRST_FORFEIT: _("%(who)s forfeits", who=first),
        Result.SECOND_FORFEIT: _("%(who)s forfeits", who=second),
        Result.DOUBLE_FORFEIT: _("both forfeit"),
        Result.ADJOURNED: _("adjourned") if sides else _("to be continued"),
        Result.VOID: _("void"),
    }
    is_swapped = sides is not None and board is not None and board.swapped
    return words[value] + (_(" (sides swapped)") if is_swapped else "")


def score(value: Result | None, swapped: bool = False) -> str:
    """A result as it stands between the names as drawn; `swapped`: it speaks of the sides the other way round."""
    if value is None:
        return "–"
    value = MIRRORED.get(value, value) if swapped else value
    return SCORES.get(value) or (_("adjourned") if value is Result.ADJOURNED else _("void"))


def scores() -> dict[str, tuple[str, str]]:
    """Every result as it stands between the names, as drawn and with sides swapped; "" for none. For scripts."""
    all_results: list[Result | None] = [None, *Result]
    return {"" if value is None else value.value: (score(value), score(value, swapped=True)) for value in all_results}


def cell_mark(cell: RoundCell) -> str:
    """One round in a cell of the crosstable: a mark for a game, the points of a bye."""
    if cell.fate is not None:
        return FATE_MARKS[cell.fate]
    return "" if cell.bye is None else f"({points(cell.points)})"


def cell_in_words(event: Event, cell: RoundCell) -> str:
    """One round of an entrant in words."""
    if cell.bye is not None:
        return str(BYES[cell.bye.value])
    if cell.fate is None:
        return str(_("not reported yet"))
    if cell.fate is Fate.DRAW and not shows_sides(event):
        return str(_("level"))
    return str(FATES[cell.fate])


def side_name(event: Event, cell: RoundCell) -> str:
    """The side an entrant had in a round; nothing where the event shows none."""
    sides = side_names(event)
    if sides is None or cell.side is None:
        return ""
    return sides[0 if cell.side == "first" else 1]


def side_mark(event: Event, cell: RoundCell) -> str:
    """The same as one sign."""
    return side_name(event, cell)[:1]


def criterion(code: str) -> str:
    """Name of a tie-break."""
    known = TIE_BREAKS.get(code)
    return code if known is None else named({tag.value: name for tag, name in known.names.items()}, code)


def points(value: float | None) -> str:
    """Points or a criterion's value, without needless zeros."""
    if value is None:
        return "–"
    return f"{value:.2f}".rstrip("0").rstrip(".")


def cost(name: str, value: int) -> str:
    """A criterion's value as people read it."""
    return points(value / 2) if name in IN_HALF_POINTS else str(value)
