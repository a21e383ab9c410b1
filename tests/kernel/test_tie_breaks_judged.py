"""Tie-breaks on random events against a judge that works from the raw file and shares no code with the kernel.

FIDE's sums are worked out with fractions, straight from the wording of docs/rules.md section 9; direct encounter by
playing every possible outcome of the missing games.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from typing import Any

from hypothesis import assume, given, settings

from qisai.kernel.standings import standings
from qisai.kernel.tournament_file import parse_tournament
from tests.kernel.crosstable import ranks, values
from tests.kernel.random_tournaments import tournaments

Json = dict[str, Any]
HALF = Fraction(1, 2)
PLAYED = {"first_win": "wl", "second_win": "lw", "draw": "dd", "adjourned": "aa"}
FORFEITS = {"first_forfeit": "-+", "second_forfeit": "+-", "double_forfeit": "--"}


class Judge:
    """Rows of (kind, opponent, points): kind of w d l a (played), + - (forfeit), v (void), or a bye kind."""

    def __init__(self, obj: Json) -> None:
        event = parse_tournament(obj).regulations.points  # only for the four values; profiles fill them in
        self.win, self.draw, self.loss, self.bye = (HALF * p for p in (event.win, event.draw, event.loss, event.bye))
        self.rows: dict[int, list[tuple[str, int, Fraction]]] = {e["number"]: [] for e in obj["entrants"]}
        for round_ in sorted(obj["rounds"], key=lambda r: r["number"]):
            seen = {bye["entrant"]: (bye["kind"], 0) for bye in round_["byes"]}
            for board in round_["boards"]:
                kinds = {**PLAYED, **FORFEITS, "void": "vv"}[board["result"]]
                seen[board["first"]] = (kinds[0], board["second"])
                seen[board["second"]] = (kinds[1], board["first"])
            for number, row in self.rows.items():
                kind, opponent = seen.get(number, ("absent", 0))
                row.append((kind, opponent, self.worth(kind)))
        self.rounds = len(obj["rounds"])
        self.score = {number: sum((cell[2] for cell in row), Fraction(0)) for number, row in self.rows.items()}

    def worth(self, kind: str) -> Fraction:
        worth = {"w": self.win, "+": self.win, "full": self.win, "d": self.draw, "half": self.draw, "l": self.loss}
        return {**worth, "pairing": self.bye}.get(kind, Fraction(0))

    def as_opponent(self, number: int) -> Fraction:
        row = self.rows[number]
        last_played = max((k for k, cell in enumerate(row) if cell[0] in "wdla"), default=-1)
        requested = ("half", "full", "zero", "absent")
        return sum(
            (self.draw if cell[0] in requested and k > last_played else cell[2] for k, cell in enumerate(row)),
            Fraction(0),
        )

    def contributions(self, number: int) -> list[tuple[Fraction, Fraction, bool]]:
        """(value of the round, own points in it, voluntarily unplayed)."""
        found = []
        for kind, opponent, points in self.rows[number]:
            if kind in "wdla":
                value = self.as_opponent(opponent)
            elif kind in "+-":
                value = min(self.score[number], self.as_opponent(opponent))
            else:
                value = min(self.score[number], self.rounds * self.draw)
            found.append((value, points, kind in ("-", "half", "full", "zero", "absent")))
        return found

    def buchholz(self, number: int, *, low: int, high: int) -> Fraction:
        left = [(value, voluntary) for value, _, voluntary in self.contributions(number)]
        for _ in range(min(low, len(left))):
            voluntary = [item for item in left if item[1]]
            left.remove(min(voluntary or left))
        for _ in range(min(high, len(left))):
            left.remove(max(left))
        return sum((value for value, _ in left), Fraction(0))

    def sonneborn_berger(self, number: int) -> Fraction:
        return sum((value * points for value, points, _ in self.contributions(number)), Fraction(0))

    def ranked_by_direct(self) -> dict[int, int]:
        groups: list[list[int]] = []
        for score in sorted(set(self.score.values()), reverse=True):
            groups.extend(self.settled([number for number in self.rows if self.score[number] == score]))
        found, rank = {}, 1
        for group in groups:
            found.update(dict.fromkeys(group, rank))
            rank += len(group)
        return found

    def settled(self, group: list[int]) -> list[list[int]]:
        if len(group) == 1:
            return [group]
        points = {n: sum((c[2] for c in self.rows[n] if c[0] in "wdl" and c[1] in group), Fraction(0)) for n in group}
        missing = [
            (a, b) for a, b in combinations(group, 2) if not any(c[0] in "wdl" and c[1] == b for c in self.rows[a])
        ]
        assume(len(missing) <= 6)
        if not missing:
            parts = [[n for n in group if points[n] == p] for p in sorted(set(points.values()), reverse=True)]
            return [group] if len(parts) == 1 else [part for each in parts for part in self.settled(each)]
        leaders = set(group)
        outcomes = ((self.win, self.loss), (self.draw, self.draw), (self.loss, self.win))
        for results in product(outcomes, repeat=len(missing)):
            end = dict(points)
            for (a, b), (for_a, for_b) in zip(missing, results, strict=True):
                end[a] += for_a
                end[b] += for_b
            best = max(end.values())
            alone = [n for n in group if end[n] == best]
            leaders &= set(alone) if len(alone) == 1 else set()
        if not leaders:
            return [group]
        leader = leaders.pop()
        return [[leader], *self.settled([n for n in group if n != leader])]


@settings(max_examples=150, deadline=None)
@given(tournaments(smallest=2, largest=9))
def test_fides_sums_agree_with_the_judge(obj: Json) -> None:
    judge = Judge(obj)
    obj["regulations"]["tie_breaks"] = ["bh", "bh_c1", "bh_c2", "bh_m1", "sb_fide"]
    found = standings(parse_tournament(obj))
    for code, low, high in (("bh", 0, 0), ("bh_c1", 1, 0), ("bh_c2", 2, 0), ("bh_m1", 1, 1)):
        assert values(found, code) == {n: float(judge.buchholz(n, low=low, high=high)) for n in judge.rows}, code
    assert values(found, "sb_fide") == {n: float(judge.sonneborn_berger(n)) for n in judge.rows}
    assert values(found, "points") == {n: float(score) for n, score in judge.score.items()}


@settings(max_examples=150, deadline=None)
@given(tournaments(smallest=2, largest=8))
def test_direct_encounter_agrees_with_playing_every_outcome(obj: Json) -> None:
    obj["regulations"]["tie_breaks"] = ["direct"]
    assert ranks(standings(parse_tournament(obj))) == Judge(obj).ranked_by_direct()
