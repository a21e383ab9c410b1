"""Starts one program so that it dies with its parent, and never as root where it refuses root.

Runs as a script of its own (standard library only) because the work has to be done between fork and exec: in a
process with threads, code run there may deadlock, and a small program that replaces itself may not. All it needs is
imported at the top: after a change of user, Python's own files may be out of reach.

    python launch.py [--parent PID] [--signal N] [--namespace | --user NAME] [--probe PATH …] -- /PROGRAM ARGUMENT …

`--namespace` maps root to an unprivileged user in a user namespace of its own: PostgreSQL refuses to run as root, and
this way its files stay root's and nothing is chowned. `--user` changes to that user instead. With `--probe` nothing is
started: exit code 0 says that, as that user, every path can be entered and written (folder) or executed (file).
"""

from __future__ import annotations

import argparse
import ctypes
import os
import pwd
import signal
import sys

UNREACHABLE = 77
"""Exit code of `--probe` where a path cannot be used."""
REFUSED = 78
"""Exit code where the system does not allow the wanted change of user."""

_CLONE_NEWUSER = 0x10000000
_PR_SET_PDEATHSIG = 1
_NOBODY = 65534


def enter_namespace() -> None:
    """Becomes an unprivileged user inside a user namespace of its own. Raises `OSError` where that is refused."""
    uid, gid = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWUSER) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{_NOBODY} {uid} 1"), ("gid_map", f"{_NOBODY} {gid} 1")):
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)


def become(name: str) -> None:
    """Gives up root for the named user, for good. Raises `OSError` or `KeyError`."""
    user = pwd.getpwnam(name)
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)


def die_with(parent: int, number: int) -> None:
    """Asks the kernel for signal `number` when the parent dies (Linux); gives up at once if it is dead already."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(0)


def reachable(path: str) -> bool:
    """Whether the present user can enter and write a folder, or execute a file."""
    return os.access(path, os.R_OK | os.X_OK | (os.W_OK if os.path.isdir(path) else 0))  # noqa: PTH112 - start-up time


def main() -> None:
    parser = argparse.ArgumentParser(prog="launch")
    parser.add_argument("--parent", type=int)
    parser.add_argument("--signal", type=int, default=int(signal.SIGTERM))
    parser.add_argument("--namespace", action="store_true")
    parser.add_argument("--user")
    parser.add_argument("--probe", action="append", default=[])
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    try:
        if arguments.namespace:
            enter_namespace()
        elif arguments.user:
            become(arguments.user)
    except (OSError, KeyError) as error:
        print(f"launch: cannot change user: {error}", file=sys.stderr)  # noqa: T201 - a program of its own
        sys.exit(REFUSED)
    if arguments.probe:
        sys.exit(0 if all(reachable(path) for path in arguments.probe) else UNREACHABLE)
    if arguments.parent is not None:
        die_with(arguments.parent, arguments.signal)
    command = [word for index, word in enumerate(arguments.command) if (index, word) != (0, "--")]
    try:
        os.execv(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        print(f"launch: cannot start {command[0]}: {error.strerror}", file=sys.stderr)  # noqa: T201
        sys.exit(127)


if __name__ == "__main__":
    main()
