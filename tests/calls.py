"""Calling a service's Flask application in tests as the gateway would: every call carries a signed assertion."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from json import dumps
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from flask import Flask
from werkzeug.test import TestResponse

from qisai.web import assertion
from tests.servers import Database


@cache
def key_pair() -> tuple[str, str]:
    """Private and public key (PEM) of the gateway in this test process."""
    private = Ed25519PrivateKey.generate()
    return (
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode(),
        private.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode(),
    )


def service_environment(service: str, database: Database, *, redis_url: str, prefix: str = "test:") -> dict[str, str]:
    """The variables that one service needs, for `os.environ` or for a process of its own."""
    return {
        f"QISAI_{service.upper()}_DATABASE_URL": database.url(service),
        "QISAI_REDIS_URL": redis_url,
        "QISAI_REDIS_PREFIX": prefix,
        "QISAI_ASSERTION_PUBLIC_KEY": key_pair()[1],
    }


@contextmanager
def service_app(create_app: Callable[[], Flask], environment: Mapping[str, str]) -> Iterator[Flask]:
    """The application that `create_app` makes under these variables; no other `QISAI_` variable is set meanwhile.

    At the end closes the connections of `app.extensions["qisai.database"]`, where services leave their `Database`.
    """
    before = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("QISAI_")}
    os.environ.update(environment)
    try:
        app = create_app()
    finally:
        for name in environment:
            os.environ.pop(name, None)
        os.environ.update(before)
    try:
        yield app
    finally:
        database = app.extensions.get("qisai.database")
        if database is not None:
            database.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Calls an application as one account (None: the public). Methods return werkzeug's `TestResponse`."""

    app: Flask
    account_id: int | None
    scopes: tuple[str, ...] = ("read", "write")
    device: str = ""

    def get(self, path: str, **arguments: Any) -> TestResponse:
        return self.call("GET", path, **arguments)

    def post(self, path: str, json: Any = None, **arguments: Any) -> TestResponse:
        return self.call("POST", path, json=json, **arguments)

    def put(self, path: str, json: Any = None, **arguments: Any) -> TestResponse:
        return self.call("PUT", path, json=json, **arguments)

    def patch(self, path: str, json: Any = None, **arguments: Any) -> TestResponse:
        return self.call("PATCH", path, json=json, **arguments)

    def delete(self, path: str, **arguments: Any) -> TestResponse:
        return self.call("DELETE", path, **arguments)

    def call(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        version: int | None = None,
        headers: Mapping[str, str] | None = None,
        **arguments: Any,
    ) -> TestResponse:
        """One call. `version` becomes `If-Match: "v…"`; other arguments go to Flask's test client."""
        sent = {assertion.HEADER: self._assertion(method, path.partition("?")[0]), **dict(headers or {})}
        if version is not None:
            sent["If-Match"] = f'"v{version}"'
        if json is not None:  # as ASCII, so that a test may send halves of surrogate pairs
            arguments |= {"data": dumps(json), "content_type": "application/json"}
        return self.app.test_client().open(path, method=method, headers=sent, **arguments)

    def _assertion(self, method: str, path: str) -> str:
        said = assertion.Assertion(
            account_id=self.account_id,
            scopes=self.scopes,
            method=method,
            path=path,
            request_id="test-request",
            device=self.device,
        )
        return assertion.sign(said, private_key=key_pair()[0])


def caller(
    app: Flask, *, account_id: int | None = None, scopes: tuple[str, ...] = ("read", "write"), device: str = ""
) -> Caller:
    """Who calls: an account, or the public (None)."""
    return Caller(app=app, account_id=account_id, scopes=scopes, device=device)
