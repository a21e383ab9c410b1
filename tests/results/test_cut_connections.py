"""The service after the database has cut its connections: nobody notices, nothing is lost."""

from __future__ import annotations

import sqlalchemy as sa

from tests import fields
from tests.results.conftest import Play


def test_a_connection_cut_since_its_last_use_costs_nobody_a_request(play: Play) -> None:
    """Pins the second reading of rights in `qisai.web.app`; the pool asks only connections that rested."""
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3), (2, 4)])
    assert play.chief.get(f"{play.event}/rounds").status_code == 200
    behind = sa.create_engine(play.service.database.superuser_url(), isolation_level="AUTOCOMMIT")
    with behind.connect() as connection:
        cut = connection.execute(
            sa.text(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE datname = current_database() AND usename = 'qisai_results'"
            )
        ).scalar_one()
    behind.dispose()
    assert cut > 0, "there was a connection to cut"
    answer = play.chief.put(play.result_of(1, 1), {"result": "first_win"}, version=1)
    assert answer.status_code == 200, answer.text
