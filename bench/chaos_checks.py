"""What must hold after the chaos, whatever happened: each check returns what it found wrong, in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from bench.chaos_faults import Fault
from bench.chaos_load import Acknowledged
from tests.faults.stage import Stage

Check = Callable[[Stage, Acknowledged, Sequence[Fault]], Iterator[str]]


def no_committed_result_lost(stage: Stage, done: Acknowledged, _faults: Sequence[Fault]) -> Iterator[str]:
    """Every acknowledged result is in the log with its version, and the board has the latest."""
    log = {
        (r.board_id, r.version): r.result
        for r in stage.rows("SELECT board_id, version, new->>'result' AS result FROM result_log")
    }
    boards = {r.id: r for r in stage.rows("SELECT id, version, result FROM board")}
    for board, versions in done.results.items():
        for version, result in versions.items():
            logged = log.get((board, version))
            if logged != result:
                yield f"board {board} version {version}: {result} was acknowledged, the log has {logged}"
        latest = max(versions)
        if boards[board].version == latest and boards[board].result != versions[latest]:
            yield f"board {board}: {versions[latest]} was acknowledged last, the board has {boards[board].result}"
        if boards[board].version < latest:
            yield f"board {board}: version {latest} was acknowledged, the board is at {boards[board].version}"


def log_rows_are_changes(stage: Stage, _done: Acknowledged, _faults: Sequence[Fault]) -> Iterator[str]:
    """A board of version v that was not imported has the versions 2 … v in its log, each once."""
    rows = stage.rows(
        """
        SELECT b.id, b.version, count(l.id) AS n, max(l.version) AS last FROM board b JOIN round r ON r.id = b.round_id
        LEFT JOIN result_log l ON l.board_id = b.id WHERE r.number > 1 GROUP BY b.id, b.version
        """
    )
    for row in rows:
        if row.n != row.version - 1 or (row.last or 1) != row.version:
            yield f"board {row.id} of version {row.version} has {row.n} log rows, the last of version {row.last}"


def no_round_board_or_entrant_twice(stage: Stage, done: Acknowledged, _faults: Sequence[Fault]) -> Iterator[str]:
    """Rounds acknowledged are there; everybody sits once a round; nobody met anybody twice."""
    rounds = {(row.event_id, row.number) for row in stage.rows("SELECT event_id, number FROM round")}
    yield from (f"round {missing} was published and is missing" for missing in sorted(done.rounds - rounds))
    twice = "SELECT event_id, number, count(*) AS n FROM round GROUP BY 1, 2 HAVING count(*) > 1"
    yield from (f"round {row.number} of event {row.event_id} is there {row.n} times" for row in stage.rows(twice))
    seated = """
        SELECT r.event_id, r.number, e.entrant, count(*) AS n FROM board b JOIN round r ON r.id = b.round_id,
        LATERAL (VALUES (b.first_entrant_id), (b.second_entrant_id)) AS e (entrant)
        WHERE b.unpublished_at IS NULL GROUP BY 1, 2, 3 HAVING count(*) > 1
    """
    yield from (f"entrant {row.entrant} sits {row.n} times in round {row.number}" for row in stage.rows(seated))
    met = """
        SELECT event_id, least(first_entrant_id, second_entrant_id) AS a,
               greatest(first_entrant_id, second_entrant_id) AS b, count(*) AS n
        FROM board WHERE unpublished_at IS NULL
        AND coalesce(result, '') NOT IN ('first_forfeit', 'second_forfeit', 'double_forfeit', 'void')
        GROUP BY 1, 2, 3 HAVING count(*) > 1
    """
    yield from (f"entrants {row.a} and {row.b} met {row.n} times" for row in stage.rows(met))
    hole = """
        SELECT r.event_id, r.number FROM round r LEFT JOIN board b ON b.round_id = r.id AND b.unpublished_at IS NULL
        WHERE r.state <> 'pending' GROUP BY 1, 2 HAVING count(b.id) = 0
    """
    yield from (f"round {row.number} of event {row.event_id} is empty" for row in stage.rows(hole))


def every_job_ended(stage: Stage, _done: Acknowledged, _faults: Sequence[Fault]) -> Iterator[str]:
    """No job is active, those with a draw have one, its end is told once in the audit log and once in the feed."""
    for row in stage.rows("SELECT id, state FROM pairing_job WHERE state IN ('queued', 'running') AND NOT is_canary"):
        yield f"job {row.id} is {row.state}"
    for row in stage.rows("SELECT id, state FROM pairing_job WHERE event_id IS NOT NULL AND finished_at IS NULL"):
        yield f"job {row.id} is {row.state} and has no end"
    drawn = """
        SELECT j.id, j.state, count(d.id) AS n FROM pairing_job j LEFT JOIN draw d ON d.job_id = j.id
        WHERE NOT j.is_canary GROUP BY 1, 2
        HAVING count(d.id) <> CASE WHEN j.state IN ('succeeded', 'degraded') THEN 1 ELSE 0 END
    """
    yield from (f"job {row.id} is {row.state} and left {row.n} draws" for row in stage.rows(drawn))
    told = """
        SELECT j.id, j.state, (SELECT count(*) FROM audit_log a WHERE a.subject = 'job:' || j.id
          AND a.action IN ('job.' || j.state, 'job.cancel')) AS n
        FROM pairing_job j WHERE NOT j.is_canary AND j.state NOT IN ('queued', 'running')
    """
    yield from (f"the end of job {row.id} is told {row.n} times" for row in stage.rows(told) if row.n != 1)


def feeds_have_no_gap(stage: Stage, _done: Acknowledged, _faults: Sequence[Fault]) -> Iterator[str]:
    """The numbers 2 … feed_no of each event's feed are there, each once (1 is the event as it was made)."""
    rows = stage.rows(
        """
        SELECT f.event_id, f.feed_no, count(e.feed_no) AS n FROM event_feed f
        LEFT JOIN feed_entry e ON e.event_id = f.event_id AND e.feed_no <= f.feed_no GROUP BY 1, 2
        """
    )
    for row in rows:
        if row.n != row.feed_no - 1:
            yield f"the feed of event {row.event_id} is at {row.feed_no} and has {row.n} entries"


