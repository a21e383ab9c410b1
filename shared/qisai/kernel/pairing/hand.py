"""Drawing by hand: changes of a draft one after the other, and what of the rules each of them breaks.

A draw in the hand may be incomplete; it says who is left over. What breaks rule 2, 3 or 4 (docs/rules.md sections 3 and
8) is allowed with a reason, which is kept with the change; what would seat somebody twice or not at all never is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from qisai.errors import FieldError, Invalid
from qisai.kernel.check import Breach, Violation, violations
from qisai.kernel.model import Draw, Source, Stage, Tournament
from qisai.kernel.pairing.edit import complete_draw, incomplete_draw
from qisai.kernel.pairing.field import present_entrants

REASONED: Final = frozenset({Breach.REMATCH, Breach.FORBIDDEN_PAIR, Breach.BYE_OUT_OF_TURN, Breach.BYES_OFF})
"""Breaches that a person may want, with a reason."""
_OF_BYE: Final = frozenset({Breach.BYE_OUT_OF_TURN, Breach.BYES_OFF})

Pair = frozenset[int]
Sides = tuple[int, int]


class EditKind(StrEnum):
    """What a change does; its entrants are numbers."""

    SWAP = "swap"
    """Two entrants change places: opponents, or an opponent and the bye, or a place and none."""
    PAIR = "pair"
    """Two entrants meet; whoever they met before is left over."""
    UNPAIR = "unpair"
    """The entrant, and the opponent if there is one, are left over."""
    BYE = "bye"
    """The entrant gets the bye, and whoever had it takes the place; without an entrant nobody has it."""
    SIDES = "sides"
    """The first of two entrants who meet gets the first side."""


_ENTRANTS: Final = {
    EditKind.SWAP: (2,),
    EditKind.PAIR: (2,),
    EditKind.UNPAIR: (1,),
    EditKind.BYE: (0, 1),
    EditKind.SIDES: (2,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One change by a person."""

    kind: EditKind
    entrants: tuple[int, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """A draw while a person changes it."""

    pool: frozenset[int]
    """Numbers of everybody present."""
    pairs: Mapping[Pair, Sides | None]
    """Who meets whom; the sides where a person set them, None where section 6 decides."""
    bye: int | None = None

    def place_of(self, entrant: int) -> int | None:
        """The opponent; None for somebody with the bye or left over."""
        return next((other for pair in self.pairs if entrant in pair for other in pair - {entrant}), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """A breach without a reason: which, and the change (its place in the list) that made it; None for an older one."""

    violation: Violation
    edit: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """What came of the changes."""

    draw: Draw
    violations: tuple[Violation, ...]
    needed: tuple[Needed, ...]


def edit_draw(
    tournament: Tournament, draw: Draw, edits: Sequence[Edit], *, note: Mapping[str, Any], is_stale: bool = False
) -> Edited:
    """A draft with changes, for today's field. `note`: who and when, kept with each change.

    Entrants no longer present drop out first. Sides stay as they are drawn; of a stale draw only those that a person
    set. Raises `Invalid` `bad-edit` with the place of a change that cannot be made.
    """
    hand = _taken_up(tournament, draw, keep_sides=not is_stale or draw.source is Source.MANUAL)
    hands = [hand]
    for index, edit in enumerate(edits):
        hands.append(_apply(hands[-1], edit, at=f"/edits/{index}"))
    source = Source.MANUAL if draw.source is Source.MANUAL else Source.EDITED
    made = _draw(tournament, hands[-1], source=source, like=draw)
    broken = violations(tournament, made)
    records: list[dict[str, Any]] = [
        {"kind": edit.kind.value, "entrants": list(edit.entrants), "reason": edit.reason} for edit in edits
    ]
    causes = {_key(one): _cause(one, hands, edits) for one in broken if one.breach in REASONED}
    for (breach, entrants), cause in causes.items():
        if cause is not None:
            records[cause].setdefault("breaches", []).append({"breach": breach, "entrants": list(entrants)})
    made = replace(made, edits=(*draw.edits, *({**record, **note} for record in records)))
    without = unreasoned(broken, made)
    needed = tuple(Needed(violation=one, edit=causes.get(_key(one))) for one in without if one.breach in REASONED)
    return Edited(draw=made, violations=tuple(broken), needed=needed)


def manual_draw(
    tournament: Tournament, pairs: Iterable[Sides], bye: int | None, *, reason: str, note: Mapping[str, Any]
) -> Edited:
    """A draw made by hand, the sides as they are written; with nobody paired yet it is a list of the pool.

    Raises `Invalid` `draw-incomplete` for somebody twice or not present.
    """
    written = list(pairs)
    pool = frozenset(entrant.number for entrant in present_entrants(tournament))
    _refuse_places(pool, written, bye)
    hand = Hand(pool=pool, pairs={frozenset(pair): pair for pair in written}, bye=bye)
    made = _draw(tournament, hand, source=Source.MANUAL, like=None)
    broken = violations(tournament, made)
    record: dict[str, Any] = {"kind": "manual", "reason": reason, **note}
    breaches = [_key(one) for one in broken if one.breach in REASONED]
    if breaches:
        record["breaches"] = [{"breach": breach, "entrants": list(entrants)} for breach, entrants in breaches]
    made = replace(made, edits=(record,))
    needed = tuple(Needed(violation=one, edit=0) for one in unreasoned(broken, made) if one.breach in REASONED)
    return Edited(draw=made, violations=tuple(broken), needed=needed)


def unreasoned(broken: Iterable[Violation], draw: Draw) -> list[Violation]:
    """Those of the violations for which the draw's changes give no reason: a draw with any of them is not published."""
    reasoned = {
        (str(breach["breach"]), tuple(breach["entrants"]))
        for edit in draw.edits
        if edit.get("reason")
        for breach in edit.get("breaches", ())
    }
    return [one for one in broken if one.breach not in REASONED or _key(one) not in reasoned]


def left_over(broken: Iterable[Violation]) -> list[int]:
    """Numbers of those present who have no place in the draw."""
    return [entrant for one in broken if one.breach is Breach.MISSING for entrant in one.entrants]


def _key(violation: Violation) -> tuple[str, tuple[int, ...]]:
    return violation.breach.value, tuple(sorted(violation.entrants))


def _taken_up(tournament: Tournament, draw: Draw, *, keep_sides: bool) -> Hand:
    pool = frozenset(entrant.number for entrant in present_entrants(tournament))
    set_by_hand = {tuple(edit["entrants"]) for edit in draw.edits if edit.get("kind") == EditKind.SIDES}
    pairs = {
        frozenset(sides): sides if keep_sides or sides in set_by_hand else None
        for sides in ((board.first, board.second) for board in draw.boards)
        if pool.issuperset(sides)
    }
    return Hand(pool=pool, pairs=pairs, bye=draw.bye if draw.bye in pool else None)


def _apply(hand: Hand, edit: Edit, *, at: str) -> Hand:
    entrants = edit.entrants
    if len(entrants) not in _ENTRANTS[edit.kind]:
        wanted = " or ".join(str(count) for count in _ENTRANTS[edit.kind])
        raise _bad(f"{at}/entrants", f"{edit.kind} needs {wanted} entrants", "entrants-needed", count=wanted)
    for index, entrant in enumerate(entrants):
        if entrant not in hand.pool:
            detail = f"entrant {entrant} is not present in this round"
            raise _bad(f"{at}/entrants/{index}", detail, "not-present", value=entrant)
    if len(set(entrants)) < len(entrants):
        raise _bad(f"{at}/entrants", "names one entrant twice", "duplicate", variant="entrants")
    match edit.kind:
        case EditKind.SWAP:
            return _swap(hand, entrants[0], entrants[1], at=at)
        case EditKind.PAIR:
            return _pair(hand, entrants[0], entrants[1])
        case EditKind.UNPAIR:
            return _without(hand, entrants[0])
        case EditKind.SIDES:
            if frozenset(entrants) not in hand.pairs:
                a, b = entrants
                raise _bad(f"{at}/entrants", f"entrants {a} and {b} do not meet", "not-a-pair", a=a, b=b)
            return replace(hand, pairs={**hand.pairs, frozenset(entrants): (entrants[0], entrants[1])})
        case EditKind.BYE:
            return _bye(hand, entrants[0] if entrants else None, at=at)


def _swap(hand: Hand, a: int, b: int, *, at: str) -> Hand:
    if frozenset((a, b)) in hand.pairs:
        detail = f"entrants {a} and {b} meet each other; change their sides instead"
        raise _bad(f"{at}/entrants", detail, "pair-already", a=a, b=b)
    turned = {a: b, b: a}
    pairs = {
        frozenset(turned.get(entrant, entrant) for entrant in pair): None if pair & {a, b} else sides
        for pair, sides in hand.pairs.items()
    }
    bye = None if hand.bye is None else turned.get(hand.bye, hand.bye)
    return replace(hand, pairs=pairs, bye=bye)


def _pair(hand: Hand, a: int, b: int) -> Hand:
    pair = frozenset((a, b))
    if pair in hand.pairs:
        return hand
    freed = _without(_without(hand, a), b)
    return replace(freed, pairs={**freed.pairs, pair: None})


def _without(hand: Hand, entrant: int) -> Hand:
    pairs = {pair: sides for pair, sides in hand.pairs.items() if entrant not in pair}
    return replace(hand, pairs=pairs, bye=None if hand.bye == entrant else hand.bye)


def _bye(hand: Hand, entrant: int | None, *, at: str) -> Hand:
    if entrant is None or hand.bye == entrant:
        return hand if entrant is not None else replace(hand, bye=None)
    if hand.bye is not None:
        return _swap(hand, entrant, hand.bye, at=at)
    return replace(_without(hand, entrant), bye=entrant)


def _cause(violation: Violation, hands: Sequence[Hand], edits: Sequence[Edit]) -> int | None:
    """The last change that made the pair, named it, or moved the bye; None where an earlier version had it already."""
    for index in range(len(edits) - 1, -1, -1):
        before, after, edit = hands[index], hands[index + 1], edits[index]
        if violation.breach in _OF_BYE:
            if before.bye != after.bye or (edit.kind is EditKind.BYE and after.bye is not None):
                return index
        else:
            pair = frozenset(violation.entrants)
            if pair in after.pairs and (pair not in before.pairs or pair == frozenset(edit.entrants)):
                return index
    return None


def _draw(tournament: Tournament, hand: Hand, *, source: Source, like: Draw | None) -> Draw:
    pairs = [(min(pair), max(pair)) for pair in hand.pairs]
    kept = [sides for sides in hand.pairs.values() if sides is not None]
    placed = {entrant for pair in hand.pairs for entrant in pair} | ({hand.bye} if hand.bye is not None else set())
    make = complete_draw if placed == hand.pool else incomplete_draw
    stage, relaxed = (Stage.SEARCH, ()) if like is None else (like.stage, like.relaxed)
    return make(tournament, pairs, hand.bye, source=source, stage=stage, kept_sides=kept, relaxed=relaxed)


def _refuse_places(pool: frozenset[int], pairs: Sequence[Sides], bye: int | None) -> None:
    errors = []
    seen: set[int] = set()
    places = [(f"/pairs/{at}/{side}", pair[k]) for at, pair in enumerate(pairs) for k, side in enumerate(_SIDES)]
    for where, number in [*places, *([("/bye", bye)] if bye is not None else [])]:
        if number not in pool:
            detail = f"entrant {number} is not present in this round"
            errors.append(FieldError(where, detail, "not-present", {"value": number}))
        elif number in seen:
            said = {"variant": "entrant", "value": number}
            errors.append(FieldError(where, f"entrant {number} appears twice", "duplicate", said))
        seen.add(number)
    if errors:
        raise Invalid("draw-incomplete", f"the draw cannot be taken: {errors[0].detail}", errors=errors)


_SIDES: Final = ("first", "second")


def _bad(pointer: str, detail: str, slug: str, **said: Any) -> Invalid:
    fault = FieldError(pointer, detail, slug, said)
    return Invalid("bad-edit", f"This change cannot be made: {detail}.", errors=[fault])
