"""Gateway, registration and results as real processes on one database, with an event to look at. No pairing worker:
rounds come from an imported tournament."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qisai.client import Client
from qisai.db.accounts import Role
from tests.gateway.harness import PASSWORD, Gateway, gunicorn, new_keys, running_gateway
from tests.servers import Servers

NAMES = ("陈一", "李二", "张三", "王四", "赵五", "钱六", "孙七", "周八")


@dataclass(frozen=True, slots=True)
class Platform:
    """A running platform. `admin` may do everything; `login` signs in as the same on a page."""

    gateway: Gateway
    admin: Client
    login: str

    def event(self, document: Mapping[str, Any] | None = None, *, name: str = "春季赛") -> int:
        """A new event of eight entrants whose second round is published and open."""
        return self.admin.events.import_tournament(document or tournament(), name=name).id


def tournament(*, profile: str = "xiangqi", reported: int = 0) -> dict[str, Any]:
    """Eight entrants, round 1 played, round 2 open with `reported` results."""
    pairs = [(1, 5), (2, 6), (3, 7), (4, 8)], [(1, 2), (3, 4), (5, 6), (7, 8)]
    rounds = [
        {
            "number": number,
            "boards": [
                {
                    "board": board,
                    "first": first,
                    "second": second,
                    "result": "first_win" if number == 1 or board <= reported else None,
                }
                for board, (first, second) in enumerate(boards, start=1)
            ],
        }
        for number, boards in enumerate(pairs, start=1)
    ]
    return {
        "format": "qisai.tournament/1",
        "regulations": {"profile": profile, "rounds": 4},
        "entrants": [
            {"number": number, "name": name, "club": f"{'甲乙'[number % 2]}队"}
            for number, name in enumerate(NAMES, start=1)
        ],
        "rounds": rounds,
    }


@contextmanager
def running_platform(servers: Servers, folder: Path, *, connections: int = 200, **settings: str) -> Iterator[Platform]:
    """The three processes on a database of their own; `settings` are the gateway's."""
    with ExitStack() as stack:
        database = servers.clone()
        stack.callback(servers.drop, database)
        redis_url = servers.valkey_url()
        keys = new_keys()
        urls = []
        for name in ("registration", "results"):
            environment = {
                f"QISAI_{name.upper()}_DATABASE_URL": database.url(name),
                "QISAI_REDIS_URL": redis_url,
                "QISAI_ASSERTION_PUBLIC_KEY": keys[1],
            }
            options = ("--worker-class", "gthread", "--workers", "1", "--threads", "8")
            urls.append(
                stack.enter_context(
                    gunicorn(
                        f"services.{name}.app:create_app()",
                        log=folder / f"{name}.log",
                        environment=environment,
                        options=options,
                    )
                )
            )
        gateway = stack.enter_context(
            running_gateway(
                database,
                redis_url,
                folder,
                services=(urls[0], urls[1]),
                keys=keys,
                connections=connections,
                **{"QISAI_MAX_BODY_BYTES": "1000000", **settings},
            )
        )
        login = "chief"
        admin_id = gateway.account(Role.ASSOCIATION_ADMIN, login=login, password=PASSWORD, name="裁判长")
        yield Platform(gateway, gateway.client(gateway.token(admin_id)), login)
