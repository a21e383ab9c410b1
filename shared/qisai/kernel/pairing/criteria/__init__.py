"""The criteria of docs/rules.md section 4, one small unit each: what a pair costs and what the bye costs.

Each unit exists twice: `of_pair`, which reads like its sentence in the rules, and `of_pairs`, the same over arrays.
"""

from qisai.kernel.pairing.criteria.base import Combine, Criterion
from qisai.kernel.pairing.criteria.byes import BYE_SCORE, BYE_UNPLAYED
from qisai.kernel.pairing.criteria.floats import FLOAT_HISTORY, FLOAT_LOTS, FLOAT_PLACES, REPEAT_FLOATS
from qisai.kernel.pairing.criteria.order import CLUB_PAIRS, ORDER, PAIR_LOTS, TABLE_MISSES
from qisai.kernel.pairing.criteria.scores import CROSS_PAIRS, GAP_SQUARES, LEADERS_APART, MAX_GAP
from qisai.kernel.pairing.criteria.sides import SIDE_BREACHES, SIDE_CLASHES, STRONG_CLASHES

__all__ = [
    "BYE_SCORE",
    "BYE_UNPLAYED",
    "CLUB_PAIRS",
    "CROSS_PAIRS",
    "FLOAT_HISTORY",
    "FLOAT_LOTS",
    "FLOAT_PLACES",
    "GAP_SQUARES",
    "LEADERS_APART",
    "MAX_GAP",
    "ORDER",
    "PAIR_LOTS",
    "REPEAT_FLOATS",
    "SIDE_BREACHES",
    "SIDE_CLASHES",
    "STRONG_CLASHES",
    "TABLE_MISSES",
    "Combine",
    "Criterion",
]
