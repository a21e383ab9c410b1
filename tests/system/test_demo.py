"""`qisai demo`: a whole event over HTTP, undisturbed and with parts of the platform killed in the middle of it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import comes_true
from tests.system.platform_run import Platform, clean_environment, platform

pytestmark = [pytest.mark.slow, pytest.mark.timeout(420)]

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "roster.csv"
CLUB_SHEET = ROOT.parent / "shared" / "data" / "roster284-gbk.csv"


class Demo:
    """One run of the command, whose progress can be waited for."""

    def __init__(self, up: Platform, *options: str) -> None:
        command = [sys.executable, "-m", "qisai.cli.main", "demo", "--json", "--var", str(up.var), *options]
        self.process = subprocess.Popen(
            command, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.lines.extend(iter(self.process.stderr.readline, ""))

    def wait_for(self, words: str) -> None:
        """Waits until the demo has said this."""
        there = comes_true(lambda: any(words in line for line in self.lines), seconds=120)
        assert there, "".join(self.lines)

    def event(self) -> int:
        """The event it plays."""
        found = re.search(r"event (\d+) ", "".join(self.lines))
        assert found is not None
        return int(found[1])

    def proof(self) -> dict[str, Any]:
        """What it claims at the end, with every claim true."""
        assert self.process.stdout is not None
        told = self.process.stdout.read()
        code = self.process.wait(timeout=300)
        self._reader.join()
        assert code == 0, "".join(self.lines) + told
        proof: dict[str, Any] = json.loads(told)
        assert proof["holds"], proof["claims"]
        return proof

    def kill(self) -> None:
        """Ends the demo itself."""
        self.process.kill()
        self.process.wait()
        self._reader.join()


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    folder = tmp_path_factory.mktemp("demo")
    with platform(folder / "var", log=folder / "log", QISAI_PAIRING_LEASE_SECONDS="3") as run:
        run.wait_ready()
        yield run


def test_a_clubs_spreadsheet_becomes_a_finished_event(up: Platform) -> None:
    if not CLUB_SHEET.exists():
        pytest.skip(f"{CLUB_SHEET} is missing: the club's spreadsheet is not part of the repository")
    proof = Demo(up, "--roster", str(CLUB_SHEET), "--rounds", "7").proof()
    texts = [claim["text"] for claim in proof["claims"]]
    assert "284 of 284 names of the roster intact" in texts
    assert "7 rounds, 0 violations of the rules in any draw" in texts
    assert "the event is finished" in texts
    assert len(proof["standings"]) == 284


def test_worker_and_results_service_killed_in_the_middle_lose_nothing(up: Platform) -> None:
    demo = Demo(up, "--roster", str(EXAMPLE), "--rounds", "5")
    for name, words in (("worker1", "round 1: drawn"), ("results", "round 2: drawn"), ("worker2", "round 3: drawn")):
        demo.wait_for(words)
        pid = up.pid(name)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
    proof = demo.proof()
    assert any("collisions counted" in claim["text"] for claim in proof["claims"])


def test_after_kill_9_of_everything_in_the_middle_the_event_is_finished(up: Platform) -> None:
    """Last in this module: it ends the platform and starts it anew on the same data."""
    demo = Demo(up, "--roster", str(EXAMPLE), "--rounds", "5")
    demo.wait_for("round 2: drawn")
    event = demo.event()
    up.kill_everything()
    demo.kill()
    with platform(up.var, log=up.log.with_name("second"), QISAI_PAIRING_LEASE_SECONDS="3") as again:
        again.wait_ready()
        proof = Demo(again, "--roster", str(EXAMPLE), "--rounds", "5", "--resume", str(event)).proof()
        assert len(proof["standings"]) == 40
