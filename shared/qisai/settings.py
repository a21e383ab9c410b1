"""The only place that reads the environment.

Every variable stands in `VARIABLES` with its meaning, and in deploy/env.example with a comment; a variable that is not
listed cannot be read. Secrets may be given as `NAME_FILE` (a path) instead of `NAME`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from qisai.errors import Invalid

SERVICES: Final = ("registration", "results", "pairing", "gateway")
"""The services that have a login role of their own."""

VARIABLES: Final[Mapping[str, str]] = {
    "QISAI_DATABASE_URL": "owner of the schema, used by `qisai migrate` and `qisai token` only",
    "QISAI_REGISTRATION_DATABASE_URL": "login role of the registration service",
    "QISAI_RESULTS_DATABASE_URL": "login role of the results service",
    "QISAI_PAIRING_DATABASE_URL": "login role of worker and keeper",
    "QISAI_GATEWAY_DATABASE_URL": "login role of the gateway",
    "QISAI_REDIS_URL": "Celery broker and rate limits; never a record",
    "QISAI_REDIS_PREFIX": "prefix of every key, so that several installations share one server",
    "QISAI_ASSERTION_PRIVATE_KEY": "Ed25519 private key (PEM) with which the gateway signs who calls; gateway only",
    "QISAI_ASSERTION_PUBLIC_KEY": "Ed25519 public key (PEM) with which services check it",
    "QISAI_SECRET_KEY": "secret of the gateway for cookies and signed links, 32 random bytes or more",
    "QISAI_REGISTRATION_URL": "where the gateway reaches the registration service",
    "QISAI_RESULTS_URL": "where the gateway reaches the results service",
    "QISAI_KEEPER_URL": "where the gateway asks the keeper whether it is well",
    "QISAI_PUBLIC_URL": "address that people type; https here makes cookies Secure",
    "QISAI_HOST": "address the gateway listens on",
    "QISAI_PORT": "port the gateway listens on",
    "QISAI_KEEPER_HOST": "address that the keeper's health and metrics listen on",
    "QISAI_KEEPER_PORT": "port of the keeper's health and metrics",
    "QISAI_VAR": "folder for data of the embedded servers, secrets and run state of `qisai up`",
    "QISAI_LOG_FORMAT": "text or json",
    "QISAI_LOG_LEVEL": "debug, info, warning or error",
    "QISAI_WORKERS": "how many pairing workers `qisai up` starts; of several the first takes small fields only",
    "QISAI_TRUSTED_PROXIES": "how many proxies in front of the gateway set X-Forwarded-For",
    "QISAI_MAX_BODY_BYTES": "largest body of a request the platform takes, in bytes",
    "QISAI_CONNECTIONS_PER_ADDRESS": "open connections that one address may have to each process of the gateway",
    "QISAI_RATE_LIMIT": "requests per token or address at the gateway, as in 1200/minute",
    "QISAI_SIGN_IN_LIMIT": "sign-in attempts per address and login, as in 10/minute",
    "QISAI_PAIRING_DEADLINE_MS": "how long a solver may take unless the event says otherwise, in milliseconds",
    "QISAI_PAIRING_LEASE_SECONDS": "a worker's claim on a job lasts this long unless renewed",
    "QISAI_PAIRING_MAX_ATTEMPTS": "how often a job is tried before it is failed for good",
    "QISAI_KEEPER_INTERVAL_MS": "pause between two looks of the keeper at the job table, in milliseconds",
    "QISAI_BREAKER_PAUSE_SECONDS": "how long the circuit breaker of an event stays open before one draw tries again",
    "QISAI_CANARY_SECONDS": "pause between two canary jobs, which prove the way from request to draw; 0 for none",
    "QISAI_ALERT_GRACE_SECONDS": "so long after a keeper begins to lead nobody's silence is an alert yet, in seconds",
    "QISAI_SOLVER_MEMORY_MB": "address-space limit of a solver process in MiB",
    "QISAI_TOKEN": "API token for `qisai demo` and other commands that speak HTTP",
    "QISAI_URL": "address of the gateway for commands that speak HTTP",
}


def read(name: str, default: str | None = None) -> str | None:
    """Value of a listed variable, or the content of the file that `NAME_FILE` names, or `default`.

    Raises `Invalid` where the file cannot be read.
    """
    if name not in VARIABLES:
        raise KeyError(f"{name} is not in qisai.settings.VARIABLES")
    value = os.environ.get(name)
    if value is not None and value != "":
        return value
    path = os.environ.get(f"{name}_FILE")
    if path:
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise Invalid("bad-setting", f"{name}_FILE names {path}, which cannot be read: {error.strerror}") from error
    return default


def need(name: str) -> str:
    """Value of a variable that must be set. Raises `Invalid` naming it."""
    value = read(name)
    if value is None:
        raise Invalid("missing-setting", f"{name} is not set: {VARIABLES[name]}")
    return value


def inherited() -> dict[str, str]:
    """The environment for processes that we start, without our own variables: those are handed on one by one."""
    return {name: value for name, value in os.environ.items() if not name.startswith("QISAI_")}


def given(name: str) -> dict[str, str]:
    """A listed variable as it was given, to hand on: `NAME`, or `NAME_FILE` with its path made absolute; else empty."""
    if name not in VARIABLES:
        raise KeyError(f"{name} is not in qisai.settings.VARIABLES")
    if os.environ.get(name):
        return {name: os.environ[name]}
    path = os.environ.get(f"{name}_FILE")
    return {f"{name}_FILE": str(Path(path).absolute())} if path else {}


def number(name: str, *, default: int, least: int = 0, most: int = 1 << 40) -> int:
    """Whole number from a variable. Raises `Invalid` naming the variable and the range it allows."""
    text = read(name)
    if text is None:
        return default
    try:
        value = int(text)
    except ValueError:
        raise Invalid("bad-setting", f"{name} is {text!r}, but must be a whole number") from None
    if not least <= value <= most:
        raise Invalid("bad-setting", f"{name} is {value}, but must be between {least} and {most}")
    return value


def database_url(service: str | None = None) -> str:
    """URL of a service's login role, or of the owner. `postgres://` and `postgresql://` get the psycopg driver."""
    name = "QISAI_DATABASE_URL" if service is None else f"QISAI_{service.upper()}_DATABASE_URL"
    url = need(name)
    for scheme in ("postgres://", "postgresql://"):
        if url.startswith(scheme):
            return "postgresql+psycopg://" + url.removeprefix(scheme)
    return url


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """What registration and results need. Times in seconds, sizes in bytes."""

    service: str
    database_url: str
    redis_url: str
    redis_prefix: str
    assertion_public_key: str
    max_body_bytes: int


