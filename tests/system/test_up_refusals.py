"""`qisai up` where it cannot start: one line that says what and how to mend it, exit code 2, nothing left running."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qisai.cli.main import main
from qisai.local import leftovers, postgres, run_state
from qisai.local.ports import free_port

Refused = Callable[..., str]

MEGABYTE = 1 << 20


def one_line(code: int, out: str, err: str) -> str:
    """The line of a refusal; checks that there is one, with exit code 2 and without a traceback."""
    assert code == 2, out + err
    assert "Traceback" not in out + err
    lines = err.strip().splitlines()
    assert len(lines) == 1, err
    assert lines[0].startswith("qisai: ")
    return lines[0]


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Refused:
    """Runs `qisai up` with these arguments and settings, and gives the line with which it refuses."""

    def start(*words: str, **environment: str) -> str:
        for name in [name for name in os.environ if name.startswith("QISAI_")]:
            monkeypatch.delenv(name)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        defaults = ["--port", str(free_port()), "--var", str(tmp_path / "var")]
        code = main(["up", *defaults, *words])
        return one_line(code, *capsys.readouterr())

    return start


def test_a_taken_port_is_named_with_the_way_to_choose_another(refused: Refused, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = refused("--port", str(port))
        assert "choose another with QISAI_KEEPER_PORT" in refused(QISAI_KEEPER_PORT=str(port))
    assert f"port {port} of 127.0.0.1 is taken" in said
    assert "--port or QISAI_PORT" in said
    assert not (tmp_path / "var" / "postgres").exists()


@pytest.mark.parametrize("port", ["0", "65536", "http"])
def test_a_port_that_is_none_is_refused(refused: Refused, port: str) -> None:
    assert "must be a whole number between 1 and 65535" in refused("--port", port)


def test_a_bad_setting_is_named(refused: Refused) -> None:
    assert "QISAI_WORKERS is 'many', but must be a whole number" in refused(QISAI_WORKERS="many")


def test_an_address_that_this_machine_does_not_have_is_refused(refused: Refused) -> None:
    assert "cannot listen on 192.0.2.1 port" in refused("--host", "192.0.2.1")


def test_a_file_in_the_place_of_the_folder_is_refused(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = refused("--var", str(tmp_path / "file" / "var"))
    assert f"{tmp_path}/file/var cannot be used (Not a directory)" in said
    assert "--var or QISAI_VAR" in said


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_without_the_right_to_write_is_refused(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "var").mkdir(mode=0o500)
    assert "no right to write" in refused()


@pytest.mark.skipif(os.getuid() != 0, reason="only root may mount")
def test_a_read_only_folder_is_refused(refused: Refused, tmp_path: Path, small_disk: Callable[..., Path]) -> None:
    said = refused("--var", str(small_disk("ro") / "var"))
    assert "no right to write" in said
    assert "Read-only file system" in said


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[..., Path]]:
    """Mounts a small disk of its own with the given options."""
    disk = tmp_path / "disk"
    disk.mkdir()

    def mount(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(disk)]
        if subprocess.run(command, check=False, capture_output=True).returncode != 0:
            pytest.skip("this machine lets nobody mount a small disk")
        return disk

    yield mount
    subprocess.run(["umount", str(disk)], check=False, capture_output=True)


def test_a_disk_too_small_for_a_database_is_refused_before_anything_is_made(
    refused: Refused, small_disk: Callable[..., Path]
) -> None:
    disk = small_disk("size=20m")
    said = refused("--var", str(disk / "var"))
    assert "the disk is full" in said
    assert "MB free" in said
    assert not (disk / "var" / "postgres").exists()


def test_a_disk_without_a_byte_left_is_refused(refused: Refused, small_disk: Callable[..., Path]) -> None:
    disk = small_disk("size=1m")
    with contextlib.suppress(OSError):
        (disk / "filler").write_bytes(b"\0" * 2 * MEGABYTE)
    assert "the disk is full" in refused("--var", str(disk))


def test_a_limit_on_the_size_of_files_is_told_and_the_next_start_is_not_hindered(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "qisai.cli.main", "up", "--port", str(free_port()), "--var", str(tmp_path / "var")]
    limited = ["sh", "-c", 'ulimit -f 8000; exec "$@"', "sh", *command]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("QISAI_")}
    done = subprocess.run(limited, env=environment, capture_output=True, text=True, check=False, timeout=60)
    said = one_line(done.returncode, done.stdout, done.stderr)
    assert "PostgreSQL could not make its data" in said
    assert not (tmp_path / "var" / "postgres" / "PG_VERSION").exists()
    assert leftovers.find(tmp_path / "var") == []
    server = postgres.prepare(
        tmp_path / "var" / "postgres", port=free_port(), superuser_password="a", owner_password="b", careless=True
    )
    assert (server.data / "PG_VERSION").exists()


def test_strange_data_in_the_place_of_the_database_is_left_alone(refused: Refused, tmp_path: Path) -> None:
    strange = tmp_path / "var" / "postgres" / "letter.txt"
    strange.parent.mkdir(parents=True)
    strange.write_text("keep me")
    assert "neither empty nor a PostgreSQL data folder" in refused()
    assert strange.read_text() == "keep me"


def test_data_of_another_postgres_version_is_left_alone(refused: Refused, tmp_path: Path) -> None:
    data = tmp_path / "var" / "postgres"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("9\n")
    assert "was made by PostgreSQL 9, and this is PostgreSQL 18" in refused()


def test_an_empty_key_is_named(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "var" / "secrets").mkdir(parents=True)
    (tmp_path / "var" / "secrets" / "secret-key").write_text("")
    assert f"{tmp_path}/var/secrets/secret-key is empty" in refused()


def test_a_service_login_without_an_owner_is_refused(refused: Refused) -> None:
    said = refused(QISAI_RESULTS_DATABASE_URL="postgresql://a:b@127.0.0.1/c")
    assert "QISAI_RESULTS_DATABASE_URL is set, but QISAI_DATABASE_URL is not" in said


def test_a_second_start_says_where_the_first_one_runs(refused: Refused, tmp_path: Path) -> None:
    var = tmp_path / "var"
    var.mkdir()
    lock = run_state.RunLock.take(var)
    assert lock is not None
    me = run_state.identify("up", os.getpid())
    assert me is not None
    try:
        assert "qisai is starting already, with its data in" in refused()
        state = run_state.RunState(address="http://127.0.0.1:9999", supervisor=me, ports={}, processes=())
        run_state.write(var, state)
        assert f"qisai runs already at http://127.0.0.1:9999 (pid {os.getpid()}), with its data in" in refused()
    finally:
        lock.release()


def test_a_broken_run_file_does_not_hinder_a_start(tmp_path: Path) -> None:
    for text in ("", "{", "[]", json.dumps({"address": 1, "supervisor": {}})):
        (tmp_path / "run.json").write_text(text)
        assert run_state.read(tmp_path) is None
        assert leftovers.find(tmp_path) == []
