"""Eight processes write on one round while it is closed, reopened, corrected and the next one is published.

Six are referees, two chief referees; one of these writes corrections, into the closed round too. The next round is
published while the first one is open and everybody writes; whoever waits for the feed then looked at the round before.
What is not argued away but looked for: accepted writes, log and feed agree one to one, the boards are as the last
accepted write left them, nothing but corrections landed in the closed round, and nothing but the chief referees' behind
the next one. Each guard taken out turns a test red (tried by hand):

- the version in the update of a board: this one, and `test_of_two_referees_with_one_version_exactly_one_wins`;
- the shared lock on the round: this one, and `test_a_result_that_comes_while_the_round_is_being_closed_is_refused`;
- the test that the round is not closed, for all but corrections: this one, and
  `test_a_closed_round_takes_a_correction_of_the_chief_with_a_reason_and_nothing_else`;
- the log row, the feed entry: this one, and `test_every_kind_of_result_is_taken_and_logged_with_who_and_when`;
- the test for a later round behind the feed's lock: this one, and
  `test_a_correction_that_meets_the_publishing_of_the_next_round_needs_the_chief`;
- the row of a refused write: this one, and
  `test_a_stale_write_is_refused_with_the_present_value_and_kept_in_the_conflict_log`.
"""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db import session as sessions
from qisai.db.records import FeedRow
from qisai.db.rounds import RoundRow
from qisai.ledger.actor import Actor
from services.results.operations.draws import publish_draw
from services.results.operations.rounds import close_round, reopen_round
from tests import fields
from tests.results.storm import Orders, Report, arguments, said
from tests.servers import Database, comes_true

WRITERS, CHIEFS, WRITES, BOARDS = 8, 2, 200, 60
CHIEF = Actor(account_id=None, name="孙裁判长")
CORRECTOR = "裁判1"
"""The chief referee among the writers whose writes are corrections."""
CLOSINGS, PUBLISHING = (60, 120, 185), 180
"""After how many accepted writes of the others the round is closed for a moment, and the next one published."""
ROOT = Path(__file__).resolve().parents[2]


class Evening:
    """The event of the evening and what its chief referee does meanwhile."""

    def __init__(self, database: Database) -> None:
        self.database = database
        with fields.owner_of(database.owner_url) as session:
            self.field = fields.ready_event(session, entrants=2 * BOARDS)
            fields.add_round(session, self.field, pairs=[(i, i + BOARDS) for i in range(1, BOARDS + 1)])
        self.boards = list(self.field.board_ids.values())
        self._service = sessions.Database(database.url("results"), application="chief", pool_size=1)

    def rows(self, statement: str) -> list[Any]:
        with fields.owner_of(self.database.owner_url) as session:
            return list(session.execute(sa.text(statement), {"id": self.field.event_id}).all())

    def uncorrected(self) -> int:
        """How many were written by anybody but the one who corrects."""
        query = f"SELECT count(*) AS n FROM result_log WHERE event_id = :id AND actor_name <> '{CORRECTOR}'"
        return int(self.rows(query)[0].n)

    def version(self, session: Session) -> int:
        here = (RoundRow.event_id == self.field.event_id, RoundRow.number == 1)
        return session.execute(sa.select(RoundRow.version).where(*here)).scalar_one()

    def close(self) -> None:
        target = {"event_id": self.field.event_id, "number": 1}
        with self._service.transaction() as session:
            seen = self.version(session)
            close_round(session, CHIEF, **target, seen_version=seen, force=True, reason="核对")
        before = self.uncorrected()
        time.sleep(0.3)
        assert self.uncorrected() == before  # nothing is taken while it is closed

    def reopen(self) -> None:
        target = {"event_id": self.field.event_id, "number": 1}
        with self._service.transaction() as session:
            reopen_round(session, CHIEF, **target, seen_version=self.version(session), reason="继续")

    def publish_next(self) -> None:
        """The feed is held while the draft is made, or each write of the storm would put it out of date."""
        with self._service.transaction() as session:
            session.execute(sa.select(FeedRow.feed_no).where(FeedRow.event_id == self.field.event_id).with_for_update())
            with fields.owner_of(self.database.owner_url) as owner:
                pairs = [(i, i + 1) for i in range(1, 2 * BOARDS, 2)]
                fields.add_draft(owner, self.field, round_no=2, pairs=pairs)
            publish_draw(session, CHIEF, event_id=self.field.event_id, round_no=2, number=1, seen_version=1)

    def end(self) -> None:
        self._service.close()


