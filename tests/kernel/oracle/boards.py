"""Section 7: board numbers, with sides as section 6 gives them."""

from __future__ import annotations

from tests.kernel.oracle.event import Event, Json
from tests.kernel.oracle.legality import Draw, Pair
from tests.kernel.oracle.sides import seat


def seated_boards(event: Event, draw: Draw) -> list[Json]:
    """The boards of the draw as in `qisai.draw/1`, by board number."""

    def rank(pair: Pair) -> tuple[int, int, int]:
        one, other = (event.score(number) for number in pair)
        return -max(one, other), -(one + other), min(pair)

    taken: dict[int, Pair] = {}
    rest: list[Pair] = []
    for pair in sorted(draw.pairs, key=rank):
        wanted = [board for number in pair if (board := event.entrants[number].get("fixed_board")) is not None]
        if wanted and min(wanted) not in taken:
            taken[min(wanted)] = pair
        else:
            rest.append(pair)
    board = 1
    for pair in rest:
        while board in taken:
            board += 1
        taken[board] = pair
    return [
        {"board": number, "first": first, "second": second}
        for number, pair in sorted(taken.items())
        for first, second in [seat(event, pair)]
    ]
