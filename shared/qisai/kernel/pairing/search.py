"""The search: a first valid draw in milliseconds (docs/rules.md section 4, "How it is found").

Pair from the top, inside the score group and in its order, wishes for a side that agree first; where an entrant has no
partner left, reopen earlier pairs.
Limits on how many pairs may be reopened and on steps; when one is hit, something is relaxed and the search goes on:
first the side limits, then how many cross pairs a group may give away. Never the rematch rule. What the limits do not
reach is finished exactly, by a maximum matching that starts from the pairs made so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from qisai.kernel.model import Limits
from qisai.kernel.pairing.criteria import SIDE_BREACHES, SIDE_CLASHES
from qisai.kernel.pairing.field import Field
from qisai.kernel.pairing.history import FIRST, SECOND
from qisai.kernel.pairing.legal_graph import legal_graph
from qisai.kernel.pairing.maximum_matching import NOBODY, complete_matching
from qisai.kernel.pairing.no_legal_draw import no_legal_draw
from qisai.kernel.pairing.preference import ideal_partner
from qisai.kernel.pairing.systems import PairingSystem, system_for
from qisai.kernel.pairing.view import Pair, View, view_of

DEFAULT_DEPTH: Final = 12
STEPS_PER_ENTRANT: Final = 40
LEAST_STEPS: Final = 2_000
STEPS_PER_LEVEL: Final = 60
"""Steps at one dead end before something is relaxed."""
MOST_TRIED: Final = 16
"""Partners in other groups tried for one entrant: further ones would hardly end differently."""

ANY: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Level:
    """How strict the search is: whether side limits bind, and how many cross pairs a group may give away.

    An odd group must give one away; that is no relaxation.
    """

    name: str
    sides: bool
    cap: int


LEVELS: Final = (
    Level("", sides=True, cap=0),
    Level("sides", sides=False, cap=0),
    Level("score:1", sides=False, cap=1),
    Level("score:2", sides=False, cap=2),
    Level("score:3", sides=False, cap=3),
    Level("score:4", sides=False, cap=4),
    Level("score:any", sides=False, cap=ANY),
)
"""The order of docs/rules.md section 4. A dead end relaxes only until it is passed; then the search is strict again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """A legal draw: pairs of indexes (smaller first), ascending; what was relaxed; what it took."""

    pairs: tuple[Pair, ...]
    bye: int | None
    relaxed: tuple[str, ...]
    steps: int
    reopened: int
    """The largest number of pairs reopened at one dead end."""
    exact_finish: bool
    """Whether the limits were used up and a maximum matching had to finish."""


def search(
    field: Field,
    limits: Limits | None = None,
    *,
    system: PairingSystem | None = None,
    view: View | None = None,
) -> SearchResult:
    """The first valid draw. Raises `NoLegalDraw` only where none exists.

    `limits` bounds how many pairs one dead end may reopen (`max_depth`) and all steps together (`max_steps`).
    """
    limits = limits or field.regulations.limits
    system = system or system_for(field)
    bye = likely_bye(view or view_of(field), system) if field.odd else None
    if field.odd and (bye is None or not field.regulations.allow_bye):
        raise no_legal_draw(field)
    if field.table:
        return _by_table(field, bye)
    descent = _Descent(field, limits, bye=bye, system=system)
    if descent.run():
        pairs = descent.pairs()
    else:
        pairs, bye = _finish(field, descent.pairs(), bye)
    return SearchResult(
        pairs=tuple(sorted(pairs)),
        bye=bye,
        relaxed=descent.relaxed(),
        steps=descent.steps,
        reopened=descent.reopened,
        exact_finish=descent.exhausted,
    )


def _by_table(field: Field, bye: int | None) -> SearchResult:
    """Round robin: the pairs of the table as far as both are there, the others paired as can be."""
    pairs = [(i, j) for i, j in enumerate(field.table) if i < j and j not in field.barred[i] and bye not in (i, j)]
    complete = 2 * len(pairs) + field.odd == field.size
    if not complete:
        pairs, bye = _finish(field, pairs, bye)
    return SearchResult(pairs=tuple(sorted(pairs)), bye=bye, relaxed=(), steps=0, reopened=0, exact_finish=not complete)


