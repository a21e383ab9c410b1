"""The canonical form of a tournament and its hash: what a draw refers to, so that it can be replayed and checked.

Canonical means: defaults filled in, names and members left out, clubs as numbers by first appearance (only with
`avoid_same_club`, the one rule that reads them), entrants, boards, byes and pairs sorted by number, keys sorted, no
spaces, UTF-8, points as integers of half-points (docs/rules.md section 3, rule 6).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any, Final

from qisai.kernel.model import Board, Bye, ByeKind, Entrant, ForbiddenPair, Result, Round, Tournament
from qisai.kernel.regulations_file import regulations_to_json
from qisai.kernel.tournament_file import FORMAT

_RESULT: Final[Mapping[Result | None, str]] = {None: "null"} | {result: f'"{result.value}"' for result in Result}
_KIND: Final = {kind: kind.value for kind in ByeKind}


def tournament_sha256(tournament: Tournament) -> str:
    """SHA-256 of the canonical form, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_bytes(tournament)).hexdigest()


def canonical_bytes(tournament: Tournament) -> bytes:
    """The canonical form. Tournaments that pair alike by definition of the file have equal bytes.

    What there is much of (entrants, boards, byes) is written as text at once: a draw is hashed in a millisecond or two.
    """
    upcoming = tournament.next
    pairs = [
        {"entrants": sorted(pair.entrants), "from_round": pair.from_round, "to_round": pair.to_round}
        for pair in sorted(tournament.forbidden_pairs, key=_pair_order)
    ]
    absent = [] if upcoming is None else sorted(upcoming.absent)
    byes = () if upcoming is None else upcoming.byes
    drawing = tournament.next_round if upcoming is None else upcoming.round
    return (
        f'{{"algorithm":{_json(tournament.algorithm)},"entrants":{_entrants(tournament)},'
        f'"forbidden_pairs":{_json(pairs)},"format":{_json(FORMAT)},'
        f'"lots":{_json({str(number): lot for number, lot in tournament.lots.items()})},'
        f'"next":{{"absent":{_json(absent)},"byes":{_byes(byes)},"round":{drawing}}},'
        f'"regulations":{_json(_regulations(tournament))},"rounds":{_rounds(tournament)}}}'
    ).encode()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _list(items: Iterable[str]) -> str:
    return f"[{','.join(items)}]"


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


def _entrants(tournament: Tournament) -> str:
    in_order = sorted(tournament.entrants, key=attrgetter("number"))
    if not tournament.regulations.first_round.avoid_same_club:
        return _list([f"{{{_entrant(entrant)}}}" for entrant in in_order])
    clubs: dict[str, int] = {}
    codes = [clubs.setdefault(entrant.club, len(clubs) + 1) if entrant.club else None for entrant in in_order]
    return _list(
        [f'{{"club":{_number(code)},{_entrant(entrant)}}}' for code, entrant in zip(codes, in_order, strict=True)]
    )


def _entrant(entrant: Entrant) -> str:
    return (
        f'"fixed_board":{_number(entrant.fixed_board)},"number":{entrant.number},'
        f'"seed":{_number(entrant.seed)},"withdrawn_from":{_number(entrant.withdrawn_from)}'
    )


def _number(value: int | None) -> str:
    return "null" if value is None else str(value)


def _rounds(tournament: Tournament) -> str:
    everyone = {entrant.number for entrant in tournament.entrants}
    return _list([_round(round_, everyone) for round_ in sorted(tournament.rounds, key=attrgetter("number"))])


def _round(round_: Round, everyone: set[int]) -> str:
    seated = {board.first for board in round_.boards}
    seated.update([board.second for board in round_.boards])
    seated.update([bye.entrant for bye in round_.byes])
    missing = tuple([Bye(entrant=number, kind=ByeKind.ABSENT) for number in everyone - seated])
    boards = _list([_board(board) for board in sorted(round_.boards, key=attrgetter("board"))])
    return f'{{"boards":{boards},"byes":{_byes(round_.byes + missing)},"number":{round_.number}}}'


def _board(board: Board) -> str:
    return f'{{"board":{board.board},"first":{board.first},"result":{_RESULT[board.result]},"second":{board.second}}}'


def _byes(byes: tuple[Bye, ...]) -> str:
    in_order = sorted(byes, key=attrgetter("entrant"))
    return _list([f'{{"entrant":{bye.entrant},"kind":"{_KIND[bye.kind]}"}}' for bye in in_order])
