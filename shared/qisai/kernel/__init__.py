"""The pairing kernel: pure functions over plain values. No clock, no database, no hidden randomness."""

from qisai.kernel.check import Violation, violations
from qisai.kernel.pairing import NoLegalDraw, complete_draw, improve, pair_round

__all__ = ["NoLegalDraw", "Violation", "complete_draw", "improve", "pair_round", "violations"]