def service_settings(service: str) -> ServiceSettings:
    """Settings of one service. Raises `Invalid` naming what is missing."""
    return ServiceSettings(
        service=service,
        database_url=database_url(service),
        redis_url=need("QISAI_REDIS_URL"),
        redis_prefix=read("QISAI_REDIS_PREFIX", "qisai:") or "",
        assertion_public_key=need("QISAI_ASSERTION_PUBLIC_KEY"),
        max_body_bytes=max_body_bytes(),
    )


def max_body_bytes() -> int:
    """Largest request body taken, in bytes."""
    return number("QISAI_MAX_BODY_BYTES", default=16 << 20, least=1 << 10)


def connections_per_address() -> int:
    """Open connections that one address may have to each process of the gateway; 0 for any number.

    Behind a proxy all callers have the proxy's address, and the proxy is the one to bound them.
    """
    trusted = number("QISAI_TRUSTED_PROXIES", default=0, most=8)
    return number("QISAI_CONNECTIONS_PER_ADDRESS", default=0 if trusted else 1500, most=1 << 20)


def pairing_deadline_ms() -> int:
    """How long a solver may take unless the event says otherwise, in milliseconds."""
    return number("QISAI_PAIRING_DEADLINE_MS", default=10_000, least=50, most=3_600_000)


