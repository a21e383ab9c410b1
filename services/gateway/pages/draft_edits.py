"""From what a person typed to changes of a draft: one change, a list of pairs from paper, the way back to a draft."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask_babel import gettext as _

from qisai.client import DrawView
from qisai.kernel.pairing.hand import EditKind

Edit = dict[str, Any]

_SEPARATORS: Final = re.compile(r"[\s,，、;；:：\-–—~]+")
_MOST_DIGITS: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What was read, or what is wrong with it in words: then `faults` is not empty."""

    edit: Edit | None = None
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedPairs:
    """Pairs as written, the bye, and what is wrong with the lines."""

    pairs: tuple[tuple[int, int], ...]
    bye: int | None
    faults: tuple[str, ...]


def one_change(form: Mapping[str, str], draw: DrawView) -> Typed:
    """The change in a form of `kind`, `a`, `b`, `reason`, tested against the draft so that faults are said in words."""
    kind = form.get("kind", "")
    if kind not in set(EditKind):
        return Typed(faults=(_("Choose what to change."),))
    wanted = [form.get("a", "")] if kind in (EditKind.UNPAIR, EditKind.BYE) else [form.get("a", ""), form.get("b", "")]
    if kind == EditKind.BYE and not wanted[0].strip():
        wanted = []
    known = _everybody(draw)
    numbers, faults = [], []
    for text in wanted:
        number = _number(text)
        if number is None:
            faults.append(_("“%(text)s” is no number of an entrant.", text=text.strip()))
        elif number not in known:
            faults.append(_("Number %(number)s is not present in this round.", number=number))
        else:
            numbers.append(number)
    if not faults and len(numbers) == 2:
        faults += _of_two(kind, numbers, draw)
    if faults:
        return Typed(faults=tuple(faults))
    return Typed(edit={"kind": kind, "entrants": numbers, "reason": form.get("reason", "").strip()})


def _of_two(kind: str, numbers: list[int], draw: DrawView) -> list[str]:
    if numbers[0] == numbers[1]:
        return [_("Type two different numbers.")]
    meet = frozenset(numbers) in {frozenset(pair) for pair in pairs(draw)}
    if kind == EditKind.SWAP and meet:
        return [_("These two meet each other already.")]
    if kind == EditKind.SIDES and not meet:
        return [_("These two do not meet each other.")]
    return []


def pairs(draw: DrawView) -> list[tuple[int, int]]:
    """Numbers of first and second, in order of boards."""
    return [(board["first"]["number"], board["second"]["number"]) for board in draw.boards]


def _everybody(draw: DrawView) -> set[int]:
    placed = {number for pair in pairs(draw) for number in pair}
    return placed | {place["number"] for place in draw.left_over} | _bye(draw)


def _bye(draw: DrawView) -> set[int]:
    return {draw.bye["number"]} if draw.bye else set()


def _number(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None


def typed_pairs(text: str, present: Iterable[int] | None) -> TypedPairs:
    """Pairs from lines of two numbers, the bye from a line of one. `present`: who may appear, None where not known."""
    found: list[tuple[int, int]] = []
    bye: int | None = None
    faults: list[str] = []
    seen: set[int] = set()
    known = None if present is None else set(present)
    for at, line in enumerate(text.splitlines(), start=1):
        parts = [part for part in _SEPARATORS.split(line.strip()) if part]
        numbers = [number for number in map(_number, parts) if number is not None]
        if not parts:
            continue
        if len(numbers) != len(parts) or len(numbers) > 2 or (len(numbers) == 1 and bye is not None):
            faults.append(_("Line %(line)s: write two numbers, or one for the bye: %(text)s", line=at, text=line[:40]))
            continue
        for number in numbers:
            if known is not None and number not in known:
                faults.append(
                    _("Line %(line)s: number %(number)s is not present in this round.", line=at, number=number)
                )
            elif number in seen:
                faults.append(_("Line %(line)s: number %(number)s appears twice.", line=at, number=number))
            seen.add(number)
        if len(numbers) == 2:
            found.append((numbers[0], numbers[1]))
        else:
            bye = numbers[0]
    return TypedPairs(pairs=tuple(found), bye=bye, faults=tuple(faults))


def way_back(now: DrawView, then: DrawView, *, reason: str) -> list[Edit]:
    """Changes that seat everybody of the draft `now` as in `then`; sides are left to the rules (see `turned`)."""
    wanted = {frozenset(pair): pair for pair in pairs(then)}
    there = {frozenset(pair) for pair in pairs(now)}
    bye_now, bye_then = _bye(now), _bye(then)
    kept = {number for pair in wanted for number in pair} | bye_then
    placed = {number for pair in there for number in pair} | bye_now
    out = sorted((placed - kept) | (bye_now - bye_then))
    edits = [_edit(EditKind.UNPAIR, [number], reason) for number in out]
    edits += [_edit(EditKind.PAIR, list(pair), reason) for pair in pairs(then) if frozenset(pair) not in there]
    if bye_then != bye_now:
        edits += [_edit(EditKind.BYE, [number], reason) for number in bye_then]
    return edits


def turned(made: DrawView, then: DrawView, *, reason: str) -> list[Edit]:
    """Changes of sides where the same two sit the other way round."""
    wanted = set(pairs(then))
    return [
        _edit(EditKind.SIDES, [second, first], reason)
        for first, second in pairs(made)
        if (second, first) in wanted and (first, second) not in wanted
    ]


def _edit(kind: EditKind, entrants: list[int], reason: str) -> Edit:
    return {"kind": kind.value, "entrants": entrants, "reason": reason}
