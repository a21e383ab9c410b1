"""The folder of shared metrics that each web service makes at start."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from qisai.web import gunicorn


def test_metrics_of_killed_services_are_removed_and_those_of_living_ones_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gunicorn, "worker_tmp_dir", str(tmp_path))
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", "")
    dead = subprocess.Popen(["true"])
    dead.wait()
    killed, living, strange = (tmp_path / f"qisai-metrics-{who}-x" for who in (dead.pid, os.getpid(), "odd"))
    for folder in (killed, living, strange):
        folder.mkdir()
    server = SimpleNamespace()
    gunicorn.on_starting(server)
    assert not killed.exists()
    assert living.exists()
    assert strange.exists()
    assert os.environ["PROMETHEUS_MULTIPROC_DIR"] == server.qisai_metrics
    assert Path(server.qisai_metrics).parent == tmp_path
    gunicorn.on_exit(server)
    assert not Path(server.qisai_metrics).exists()


def test_metrics_are_kept_in_memory_where_a_full_disk_cannot_kill_their_writers() -> None:
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("this machine has no shared memory to write")
    assert gunicorn.worker_tmp_dir == "/dev/shm"
