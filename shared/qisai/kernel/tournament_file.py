"""The file `qisai.tournament/1`: JSON to `Tournament` and back. Every refusal says where and why, all at once."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from qisai.kernel.json_reader import JsonReader
from qisai.kernel.model import (
    ALGORITHM,
    Adjustment,
    Board,
    Bye,
    ByeKind,
    Entrant,
    ForbiddenPair,
    NextRound,
    Result,
    Round,
    Tournament,
)
from qisai.kernel.profiles import PROFILES, Profile
from qisai.kernel.regulations_file import (
    MAX_ROUNDS,
    parse_regulations,
    points_number,
    read_regulations,
    regulations_to_json,
)

__all__ = ["FORMAT", "parse_regulations", "parse_tournament", "regulations_to_json", "tournament_to_json"]

FORMAT: Final = "qisai.tournament/1"
MAX_ENTRANTS: Final = 20_000
MAX_NUMBER: Final = 999_999
"""Largest number of an entrant, of a board and of a fixed board."""
MAX_NAME: Final = 200
"""Characters of a name, a club or a member's name."""
MAX_MEMBERS: Final = 50
MAX_SEED: Final = 4000
"""Ratings lie in 0 … 4000; others are refused at entry, not at pairing."""
MAX_LOT: Final = 2**31 - 1
MAX_FORBIDDEN_PAIRS: Final = 200_000
MAX_ADJUSTMENTS: Final = 20_000
MAX_ADJUSTMENT: Final = 100
"""Points that one adjustment may give or take."""
MAX_REASON: Final = 500

_TOURNAMENT: Final = frozenset(
    {"format", "algorithm", "regulations", "entrants", "forbidden_pairs", "lots", "rounds", "next", "adjustments"}
)
_ENTRANT: Final = frozenset(Entrant.__dataclass_fields__)
_PAIR: Final = frozenset(ForbiddenPair.__dataclass_fields__)
_ROUND: Final = frozenset(Round.__dataclass_fields__)
_BOARD: Final = frozenset(Board.__dataclass_fields__)
_BYE: Final = frozenset(Bye.__dataclass_fields__)
_ADJUSTMENT: Final = frozenset({"entrant", "points", "after_round", "reason"})
_NEXT: Final = frozenset(NextRound.__dataclass_fields__)
_REQUESTED: Final = frozenset({ByeKind.HALF, ByeKind.FULL, ByeKind.ZERO})


def parse_tournament(obj: Any, *, profiles: Mapping[str, Profile] = PROFILES) -> Tournament:
    """A tournament from parsed JSON, with defaults filled in; entrants, rounds and boards in order of their numbers.

    A past board may lack its result here; pairing refuses that. Raises `Invalid` with a `FieldError` for every place:
    unknown names and kinds, an entrant, board or round number twice, unknown entrants, an entrant twice in a round or
    against itself, gaps in rounds, a round beyond `rounds`, points that are no multiple of .5, values out of range.
    """
    reader = JsonReader()
    given = reader.object(obj, "", names=_TOURNAMENT)
    if given.get("format") != FORMAT:
        if isinstance(obj, dict):
            reader.fail("/format", f"must be {FORMAT!r}", "format", format=FORMAT)
        reader.finish("invalid-tournament", "This is not a tournament file")
    algorithm = read_algorithm(reader, given)
    regulations = read_regulations(reader, given.get("regulations", {}), "/regulations", profiles=profiles)
    if "entrants" not in given:
        reader.fail("/entrants", "is missing", "missing")
    entrants = _entrants(reader, given.get("entrants", []))
    numbers = {entrant.number for entrant in entrants}
    rounds = _rounds(reader, given.get("rounds", []), numbers)
    if regulations.rounds is not None and len(rounds) > regulations.rounds:
        detail = f"has {len(rounds)} rounds, but the event has {regulations.rounds}"
        reader.fail("/rounds", detail, "round-beyond-end", rounds=regulations.rounds)
    tournament = Tournament(
        regulations=regulations,
        entrants=entrants,
        forbidden_pairs=_forbidden_pairs(reader, given.get("forbidden_pairs", []), numbers),
        lots=_lots(reader, given.get("lots", {}), numbers),
        rounds=rounds,
        next=_next(reader, given.get("next"), numbers, played=len(rounds), last=regulations.rounds),
        algorithm=algorithm,
        adjustments=_adjustments(reader, given.get("adjustments", []), numbers),
    )
    reader.finish("invalid-tournament", "The tournament cannot be taken")
    return tournament