def pairing_lease_seconds() -> int:
    """How long a worker's claim on a job lasts unless renewed; from when on a worker is silent follows from it."""
    return number("QISAI_PAIRING_LEASE_SECONDS", default=15, least=2, most=3600)


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """What the gateway needs."""

    database_url: str
    redis_url: str
    redis_prefix: str
    assertion_private_key: str
    secret_key: str
    registration_url: str
    results_url: str
    keeper_url: str
    public_url: str
    trusted_proxies: int
    max_body_bytes: int
    rate_limit: str
    sign_in_limit: str


def gateway_settings() -> GatewaySettings:
    """Settings of the gateway. Raises `Invalid` naming what is missing."""
    secret = need("QISAI_SECRET_KEY")
    if len(secret) < 32:
        raise Invalid("bad-setting", "QISAI_SECRET_KEY must have 32 characters or more")
    return GatewaySettings(
        database_url=database_url("gateway"),
        redis_url=need("QISAI_REDIS_URL"),
        redis_prefix=read("QISAI_REDIS_PREFIX", "qisai:") or "",
        assertion_private_key=need("QISAI_ASSERTION_PRIVATE_KEY"),
        secret_key=secret,
        registration_url=need("QISAI_REGISTRATION_URL"),
        results_url=need("QISAI_RESULTS_URL"),
        keeper_url=read("QISAI_KEEPER_URL", "") or "",
        public_url=read("QISAI_PUBLIC_URL", "http://127.0.0.1:8080") or "",
        trusted_proxies=number("QISAI_TRUSTED_PROXIES", default=0, most=8),
        max_body_bytes=max_body_bytes(),
        rate_limit=read("QISAI_RATE_LIMIT", "6000/minute") or "",
        sign_in_limit=read("QISAI_SIGN_IN_LIMIT", "20/minute") or "",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingSettings:
    """What workers and keeper need. Times in the units their names say."""

    database_url: str
    redis_url: str
    redis_prefix: str
    deadline_ms: int
    lease_seconds: int
    max_attempts: int
    breaker_pause_seconds: int
    canary_seconds: int
    alert_grace_seconds: int
    keeper_interval_ms: int
    keeper_host: str
    keeper_port: int
    solver_memory_mb: int


def pairing_settings() -> PairingSettings:
    """Settings of workers and keeper. Raises `Invalid` naming what is missing."""
    return PairingSettings(
        database_url=database_url("pairing"),
        redis_url=need("QISAI_REDIS_URL"),
        redis_prefix=read("QISAI_REDIS_PREFIX", "qisai:") or "",
        deadline_ms=pairing_deadline_ms(),
        lease_seconds=pairing_lease_seconds(),
        max_attempts=number("QISAI_PAIRING_MAX_ATTEMPTS", default=5, least=1, most=100),
        breaker_pause_seconds=number("QISAI_BREAKER_PAUSE_SECONDS", default=60, least=1, most=86_400),
        canary_seconds=number("QISAI_CANARY_SECONDS", default=60, most=86_400),
        alert_grace_seconds=number("QISAI_ALERT_GRACE_SECONDS", default=30, most=3600),
        keeper_interval_ms=number("QISAI_KEEPER_INTERVAL_MS", default=500, least=20, most=60_000),
        keeper_host=read("QISAI_KEEPER_HOST", "127.0.0.1") or "127.0.0.1",
        keeper_port=number("QISAI_KEEPER_PORT", default=8083, least=0, most=65_535),
        solver_memory_mb=number("QISAI_SOLVER_MEMORY_MB", default=2048, least=256, most=1 << 20),
    )
