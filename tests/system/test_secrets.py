"""Keys and passwords of an installation: made once, readable by their owner only, never half written."""

from __future__ import annotations

from pathlib import Path

import jwt
import pytest

from qisai.errors import Invalid
from qisai.local.secrets import load_or_make


def test_secrets_are_made_once_and_kept(tmp_path: Path) -> None:
    first = load_or_make(tmp_path / "secrets")
    files = {path.name: path.read_bytes() for path in (tmp_path / "secrets").iterdir()}
    assert load_or_make(tmp_path / "secrets") == first
    assert {path.name: path.read_bytes() for path in (tmp_path / "secrets").iterdir()} == files
    passwords = [first.superuser_password, first.owner_password, first.valkey_password]
    passwords += first.service_passwords.values()
    assert len(set(passwords)) == 7
    assert all(len(password) >= 32 for password in passwords)


def test_nobody_else_can_read_them(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    load_or_make(folder)
    (folder / "secret-key").chmod(0o644)
    load_or_make(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_the_two_keys_belong_together_even_if_one_is_made_again(tmp_path: Path) -> None:
    made = load_or_make(tmp_path / "secrets")
    made.public_key_file.unlink()
    again = load_or_make(tmp_path / "secrets")
    token = jwt.encode({"sub": "x"}, again.private_key_file.read_text(), algorithm="EdDSA")
    assert jwt.decode(token, again.public_key_file.read_text(), algorithms=["EdDSA"]) == {"sub": "x"}


@pytest.mark.parametrize(
    ("name", "text"), [("secret-key", ""), ("postgres-owner", "\n"), ("assertion-private.pem", "x")]
)
def test_a_damaged_secret_is_named_and_not_replaced(tmp_path: Path, name: str, text: str) -> None:
    folder = tmp_path / "secrets"
    load_or_make(folder)
    (folder / name).write_text(text)
    (folder / "assertion-public.pem").unlink()
    with pytest.raises(Invalid, match=name):
        load_or_make(folder)
    assert (folder / name).read_text() == text
