"""The workers of `make up`: every queue has one that takes it, and with several one takes small fields only."""

from __future__ import annotations

from pathlib import Path

import pytest

from qisai import settings
from qisai.local.processes import Installation, platform
from qisai.local.secrets import load_or_make
from qisai.queue.names import QUEUE_SMALL, QUEUES


@pytest.mark.parametrize(
    ("workers", "taken"),
    [
        (1, [set(QUEUES)]),
        (2, [{QUEUE_SMALL}, set(QUEUES)]),
        (3, [{QUEUE_SMALL}, set(QUEUES), set(QUEUES)]),
    ],
)
def test_the_workers_of_one_machine_take_every_queue(tmp_path: Path, workers: int, taken: list[set[str]]) -> None:
    login = "postgresql://somebody@127.0.0.1:1/qisai"
    installation = Installation(
        var=tmp_path,
        host="127.0.0.1",
        port=1,
        workers=workers,
        secrets=load_or_make(tmp_path / "secrets"),
        ports=dict.fromkeys(("registration", "results", "keeper"), 1),
        postgres=None,
        valkey=None,
        owner_url=login,
        service_urls=dict.fromkeys(settings.SERVICES, login),
        redis_url="redis://127.0.0.1:1/0",
    )
    commands = [process.command for process in platform(installation) if process.name.startswith("worker")]
    assert [set(command[command.index("-Q") + 1].split(",")) for command in commands] == taken
