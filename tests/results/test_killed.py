"""The results service killed outright while referees write: whatever was answered is kept, nothing is half there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import requests
from sqlalchemy import text

from qisai.db.accounts import Role
from qisai.local.ports import free_port
from qisai.web import assertion
from tests import calls, fields
from tests.servers import Database, comes_true

RESULTS = ("first_win", "draw", "second_win")


@contextmanager
def running_service(database: Database, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """The service under gunicorn, master and worker in a process group of their own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("QISAI_")}
    environment |= calls.service_environment("results", database, redis_url="redis://127.0.0.1:1/0")
    environment["QISAI_LOG_LEVEL"] = "error"
    command = [sys.executable, "-m", "gunicorn", "-c", "python:qisai.web.gunicorn", "-k", "gthread", "--threads", "6"]
    command += ["-b", f"127.0.0.1:{port}", "services.results.app:create_app()"]
    process = subprocess.Popen(command, env=environment, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def answers(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/readyz", timeout=2).status_code == 200
    except requests.RequestException:
        return False


class Referee:
    """Writes one board after the other, round and round, and notes what was answered."""

    def __init__(self, *, port: int, account_id: int, boards: list[int]) -> None:
        self._port, self._account_id = port, account_id
        self.seen = dict.fromkeys(boards, 1)
        """Board → the version last answered."""
        self.answered = 0

    def write(self, board: int) -> bool:
        """One write; False where no answer came."""
        path = f"/api/v1/boards/{board}/result"
        said = assertion.Assertion(
            account_id=self._account_id, method="PUT", path=path, request_id="killed-test", scopes=("read", "write")
        )
        headers = {
            assertion.HEADER: assertion.sign(said, private_key=calls.key_pair()[0]),
            "If-Match": f'"v{self.seen[board]}"',
        }
        body = {"result": RESULTS[self.seen[board] % 3]}
        try:
            answer = requests.put(f"http://127.0.0.1:{self._port}{path}", json=body, headers=headers, timeout=5)
        except requests.RequestException:
            return False
        assert answer.status_code == 200, answer.text
        self.seen[board] = answer.json()["version"]
        self.answered += 1
        return True

    def write_until_the_end(self) -> None:
        while all(self.write(board) for board in self.seen):
            pass


@pytest.mark.slow
def test_what_was_answered_is_there_and_nothing_is_half_there_after_kill_9(database: Database) -> None:
    """Each referee repeats the write whose answer was lost: it is taken once, whether or not it had been committed."""
    with fields.owner_of(database.owner_url) as session:
        event = fields.ready_event(session, entrants=24)
        fields.add_round(session, event, pairs=[(i, i + 12) for i in range(1, 13)])
        accounts = [fields.account(session, role=Role.REFEREE, event_id=event.event_id) for _ in range(4)]
    boards = sorted(event.board_ids.values())
    port = free_port()
    referees = [Referee(port=port, account_id=account, boards=boards[k::4]) for k, account in enumerate(accounts)]
    for _ in range(2):
        with running_service(database, port) as process:
            assert comes_true(lambda: answers(port), seconds=30)
            before = sum(referee.answered for referee in referees)
            threads = [threading.Thread(target=referee.write_until_the_end) for referee in referees]
            for thread in threads:
                thread.start()
            assert comes_true(lambda: sum(r.answered for r in referees) >= before + 40, seconds=30)  # noqa: B023
            os.killpg(process.pid, signal.SIGKILL)
            for thread in threads:
                thread.join(timeout=30)
        check_record(database, event.event_id, referees)


def check_record(database: Database, event_id: int, referees: list[Referee]) -> None:
    """Board, log and feed agree with each other and with every answer."""
    with fields.owner_of(database.owner_url) as session:
        rows = session.execute(
            text(
                """SELECT b.id, b.version, b.result, count(l.id) AS logged, max(l.version) AS last,
                          (SELECT new->>'result' FROM result_log WHERE board_id = b.id AND version = b.version) AS said
                   FROM board b LEFT JOIN result_log l ON l.board_id = b.id WHERE b.event_id = :id
                   GROUP BY b.id"""
            ),
            {"id": event_id},
        ).all()
        feed = session.execute(
            text(
                """SELECT count(*) AS entries, min(feed_no) AS low, max(feed_no) AS high,
                          (SELECT feed_no FROM event_feed WHERE event_id = :id) AS now
                   FROM feed_entry WHERE event_id = :id"""
            ),
            {"id": event_id},
        ).one()
    seen = {board: version for referee in referees for board, version in referee.seen.items()}
    for row in rows:
        assert row.logged == row.version - 1
        assert row.version in (seen[row.id], seen[row.id] + 1)  # one write may have been committed and not answered
        if row.version > 1:
            assert (row.last, row.said) == (row.version, row.result)
    assert feed.entries == sum(row.logged for row in rows) == feed.high - feed.low + 1
    assert feed.high == feed.now
