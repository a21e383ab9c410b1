"""Passwords and keys of one installation: made once, kept in the data folder, readable by its owner only."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from qisai.errors import Invalid
from qisai.settings import SERVICES


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What the processes of one installation share. Keys are given by file, so that no environment holds them."""

    superuser_password: str
    owner_password: str
    service_passwords: Mapping[str, str]
    valkey_password: str
    secret_key_file: Path
    private_key_file: Path
    public_key_file: Path


def load_or_make(folder: Path) -> Secrets:
    """The secrets in `folder`, each made where it is missing. Raises `Invalid` for a damaged one, or `OSError`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)

    def password(name: str) -> str:
        return _kept(folder / name, lambda: secrets.token_urlsafe(24))

    private = folder / "assertion-private.pem"
    public = folder / "assertion-public.pem"
    key_text = _kept(private, _new_key)
    if not public.exists():
        _write(public, _public_of(key_text, private))
    _kept(folder / "secret-key", lambda: secrets.token_urlsafe(48))
    return Secrets(
        superuser_password=password("postgres-superuser"),
        owner_password=password("postgres-owner"),
        service_passwords={service: password(f"postgres-{service}") for service in SERVICES},
        valkey_password=password("valkey"),
        secret_key_file=folder / "secret-key",
        private_key_file=private,
        public_key_file=public,
    )


def _kept(path: Path, make: Callable[[], str]) -> str:
    if not path.exists():
        _write(path, make())
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    text = path.read_text(encoding="ascii", errors="replace").strip()
    if not text:
        raise Invalid(
            "damaged-secret", f"{path} is empty; restore it from a backup, or remove it to have a new one made"
        )
    return text


def _write(path: Path, text: str) -> None:
    """Writes the whole file or none of it, with mode 0600 from its first moment."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def _new_key() -> str:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode("ascii").strip()


def _public_of(private: str, path: Path) -> str:
    try:
        key = load_pem_private_key(private.encode("ascii", "replace"), password=None)
    except ValueError:
        raise Invalid("damaged-secret", f"{path} is no private key in PEM form") from None
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii").strip()
