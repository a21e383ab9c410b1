"""Passwords at the gateway. Argon2id takes 0.1 s of a core and 64 MiB: few run at once, and none stalls the others."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from qisai.db.secrets import hash_password, new_password, password_matches
from qisai.errors import FieldError, Invalid, Unavailable

T = TypeVar("T")

SHORTEST: Final = 10
LONGEST: Final = 200
AT_ONCE: Final = 2
"""Hashes that run at once in one process."""
_WAIT_SECONDS: Final = 10.0
_ROWS: Final = ("1234567890", "abcdefghijklmnopqrstuvwxyz", "qwertyuiopasdfghjklzxcvbnm", "1qaz2wsx3edc4rfv5tgb")
_PIECE: Final = 4
"""A password that only repeats so many characters is as easy as they are."""


class Passwords:
    """Hashes and checks passwords without holding up other requests of the process."""

    def __init__(self) -> None:
        self._slots = threading.BoundedSemaphore(AT_ONCE)  # gevent's own under gevent workers
        self._nobody: str | None = None

    def hash(self, plain: str, *, first: Callable[[], object] | None = None) -> str:
        """Argon2id hash. Raises `Unavailable` where too many wait already.

        `first` is called when it is this one's turn, and what it raises saves the work: while a link's uses wait in
        line the first of them sets the password, and the others need no hash any more.
        """
        return self._run(lambda: hash_password(plain), first=first)

    def matches(self, password_hash: str | None, plain: str) -> bool:
        """Whether the password is right. Without a hash it takes as long and is False: nobody learns who exists."""
        if self._nobody is None:
            self._nobody = self.hash(new_password())
        known = password_hash or self._nobody
        return self._run(lambda: password_matches(known, plain)) and password_hash is not None

    def _run(self, work: Callable[[], T], *, first: Callable[[], object] | None = None) -> T:
        if not self._slots.acquire(timeout=_WAIT_SECONDS):
            raise Unavailable("busy", "Too many people sign in right now; try again in a moment.")
        try:
            if first is not None:
                first()
            return _beside_the_loop(work)
        finally:
            self._slots.release()


def _beside_the_loop(work: Callable[[], T]) -> T:
    """Runs it in gevent's thread pool under a gevent worker, since C code would stall the loop; else right here."""
    if "gevent" in sys.modules:
        import gevent
        from gevent import monkey

        if monkey.is_module_patched("threading"):
            result: T = gevent.get_hub().threadpool.apply(work)
            return result
    return work()


def check_form(password: str) -> None:
    """Raises `Invalid` for a password that is too short, too long, or among the first that are tried."""
    if not SHORTEST <= len(password) <= LONGEST:
        detail = f"must have {SHORTEST} to {LONGEST} characters"
        fault = FieldError("/password", detail, "password-length", {"low": SHORTEST, "high": LONGEST})
        raise Invalid("weak-password", f"The password {detail}.", errors=[fault])
    if _is_run(password.casefold()):
        detail = "is among the first that somebody would try: no row of keys, no count, not the same over and over"
        fault = FieldError("/password", detail, "password-easy")
        raise Invalid("weak-password", f"The password {detail}.", errors=[fault], variant="easy")


def _is_run(password: str) -> bool:
    """Whether it is one row of digits, letters or keys, up or down, or a short piece again and again."""
    rows = [row + row for row in _ROWS]
    if any(password in row or password in row[::-1] for row in rows):
        return True
    return any(password == (password[:size] * len(password))[: len(password)] for size in range(1, _PIECE + 1))