def read_algorithm(reader: JsonReader, given: Mapping[str, Any]) -> str:
    """The version of the pairing rules, which must be one of this release: another would pair by other rules."""
    algorithm = given.get("algorithm", ALGORITHM)
    if algorithm != ALGORITHM:
        detail = f"is {str(algorithm)[:40]!r}, but this release knows {ALGORITHM} only"
        reader.fail("/algorithm", detail, "algorithm", known=ALGORITHM)
    return ALGORITHM


def tournament_to_json(tournament: Tournament) -> dict[str, Any]:
    """The tournament as plain JSON values; `parse_tournament` gives an equal one back.

    `adjustments` is left out when there are none.
    """
    upcoming = tournament.next
    value: dict[str, Any] = {
        "format": FORMAT,
        "algorithm": tournament.algorithm,
        "regulations": regulations_to_json(tournament.regulations),
        "entrants": [
            {
                "number": entrant.number,
                "name": entrant.name,
                "club": entrant.club,
                "seed": entrant.seed,
                "withdrawn_from": entrant.withdrawn_from,
                "fixed_board": entrant.fixed_board,
                "members": list(entrant.members),
            }
            for entrant in tournament.entrants
        ],
        "forbidden_pairs": [
            {"entrants": list(pair.entrants), "from_round": pair.from_round, "to_round": pair.to_round}
            for pair in tournament.forbidden_pairs
        ],
        "lots": {str(number): lot for number, lot in sorted(tournament.lots.items())},
        "rounds": [
            {
                "number": round_.number,
                "boards": [_board_json(board) for board in round_.boards],
                "byes": _byes_json(round_.byes),
            }
            for round_ in tournament.rounds
        ],
        "next": None
        if upcoming is None
        else {"round": upcoming.round, "absent": list(upcoming.absent), "byes": _byes_json(upcoming.byes)},
    }
    if tournament.adjustments:
        value["adjustments"] = [
            {
                "entrant": adjustment.entrant,
                "points": points_number(adjustment.half_points),
                "after_round": adjustment.after_round,
                "reason": adjustment.reason,
            }
            for adjustment in tournament.adjustments
        ]
    return value


def _board_json(board: Board) -> dict[str, Any]:
    result = None if board.result is None else board.result.value
    return {"board": board.board, "first": board.first, "second": board.second, "result": result}


def _byes_json(byes: tuple[Bye, ...]) -> list[dict[str, Any]]:
    return [{"entrant": bye.entrant, "kind": bye.kind.value} for bye in byes]


def _entrants(reader: JsonReader, value: Any) -> tuple[Entrant, ...]:
    entrants: dict[int, Entrant] = {}
    for index, item in enumerate(reader.array(value, "/entrants", maximum=MAX_ENTRANTS)):
        at = f"/entrants/{index}"
        entrant = _entrant(reader, item, at)
        if entrant is None:
            continue
        if entrant.number in entrants:
            detail = f"number {entrant.number} is taken by another entrant"
            reader.fail(f"{at}/number", detail, "duplicate", variant="number", value=entrant.number)
        entrants[entrant.number] = entrant
    return tuple(entrants[number] for number in sorted(entrants))


def _entrant(reader: JsonReader, value: Any, at: str) -> Entrant | None:
    given = reader.object(value, at, names=_ENTRANT)
    if "number" not in given:
        if isinstance(value, dict):
            reader.fail(f"{at}/number", "is missing", "missing")
        return None
    number = reader.number(given["number"], f"{at}/number", low=1, high=MAX_NUMBER)
    members = reader.array(given.get("members", ()), f"{at}/members", maximum=MAX_MEMBERS)
    entrant = Entrant(
        number=number or 0,
        name=reader.text(given.get("name", ""), f"{at}/name", maximum=MAX_NAME),
        club=reader.text(given.get("club", ""), f"{at}/club", maximum=MAX_NAME),
        seed=reader.optional_integer(given.get("seed"), f"{at}/seed", low=0, high=MAX_SEED),
        withdrawn_from=reader.optional_integer(
            given.get("withdrawn_from"), f"{at}/withdrawn_from", low=1, high=MAX_ROUNDS + 1
        ),
        fixed_board=reader.optional_integer(given.get("fixed_board"), f"{at}/fixed_board", low=1, high=MAX_NUMBER),
        members=tuple(reader.text(name, f"{at}/members/{k}", maximum=MAX_NAME) for k, name in enumerate(members)),
    )
    return None if number is None else entrant