def likely_bye(view: View, system: PairingSystem) -> int | None:
    """Who should have the bye by the bye's part of the criteria alone, whatever it does to the pairs."""
    field = view.field
    left = [index for index, eligible in enumerate(field.bye_eligible) if eligible]
    if field.table:
        left = [index for index in left if field.table[index] == NOBODY] or left
    for criterion in system.stage_a:
        if len(left) < 2:
            break
        values = [criterion.of_bye(view, index) for index in left]
        best = min(values)
        left = [index for index, value in zip(left, values, strict=True) if value == best]
    return left[-1] if left else None


def _finish(field: Field, pairs: Sequence[Pair], bye: int | None) -> tuple[list[Pair], int | None]:
    """Complete a partial draw by a maximum matching of the legal graph, the bye as one more vertex."""
    graph = legal_graph(field)
    mate = [NOBODY] * len(graph)
    for i, j in pairs if bye is None else [*pairs, (bye, field.size)]:
        mate[i], mate[j] = j, i
    if complete_matching(graph, mate) is not None:
        raise no_legal_draw(field)
    made = [(i, j) for i, j in enumerate(mate) if i < j < field.size]
    return made, mate[field.size] if field.odd else None


@dataclass(slots=True)
class _Decision:
    """An entrant from the top, the partner it has at the moment, and all partners tried for it so far (bits)."""

    entrant: int
    partner: int = NOBODY
    tried: int = 0


