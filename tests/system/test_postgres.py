"""The embedded PostgreSQL: as root and not, after kills, beside strangers' processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from qisai.errors import Invalid
from qisai.local import identity, launch, postgres
from qisai.local.ports import free_port
from tests.servers import comes_true, running, running_postgres

AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users can reach, which pytest's own is not."""
    with tempfile.TemporaryDirectory(prefix="qisai-test-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


def prepared(data: Path) -> postgres.PostgresServer:
    return postgres.prepare(data, port=free_port(), superuser_password="super", owner_password="owner", careless=True)


def started(server: postgres.PostgresServer) -> subprocess.Popen[bytes]:
    """A server that the test kills itself."""
    process = subprocess.Popen(
        server.command(), cwd=server.data, env=server.environment(), stderr=subprocess.DEVNULL, start_new_session=True
    )
    server.wait_ready(process)
    return process


def test_it_listens_on_this_machine_only_and_wants_the_password(folder: Path) -> None:
    with running_postgres(folder / "postgres") as server:
        with server.connect() as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("127.0.0.1",)
            assert connection.execute("SHOW unix_socket_directories").fetchone() == ("",)
            assert connection.execute("SELECT datlocprovider FROM pg_database LIMIT 1").fetchone() == ("b",)
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(host="127.0.0.1", port=server.port, user="postgres", password="wrong", dbname="postgres")
        with psycopg.connect(server.url().replace("+psycopg", "")) as owner:
            found = owner.execute(
                "SELECT rolsuper, rolcreaterole FROM pg_roles WHERE rolname = current_user"
            ).fetchone()
            assert found == (False, True)


@AS_ROOT
@pytest.mark.parametrize("position", range(len(identity.candidates())))
def test_root_runs_it_as_somebody_else(folder: Path, position: int) -> None:
    user = identity.candidates()[position]
    (folder / "postgres").mkdir(mode=0o700)
    if subprocess.run(user.command(["/bin/true"]), check=False).returncode == launch.REFUSED:
        pytest.skip("this machine does not allow that change of user")
    seat = identity.choose(postgres.binaries(), folder / "postgres", tried=[user])
    made = postgres.prepare(
        folder / "postgres", port=free_port(), superuser_password="a", owner_password="b", careless=True, seat=seat
    )
    with running(made.command(), folder=made.data, environment=made.environment()) as process:
        made.wait_ready(process)
        owner = (folder / "postgres" / "PG_VERSION").stat()
        assert (owner.st_uid, owner.st_gid) == user.owner


@AS_ROOT
def test_data_out_of_reach_of_every_user_is_refused_with_the_reason(folder: Path) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    (closed / "postgres").mkdir()
    others = [user for user in identity.candidates() if user.owner[0] != 0]
    with pytest.raises(Invalid, match="no other user can reach"):
        identity.choose(postgres.binaries(), closed / "postgres", tried=others)


def test_after_kill_9_of_everything_it_starts_again_with_all_that_was_committed(folder: Path) -> None:
    server = prepared(folder / "postgres")
    process = started(server)
    with server.connect() as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    for pid in postgres.servers_of(server.data):
        with suppress(ProcessLookupError):  # it saw the others die
            os.kill(pid, signal.SIGKILL)
    process.wait()
    assert (server.data / "postmaster.pid").exists()
    server.clear_away()
    with running(server.command(), folder=server.data, environment=server.environment()) as again:
        server.wait_ready(again)
        with server.connect() as connection:
            assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)


def test_a_lock_file_whose_pid_a_stranger_has_now_does_not_hinder_the_start(folder: Path) -> None:
    server = prepared(folder / "postgres")
    process = started(server)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        lock = server.data / "postmaster.pid"
        lock.write_text("\n".join([str(stranger.pid), *lock.read_text().splitlines()[1:]]) + "\n")
        server.clear_away()
        with running(server.command(), folder=server.data, environment=server.environment()) as again:
            server.wait_ready(again)
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_server_left_running_is_shut_down_before_the_next_start(folder: Path) -> None:
    server = prepared(folder / "postgres")
    process = started(server)
    with server.connect():
        server.clear_away()
    assert process.wait(timeout=10) == 0
    assert not (server.data / "postmaster.pid").exists()
    assert postgres.servers_of(server.data) == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no parent-death signal")
def test_it_shuts_down_when_the_process_that_started_it_is_killed(folder: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from tests.servers import running_postgres\n"
        "with running_postgres(Path(sys.argv[1])): (Path(sys.argv[1]).parent / 'up').touch(); time.sleep(600)"
    )
    parent = subprocess.Popen([sys.executable, "-c", program, str(folder / "postgres")])
    try:
        assert comes_true((folder / "up").exists, seconds=30)
        assert postgres.servers_of(folder / "postgres")
    finally:
        parent.kill()
        parent.wait()
    assert comes_true(lambda: not postgres.servers_of(folder / "postgres"))


def test_a_killed_initialisation_is_made_anew(folder: Path) -> None:
    half = folder / "postgres.new"
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")
    server = prepared(folder / "postgres")
    with running(server.command(), folder=server.data, environment=server.environment()) as process:
        server.wait_ready(process)
    assert not half.exists()


def test_secrets_of_another_backup_are_told_and_not_waited_for(folder: Path) -> None:
    server = prepared(folder / "postgres")
    other = postgres.prepare(
        folder / "postgres", port=server.port, superuser_password="other", owner_password="other", careless=True
    )
    with running(server.command(), folder=server.data, environment=server.environment()) as process:
        server.wait_ready(process)
        with pytest.raises(Invalid, match="has another password than the one kept beside it"):
            other.wait_ready(process)
