"""The processes of the platform on one machine: their commands, their environments, and in which order they stop.

Each gets only what it needs: its own database login, and the private key at the gateway alone. The schema's owner is
known to `migrate` only.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError

from qisai import settings
from qisai.errors import Invalid
from qisai.local import postgres, valkey
from qisai.local.identity import myself
from qisai.local.ports import free_port
from qisai.local.run_state import MARK
from qisai.local.secrets import Secrets
from qisai.local.supervisor import Process
from qisai.queue.names import QUEUE_LARGE, QUEUE_SMALL

DATABASE_STAGE, BROKER_STAGE, WORK_STAGE, SERVICE_STAGE, GATEWAY_STAGE = range(5)
"""Stages, stopped from the highest down: no request finds its service gone, no service its database."""

_HANDED_OUT_ONE_BY_ONE: Final = frozenset(
    {
        "QISAI_DATABASE_URL",
        *(f"QISAI_{service.upper()}_DATABASE_URL" for service in settings.SERVICES),
        "QISAI_ASSERTION_PRIVATE_KEY",
        "QISAI_SECRET_KEY",
        "QISAI_TOKEN",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """Everything that is settled before the first process starts. A server of somebody else's is None."""

    var: Path
    host: str
    port: int
    workers: int
    secrets: Secrets
    ports: Mapping[str, int]
    postgres: postgres.PostgresServer | None
    valkey: valkey.ValkeyServer | None
    owner_url: str
    service_urls: Mapping[str, str]
    redis_url: str

    @property
    def address(self) -> str:
        """What people type."""
        shown = "127.0.0.1" if self.host in ("0.0.0.0", "") else "[::1]" if self.host == "::" else self.host  # noqa: S104
        shown = f"[{shown}]" if ":" in shown and not shown.startswith("[") else shown
        return settings.read("QISAI_PUBLIC_URL") or f"http://{shown}:{self.port}"

    def ready_urls(self) -> dict[str, str]:
        """For each process with a port, where it says that it is ready."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "", "::") else self.host  # noqa: S104
        host = f"[{host}]" if ":" in host else host
        urls = {name: f"http://127.0.0.1:{self.ports[name]}/readyz" for name in ("registration", "results", "keeper")}
        return {**urls, "gateway": f"http://{host}:{self.port}/readyz"}


def settle(*, var: Path, host: str, port: int, secrets: Secrets) -> Installation:
    """Chooses ports, prepares the embedded servers that are needed, and works out who logs in where.

    Raises `Invalid` for settings that contradict each other, and what `postgres.prepare` raises.
    """
    workers = settings.number("QISAI_WORKERS", default=2, least=1, most=64)
    ports = {name: free_port() for name in ("registration", "results")}
    ports["keeper"] = settings.number("QISAI_KEEPER_PORT", default=free_port(), least=1, most=65_535)
    database, owner_url = _database(var, secrets, ports)
    broker, redis_url = _broker(var, secrets, ports)
    return Installation(
        var=var,
        host=host,
        port=port,
        workers=workers,
        secrets=secrets,
        ports=ports,
        postgres=database,
        valkey=broker,
        owner_url=owner_url,
        service_urls=_service_urls(owner_url, secrets),
        redis_url=redis_url,
    )


def _database(var: Path, secrets: Secrets, ports: dict[str, int]) -> tuple[postgres.PostgresServer | None, str]:
    if settings.read("QISAI_DATABASE_URL") is not None:
        return None, settings.database_url()
    for service in settings.SERVICES:
        name = f"QISAI_{service.upper()}_DATABASE_URL"
        if settings.read(name) is not None:
            raise Invalid("bad-setting", f"{name} is set, but QISAI_DATABASE_URL is not: set both or none")
    ports["postgres"] = free_port()
    server = postgres.prepare(
        var / "postgres",
        port=ports["postgres"],
        superuser_password=secrets.superuser_password,
        owner_password=secrets.owner_password,
    )
    return server, server.url()


def _broker(var: Path, secrets: Secrets, ports: dict[str, int]) -> tuple[valkey.ValkeyServer | None, str]:
    given = settings.read("QISAI_REDIS_URL")
    if given is not None:
        return None, given
    ports["valkey"] = free_port()
    server = valkey.prepare(var / "valkey", port=ports["valkey"], password=secrets.valkey_password)
    return server, server.url()


def _service_urls(owner_url: str, secrets: Secrets) -> dict[str, str]:
    """The login of each service: as given, or a role `qisai_<service>` on the owner's server with our password."""
    try:
        owner = make_url(owner_url)
    except ArgumentError:
        raise Invalid(
            "bad-setting", "QISAI_DATABASE_URL is not of the form postgresql://user:password@host/name"
        ) from None
    urls = {}
    for service in settings.SERVICES:
        if settings.read(f"QISAI_{service.upper()}_DATABASE_URL") is not None:
            urls[service] = settings.database_url(service)
        else:
            login = owner.set(username=f"qisai_{service}", password=secrets.service_passwords[service])
            urls[service] = login.render_as_string(hide_password=False)
    return urls


def embedded_servers(installation: Installation) -> list[Process]:
    """The servers of our own, PostgreSQL first."""
    found = []
    if installation.postgres is not None:
        server = installation.postgres
        found.append(
            Process(
                name="postgres",
                command=tuple(server.command()),
                environment=server.environment(),
                folder=server.data,
                stage=DATABASE_STAGE,
                stop_signal=signal.SIGINT,
                stop_seconds=60.0,
                before_start=server.clear_away,
            )
        )
    if installation.valkey is not None:
        broker = installation.valkey
        found.append(
            Process(
                name="valkey",
                command=tuple(broker.command()),
                environment={**broker.environment(), MARK: str(installation.var)},
                folder=broker.data,
                stage=BROKER_STAGE,
            )
        )
    return found


