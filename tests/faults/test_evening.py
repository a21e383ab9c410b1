"""Redis lost in the middle of a tournament evening, before the whole platform: nobody retypes anything."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from qisai.client import Client
from qisai.db.accounts import Role
from qisai.kernel.model import Result
from tests.faults.stage import PREFIX, Stage, soon
from tests.gateway.harness import PASSWORD, Gateway, gunicorn, new_keys, running_gateway
from tests.gateway.platform import tournament

SECONDS_AWAY = 5
"""`make chaos` begins with a whole minute; what happens in it happens in these seconds too."""
LONGEST_CALL = 5.0
RESULTS = (Result.FIRST_WIN, Result.DRAW, Result.SECOND_WIN)


@pytest.fixture
def gateway(stage: Stage, tmp_path: Path) -> Iterator[Gateway]:
    """Gateway, registration and results, whose Redis is the one that is lost."""
    keys, redis_url, urls = new_keys(), stage.environment["QISAI_REDIS_URL"], []
    with ExitStack() as stack:
        for name in ("registration", "results"):
            environment = {
                f"QISAI_{name.upper()}_DATABASE_URL": stage.database.url(name),
                "QISAI_REDIS_URL": redis_url,
                "QISAI_REDIS_PREFIX": PREFIX,
                "QISAI_ASSERTION_PUBLIC_KEY": keys[1],
            }
            options = ("--worker-class", "gthread", "--workers", "1", "--threads", "8")
            app, log = f"services.{name}.app:create_app()", tmp_path / f"{name}.log"
            urls.append(stack.enter_context(gunicorn(app, log=log, environment=environment, options=options)))
        services = (urls[0], urls[1])
        yield stack.enter_context(
            running_gateway(
                stage.database, redis_url, tmp_path, services=services, keys=keys, QISAI_MAX_BODY_BYTES="1000000"
            )
        )


@dataclass
class Referee:
    """Types results of one board, over and over, each call once; every refusal is kept."""

    client: Client
    board_id: int
    typed: list[Result] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def work(self, until: threading.Event) -> None:
        for result in itertools.cycle(RESULTS):
            if until.wait(0.1):
                return
            began = time.monotonic()
            try:
                board = self.client.rounds.board(self.board_id)
                self.client.rounds.put_result(self.board_id, result, version=board.version)
                self.typed.append(result)
            except Exception as error:  # noqa: BLE001 - whatever a referee would have seen
                self.refused.append(repr(error))
            self.slowest = max(self.slowest, time.monotonic() - began)


def test_redis_lost_during_an_evening_makes_nobody_retype_anything(stage: Stage, gateway: Gateway) -> None:
    gateway.account(Role.ASSOCIATION_ADMIN, login="evening", password=PASSWORD)
    chief = gateway.client(gateway.token_for(Role.ASSOCIATION_ADMIN))
    event_id = chief.events.import_tournament(tournament(), name="夜场").id
    other = chief.events.import_tournament(tournament(reported=4), name="隔壁").id
    referees = [
        Referee(gateway.client(gateway.token_for(Role.ASSOCIATION_ADMIN)), board.id)
        for board in chief.rounds.boards(event_id, 2).items
    ]
    evening_ends = threading.Event()
    threads = [threading.Thread(target=referee.work, args=(evening_ends,)) for referee in referees]
    for thread in threads:
        thread.start()
    soon(lambda: all(referee.typed for referee in referees))
    stage.valkey.kill()
    stage.alert_opens("broker-away")
    lost = [len(referee.typed) for referee in referees]
    asked = time.monotonic()
    job = chief.rounds.ask_for_draw(other, 3)
    assert time.monotonic() - asked < LONGEST_CALL, "the chief referee does not wait for Redis"
    assert (job.state, bool(job.waiting)) == ("queued", True)
    gateway.client().sign_in("evening", PASSWORD)
    assert chief.rounds.standings(other).rows
    late = chief.entrants.list(other)[7]
    late = chief.entrants.move(other, late, to="withdrawn", reason="已离场")
    assert late.state == "withdrawn"
    time.sleep(max(0.0, SECONDS_AWAY - (time.monotonic() - asked)))
    assert chief.rounds.job(job.id).is_active, "the fault is real: nothing told a worker"
    stage.start_valkey()
    soon(lambda: not chief.rounds.job(job.id).is_active)
    evening_ends.set()
    for thread in threads:
        thread.join(timeout=30)
    stage.alert_clears("broker-away")
    (draft,) = [one for one in chief.rounds.draws(other, 3) if one.state == "draft"]
    chief.rounds.publish(other, 3, chief.rounds.draw(other, 3, draft.number))
    assert len(chief.rounds.boards(other, 3).items) == 3, "without the one who left"
    for referee, before in zip(referees, lost, strict=True):
        assert referee.refused == []
        assert len(referee.typed) > before + 5, "they went on while it was away"
        assert chief.rounds.board(referee.board_id).result is referee.typed[-1]
        assert referee.slowest < LONGEST_CALL