def run_the_evening(evening: Evening) -> list[Report]:
    """Starts the writers and acts as chief referee meanwhile."""
    orders = [
        Orders(
            url=evening.database.url("results"),
            name=f"裁判{seed}",
            seed=seed,
            writes=WRITES,
            boards=evening.boards,
            is_chief=seed <= CHIEFS,
            is_correcting=seed == 1,
        )
        for seed in range(1, WRITERS + 1)
    ]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    processes = [subprocess.Popen(list(arguments(one)), cwd=ROOT, **pipes) for one in orders]
    try:
        begin(processes)
        for step in sorted((*CLOSINGS, PUBLISHING)):
            assert comes_true(lambda step=step: evening.uncorrected() >= step, seconds=60)
            if step == PUBLISHING:
                evening.publish_next()
            else:
                evening.close()
                evening.reopen()
        return [said(process.communicate(timeout=60)[0]) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def begin(processes: list[subprocess.Popen[bytes]]) -> None:
    """All at once, when the slowest is ready."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()


@pytest.mark.slow
def test_nothing_is_lost_doubled_or_written_in_a_closed_round(database: Database) -> None:
    evening = Evening(database)
    reports = run_the_evening(evening)
    evening.end()
    log = evening.rows(
        "SELECT board_id, version, old->>'result' AS old, new->>'result' AS new, actor_name FROM result_log"
        " WHERE event_id = :id ORDER BY board_id, version"
    )
    feed = evening.rows("SELECT feed_no, kind, data FROM feed_entry WHERE event_id = :id ORDER BY feed_no")
    check_that_it_was_a_storm(reports)
    check_accepted_against_log(evening, reports, log)
    check_feed(evening, log, feed)
    stale = sum(report.stale for report in reports)
    assert evening.rows("SELECT count(*) AS n FROM result_conflict WHERE event_id = :id")[0].n == stale


def check_that_it_was_a_storm(reports: list[Report]) -> None:
    refused: Counter[str] = Counter()
    for report in reports:
        refused.update(report.refused)
    assert refused.keys() == {"round-closed", "needs-chief-referee"}, refused  # and neither deadlock nor time-out
    assert sum(report.stale for report in reports) > 50
    assert sum(report.repeated for report in reports) > 10


def check_accepted_against_log(evening: Evening, reports: list[Report], log: list[Any]) -> None:
    accepted = [tuple(write) for report in reports for write in report.accepted]
    assert sorted(accepted, key=str) == sorted(((row.board_id, row.version, row.new) for row in log), key=str)
    boards = evening.rows("SELECT id, version, result FROM board WHERE event_id = :id AND round_id IN"
                          " (SELECT id FROM round WHERE event_id = :id AND number = 1)")  # fmt: skip
    for board in boards:
        history = [row for row in log if row.board_id == board.id]
        assert [row.version for row in history] == list(range(2, board.version + 1))
        assert [row.old for row in history] == [None, *(row.new for row in history[:-1])][: len(history)]
        assert board.result == (history[-1].new if history else None)


def check_feed(evening: Evening, log: list[Any], feed: list[Any]) -> None:
    """One entry each, without gaps; in a closed round only corrections, behind the next round only chief referees'."""
    assert [entry.feed_no for entry in feed] == list(range(feed[0].feed_no, feed[0].feed_no + len(feed)))
    assert evening.rows("SELECT feed_no FROM event_feed WHERE event_id = :id")[0].feed_no == feed[-1].feed_no
    recorded = [(e.data["board_id"], e.data["version"]) for e in feed if e.kind == "result.recorded"]
    assert sorted(recorded) == [(row.board_id, row.version) for row in log]
    who = {(row.board_id, row.version): row.actor_name for row in log}
    chiefs = {f"裁判{seed}" for seed in range(1, CHIEFS + 1)}
    is_open, is_published = True, False
    seen: Counter[str] = Counter()
    for entry in feed:
        match entry.kind:
            case "round.closed" | "round.reopened":
                is_open = entry.kind == "round.reopened"
            case "round.published":
                assert is_open
                is_published = True
            case "result.recorded":
                writer = who[entry.data["board_id"], entry.data["version"]]
                assert is_open or writer == CORRECTOR
                assert not is_published or writer in chiefs
                seen["closed"] += not is_open
                seen["behind the next"] += is_published
    assert is_published
    assert seen["closed"]  # else nothing was said about corrections
    assert seen["behind the next"]
    assert [entry.kind for entry in feed].count("round.closed") == len(CLOSINGS)
