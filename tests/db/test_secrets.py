"""Secrets: random, prefixed, stored as hashes that cannot be turned back."""

from __future__ import annotations

import hashlib
import re

from qisai.db.secrets import hash_password, hash_secret, new_password, new_token, password_matches


def test_token_has_its_prefix_and_256_random_bits_that_fit_into_a_header() -> None:
    plain, stored = new_token()
    assert re.fullmatch(r"qisai_[A-Za-z0-9_-]{43}", plain)
    assert stored == hash_secret(plain) == hashlib.sha256(plain.encode()).hexdigest()


def test_secrets_do_not_repeat() -> None:
    assert len({new_token()[0] for _ in range(200)} | {new_password() for _ in range(200)}) == 400


def test_password_can_be_read_from_a_screen_and_typed() -> None:
    assert re.fullmatch(r"[a-km-np-zA-HJ-NP-Z2-9]{20}", "".join(new_password() for _ in range(50))[:20])
    assert not set("0O1lI") & set("".join(new_password() for _ in range(50)))


def test_password_hash_is_salted_argon2id_and_checks_the_whole_password() -> None:
    first, second = hash_password("correct horse"), hash_password("correct horse")
    assert first.startswith("$argon2id$")
    assert first != second
    assert password_matches(first, "correct horse")
    assert not password_matches(first, "correct horsf")
    assert not password_matches("not a hash", "correct horse")
