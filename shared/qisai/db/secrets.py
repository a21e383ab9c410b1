"""Secrets: API tokens, links, cookies, passwords. The plain form is shown once and never stored."""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

TOKEN_PREFIX: Final = "qisai_"  # noqa: S105 - a prefix, no secret
"""Every API token begins with it, so that tools that look for leaked secrets can find one."""

_PASSWORDS: Final = PasswordHasher()
# No 0 and O, no 1, l and I: the first password is read from a screen and typed.
_LETTERS: Final = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


def new_token() -> tuple[str, str]:
    """A new API token and the hash to store: 256 random bits, URL-safe, behind `TOKEN_PREFIX`."""
    plain = TOKEN_PREFIX + secrets.token_urlsafe(32)
    return plain, hash_secret(plain)


def new_secret() -> tuple[str, str]:
    """A new secret for a cookie or a link and the hash to store: 256 random bits, URL-safe."""
    plain = secrets.token_urlsafe(32)
    return plain, hash_secret(plain)


def hash_secret(plain: str) -> str:
    """SHA-256 of a random secret as 64 hex digits, as in every column `secret_hash`.

    Only for secrets with enough randomness of their own; passwords take `hash_password`.
    """
    return hashlib.sha256(plain.encode()).hexdigest()


def new_password() -> str:
    """A random password of 20 letters and digits (117 bits) without look-alikes."""
    return "".join(secrets.choice(_LETTERS) for _ in range(20))


def hash_password(plain: str) -> str:
    """Argon2id hash, salted. Takes about 0.1 s of a core and 64 MiB: bound how many run at once."""
    return _PASSWORDS.hash(plain)


def password_matches(password_hash: str, plain: str) -> bool:
    """Whether the password is the hashed one; False also for a hash that is none. Costs as much as `hash_password`."""
    try:
        return _PASSWORDS.verify(password_hash, plain)
    except (VerificationError, InvalidHashError):
        return False
