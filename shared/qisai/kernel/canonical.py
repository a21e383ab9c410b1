"""The canonical form of a tournament and its hash: what a draw refers to, so that it can be replayed and checked.

Canonical means: defaults filled in, names and members left out, clubs as numbers by first appearance (only with
`avoid_same_club`, the one rule that reads them), entrants, boards, byes and pairs sorted by number, keys sorted, no
spaces, UTF-8, points as integers of half-points (docs/rules.md section 3, rule 6).
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from qisai.kernel.model import Bye, ByeKind, Entrant, ForbiddenPair, Round, Tournament
from qisai.kernel.regulations_file import regulations_to_json
from qisai.kernel.tournament_file import FORMAT


def tournament_sha256(tournament: Tournament) -> str:
    """SHA-256 of the canonical form, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_bytes(tournament)).hexdigest()


def canonical_bytes(tournament: Tournament) -> bytes:
    """The canonical form. Tournaments that pair alike by definition of the file have equal bytes."""
    upcoming = tournament.next
    value = {
        "format": FORMAT,
        "algorithm": tournament.algorithm,
        "regulations": _regulations(tournament),
        "entrants": _entrants(tournament),
        "forbidden_pairs": [
            {"entrants": sorted(pair.entrants), "from_round": pair.from_round, "to_round": pair.to_round}
            for pair in sorted(tournament.forbidden_pairs, key=_pair_order)
        ],
        "lots": {str(number): lot for number, lot in tournament.lots.items()},
        "rounds": _rounds(tournament),
        "next": {
            "round": tournament.next_round if upcoming is None else upcoming.round,
            "absent": [] if upcoming is None else sorted(upcoming.absent),
            "byes": [] if upcoming is None else _byes(upcoming.byes),
        },
    }
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def _pair_order(pair: ForbiddenPair) -> tuple[int, int, int, int]:
    low, high = sorted(pair.entrants)
    return low, high, pair.from_round, -1 if pair.to_round is None else pair.to_round


def _regulations(tournament: Tournament) -> dict[str, Any]:
    regulations = tournament.regulations
    points = regulations.points
    value = regulations_to_json(regulations)
    value["points"] = {"win": points.win, "draw": points.draw, "loss": points.loss, "bye": points.bye}
    value["bye_compensation"]["points"] = regulations.bye_compensation.points
    return value


def _entrants(tournament: Tournament) -> list[dict[str, Any]]:
    in_order = sorted(tournament.entrants, key=lambda entrant: entrant.number)
    values = [_entrant(entrant) for entrant in in_order]
    if tournament.regulations.first_round.avoid_same_club:
        clubs: dict[str, int] = {}
        for entrant, value in zip(in_order, values, strict=True):
            value["club"] = clubs.setdefault(entrant.club, len(clubs) + 1) if entrant.club else None
    return values


def _entrant(entrant: Entrant) -> dict[str, Any]:
    return {
        "number": entrant.number,
        "seed": entrant.seed,
        "withdrawn_from": entrant.withdrawn_from,
        "fixed_board": entrant.fixed_board,
    }


def _rounds(tournament: Tournament) -> list[dict[str, Any]]:
    everyone = {entrant.number for entrant in tournament.entrants}
    return [_round(round_, everyone) for round_ in sorted(tournament.rounds, key=lambda round_: round_.number)]


def _round(round_: Round, everyone: set[int]) -> dict[str, Any]:
    seated = {board.first for board in round_.boards}
    seated.update(board.second for board in round_.boards)
    seated.update(bye.entrant for bye in round_.byes)
    missing = tuple(Bye(entrant=number, kind=ByeKind.ABSENT) for number in everyone - seated)
    return {
        "number": round_.number,
        "boards": [
            {"board": board.board, "first": board.first, "second": board.second, "result": board.result}
            for board in sorted(round_.boards, key=lambda board: board.board)
        ],
        "byes": _byes(round_.byes + missing),
    }


def _byes(byes: tuple[Bye, ...]) -> list[dict[str, Any]]:
    return [{"entrant": bye.entrant, "kind": bye.kind} for bye in sorted(byes, key=lambda bye: bye.entrant)]
