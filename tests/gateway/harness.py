"""A gateway under gunicorn with gevent workers, as in production, and what tests do with it."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests
import sqlalchemy as sa
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy.orm import Session

from qisai.client import Client, HttpTransport
from qisai.db.accounts import AccountRow, GrantRow, Role, TokenRow
from qisai.db.secrets import hash_password, new_token
from qisai.local.ports import free_port
from tests.servers import Database, comes_true

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "correct horse battery"


@dataclass(frozen=True, slots=True)
class Gateway:
    """A running gateway, the public key that its services would hold, and its database."""

    url: str
    public_key: str
    database: Database
    echo_url: str
    log: Path

    @property
    def pid(self) -> int:
        """The server's process."""
        return int(Path(f"{self.log}.pid").read_text())

    def client(self, token: str | None = None, **options: str) -> Client:
        return Client(HttpTransport(self.url, token=token, **options))  # type: ignore[arg-type]

    def account(self, *roles: Role, login: str | None = None, password: str | None = None, name: str = "某") -> int:
        """A new account with these roles everywhere."""
        engine = sa.create_engine(self.database.owner_url)
        with Session(engine) as session, session.begin():
            row = AccountRow(
                login=login or secrets.token_hex(6),
                name=name,
                password_hash=None if password is None else hash_password(password),
            )
            session.add(row)
            session.flush()
            session.add_all(GrantRow(account_id=row.id, role=role, granted_by="test") for role in roles)
            account_id = row.id
        engine.dispose()
        return account_id

    def token(self, account_id: int, *, scopes: tuple[str, ...] = ("read", "write")) -> str:
        """A new token of an account."""
        plain, secret_hash = new_token()
        self.sql(
            sa.insert(TokenRow).values(account_id=account_id, name="test", secret_hash=secret_hash, scopes=list(scopes))
        )
        return plain

    def token_for(self, *roles: Role) -> str:
        """A token of a new account with these roles."""
        return self.token(self.account(*roles))

    def sql(self, statement: sa.Executable, **values: object) -> list[sa.Row[tuple[object, ...]]]:
        """Runs a statement as the owner and gives its rows."""
        engine = sa.create_engine(self.database.owner_url)
        with engine.begin() as connection:
            result = connection.execute(statement, values)
            rows = list(result.all()) if result.returns_rows else []
        engine.dispose()
        return rows  # type: ignore[return-value]


@contextmanager
def gunicorn(
    app: str, *, log: Path, environment: dict[str, str], options: tuple[str, ...] = (), port: int | None = None
) -> Iterator[str]:
    """A server process for an application; yields its address once it answers."""
    port = port or free_port()
    command = [
        sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "-c", "python:qisai.web.gunicorn",
        "--graceful-timeout", "2", "--pid", f"{log}.pid",
        *options, app,
    ]  # fmt: skip
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **environment}, stdout=output, stderr=output, start_new_session=True
        )
    url = f"http://127.0.0.1:{port}"
    try:
        assert comes_true(lambda: answers(f"{url}/healthz") or process.poll() is not None, seconds=30)
        assert process.poll() is None, log.read_text()
        yield url
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(url: str) -> bool:
    try:
        return requests.get(url, timeout=2).status_code < 500
    except requests.RequestException:
        return False


def new_keys() -> tuple[str, str]:
    """A private key for a gateway and the public one for its services, in PEM."""
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


@contextmanager
def running_gateway(
    database: Database,
    redis_url: str,
    folder: Path,
    *,
    services: tuple[str, str],
    keys: tuple[str, str] | None = None,
    connections: int = 200,
    **settings: str,
) -> Iterator[Gateway]:
    """A gateway of one process before the services at these addresses."""
    private, public = keys or new_keys()
    environment = {
        "QISAI_GATEWAY_DATABASE_URL": database.url("gateway"),
        "QISAI_REDIS_URL": redis_url,
        "QISAI_ASSERTION_PRIVATE_KEY": private,
        "QISAI_SECRET_KEY": secrets.token_urlsafe(32),
        "QISAI_REGISTRATION_URL": services[0],
        "QISAI_RESULTS_URL": services[1],
        "QISAI_MAX_BODY_BYTES": "100000",
        **settings,
    }
    log = folder / f"gateway-{secrets.token_hex(3)}.log"
    options = ("--worker-class", "gevent", "--workers", "1", "--worker-connections", str(connections))
    with gunicorn("services.gateway.app:create_app()", log=log, environment=environment, options=options) as url:
        yield Gateway(url, public, database, services[0], log)
