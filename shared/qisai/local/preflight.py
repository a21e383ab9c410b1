"""What is looked at before anything is started, so that each trouble gets one clear line and not a traceback."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from qisai.errors import Conflict, Invalid, Unavailable
from qisai.local import run_state

ROOM_TO_BEGIN: Final = 160 << 20
"""Bytes that a fresh database with its write-ahead log takes, with some room to work."""
ROOM_TO_GO_ON: Final = 40 << 20
"""Bytes without which an existing database would soon refuse writes."""


def check_folder(var: Path) -> None:
    """Makes the data folder and writes a little into it. Raises `Invalid` saying why it cannot be used."""
    try:
        var.mkdir(mode=0o711, parents=True, exist_ok=True)
        trial = var / f".trial-{os.getpid()}"
        try:
            with trial.open("wb") as file:
                file.write(b"\0" * (64 << 10))
                file.flush()
                os.fsync(file.fileno())
        finally:
            with suppress(OSError):
                trial.unlink(missing_ok=True)
    except OSError as error:
        raise Invalid("unusable-folder", explain(error, var)) from error


def check_room(var: Path, *, fresh: bool) -> None:
    """Raises `Unavailable` where the disk has no room for the database."""
    needed = ROOM_TO_BEGIN if fresh else ROOM_TO_GO_ON
    free = shutil.disk_usage(var).free
    if free < needed:
        raise Unavailable(
            "disk-full",
            f"the disk is full: {free >> 20} MB free in {var}, {needed >> 20} MB needed; "
            "make room, or choose another folder with --var or QISAI_VAR",
        )


def explain(error: OSError, path: Path) -> str:
    """One line on an error of the file system, and what to do."""
    choose = "choose another folder with --var or QISAI_VAR"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"the disk is full: {path} cannot be written ({error.strerror}); make room, or {choose}"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"no right to write {path} ({error.strerror}): make it writable, or {choose}"
    return f"{path} cannot be used ({error.strerror}): {choose}"


def take_lock(var: Path) -> run_state.RunLock:
    """The lock on the data folder. Raises `Conflict` that says where the first run is, or `Invalid`."""
    try:
        lock = run_state.RunLock.take(var)
    except OSError as error:
        raise Invalid("unusable-folder", explain(error, var / "run.lock")) from error
    if lock is not None:
        return lock
    state = run_state.read(var)
    where = "is starting already" if state is None else f"runs already at {state.address} (pid {state.supervisor.pid})"
    raise Conflict("already-running", f"qisai {where}, with its data in {var}")


def check_port(host: str, port: int, *, choose: str, patience: float = 3.0) -> None:
    """Waits a moment for the port, which a dying process may still hold. `choose`: how to name another port.

    Raises `Invalid` for an address that this machine has not or may not use, `Conflict` for a port that is taken.
    """
    end = time.monotonic() + patience
    while True:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
                return
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    reason = error.strerror or str(error)
                    raise Invalid("bad-address", f"cannot listen on {host} port {port}: {reason}") from error
        if time.monotonic() > end:
            raise Conflict(
                "port-taken",
                f"port {port} of {host} is taken by another program; choose another with {choose}",
            )
        time.sleep(0.1)
