"""One event from the roster to the last round, over HTTP alone. Begun again, it goes on where it stands."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from qisai.cli.demo.patience import patiently
from qisai.cli.demo.referees import Report, enter_results
from qisai.client import Client, Event, HttpTransport, Job
from qisai.db.accounts import Role
from qisai.errors import Conflict, QisaiError

REFEREES: Final = ("赵一", "钱二", "孙三", "李四")
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to play. `resume`: id of an event that an earlier demo began."""

    roster: bytes
    rounds: int
    profile: str
    name: str
    seed: int
    resume: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What was played: the event, the roster it began with, and per round what the referees met."""

    event_id: int
    roster: bytes
    rounds: int
    entrants: int
    reports: tuple[Report, ...]
    seconds: float


def play(plan: Plan, *, url: str, token: str, say: Say) -> Played:
    """Plays the whole event. Raises errors of `qisai.errors` where the system refuses a step."""
    began = time.monotonic()
    client = Client(HttpTransport(url, token=token, device="demo-desk"))
    event = prepare(client, plan, say)
    tokens = referees(client, event.id)
    reports = [
        play_round(client, event.id, round_no, url=url, tokens=tokens, seed=plan.seed, say=say)
        for round_no in range(1, plan.rounds + 1)
    ]
    _finish(client, event.id, plan.rounds)
    entrants = len(patiently(lambda: client.entrants.list(event.id, state="seated")))
    return Played(
        event_id=event.id,
        roster=plan.roster,
        rounds=plan.rounds,
        entrants=entrants,
        reports=tuple(reports),
        seconds=time.monotonic() - began,
    )


def prepare(client: Client, plan: Plan, say: Say) -> Event:
    """The event with its field seated and numbered: each step only where it is still to be done."""
    if plan.resume is not None:
        event = patiently(lambda: client.events.get(plan.resume or 0))
    else:
        key = secrets.token_hex(16)
        event = patiently(
            lambda: client.events.create(
                name=plan.name, profile=plan.profile, regulations={"rounds": plan.rounds}, key=key
            )
        )
        say(f"event {event.id} “{event.name}” created")
    if event.state == "draft":
        event = patiently(lambda: client.events.act(client.events.get(event.id), "open"))
    if event.state == "open":
        _fill(client, event, plan, say)
        event = patiently(lambda: client.events.act(client.events.get(event.id), "close-registration"))
    return event


def _fill(client: Client, event: Event, plan: Plan, say: Say) -> None:
    dry = patiently(lambda: client.entrants.import_roster(event.id, plan.roster, dry_run=True))
    say(
        f"roster read as {dry.encoding}: " + ", ".join(f"{count} {what}" for what, count in dry.counts.items() if count)
    )
    patiently(lambda: client.entrants.import_roster(event.id, plan.roster, dry_run=False))
    patiently(lambda: client.entrants.move_all(event.id, "approved", states=["registered"]))
    patiently(lambda: client.entrants.check_in(event.id))
    patiently(lambda: client.entrants.seat(event.id))
    lots = patiently(lambda: client.entrants.draw_lots(event.id, version=0, mode="machine", seed=plan.seed))
    say(f"{len(lots.numbers)} entrants approved, checked in, seated and numbered by lot (seed {lots.seed})")


def referees(client: Client, event_id: int) -> list[str]:
    """Tokens of four referees of this event, each an account of its own."""
    tokens = []
    for name in REFEREES:
        key = secrets.token_hex(16)
        login = f"demo-{secrets.token_hex(5)}"
        account = patiently(lambda n=name, lo=login, k=key: client.people.create_account(login=lo, name=n, key=k))  # type: ignore[misc]
        key_grant, key_token = secrets.token_hex(16), secrets.token_hex(16)
        patiently(
            lambda a=account, k=key_grant: client.people.grant(a.id, Role.REFEREE, event_id=event_id, key=k)  # type: ignore[misc]
        )
        made = patiently(
            lambda a=account, k=key_token: client.people.create_token(name="demo", days=1, account_id=a.id, key=k)  # type: ignore[misc]
        )
        tokens.append(made.secret or "")
    return tokens


def play_round(
    client: Client, event_id: int, round_no: int, *, url: str, tokens: Sequence[str], seed: int, say: Say
) -> Report:
    """Asks for the draw, publishes it, has the results entered, closes. Steps already done are left alone."""
    state = _state(client, event_id, round_no)
    if state == "pending":
        _publish(client, event_id, round_no, say)
    report = Report()
    if _state(client, event_id, round_no) == "published":
        boards = patiently(lambda: client.rounds.boards(event_id, round_no))
        count = 0

        def written() -> None:
            nonlocal count
            count += 1
            if count % 50 == 0:
                say(f"round {round_no}: {count} of {len(boards.items)} results")

        report = enter_results(boards.items, url=url, tokens=tokens, seed=seed, round_no=round_no, on_written=written)
        if report.faults:
            raise Conflict("results-refused", f"round {round_no}: {'; '.join(report.faults[:5])}")
        _close(client, event_id, round_no)
        say(
            f"round {round_no}: {len(boards.items)} boards, {report.written} results by {len(tokens)} referees, "
            f"{len(report.refused)} collisions answered 412; closed"
        )
    return report


def _state(client: Client, event_id: int, round_no: int) -> str:
    rounds = patiently(lambda: client.rounds.list(event_id))
    return next((one.state for one in rounds if one.number == round_no), "pending")


def _publish(client: Client, event_id: int, round_no: int, say: Say) -> None:
    job = patiently(lambda: client.rounds.ask_for_draw(event_id, round_no))

    def progress(now: Job) -> None:
        if now.progress:
            say(f"round {round_no}: drawing, {now.progress.get('stage')} after {now.progress.get('elapsed_ms')} ms")

    ended = patiently(lambda: client.rounds.wait_for(job, seconds=170, on_progress=progress))
    if ended.draw_no is None:
        raise Conflict("not-drawn", f"round {round_no}: {ended.outcome.get('detail', ended.state)}")
    number = ended.draw_no
    draw = patiently(lambda: client.rounds.draw(event_id, round_no, number))
    if draw.violations:
        raise Conflict("illegal-draw", f"round {round_no}: the draw breaks rules: {draw.violations}")
    if draw.needs_acceptance and draw.accepted_at is None:
        say(f"round {round_no}: {ended.outcome.get('detail')} (accepted)")
        draw = patiently(lambda: client.rounds.accept(event_id, round_no, draw))
    proven = "proven best" if draw.document.get("optimal") else "legal, not proven best"
    try:
        patiently(lambda: client.rounds.publish(event_id, round_no, draw))
    except QisaiError:
        # An answer lost on the way: published all the same, or there is a reason to stop.
        if _state(client, event_id, round_no) == "pending":
            raise
    say(f"round {round_no}: drawn in {_seconds(ended):.2f} s ({proven}), published")


def _finish(client: Client, event_id: int, rounds: int) -> None:
    """Ends the event after its last round; one that has more rounds than were to be played goes on."""

    def finish() -> None:
        now = client.events.get(event_id)
        if now.state == "running" and now.regulations.get("rounds") in (None, rounds):
            client.events.act(now, "finish")

    patiently(finish)


def _seconds(job: Job) -> float:
    if job.requested_at is None or job.finished_at is None:
        return 0.0
    return (job.finished_at - job.requested_at).total_seconds()


def _close(client: Client, event_id: int, round_no: int) -> None:
    def close() -> None:
        now = client.rounds.get(event_id, round_no)
        if now.state == "published":
            client.rounds.close(event_id, now)

    patiently(close)