def _known(reader: JsonReader, value: Any, at: str, numbers: set[int]) -> int | None:
    """The number of an entrant of this tournament, or None after a complaint."""
    if type(value) is int and value in numbers:
        return value
    if type(value) is int:
        reader.fail(at, f"there is no entrant {value}", "unknown-entrant", value=value)
    else:
        reader.integer(value, at, low=1, high=MAX_NUMBER)
    return None


def _forbidden_pairs(reader: JsonReader, value: Any, numbers: set[int]) -> tuple[ForbiddenPair, ...]:
    pairs: list[ForbiddenPair] = []
    for index, item in enumerate(reader.array(value, "/forbidden_pairs", maximum=MAX_FORBIDDEN_PAIRS)):
        at = f"/forbidden_pairs/{index}"
        given = reader.object(item, at, names=_PAIR)
        both = reader.array(given.get("entrants", ()), f"{at}/entrants", maximum=2)
        if len(both) != 2:
            reader.fail(f"{at}/entrants", "must name two entrants", "two-entrants")
            continue
        a, b = (_known(reader, number, f"{at}/entrants/{k}", numbers) for k, number in enumerate(both))
        start = reader.integer(given.get("from_round", 1), f"{at}/from_round", low=1, high=MAX_ROUNDS)
        end = reader.optional_integer(given.get("to_round"), f"{at}/to_round", low=1, high=MAX_ROUNDS)
        if end is not None and end < start:
            reader.fail(f"{at}/to_round", f"is before from_round {start}", "range", variant="before", start=start)
        if a is None or b is None:
            continue
        if a == b:
            reader.fail(f"{at}/entrants", f"names entrant {a} twice", "duplicate", variant="entrant", value=a)
        pairs.append(ForbiddenPair(entrants=(min(a, b), max(a, b)), from_round=start, to_round=end))
    return tuple(pairs)


def _lots(reader: JsonReader, value: Any, numbers: set[int]) -> Mapping[int, int]:
    lots: dict[int, int] = {}
    if not isinstance(value, dict):
        reader.fail("/lots", "must be an object: number of the entrant → lot", "type", variant="lots")
        return MappingProxyType(lots)
    known = {str(number): number for number in numbers}
    for name, lot in value.items():
        if name not in known:
            shown = str(name)[:20]
            reader.fail(f"/lots/{shown}", "there is no entrant of this number", "unknown-entrant", value=shown)
        else:
            lots[known[name]] = reader.integer(lot, f"/lots/{name}", low=0, high=MAX_LOT)
    return MappingProxyType(lots)


def _rounds(reader: JsonReader, value: Any, numbers: set[int]) -> tuple[Round, ...]:
    rounds: dict[int, Round] = {}
    given = reader.array(value, "/rounds", maximum=MAX_ROUNDS)
    for index, item in enumerate(given):
        at = f"/rounds/{index}"
        obj = reader.object(item, at, names=_ROUND)
        number = reader.number(obj.get("number"), f"{at}/number", low=1, high=MAX_ROUNDS)
        if number in rounds:
            reader.fail(f"{at}/number", f"round {number} stands twice", "duplicate", variant="round", value=number)
        seen: set[int] = set()
        boards = _boards(reader, obj.get("boards", ()), f"{at}/boards", numbers=numbers, seen=seen)
        byes = _byes(reader, obj.get("byes", ()), f"{at}/byes", numbers=numbers, seen=seen, kinds=frozenset(ByeKind))
        if number is not None:
            rounds[number] = Round(number=number, boards=boards, byes=byes)
    if rounds and len(rounds) == len(given) and max(rounds) != len(rounds):
        missing = next(number for number in range(1, len(rounds) + 1) if number not in rounds)
        reader.fail("/rounds", f"round {missing} is missing; rounds go from 1 without gaps", "gap", round=missing)
    return tuple(rounds[number] for number in sorted(rounds))


def _boards(reader: JsonReader, value: Any, at: str, *, numbers: set[int], seen: set[int]) -> tuple[Board, ...]:
    boards: dict[int, Board] = {}
    for index, item in enumerate(reader.array(value, at, maximum=MAX_ENTRANTS)):
        here = f"{at}/{index}"
        given = reader.object(item, here, names=_BOARD)
        number = reader.number(given.get("board"), f"{here}/board", low=1, high=MAX_NUMBER)
        if number in boards:
            detail = f"board {number} stands twice in this round"
            reader.fail(f"{here}/board", detail, "duplicate", variant="board", value=number)
        first = _known(reader, given.get("first"), f"{here}/first", numbers)
        second = _known(reader, given.get("second"), f"{here}/second", numbers)
        result = given.get("result")
        kind = None if result is None else reader.choice(result, f"{here}/result", Result)
        if number is None or first is None or second is None:
            continue
        if first == second:
            reader.fail(here, f"entrant {first} plays against itself", "self-pairing", value=first)
        else:
            _seat(reader, first, f"{here}/first", seen)
            _seat(reader, second, f"{here}/second", seen)
        boards[number] = Board(board=number, first=first, second=second, result=kind)
    return tuple(boards[number] for number in sorted(boards))


