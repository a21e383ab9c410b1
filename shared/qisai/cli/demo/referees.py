"""Four referees who type the results of one round at the same time, some of whom collide on purpose.

A referee reads a board, and writes the result on the version read. At a chosen board two referees read the same version
and write different results at the same moment: one is taken, the other gets 412 with the present value, and leaves it,
as a person would who sees that a colleague was faster.
"""

from __future__ import annotations

import hashlib
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from qisai.cli.demo.patience import patiently
from qisai.client import BoardView, Client, HttpTransport
from qisai.errors import QisaiError, Stale, Unavailable
from qisai.kernel.model import Result

COLLIDE_EVERY: Final = 8
"""One board in so many is a collision."""
RESULTS: Final = (Result.FIRST_WIN, Result.SECOND_WIN, Result.DRAW)


@dataclass(slots=True)
class Report:
    """What the referees of one round lived through."""

    written: int = 0
    refused: list[int] = field(default_factory=list)
    """Boards at which a write was answered 412."""
    faults: list[str] = field(default_factory=list)


def result_of(seed: int, round_no: int, board: BoardView) -> Result:
    """How a game ends: decided by the demo's seed alone; forfeits now and then."""
    text = f"{seed}:{round_no}:{board.first.number}:{board.second.number}"
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % 100
    if number < 2:
        return Result.FIRST_FORFEIT if number else Result.SECOND_FORFEIT
    return RESULTS[0] if number < 44 else RESULTS[1] if number < 80 else RESULTS[2]


def enter_results(
    boards: Sequence[BoardView],
    *,
    url: str,
    tokens: Sequence[str],
    seed: int,
    round_no: int,
    on_written: Callable[[], None],
) -> Report:
    """Enters a result at every board without one, by one thread per token, and says how that went."""
    report, lock = Report(), threading.Lock()
    work: queue.SimpleQueue[tuple[BoardView, Result, threading.Barrier | None]] = queue.SimpleQueue()
    for position, board in enumerate(board for board in boards if board.result is None):
        result = result_of(seed, round_no, board)
        if position % COLLIDE_EVERY == 0 and len(tokens) > 1:
            meeting = threading.Barrier(2)
            work.put((board, result, meeting))
            work.put((board, _other(result), meeting))
        else:
            work.put((board, result, None))

    def referee(number: int, token: str) -> None:
        client = Client(HttpTransport(url, token=token, device=f"demo-phone-{number}"))
        while True:
            try:
                board, result, meeting = work.get_nowait()
            except queue.Empty:
                return
            try:
                if meeting is not None:
                    _meet(meeting)
                accepted = enter(client, board, result)
            except QisaiError as error:
                with lock:
                    report.faults.append(f"board {board.number}: {error.detail}")
                continue
            with lock:
                if accepted:
                    report.written += 1
                    on_written()
                else:
                    report.refused.append(board.id)

    threads = [threading.Thread(target=referee, args=(n, token)) for n, token in enumerate(tokens, start=1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return report


def enter(client: Client, board: BoardView, result: Result) -> bool:
    """Writes one result; False where somebody else was faster. After a lost answer it looks before it writes again."""
    try:
        client.rounds.put_result(board.id, result, version=board.version)
    except Stale:
        return False
    except Unavailable:
        present = patiently(lambda: client.rounds.board(board.id))
        if present.version == board.version:
            return enter(client, present, result)
        return _is_mine(client, board, result)
    return True


def _is_mine(client: Client, board: BoardView, result: Result) -> bool:
    """Whether the change behind the version seen is ours: its answer got lost, then it is accepted again (200)."""
    try:
        patiently(lambda: client.rounds.put_result(board.id, result, version=board.version))
    except Stale:
        return False
    return True


def _meet(meeting: threading.Barrier) -> None:
    """Both referees go on at the same moment; alone after a while, should the other not come."""
    try:
        meeting.wait(timeout=5)
    except threading.BrokenBarrierError:
        return


def _other(result: Result) -> Result:
    return RESULTS[(RESULTS.index(result) + 1) % len(RESULTS)] if result in RESULTS else Result.DRAW
