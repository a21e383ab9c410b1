"""A draft in words: what of it breaks a rule, what was relaxed to find it, what people changed, what a change costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from babel.dates import format_timedelta
from flask_babel import get_locale
from flask_babel import gettext as _
from flask_babel import lazy_gettext as __

from qisai.client import DrawView, Event
from qisai.client.reading import Json, moment
from qisai.kernel.check import Breach
from qisai.kernel.pairing.hand import EditKind
from services.gateway.pages import wording

__all__ = [
    "EDIT_KINDS", "age", "breach", "cost_changes", "edit", "edit_kinds", "moment", "names_of", "relaxed", "typed_edit",
    "who",
]  # fmt: skip

Names = Mapping[int, str]

EDIT_KINDS: Final = {
    EditKind.SWAP.value: __("two change places"),
    EditKind.PAIR.value: __("two meet each other"),
    EditKind.UNPAIR.value: __("take one out, with the opponent"),
    EditKind.BYE.value: __("one gets the bye"),
    EditKind.SIDES.value: __("the first of two gets %(side)s"),
}
"""What a person may do to a draft."""


def edit_kinds(event: Event) -> dict[str, Any]:
    """What a person may do to a draft of this event: nobody changes sides where none are shown."""
    sides = wording.side_names(event)
    kinds = {kind: str(text) for kind, text in EDIT_KINDS.items() if sides or kind != EditKind.SIDES}
    return kinds if sides is None else {kind: text.replace("%(side)s", sides[0]) for kind, text in kinds.items()}


_BREACHES: Final = {
    Breach.WRONG_ROUND.value: __("This draft is not of the next round."),
    Breach.EMPTY_POOL.value: __("Nobody is present in this round."),
    Breach.NOT_PRESENT.value: __("%(who)s: not present in this round"),
    Breach.MISSING.value: __("%(who)s: has no place yet"),
    Breach.TWICE.value: __("%(who)s: appears twice"),
    Breach.BOARD_TWICE.value: __("A board number is given twice."),
    Breach.REMATCH.value: __("%(who)s: have met before"),
    Breach.FORBIDDEN_PAIR.value: __("%(who)s: must not meet in this round"),
    Breach.NO_BYE.value: __("The number of entrants is odd and nobody has the bye."),
    Breach.BYE_IN_EVEN_FIELD.value: __("%(who)s: has the bye although the number of entrants is even"),
    Breach.BYE_OUT_OF_TURN.value: __("%(who)s: has the bye although others had fewer so far"),
    Breach.BYES_OFF.value: __("%(who)s: has the bye, but this event gives none"),
}


def breach(violation: Mapping[str, Any], names: Names) -> str:
    """A broken rule, with the names of those concerned."""
    word = _BREACHES.get(str(violation["breach"]))
    return str(violation["detail"]) if word is None else str(word) % {"who": who(violation["entrants"], names)}


def who(numbers: Iterable[int], names: Names) -> str:
    """Entrants by number and name."""
    return " – ".join(f"{number} {names.get(number, '')}".strip() for number in numbers)


def relaxed(name: str) -> str:
    """What the search let go to find a draw in time."""
    if name == "sides":
        return str(_("the limits of sides"))
    most = name.removeprefix("score:")
    if most.isdecimal():
        return str(_("up to %(count)s pairs of one score group across groups", count=most))
    return str(_("any number of pairs across score groups"))


def edit(record: Mapping[str, Any], names: Names) -> str:
    """One change that a person made."""
    kind, numbers = record.get("kind"), list(record.get("entrants") or ())
    first = who(numbers[:1], names)
    if kind == EditKind.SWAP:
        return str(_("%(first)s and %(second)s change places", first=first, second=who(numbers[1:], names)))
    if kind == EditKind.PAIR:
        return str(_("%(first)s meets %(second)s", first=first, second=who(numbers[1:], names)))
    if kind == EditKind.UNPAIR:
        return str(_("%(first)s is taken out", first=first))
    if kind == EditKind.BYE:
        return str(_("%(first)s gets the bye", first=first) if numbers else _("nobody has the bye"))
    if kind == EditKind.SIDES:
        return str(_("%(first)s gets the first side against %(second)s", first=first, second=who(numbers[1:], names)))
    return str(_("paired by hand"))


def typed_edit(typed: Mapping[str, str], names: Names) -> str:
    """A change as it was typed, also where it cannot be made."""
    numbers = [int(text) for text in (typed.get("a", ""), typed.get("b", "")) if text.isdecimal() and len(text) < 7]
    if typed.get("kind") in (EditKind.UNPAIR, EditKind.BYE):
        numbers = numbers[:1]
    return edit({"kind": typed.get("kind"), "entrants": numbers}, names)


def age(made_at: datetime | None) -> str:
    """How long ago something was made."""
    if made_at is None:
        return "–"
    return str(format_timedelta(datetime.now(UTC) - made_at, granularity="minute", locale=get_locale()))


def names_of(draw: DrawView) -> dict[int, str]:
    """Names by number of everybody in a draft or left over."""
    places: list[Json] = [board[side] for board in draw.boards for side in ("first", "second")]
    places += [*draw.left_over, *([draw.bye] if draw.bye else [])]
    return {place["number"]: place.get("name") or "" for place in places}


def cost_changes(
    before: Mapping[str, int], after: Mapping[str, int], *, sides: bool = True
) -> list[tuple[str, str, str, bool]]:
    """Criteria that a change moves: name, value before and after, whether it gets worse. In order of their weight.

    `sides`: whether the event shows any.
    """
    return [
        (
            str(wording.COSTS[name]),
            wording.cost(name, before[name]),
            wording.cost(name, after[name]),
            after[name] > before[name],
        )
        for name, _value in wording.costs(after, sides=sides)
        if name in before and before[name] != after[name]
    ]
