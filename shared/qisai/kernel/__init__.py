"""The kernel: pairing, scoring and standings as pure functions over plain values (docs/rules.md).

No clock, no database, no network, no hidden randomness. What callers usually need is named here; standings are in
`qisai.kernel.standings`, simulated events in `qisai.kernel.simulation`.
"""

from qisai.kernel.canonical import canonical_bytes, tournament_sha256
from qisai.kernel.check import Violation, violations
from qisai.kernel.draw_file import draw_to_json, parse_draw
from qisai.kernel.json_text import parse_json
from qisai.kernel.model import Draw, Regulations, Tournament
from qisai.kernel.pairing import NoLegalDraw, complete_draw, improve, pair_round, rank_of
from qisai.kernel.pairing.explain import explain
from qisai.kernel.pairing.forecast import forecast
from qisai.kernel.profiles import PROFILES, Profile
from qisai.kernel.rounds_advice import advise_rounds, check_rounds
from qisai.kernel.scoring import pairing_scores, standing_scores
from qisai.kernel.tournament_file import (
    parse_regulations,
    parse_tournament,
    regulations_to_json,
    tournament_to_json,
)
from qisai.kernel.verification import Verification, verify_draw

__all__ = [
    "PROFILES",
    "Draw",
    "NoLegalDraw",
    "Profile",
    "Regulations",
    "Tournament",
    "Verification",
    "Violation",
    "advise_rounds",
    "canonical_bytes",
    "check_rounds",
    "complete_draw",
    "draw_to_json",
    "explain",
    "forecast",
    "improve",
    "pair_round",
    "pairing_scores",
    "parse_draw",
    "parse_json",
    "parse_regulations",
    "parse_tournament",
    "rank_of",
    "regulations_to_json",
    "standing_scores",
    "tournament_sha256",
    "tournament_to_json",
    "verify_draw",
    "violations",
]
