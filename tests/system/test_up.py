"""`qisai up`, the whole platform: it starts from nothing, answers, survives kills, and leaves nothing running."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from qisai.errors import Unavailable
from qisai.local import postgres, run_state
from tests.servers import Servers, comes_true, service_urls
from tests.system.platform_run import Platform, clean_environment, platform

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=3).status_code == 200
    except requests.RequestException:
        return False


def fill(file: Path) -> None:
    """Writes until the disk has no byte left."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT)
    try:
        with contextlib.suppress(OSError):
            while True:
                os.write(descriptor, b"\0" * 4096)
    finally:
        os.close(descriptor)


def alive(pid: int) -> bool:
    return run_state.started_at(pid) is not None


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that is a small disk of its own, where this user may mount one."""
    place = tmp_path_factory.mktemp("disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", str(place)]
    mounted = subprocess.run(mount, check=False, capture_output=True).returncode == 0
    yield place
    if mounted:
        subprocess.run(["umount", "--lazy", str(place)], check=True)  # solvers may take a moment to die


@pytest.fixture(scope="module")
def folder(disk: Path) -> Path:
    """A data folder that keeps its content from run to run, with a name that shells and encodings trip over."""
    return disk / "棋 赛's data"


@pytest.fixture(scope="module")
def up(folder: Path, disk: Path) -> Iterator[Platform]:
    with platform(folder, log=disk.parent / "first.log") as run:
        run.wait_ready()
        yield run


def test_from_nothing_to_pages_and_api_that_answer(up: Platform) -> None:
    for path in ("/", "/api/v1/events", "/readyz", "/api/v1/openapi.json"):
        assert answers(up.address + path), path
    assert up.state().address == up.address
    assert {one.name for one in up.state().processes} == {
        *("postgres", "valkey", "registration", "results", "gateway", "worker1", "worker2", "keeper")
    }


def test_the_first_administrator_can_sign_in_with_the_password_that_was_shown(up: Platform) -> None:
    password = up.password()
    assert password is not None
    assert up.printed().count(password) == 1
    client = up.client(password)
    assert client.people.me().account.login == "admin"
    assert len(client.operations.workers()) == 2


def test_every_line_of_a_log_has_the_name_of_its_process(up: Platform) -> None:
    logs, _, banner = up.printed().partition("\n\n  qisai is ready")
    assert banner
    names = {line.partition(" |")[0].strip() for line in logs.splitlines()}
    assert {"postgres", "gateway"} <= names <= {"up", "migrate", *(one.name for one in up.state().processes)}


def test_a_second_start_says_where_the_first_runs_and_harms_nothing(up: Platform, folder: Path) -> None:
    command = [sys.executable, "-m", "qisai.cli.main", "up", "--var", str(folder)]
    second = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, check=False)
    assert second.returncode == 2
    assert f"runs already at {up.address} (pid {up.process.pid})" in second.stderr
    assert answers(up.address + "/readyz")


def test_nobody_else_can_read_the_secrets_or_reach_the_servers(up: Platform, folder: Path) -> None:
    assert (folder / "secrets").stat().st_mode & 0o077 == 0
    for pid in up.everything():
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        for secret in (folder / "secrets").iterdir():
            assert secret.read_text().strip() not in command
    for service in ("registration", "results"):
        url = f"http://127.0.0.1:{up.state().ports[service]}/api/v1/events/1"
        assert requests.get(url if service == "registration" else f"{url}/rounds", timeout=3).status_code == 401


@pytest.mark.parametrize("name", ["results", "valkey", "worker2", "keeper", "gateway", "postgres"])
def test_a_killed_process_comes_back_and_all_answers_again(up: Platform, name: str) -> None:
    before = up.pid(name)
    assert before is not None
    os.kill(before, signal.SIGKILL)
    assert comes_true(lambda: up.pid(name) not in (None, before), seconds=30)
    assert comes_true(lambda: answers(up.address + "/readyz"), seconds=30)
    assert not alive(before)


def test_a_full_disk_refuses_writes_in_words_and_heals_by_itself(up: Platform, disk: Path) -> None:
    if not disk.is_mount():
        pytest.skip("this user may not mount a small disk")
    password = up.password()
    assert password is not None
    events = up.client(password).events
    made = 0

    def make_events() -> None:
        nonlocal made
        for _ in range(3000):
            events.create(name="x" * 100, profile="xiangqi")
            made += 1

    try:
        fill(disk / "filler")
        with pytest.raises(Unavailable, match="nothing was changed"):
            make_events()
    finally:
        (disk / "filler").unlink()
    assert comes_true(lambda: answers(up.address + "/readyz"), seconds=60)
    assert len(events.list()) == made
    events.create(name="y", profile="xiangqi")


def test_after_kill_9_of_everything_the_next_start_heals_and_nothing_is_lost(
    up: Platform, folder: Path, disk: Path
) -> None:
    password = up.password()
    assert password is not None
    event = up.client(password).events.create(name="春季公开赛", profile="xiangqi")
    up.kill_everything()
    assert (folder / "postgres" / "postmaster.pid").exists()
    with platform(folder, log=disk.parent / "second.log", port=up.port) as again:
        again.wait_ready()
        assert again.password() is None
        assert again.client(password).events.get(event.id).name == "春季公开赛"
        running = {one.pid for one in again.state().processes} | again.everything()
        assert again.press_ctrl_c() == 0
        assert not [pid for pid in running if alive(pid)]
        assert not (folder / "run.json").exists()
        assert not (folder / "postgres" / "postmaster.pid").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no parent-death signal")
def test_servers_of_ones_own_are_used_and_a_killed_supervisor_leaves_no_orphans(
    servers: Servers, tmp_path: Path
) -> None:
    name = "own_servers"
    with servers.postgres.connect() as connection:
        connection.execute(f"CREATE DATABASE {name} OWNER {postgres.OWNER}")
    urls = {f"QISAI_{who.upper()}_DATABASE_URL": url for who, url in service_urls(servers.postgres, name).items()}
    owner = {"QISAI_DATABASE_URL": servers.postgres.url(name).replace("+psycopg", "")}
    redis = {"QISAI_REDIS_URL": servers.valkey_url(), "QISAI_REDIS_PREFIX": "own:", "QISAI_WORKERS": "1"}
    with platform(tmp_path / "var", log=tmp_path / "log", **owner, **urls, **redis) as run:
        run.wait_ready()
        assert {one.name for one in run.state().processes} == {
            "registration",
            "results",
            "gateway",
            "worker1",
            "keeper",
        }
        assert not (tmp_path / "var" / "postgres").exists()
        everything = run.everything()
        assert len(everything) > 5
        run.process.kill()
        run.process.wait()
        assert comes_true(lambda: not any(alive(pid) for pid in everything), seconds=40)
