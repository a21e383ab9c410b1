"""Pairing: from a tournament to the draw of its next round (docs/rules.md sections 3 to 8)."""

from qisai.kernel.pairing.draw import BrokenDraw, improve, pair_round, rank_of
from qisai.kernel.pairing.edit import complete_draw
from qisai.kernel.pairing.no_legal_draw import NoLegalDraw

__all__ = ["BrokenDraw", "NoLegalDraw", "complete_draw", "improve", "pair_round", "rank_of"]
