"""Reading the standings of 500 entrants: computed, kept in the database, kept in the process, and unchanged (304).

The four take turns in one process of the results service over a real PostgreSQL, so that noise of the machine falls on
all alike. A read is a whole call: identity, rights, answer.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import sqlalchemy as sa

from bench.fields import swiss_field
from bench.report import machine, table
from qisai.db.accounts import Role
from qisai.kernel.tournament_file import tournament_to_json
from services.results.app import create_app
from tests import calls, fields
from tests.servers import Database, servers_in_temporary_folder

ENTRANTS = 500
ROUNDS = 9
TURNS = 25
TARGET = 10


def run() -> str:
    """The table of this part."""
    with servers_in_temporary_folder() as servers:
        database = servers.clone()
        environment = calls.service_environment("results", database, redis_url="redis://127.0.0.1:1/0")
        environment["QISAI_MAX_BODY_BYTES"] = str(16 << 20)
        environment["QISAI_LOG_LEVEL"] = "warning"
        with calls.service_app(create_app, environment) as app:
            return _report(app, database)


def _report(app: Any, database: Database) -> str:
    with fields.owner_of(database.owner_url) as session:
        admin = calls.caller(app, account_id=fields.account(session, role=Role.ASSOCIATION_ADMIN))
    document = tournament_to_json(swiss_field(ENTRANTS, rounds_played=ROUNDS - 1))
    made = admin.post("/api/v1/events/imports/json?profile=xiangqi", document)
    if made.status_code != 201:
        raise AssertionError(made.get_data(as_text=True))
    event = f"/api/v1/events/{made.json['id']}"
    rows = []
    for what in ("standings", "crosstable"):
        times = _take_turns(app, database, f"{event}/{what}")
        computed = times["computed"]
        for name, seconds in times.items():
            rows.append((f"{what}, {name}", f"{seconds * 1000:.1f} ms", f"{computed / seconds:.0f} ×"))
            print("standings", *rows[-1], flush=True)
    return "\n\n".join(
        [
            f"## Standings of {ENTRANTS} entrants after {ROUNDS - 1} rounds",
            f"{__doc__.split(chr(10) * 2, 1)[1].strip()} The least of {TURNS}. {machine()}.",
            table(("read", "time", "faster than computed"), rows),
            f"Target: at least {TARGET} × from what is kept. Writing a result computes and keeps nothing.",
        ]
    )


def _take_turns(app: Any, database: Database, path: str) -> dict[str, float]:
    """Least seconds of each way to read."""
    public = calls.caller(app)
    kept = app.extensions["qisai.results"].standings
    tag = public.get(path).headers["ETag"]
    engine = sa.create_engine(database.owner_url)

    def forget_all() -> None:
        with engine.begin() as connection:
            connection.execute(sa.text("DELETE FROM standings_cache"))
        kept.clear()

    ways: dict[str, tuple[Callable[[], None], dict[str, str]]] = {
        "computed": (forget_all, {}),
        "kept in the database": (kept.clear, {}),
        "kept in the process": (lambda: None, {}),
        "unchanged (304)": (lambda: None, {"If-None-Match": tag}),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(TURNS):
        for name, (prepare, headers) in ways.items():
            prepare()
            began = perf_counter()
            answer = public.get(path, headers=headers)
            times[name].append(perf_counter() - began)
            if answer.status_code != (304 if headers else 200):
                raise AssertionError(answer.status_code)
    engine.dispose()
    return {name: min(values) for name, values in times.items()}