def migration(installation: Installation) -> Process:
    """`qisai migrate`, which runs to its end before the services start."""
    owner = {"QISAI_DATABASE_URL": installation.owner_url}
    logins = {f"QISAI_{name.upper()}_DATABASE_URL": url for name, url in installation.service_urls.items()}
    words = ("-m", "qisai.cli.main", "migrate")
    return _python(installation, name="migrate", words=words, extra={**owner, **logins}, stage=SERVICE_STAGE)


def platform(installation: Installation) -> list[Process]:
    """The processes that make up the platform, the gateway last."""
    public_key = _key("QISAI_ASSERTION_PUBLIC_KEY", installation.secrets.public_key_file)
    found = [
        _web(installation, name=name, port=installation.ports[name], extra={**_login(installation, name), **public_key})
        for name in ("registration", "results")
    ]
    for number in range(1, installation.workers + 1):
        # The first takes small fields only, so that large ones never keep all busy; a sole one must take both.
        is_for_small = number == 1 and installation.workers > 1
        queues = QUEUE_SMALL if is_for_small else f"{QUEUE_SMALL},{QUEUE_LARGE}"
        found.append(_worker(installation, name=f"worker{number}", queues=queues))
    listens = {"QISAI_KEEPER_HOST": "127.0.0.1", "QISAI_KEEPER_PORT": str(installation.ports["keeper"])}
    keeper = {**_login(installation, "pairing"), **listens}
    found.append(
        _python(installation, name="keeper", words=("-m", "services.pairing.keeper"), extra=keeper, stage=WORK_STAGE)
    )
    found.append(_gateway(installation))
    return found


def _gateway(installation: Installation) -> Process:
    inner = {name: f"http://127.0.0.1:{port}" for name, port in installation.ports.items()}
    extra = {
        **_login(installation, "gateway"),
        **_key("QISAI_ASSERTION_PRIVATE_KEY", installation.secrets.private_key_file),
        **_key("QISAI_SECRET_KEY", installation.secrets.secret_key_file),
        "QISAI_REGISTRATION_URL": inner["registration"],
        "QISAI_RESULTS_URL": inner["results"],
        "QISAI_KEEPER_URL": inner["keeper"],
        "QISAI_PUBLIC_URL": installation.address,
    }
    bind = f"[{installation.host}]" if ":" in installation.host else installation.host
    return _gunicorn(
        installation,
        name="gateway",
        options=(
            "--bind",
            f"{bind}:{installation.port}",
            "--worker-class",
            "gevent",
            "--workers",
            "2",
            "--worker-connections",
            "4000",
            "--graceful-timeout",
            "5",
        ),
        extra=extra,
        stage=GATEWAY_STAGE,
    )


def _web(installation: Installation, *, name: str, port: int, extra: Mapping[str, str]) -> Process:
    options = ("--bind", f"127.0.0.1:{port}", "--worker-class", "gthread", "--workers", "2", "--threads", "8")
    return _gunicorn(installation, name=name, options=options, extra=extra, stage=SERVICE_STAGE)


def _gunicorn(
    installation: Installation, *, name: str, options: tuple[str, ...], extra: Mapping[str, str], stage: int
) -> Process:
    words = ("-m", "gunicorn", "-c", "python:qisai.web.gunicorn", "--no-control-socket", *options)
    app = f"services.{name}.app:create_app()"
    return _python(installation, name=name, words=(*words, app), extra=extra, stage=stage)


def _worker(installation: Installation, *, name: str, queues: str) -> Process:
    quiet = "ignore:You're running the worker with superuser privileges"  # its messages are JSON: nothing is unpickled
    words = ["-W", quiet, "-m", "celery", "-q", "-A", "services.pairing.app", "worker", "-Q", queues]
    words += ["--concurrency", "1", "--hostname", f"{name}@%h", "--loglevel", "WARNING"]
    words += ["--without-gossip", "--without-mingle"]
    return _python(
        installation,
        name=name,
        words=words,
        extra=_login(installation, "pairing"),
        stage=WORK_STAGE,
        # Celery says goodbye on a pipe that nobody reads then, fails, and may live on. The lease makes a kill harmless.
        orphan_signal=signal.SIGKILL,
    )


def _python(
    installation: Installation,
    *,
    name: str,
    words: Sequence[str],
    extra: Mapping[str, str],
    stage: int,
    orphan_signal: signal.Signals = signal.SIGTERM,
) -> Process:
    """A process of ours; `orphan_signal` is sent to it when the supervisor dies without stopping it."""
    command = [sys.executable, "-P", *words]  # -P: nothing in the data folder can take the place of a module
    common: dict[str, str] = {}
    for variable in settings.VARIABLES.keys() - _HANDED_OUT_ONE_BY_ONE:
        common |= settings.given(variable)
    environment = {
        **settings.inherited(),
        **common,
        "QISAI_REDIS_URL": installation.redis_url,
        **extra,
        MARK: str(installation.var),
        "TMPDIR": str(installation.var / "tmp"),
        "PYTHONUNBUFFERED": "1",
    }
    return Process(
        name=name,
        command=tuple(myself().command(command, parent=os.getpid(), signal=orphan_signal)),
        environment=environment,
        folder=installation.var,
        stage=stage,
        stop_seconds=20.0,
    )


def _login(installation: Installation, service: str) -> dict[str, str]:
    return {f"QISAI_{service.upper()}_DATABASE_URL": installation.service_urls[service]}


def _key(name: str, file: Path) -> dict[str, str]:
    return settings.given(name) or {f"{name}_FILE": str(file)}
