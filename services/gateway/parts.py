"""What every part of the gateway works with, made once for each process and found through the application."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cryptography.hazmat.primitives.serialization import load_pem_private_key
from flask import Flask, current_app, g

from qisai import telemetry
from qisai.db.session import Database
from qisai.settings import GatewaySettings
from qisai.web import assertion
from services.gateway.credentials import PUBLIC, Credential, Credentials
from services.gateway.limits import SignInLimits
from services.gateway.passwords import Passwords
from services.gateway.routes import Upstream
from services.gateway.upstreams import Service

_KEY: Final = "qisai-gateway"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Settings, database, services behind, credentials, passwords."""

    settings: GatewaySettings
    database: Database
    services: Mapping[Upstream, Service]
    credentials: Credentials
    passwords: Passwords
    sign_in_limits: SignInLimits
    private_key: object

    @property
    def is_https(self) -> bool:
        """Whether people reach the gateway by https, so that cookies must be Secure."""
        return self.settings.public_url.startswith("https://")

    def sign(self, credential: Credential, *, method: str, path: str) -> dict[str, str]:
        """Headers that tell a service who calls, for one method and path."""
        said = assertion.Assertion(
            account_id=credential.account_id,
            session_id=credential.session_id,
            token_id=credential.token_id,
            scopes=credential.scopes,
            method=method,
            path=path,
            request_id=telemetry.request_id.get(),
            device=credential.device,
        )
        return {
            assertion.HEADER: assertion.sign(said, private_key=self.private_key),
            telemetry.REQUEST_ID_HEADER: said.request_id,
        }


def assemble(settings: GatewaySettings, database: Database) -> Parts:
    """The parts for these settings. Raises `ValueError` for a private key that is none."""
    return Parts(
        settings=settings,
        database=database,
        services={
            Upstream.REGISTRATION: Service("registration", settings.registration_url.rstrip("/")),
            Upstream.RESULTS: Service("results", settings.results_url.rstrip("/")),
        },
        credentials=Credentials(database, secret_key=settings.secret_key, public_url=settings.public_url),
        passwords=Passwords(),
        sign_in_limits=SignInLimits(settings),
        private_key=load_pem_private_key(settings.assertion_private_key.encode(), password=None),
    )


def install(app: Flask, parts: Parts) -> None:
    """Makes `parts()` find them."""
    app.extensions[_KEY] = parts


def parts() -> Parts:
    """The parts of the application under way."""
    found: Parts = current_app.extensions[_KEY]
    return found


def credential() -> Credential:
    """Who calls this request, as proven; the public where nothing was."""
    found: Credential = g.get("credential", PUBLIC)
    return found
