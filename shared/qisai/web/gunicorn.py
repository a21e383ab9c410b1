"""Configuration of gunicorn, for `-c python:qisai.web.gunicorn`: the same for `qisai up`, Docker and Kubernetes.

Bind address, worker class and count come from the command line of each service.
"""

from __future__ import annotations

import os
import shutil
import socket
import struct
import tempfile
from pathlib import Path
from typing import Any

from qisai import settings
from qisai.web.connections import bound_connections
from qisai.web.unreadable import answer_with_problems

keepalive = 75  # longer than the gateway's pooled connections live, or writes would meet closed sockets
timeout = 60
graceful_timeout = 15
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - heartbeat file, must not block on disk
accesslog = None  # the application logs each request itself, with its request id
limit_request_line = 4094
limit_request_field_size = 16_384  # an assertion is about 600 bytes
forwarded_allow_ips = "127.0.0.1"
control_socket_disable = True
SILENT_SECONDS = 10
"""Between two pieces of one request. The gateway sends a request whole, so only who reaches a service past it is slow;
who sends a piece every few seconds still holds a thread, and that port is for the gateway only."""


def on_starting(server: Any) -> None:
    """Gives the processes of one service a folder for shared metrics.

    In memory like the heartbeat: the files are mapped, and a write into a mapped file on a full disk kills the process.
    """
    _sweep(Path(worker_tmp_dir or tempfile.gettempdir()))
    folder = tempfile.mkdtemp(prefix=f"qisai-metrics-{os.getpid()}-", dir=worker_tmp_dir)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
    server.qisai_metrics = folder


def when_ready(server: Any) -> None:
    """Gives up a caller of a threaded worker who stops in the middle of a request, who would hold its thread.

    Connections inherit it from the socket they come in at. Workers of gevent never wait in the system and do not mind.
    """
    for listener in server.LISTENERS:
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", SILENT_SECONDS, 0))


def post_worker_init(worker: Any) -> None:
    """What cannot be read as a request is refused like everything else, and nobody holds connections for nothing."""
    answer_with_problems(worker)
    if type(worker).__name__ == "GeventWorker":
        bound_connections(worker, most=settings.connections_per_address())


def _sweep(place: Path) -> None:
    """Removes what killed predecessors of the same user left behind."""
    for folder in place.glob("qisai-metrics-*"):
        pid = folder.name.split("-")[2]
        try:
            if folder.stat().st_uid == os.getuid():
                os.kill(int(pid), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (OSError, ValueError):  # gone meanwhile, or no name of ours
            continue


def child_exit(server: Any, worker: Any) -> None:  # noqa: ARG001 - gunicorn's signature
    """Lets a dead process's gauges go."""
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(server: Any) -> None:
    """Removes the folder of metrics."""
    folder = getattr(server, "qisai_metrics", None)
    if folder and Path(folder).is_dir():
        shutil.rmtree(folder, ignore_errors=True)
