"""The tournament as TRF(x) text, the input of the engine that pairing speed is measured against."""

from __future__ import annotations

from qisai.kernel.model import Bye, ByeKind, Result, Tournament

_LETTERS = {
    Result.FIRST_WIN: ("1", "0"),
    Result.SECOND_WIN: ("0", "1"),
    Result.DRAW: ("=", "="),
    Result.FIRST_FORFEIT: ("-", "+"),
    Result.SECOND_FORFEIT: ("+", "-"),
    Result.DOUBLE_FORFEIT: ("-", "-"),
}
_HALF_POINTS = {"1": 2, "+": 2, "U": 2, "F": 2, "=": 1, "H": 1}
_BYES = {ByeKind.PAIRING: "U", ByeKind.HALF: "H", ByeKind.FULL: "F", ByeKind.ZERO: "Z", ByeKind.ABSENT: "Z"}


def trf_text(tournament: Tournament) -> str:
    """TRF(x) of a tournament with numbers 1 … n and points 1/½/0; who rests in the coming round has it filled in."""
    drawing = tournament.next_round
    results: dict[int, list[str]] = {entrant.number: [] for entrant in tournament.entrants}
    for round_ in tournament.rounds:
        for board in round_.boards:
            assert board.result is not None
            first, second = _LETTERS[board.result]
            results[board.first].append(f"{board.second:4d} w {first}")
            results[board.second].append(f"{board.first:4d} b {second}")
        for bye in round_.byes:
            results[bye.entrant].append(_bye(bye))
        _fill(results, round_.number)
    if tournament.next is not None:
        for bye in tournament.next.byes:
            results[bye.entrant].append(_bye(bye))
        for number in tournament.next.absent:
            results[number].append("0000 - Z")
    for entrant in tournament.entrants:
        if (
            entrant.withdrawn_from is not None
            and entrant.withdrawn_from <= drawing
            and len(results[entrant.number]) < drawing
        ):
            results[entrant.number].append("0000 - Z")
    lines = [_player(number, columns, drawing) for number, columns in sorted(results.items())]
    rounds = tournament.regulations.rounds or drawing
    return "\n".join(["012 Benchmark field", *lines, f"XXR {rounds}", "XXC white1", ""])


def _bye(bye: Bye) -> str:
    return f"0000 - {_BYES[bye.kind]}"


def _fill(results: dict[int, list[str]], length: int) -> None:
    for columns in results.values():
        if len(columns) < length:
            columns.append("0000 - Z")


def _player(number: int, columns: list[str], drawing: int) -> str:
    half = sum(_HALF_POINTS.get(column[-1], 0) for column in columns[: drawing - 1])
    # What stands in the column of the coming round counts in the total that the reader checks.
    half += sum(_HALF_POINTS.get(column[-1], 0) for column in columns[drawing - 1 :])
    name = f"Player {number}"
    points = f"{half // 2}.{5 * (half % 2)}"
    head = f"001 {number:4d}      {name:<33} {2800 - number // 4:4d} {'':3} {'':11} {'':10} {points:>4} {number:4d}"
    return head + "".join(f"  {column}" for column in columns)