def _byes(
    reader: JsonReader, value: Any, at: str, *, numbers: set[int], seen: set[int], kinds: frozenset[ByeKind]
) -> tuple[Bye, ...]:
    byes: list[Bye] = []
    for index, item in enumerate(reader.array(value, at, maximum=MAX_ENTRANTS)):
        here = f"{at}/{index}"
        given = reader.object(item, here, names=_BYE)
        entrant = _known(reader, given.get("entrant"), f"{here}/entrant", numbers)
        kind = reader.member(given.get("kind"), f"{here}/kind", ByeKind)
        if kind is not None and kind not in kinds:
            allowed = ", ".join(sorted(kinds))
            detail = f"a {kind} bye cannot be requested; one of {allowed} can"
            reader.fail(f"{here}/kind", detail, "unknown-kind", known=allowed)
        if entrant is not None:
            _seat(reader, entrant, f"{here}/entrant", seen)
            byes.append(Bye(entrant=entrant, kind=kind or ByeKind.ZERO))
    return tuple(sorted(byes, key=lambda bye: bye.entrant))


def _seat(reader: JsonReader, entrant: int, at: str, seen: set[int]) -> None:
    """Each entrant has one place in a round."""
    if entrant in seen:
        detail = f"entrant {entrant} is twice in this round"
        reader.fail(at, detail, "duplicate", variant="entrant", value=entrant)
    seen.add(entrant)


def _adjustments(reader: JsonReader, value: Any, numbers: set[int]) -> tuple[Adjustment, ...]:
    """In order of rounds and entrants; an adjustment of nothing is refused."""
    adjustments: list[Adjustment] = []
    for index, item in enumerate(reader.array(value, "/adjustments", maximum=MAX_ADJUSTMENTS)):
        at = f"/adjustments/{index}"
        given = reader.object(item, at, names=_ADJUSTMENT)
        entrant = _known(reader, given.get("entrant"), f"{at}/entrant", numbers)
        half_points = reader.half_points(
            given.get("points"), f"{at}/points", minimum=-MAX_ADJUSTMENT, maximum=MAX_ADJUSTMENT
        )
        if given.get("points") == 0:
            reader.fail(f"{at}/points", "is 0: leave the adjustment out", "range", variant="zero")
        after = reader.integer(given.get("after_round"), f"{at}/after_round", low=1, high=MAX_ROUNDS)
        reason = reader.text(given.get("reason", ""), f"{at}/reason", maximum=MAX_REASON)
        if entrant is not None:
            adjustments.append(Adjustment(entrant=entrant, half_points=half_points, after_round=after, reason=reason))
    return tuple(sorted(adjustments, key=lambda one: (one.after_round, one.entrant)))


def _next(reader: JsonReader, value: Any, numbers: set[int], *, played: int, last: int | None) -> NextRound | None:
    if value is None:
        return None
    given = reader.object(value, "/next", names=_NEXT)
    number = reader.integer(given.get("round", played + 1), "/next/round", low=1, high=MAX_ROUNDS + 1)
    if number != played + 1:
        detail = f"is {number}, but {played} rounds are given: it must be {played + 1}"
        reader.fail("/next/round", detail, "gap", variant="next", value=number, expected=played + 1)
    elif last is not None and number > last:
        detail = f"is {number}, but the event has {last} rounds"
        reader.fail("/next/round", detail, "round-beyond-end", rounds=last)
    seen: set[int] = set()
    absent: list[int] = []
    for index, item in enumerate(reader.array(given.get("absent", ()), "/next/absent", maximum=MAX_ENTRANTS)):
        entrant = _known(reader, item, f"/next/absent/{index}", numbers)
        if entrant is not None:
            _seat(reader, entrant, f"/next/absent/{index}", seen)
            absent.append(entrant)
    byes = _byes(reader, given.get("byes", ()), "/next/byes", numbers=numbers, seen=seen, kinds=_REQUESTED)
    return NextRound(round=number, absent=tuple(sorted(absent)), byes=byes)
