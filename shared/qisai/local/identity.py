"""As which user the embedded PostgreSQL runs: it refuses root, and root is what containers and test machines give."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qisai.errors import Invalid
from qisai.local import launch

_LAUNCHER: Final = (sys.executable, "-I", "-S", str(Path(launch.__file__).resolve()))


@dataclass(frozen=True, slots=True)
class Identity:
    """How to become the user that PostgreSQL runs as. `options` go to the launcher; `owner` owns its files."""

    options: tuple[str, ...]
    owner: tuple[int, int]

    def command(self, program: Sequence[str], *, parent: int | None = None, signal: int | None = None) -> list[str]:
        """The program's command line, started as this user and, with `parent`, sent `signal` when that dies."""
        words = [*_LAUNCHER, *self.options]
        if parent is not None:
            words += ["--parent", str(parent)]
        if signal is not None:
            words += ["--signal", str(int(signal))]
        return [*words, "--", *program]

    def can_use(self, *paths: Path) -> bool:
        """Whether this user can enter and write these folders and execute these files."""
        words = [*_LAUNCHER, *self.options]
        for path in paths:
            words += ["--probe", str(path)]
        return subprocess.run(words, check=False, capture_output=True, timeout=30).returncode == 0


def myself() -> Identity:
    """The user that runs now."""
    return Identity(options=(), owner=(os.getuid(), os.getgid()))


def candidates() -> list[Identity]:
    """The users to try, best first: myself unless root; a user namespace; `postgres`; `nobody`."""
    if os.getuid() != 0:
        return [myself()]
    found = [Identity(options=("--namespace",), owner=(0, os.getgid()))]
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        found.append(Identity(options=("--user", name), owner=(user.pw_uid, user.pw_gid)))
    return found


@dataclass(frozen=True, slots=True)
class Seat:
    """A user and a folder of binaries that this user can execute."""

    identity: Identity
    binaries: Path


def choose(binaries: Path, data: Path, *, tried: Sequence[Identity] | None = None) -> Seat:
    """Finds a user who can run the binaries and write `data` (an existing folder, chowned to that user if root runs).

    Binaries out of that user's reach (below a closed home) are copied to a temporary folder. Raises `Invalid` where
    nobody can write the data folder.
    """
    for identity in candidates() if tried is None else tried:
        hand_over(data, identity)
        if not identity.can_use(data):
            continue
        if identity.can_use(binaries / "postgres"):
            return Seat(identity, binaries)
        copied = _copied(binaries.parent)
        if identity.can_use(copied / "bin" / "postgres"):
            return Seat(identity, copied / "bin")
    raise Invalid(
        "data-out-of-reach",
        f"PostgreSQL does not run as root, and no other user can reach {data}; "
        "run qisai as an ordinary user, or choose another folder with --var or QISAI_VAR",
    )


def hand_over(folder: Path, identity: Identity) -> None:
    """Makes the folder and all in it the identity's own, where root runs and it is not."""
    if os.getuid() != 0:
        return
    status = folder.stat()
    if (status.st_uid, status.st_gid) == identity.owner:
        return
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(Path(parent, name), *identity.owner, follow_symlinks=False)
    os.chown(folder, *identity.owner)


def _copied(installation: Path) -> Path:
    """A copy of the PostgreSQL installation outside every home, made once for each version of it."""
    stamp = f"{installation.stat().st_mtime_ns:x}"
    target = Path(tempfile.gettempdir(), f"qisai-postgres-{os.getuid()}-{stamp}")
    if target.is_dir() and not target.is_symlink() and target.stat().st_uid == os.getuid():
        return target
    fresh = Path(tempfile.mkdtemp(prefix="qisai-postgres-"))
    shutil.copytree(installation, fresh / "copy", symlinks=True)
    (fresh / "copy").chmod(0o755)
    try:
        (fresh / "copy").rename(target)
        fresh.rmdir()
    except OSError:  # somebody else owns that name, or made it at the same time: our own copy will do
        fresh.chmod(0o755)
        return fresh / "copy"
    return target
