"""`lots`: drawn and stored, the last resort. The lower lot ranks first; without a lot an entrant ranks last."""

from __future__ import annotations

from qisai.kernel.names import names
from qisai.kernel.tie_breaks.criterion import Reason, Scale, Sum, Term, Terms, total
from qisai.kernel.tie_breaks.record import Record


def terms(record: Record, entrant: int) -> Terms:
    """The lot drawn for the entrant, if any."""
    lot = record.tournament.lots.get(record.numbers[entrant])
    return [] if lot is None else [Term(lot, Reason.LOT)]


def drawn(lines: Terms) -> int | None:
    """The lot; None where none was drawn."""
    return total(lines) if lines else None


LOTS = Sum(
    code="lots", names=names("抽签", "抽籤", "Lots"), scale=Scale.UNIT, terms=terms, value=drawn, lower_first=True
)
