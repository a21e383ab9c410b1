"""Look-ahead of section 4: does a draw leave a continuation of legal draws through all planned rounds?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from tests.kernel.oracle.event import Event
from tests.kernel.oracle.legality import Draw, Pair

LIMIT = 12


def is_wanted(event: Event) -> bool:
    """Only small fields with further rounds planned look ahead."""
    planned = event.regulations["rounds"]
    return planned is not None and planned > event.round and len(event.not_withdrawn) <= LIMIT


class Continuation:
    """Decides by exhaustive search, remembering states: (round, pairs met, byes counted)."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self._can_go_on = cache(self._search)

    def exists_after(self, draw: Draw) -> bool:
        """Whether legal draws exist for every later round once `draw` has been played."""
        event = self.event
        byes = {number: event.past[number].byes_counted for number in event.not_withdrawn}
        for number in event.full_byes_now:
            if number in byes:
                byes[number] += 1
        if draw.bye is not None:
            byes[draw.bye] += 1
        met = frozenset(event.met | set(draw.pairs))
        return self._can_go_on(event.round + 1, met, tuple(sorted(byes.items())))

    def _search(self, round_number: int, met: frozenset[Pair], byes: tuple[tuple[int, int], ...]) -> bool:
        if round_number > self.event.regulations["rounds"]:
            return True
        field = [(number, count) for number, count in byes if not self.event.withdrawn_in(number, round_number)]
        if not field:
            return False
        numbers = [number for number, _ in field]
        allowed = {
            (a, b)
            for i, a in enumerate(numbers)
            for b in numbers[i + 1 :]
            if (a, b) not in met and not self.event.is_forbidden((a, b), round_number)
        }
        if len(numbers) % 2 == 0:
            return any(
                self._can_go_on(round_number + 1, met | pairs, tuple(field)) for pairs in _pairings(numbers, allowed)
            )
        fewest = min(count for _, count in field)
        for bye, count in field:
            if count == fewest:
                counted = tuple((number, total + (number == bye)) for number, total in field)
                rest = [number for number in numbers if number != bye]
                if any(self._can_go_on(round_number + 1, met | pairs, counted) for pairs in _pairings(rest, allowed)):
                    return True
        return False


def _pairings(numbers: list[int], allowed: set[Pair]) -> Iterator[frozenset[Pair]]:
    if not numbers:
        yield frozenset()
        return
    one, *others = numbers
    for other in others:
        if (one, other) in allowed:
            for rest in _pairings([number for number in others if number != other], allowed):
                yield rest | {(one, other)}