class _Descent:
    """The iterative depth-first search. Sets of entrants are integers whose bits are indexes."""

    def __init__(self, field: Field, limits: Limits, *, bye: int | None, system: PairingSystem) -> None:
        self.steps = 0
        self.reopened = 0
        self.exhausted = False
        self._field = field
        self._max_depth = DEFAULT_DEPTH if limits.max_depth is None else limits.max_depth
        ordinary = max(LEAST_STEPS, STEPS_PER_ENTRANT * field.size)
        self._max_steps = ordinary if limits.max_steps is None else limits.max_steps
        self._free = (1 << field.size) - 1
        if bye is not None:
            self._free ^= 1 << bye
        self._given = [0] * len(field.group_size)
        self._group_mask = [
            ((1 << size) - 1) << start for start, size in zip(field.group_start, field.group_size, strict=True)
        ]
        self._minds_limits = SIDE_BREACHES in system.criteria
        self._may_first = _mask(field.may_first)
        self._may_second = _mask(field.may_second)
        self._wish: dict[int, int] = {}
        if SIDE_CLASHES in system.criteria:
            self._wish = {side: _mask([wish == side for wish in field.wish]) for side in (FIRST, SECOND)}
        self._stack: list[_Decision] = []
        self._level = 0
        self._used: set[int] = set()

    def pairs(self) -> list[Pair]:
        """The pairs made so far, complete or not."""
        return [_pair(made.entrant, made.partner) for made in self._stack if made.partner != NOBODY]

    def relaxed(self) -> tuple[str, ...]:
        """Names of what had to be relaxed somewhere, in the order of the rules."""
        return tuple(LEVELS[level].name for level in sorted(self._used))

    def run(self) -> bool:
        """True when everybody is paired; False when the limits are used up or nothing is left to try."""
        deepest = spent = 0
        decision: _Decision | None = None
        while self._free or decision is not None:
            if self.steps >= self._max_steps:
                self.exhausted = True
                return False
            self.steps += 1
            spent += 1
            if decision is None:
                decision = self._next()
            if self._advance(decision):
                self._stack.append(decision)
                decision = None
                if len(self._stack) > deepest:
                    deepest, spent, self._level = len(self._stack), 0, 0
                continue
            decision = self._reopen(decision.entrant, deepest=deepest) if spent < STEPS_PER_LEVEL else None
            if decision is None:
                spent = 0
                if not self._relax():
                    self.exhausted = True
                    return False
        return True

    def _relax(self) -> bool:
        """Go one level down for this dead end; False where nothing is left to relax."""
        if self._level + 1 == len(LEVELS):
            return False
        self._level += 1
        self._used.add(self._level)
        return True

    def _next(self) -> _Decision:
        """The first entrant without a partner."""
        return _Decision((self._free & -self._free).bit_length() - 1)

    def _advance(self, decision: _Decision) -> bool:
        """Give the entrant the next partner not tried yet; False when there is none."""
        entrant, group = decision.entrant, self._field.group[decision.entrant]
        rest = self._free & ~(1 << entrant)
        untried = rest & self._acceptable(entrant) & ~decision.tried
        mask = self._group_mask[group]
        if own := untried & mask:
            ideal = ideal_partner(self._field, entrant)
            agreeing = own & ~self._wish.get(self._field.wish[entrant], 0)
            partner = _nearest(agreeing or own, entrant if ideal is None else ideal)
        elif untried and decision.tried.bit_count() < MOST_TRIED and self._may_give(group, rest & mask):
            partner = (untried & -untried).bit_length() - 1
            self._given[group] += 1
        else:
            return False
        decision.partner = partner
        decision.tried |= 1 << partner
        self._free = rest ^ 1 << partner
        return True

    def _may_give(self, group: int, rest: int) -> bool:
        """Whether the group may give away one more cross pair, with the entrant in question and `rest` left in it."""
        given = self._given[group]
        return given < max(LEVELS[self._level].cap, (rest.bit_count() + 1 + given) % 2)

    def _acceptable(self, entrant: int) -> int:
        """Whom the entrant may meet at this level, free or not."""
        field = self._field
        legal = ~_bits_of(field.barred[entrant])
        if not self._minds_limits or not LEVELS[self._level].sides:
            return legal
        if field.last_round and field.group[entrant] == 0:
            return legal
        keeps = self._may_second if field.may_first[entrant] else 0
        return legal & (keeps | self._may_first if field.may_second[entrant] else keeps)

    def _reopen(self, stuck: int, *, deepest: int) -> _Decision | None:
        """Take back pairs until one holds somebody whom the stuck entrant may meet; None where the limit says no.

        While equal score binds, only the own group is looked at.
        """
        wanted = self._acceptable(stuck)
        if not LEVELS[self._level].cap:
            wanted &= self._group_mask[self._field.group[stuck]]
        while self._stack and deepest - len(self._stack) < self._max_depth:
            decision = self._take_back()
            self.reopened = max(self.reopened, deepest - len(self._stack))
            if wanted >> decision.entrant & 1 or wanted >> decision.partner & 1:
                return decision
        return None

    def _take_back(self) -> _Decision:
        """Undo the pair made last."""
        decision = self._stack.pop()
        self._free |= 1 << decision.entrant | 1 << decision.partner
        if self._field.group[decision.entrant] != self._field.group[decision.partner]:
            self._given[self._field.group[decision.entrant]] -= 1
        return decision


def _pair(i: int, j: int) -> Pair:
    return (i, j) if i < j else (j, i)


def _mask(flags: Sequence[bool]) -> int:
    return int("".join("1" if flag else "0" for flag in reversed(flags)), 2)


def _bits_of(indexes: frozenset[int]) -> int:
    mask = 0
    for index in indexes:
        mask |= 1 << index
    return mask


def _nearest(mask: int, ideal: int) -> int:
    """The bit nearest to the ideal place, the lower place first."""
    below = (mask & ((1 << (ideal + 1)) - 1)).bit_length() - 1
    above = mask >> (ideal + 1)
    if not above:
        return below
    next_above = ideal + 1 + (above & -above).bit_length() - 1
    return next_above if below < 0 or next_above - ideal < ideal - below else below
