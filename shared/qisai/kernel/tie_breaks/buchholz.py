"""`bh` and its cuts: FIDE Buchholz, the sum of the opponents' adjusted scores (C.07; docs/rules.md section 9)."""

from __future__ import annotations

from collections.abc import Callable

from qisai.kernel.names import names
from qisai.kernel.tie_breaks.criterion import Reason, Scale, Sum, Term, Terms, term
from qisai.kernel.tie_breaks.fide_unplayed import opponent_value
from qisai.kernel.tie_breaks.record import Record


def terms(record: Record, entrant: int) -> Terms:
    """Half-points of each round: the opponent's adjusted score, or the dummy's."""
    found: list[Term] = []
    for cell in record.cells[entrant]:
        worth = opponent_value(record, entrant, cell)
        if worth is not None:
            found.append(term(record, cell, worth[0], worth[1]))
    return found


def cut(*, lowest: int = 0, highest: int = 0) -> Callable[[Record, int], Terms]:
    """Buchholz without its lowest and highest values.

    A cut drops the lowest value, but a voluntarily unplayed round's value first if it is not lower.
    """

    def cut_terms(record: Record, entrant: int) -> Terms:
        lines = list(terms(record, entrant))
        left = list(range(len(lines)))
        for _ in range(min(lowest, len(left))):
            left.remove(min(left, key=lambda i: (lines[i].reason is not Reason.DUMMY_VOLUNTARY, lines[i].value, i)))
        for _ in range(min(highest, len(left))):
            left.remove(max(left, key=lambda i: (lines[i].value, -i)))
        return [line._replace(counted=i in left) for i, line in enumerate(lines)]

    return cut_terms


BH = Sum(code="bh", names=names("布赫霍尔茨分", "布赫霍爾茲分", "Buchholz"), scale=Scale.HALF, terms=terms)
BH_C1 = Sum(
    code="bh_c1",
    names=names("布赫霍尔茨分(去一低)", "布赫霍爾茲分(去一低)", "Buchholz, cut 1"),
    scale=Scale.HALF,
    terms=cut(lowest=1),
)
BH_C2 = Sum(
    code="bh_c2",
    names=names("布赫霍尔茨分(去二低)", "布赫霍爾茲分(去二低)", "Buchholz, cut 2"),
    scale=Scale.HALF,
    terms=cut(lowest=2),
)
BH_M1 = Sum(
    code="bh_m1",
    names=names("布赫霍尔茨分(去高低)", "布赫霍爾茲分(去高低)", "Buchholz, median 1"),
    scale=Scale.HALF,
    terms=cut(lowest=1, highest=1),
)
