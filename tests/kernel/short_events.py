"""Tournaments in short form: `event(4, "1>2 3=4", "1<3 2H 4U")` has four entrants and two rounds.

`a>b` first wins, `a<b` second wins, `a=b` draw, `a[b` the first side forfeits, `a]b` the second, `axb` both, `a~b`
adjourned, `a/b` void, `a?b` not reported; `7U` pairing bye, `7H` half, `7F` full, `7Z` zero, `7A` absent.
"""

import re
from dataclasses import replace

from qisai.kernel.model import Board, Bye, ByeKind, Draw, Entrant, NextRound, Regulations, Result, Round, Tournament

RESULTS = {
    ">": Result.FIRST_WIN,
    "<": Result.SECOND_WIN,
    "=": Result.DRAW,
    "[": Result.FIRST_FORFEIT,
    "]": Result.SECOND_FORFEIT,
    "x": Result.DOUBLE_FORFEIT,
    "~": Result.ADJOURNED,
    "/": Result.VOID,
    "?": None,
}
BYES = {
    "U": ByeKind.PAIRING,
    "H": ByeKind.HALF,
    "F": ByeKind.FULL,
    "Z": ByeKind.ZERO,
    "A": ByeKind.ABSENT,
}
BOARD = re.compile(r"(\d+)(.)(\d+)")


def event(size, *rounds, entrants=None, forbidden=(), absent=(), byes="", **regulations):
    """`entrants`: fields by number, `{3: {"withdrawn_from": 2}}`; `absent` and `byes` are for the round to draw."""
    special = entrants or {}
    return Tournament(
        regulations=Regulations(**regulations),
        entrants=tuple(Entrant(number=number, **special.get(number, {})) for number in range(1, size + 1)),
        forbidden_pairs=tuple(forbidden),
        rounds=tuple(past_round(at, text) for at, text in enumerate(rounds, 1)),
        next=NextRound(round=len(rounds) + 1, absent=tuple(absent), byes=past_round(0, byes).byes),
    )


def past_round(number, text):
    boards, byes = [], []
    for token in text.split():
        board = BOARD.fullmatch(token)
        if board:
            first, result, second = board.groups()
            place = len(boards) + 1
            boards.append(Board(board=place, first=int(first), second=int(second), result=RESULTS[result]))
        else:
            byes.append(Bye(entrant=int(token[:-1]), kind=BYES[token[-1]]))
    return Round(number=number, boards=tuple(boards), byes=tuple(byes))


def played(tournament: Tournament, draw: Draw, results="") -> Tournament:
    """The tournament after the drawn round: every board a draw, but for those named in `results`."""
    named = {(int(a), int(b)): RESULTS[mark] for a, mark, b in (BOARD.fullmatch(t).groups() for t in results.split())}
    boards = tuple(
        Board(
            board=board.board,
            first=board.first,
            second=board.second,
            result=named.get((board.first, board.second), Result.DRAW),
        )
        for board in draw.boards
    )
    byes = tournament.next.byes if tournament.next else ()
    if draw.bye is not None:
        byes = (*byes, Bye(entrant=draw.bye, kind=ByeKind.PAIRING))
    done = Round(number=draw.round, boards=boards, byes=byes)
    return replace(tournament, rounds=(*tournament.rounds, done), next=None)


def opponents(draw: Draw) -> set[tuple[int, int]]:
    return {tuple(sorted((board.first, board.second))) for board in draw.boards}


def sides(draw: Draw) -> set[tuple[int, int]]:
    return {(board.first, board.second) for board in draw.boards}
