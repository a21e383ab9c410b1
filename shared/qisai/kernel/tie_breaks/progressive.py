"""`progressive` (累进分): the sum of the running totals; `progressive_cut1` leaves out round 1's total."""

from __future__ import annotations

from itertools import accumulate

from qisai.kernel.names import names
from qisai.kernel.tie_breaks.criterion import Reason, Scale, Sum, Terms, term
from qisai.kernel.tie_breaks.record import Record


def terms(record: Record, entrant: int) -> Terms:
    """The running total after each round (docs/rules.md section 9, progressive check)."""
    row = record.cells[entrant]
    totals = accumulate(cell.meaning.points for cell in row)
    return [term(record, cell, so_far, Reason.RUNNING_TOTAL) for cell, so_far in zip(row, totals, strict=True)]


def terms_cut1(record: Record, entrant: int) -> Terms:
    """The same with round 1 shown and not counted."""
    return [line._replace(counted=position > 0) for position, line in enumerate(terms(record, entrant))]


PROGRESSIVE = Sum(code="progressive", names=names("累进分", "累進分", "Progressive"), scale=Scale.HALF, terms=terms)
PROGRESSIVE_CUT1 = Sum(
    code="progressive_cut1",
    names=names("累进分(去首轮)", "累進分(去首輪)", "Progressive, cut 1"),
    scale=Scale.HALF,
    terms=terms_cut1,
)