CAUSES = {
    "broker-away": ("broker",),
    "no-live-worker": ("worker", "database", "connections"),
    "keeper-late": ("keeper", "database", "connections"),
    "queue-stuck": ("worker", "broker", "keeper", "database", "connections", "solver", "pool"),
    "canary-late": ("worker", "broker", "keeper", "database", "connections", "solver", "pool"),
}
LAG_SECONDS = 30
"""An alert may open so long after its fault: four leases (12 s), and what a process needs to start under this load."""
BACK_SECONDS = 10
"""So long after the database is back a call may still meet a connection that it lost."""


def had_cause(words: Sequence[str], at: float, faults: Sequence[Fault]) -> bool:
    """Whether at this time, in seconds since 1970, a fault with one of these words lasted or had just ended."""
    of_the_kind = (fault for fault in faults if any(word in fault.name for word in words))
    return any(fault.explains(at, at, lag=LAG_SECONDS) for fault in of_the_kind)


def every_alert_has_a_cause(stage: Stage, _done: Acknowledged, faults: Sequence[Fault]) -> Iterator[str]:
    """Alerts of rounds name a job that ended so, a breaker follows three timeouts, others a fault of then."""
    jobs = {row.id: row for row in stage.rows("SELECT id, state, event_id, outcome->>'slug' AS slug FROM pairing_job")}
    timeouts: dict[int, int] = {}
    for job in jobs.values():
        if job.slug in ("solver-deadline", "solver-crashed"):
            timeouts[job.event_id] = timeouts.get(job.event_id, 0) + 1
    alerts = """
        SELECT kind, key, event_id, (detail->>'job')::bigint AS job, cleared_at, extract(epoch FROM raised_at) AS raised
        FROM alert
    """
    for row in stage.rows(alerts):
        if row.kind in ("draw-degraded", "draw-failed"):
            if jobs[row.job].state != row.kind.removeprefix("draw-"):
                yield f"{row.kind} of {row.key} names job {row.job}, which is {jobs[row.job].state}"
        elif row.kind == "breaker-open":
            if timeouts.get(row.event_id, 0) < 3:
                yield f"the breaker of event {row.event_id} opened after {timeouts.get(row.event_id, 0)} timeouts"
        elif not had_cause(CAUSES.get(row.kind, ()), float(row.raised), faults):
            yield f"{row.kind} was raised {_clock(row.raised)}, and nothing of the kind was broken then"
        if row.cleared_at is None and row.kind in CAUSES:
            yield f"{row.kind} is still open when everything works again"
    left = """
        SELECT a.kind, a.key FROM alert a JOIN round r ON a.key = r.event_id || ':' || r.number AND r.state <> 'pending'
        WHERE a.cleared_at IS NULL AND a.kind IN ('draw-degraded', 'draw-failed')
    """
    yield from (f"{row.kind} of {row.key} is open and the round is published" for row in stage.rows(left))


def nobody_asks_again_for_want_of_redis(_stage: Stage, done: Acknowledged, faults: Sequence[Fault]) -> Iterator[str]:
    """A 503 to a referee needs a fault of the database: without Redis alone nobody retypes anything."""
    for refusal in done.refused:
        span = (refusal.asked, refusal.answered)
        if not any("database" in f.name and f.explains(*span, lag=BACK_SECONDS) for f in faults):
            broken = ", ".join(f.name for f in faults if f.explains(*span, lag=0)) or "nothing"
            yield f"{refusal.what}: 503 {_clock(refusal.answered)}, when {broken} was broken"


def _clock(seconds: float) -> str:
    return time.strftime("at %H:%M:%S", time.localtime(float(seconds)))


CHECKS: tuple[Check, ...] = (
    no_committed_result_lost,
    log_rows_are_changes,
    no_round_board_or_entrant_twice,
    every_job_ended,
    feeds_have_no_gap,
    every_alert_has_a_cause,
    nobody_asks_again_for_want_of_redis,
)
