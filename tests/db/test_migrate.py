"""`migrate`: what it makes, what it leaves alone, what it says when it cannot, several at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine

from qisai.db import migrate as module
from qisai.db.migrate import MigrationReport, downgrade, migrate, needed_revision, schema_is_current
from qisai.errors import Conflict, Invalid, QisaiError, Unavailable
from qisai.kernel.profiles import PROFILES
from qisai.settings import SERVICES
from tests.db.conftest import Ground


@contextmanager
def opened(url: str) -> Iterator[sa.Connection]:
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.begin() as connection:
        yield connection


def refusal(call: Callable[[], object]) -> QisaiError:
    with pytest.raises(QisaiError) as refused:
        call()
    return refused.value


def tables(ground: Ground) -> int:
    return len(ground.as_superuser("SELECT 1 FROM pg_tables WHERE schemaname = 'public'"))


def test_first_migration_makes_roles_schema_grants_and_profiles(ground: Ground) -> None:
    report = ground.migrate()
    assert (report.before, report.after) == (None, needed_revision())
    assert report.roles_made == tuple(ground.role(service) for service in SERVICES)
    assert report.profiles.added == tuple(PROFILES)
    assert report.grants.granted
    for service in SERVICES:
        engine = sa.create_engine(ground.service_urls[service], poolclass=sa.NullPool)
        assert schema_is_current(engine)


def test_second_migration_changes_nothing(ground: Ground) -> None:
    ground.migrate()
    report = ground.migrate()
    assert report.before == report.after == needed_revision()
    assert (report.roles_made, report.grants.granted, report.grants.revoked) == ((), (), ())
    assert (report.profiles.added, report.profiles.updated, report.profiles.kept) == ((), (), ())


def test_drifted_grants_are_put_right_and_reported(ground: Ground) -> None:
    ground.migrate()
    results, gateway = ground.role("results"), ground.role("gateway")
    for statement in (
        f"GRANT UPDATE, TRUNCATE ON result_log TO {results}",
        f"GRANT UPDATE ON event TO {results}",
        f"GRANT SELECT (name) ON entrant TO {gateway}",
        "GRANT SELECT ON account TO PUBLIC",
        "GRANT CREATE ON SCHEMA public TO PUBLIC",
        f"REVOKE INSERT ON board FROM {results}",
        f"GRANT SELECT ON board TO {results} WITH GRANT OPTION",
    ):
        ground.as_superuser(statement)
    report = ground.migrate()
    assert set(report.grants.revoked) == {
        f"UPDATE on table result_log for {results}",
        f"TRUNCATE on table result_log for {results}",
        f"UPDATE on table event for {results}",
        f"SELECT (name) on table entrant for {gateway}",
        "SELECT on table account for PUBLIC",
        "CREATE on schema public for PUBLIC",
        f"SELECT on table board for {results}",
    }
    assert {f"INSERT on table board for {results}", f"UPDATE (state) on table event for {results}"} <= set(
        report.grants.granted
    )
    assert ground.migrate().grants.granted == ()


def test_rights_of_roles_that_are_no_service_are_left_alone(ground: Ground) -> None:
    ground.migrate()
    ground.as_superuser("GRANT SELECT ON event TO pg_monitor")
    assert ground.migrate().grants.revoked == ()


def test_two_migrations_at_once_make_one_schema(ground: Ground) -> None:
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(ground.migrate) for _ in range(2)]
        reports = [future.result() for future in both]
    assert sorted(str(report.before) for report in reports) == [needed_revision(), "None"]
    assert sum(len(report.roles_made) for report in reports) == len(SERVICES)


def test_migration_waits_for_another_one_and_then_goes_on(ground: Ground) -> None:
    holder = sa.create_engine(ground.owner_url, poolclass=sa.NullPool).connect()
    holder.execute(sa.text("SELECT pg_advisory_lock(:key)"), {"key": module._LOCK})
    timer = threading.Timer(0.4, holder.close)
    timer.start()
    started = time.monotonic()
    assert ground.migrate().before is None
    assert time.monotonic() - started >= 0.35
    timer.join()


def test_migration_does_not_wait_for_ever(ground: Ground) -> None:
    with opened(ground.owner_url) as holder:
        holder.execute(sa.text("SELECT pg_advisory_lock(:key)"), {"key": module._LOCK})
        error = refusal(lambda: ground.migrate(wait_seconds=0.2))
    assert isinstance(error, Unavailable)
    assert error.slug == "migration-running"
    assert tables(ground) == 0


def test_role_made_meanwhile_for_another_database_is_used(ground: Ground) -> None:
    with ground.database.server.connect() as superuser, superuser.transaction():
        superuser.execute(f"CREATE ROLE {ground.role('results')} LOGIN PASSWORD 'results/pass%word'")
        reports: list[object] = []
        thread = threading.Thread(target=lambda: reports.append(ground.migrate()))
        thread.start()
        time.sleep(0.4)
        assert thread.is_alive(), "the other transaction holds the role's name"
    thread.join()
    assert len(reports) == 1


def test_existing_role_with_the_right_password_is_kept(ground: Ground) -> None:
    ground.as_superuser(f"CREATE ROLE {ground.role('pairing')} LOGIN PASSWORD 'pairing/pass%word'")
    assert ground.role("pairing") not in ground.migrate().roles_made


def test_existing_role_with_another_password_is_a_clear_error_and_unchanged(ground: Ground) -> None:
    role = ground.role("pairing")
    ground.as_superuser(f"CREATE ROLE {role} LOGIN PASSWORD 'another'")
    before = ground.as_superuser(f"SELECT rolpassword FROM pg_authid WHERE rolname = '{role}'")
    error = refusal(ground.migrate)
    assert isinstance(error, Invalid)
    assert error.slug == "role-password"
    assert role in error.detail
    assert "QISAI_PAIRING_DATABASE_URL" in error.detail
    assert "pass%word" not in error.detail
    assert ground.as_superuser(f"SELECT rolpassword FROM pg_authid WHERE rolname = '{role}'") == before
    assert tables(ground) == 0


def test_existing_role_without_login_is_a_clear_error(ground: Ground) -> None:
    ground.as_superuser(f"CREATE ROLE {ground.role('pairing')} NOLOGIN PASSWORD 'pairing/pass%word'")
    error = refusal(ground.migrate)
    assert error.slug == "login-failed"
    assert "QISAI_PAIRING_DATABASE_URL" in error.detail


def test_service_gets_a_new_role_in_a_database_that_is_closed_to_the_public(ground: Ground) -> None:
    ground.migrate()
    former = ground.role("results")
    fresh = former.replace("results", "fresh")
    urls = {**ground.service_urls, "results": ground.service_urls["results"].replace(former, fresh)}
    report = migrate(ground.owner_url, service_urls=urls)
    assert report.roles_made == (fresh,)
    assert f"INSERT on table board for {fresh}" in report.grants.granted


@pytest.mark.parametrize("power", ["SUPERUSER", "CREATEROLE", "BYPASSRLS", "IN ROLE qisai"])
def test_role_that_grants_would_not_bind_is_refused(ground: Ground, power: str) -> None:
    ground.as_superuser(f"CREATE ROLE {ground.role('results')} LOGIN {power} PASSWORD 'results/pass%word'")
    assert refusal(ground.migrate).slug == "role-too-strong"
    assert tables(ground) == 0


def test_owner_as_a_service_is_refused(ground: Ground) -> None:
    urls = {**ground.service_urls, "results": ground.owner_url}
    assert refusal(lambda: migrate(ground.owner_url, service_urls=urls)).slug == "role-too-strong"


def test_service_url_of_another_database_is_refused(ground: Ground) -> None:
    urls = {**ground.service_urls, "gateway": ground.service_urls["gateway"].rsplit("/", 1)[0] + "/postgres"}
    error = refusal(lambda: migrate(ground.owner_url, service_urls=urls))
    assert error.slug == "other-database"
    assert "QISAI_GATEWAY_DATABASE_URL" in error.detail


URLS = {service: f"postgresql://{service}:x@127.0.0.1:1/qisai" for service in SERVICES}
NOWHERE = "postgresql://qisai:secret@127.0.0.1:1/qisai"


@pytest.mark.parametrize(
    "url", ["", "mysql://a:b@localhost/x", "postgresql://localhost/x", "postgresql://role@localhost/x", "nonsense"]
)
def test_bad_service_url_names_the_setting_and_never_the_url(url: str) -> None:
    error = refusal(lambda: migrate(NOWHERE, service_urls={**URLS, "gateway": url}))
    assert error.slug == "bad-database-url"
    assert "QISAI_GATEWAY_DATABASE_URL" in error.detail
    assert not url or url not in error.detail


def test_two_services_with_one_role_are_refused() -> None:
    error = refusal(lambda: migrate(NOWHERE, service_urls={**URLS, "results": URLS["pairing"]}))
    assert error.slug == "shared-role"
    assert "QISAI_RESULTS_DATABASE_URL" in error.detail


def test_missing_service_is_named() -> None:
    urls = {name: url for name, url in URLS.items() if name != "pairing"}
    assert "pairing" in refusal(lambda: migrate(NOWHERE, service_urls=urls)).detail


def test_server_that_does_not_answer_is_a_clear_error() -> None:
    error = refusal(lambda: migrate(NOWHERE, service_urls=URLS))
    assert isinstance(error, Unavailable)
    assert error.slug == "database-away"
    assert "\n" not in error.detail
    assert "secret" not in error.detail


def test_login_that_does_not_own_the_database_is_refused(ground: Ground) -> None:
    ground.migrate()
    results = ground.service_urls["results"]
    assert refusal(lambda: migrate(results, service_urls=ground.service_urls)).slug == "not-the-owner"


def test_owner_that_may_not_make_roles_is_told_so(ground: Ground) -> None:
    role = ground.role("gateway").replace("gateway", "owner")
    ground.as_superuser(f"CREATE ROLE {role} LOGIN PASSWORD 'x'")
    ground.as_superuser(f"ALTER DATABASE {ground.database.name} OWNER TO {role}")
    try:
        url = ground.database.server.url(ground.database.name, user=role, password="x")
        assert refusal(lambda: migrate(url, service_urls=ground.service_urls)).slug == "cannot-make-role"
        assert tables(ground) == 0
    finally:
        ground.as_superuser(f"ALTER DATABASE {ground.database.name} OWNER TO qisai")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE public.event (id int)",
        "CREATE TABLE public.alembic_version AS SELECT 'ae1027a6acf'::text AS version_num",
    ],
)
def test_database_of_another_program_is_left_alone(ground: Ground, statement: str) -> None:
    ground.as_superuser(statement)
    ground.as_superuser("GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC")
    error = refusal(ground.migrate)
    assert isinstance(error, Conflict)
    assert error.slug == "foreign-database"
    assert tables(ground) == 1


def test_migration_that_fails_half_way_leaves_nothing(ground: Ground) -> None:
    ground.as_superuser("CREATE TYPE public.seat AS ENUM ('in the way')")  # the last table's row type has this name
    error = refusal(ground.migrate)
    assert error.slug == "database-refused"
    assert tables(ground) == 0
    ground.as_superuser("DROP TYPE public.seat")
    assert ground.migrate().after == needed_revision()


def test_table_in_use_is_not_waited_for_for_long(ground: Ground) -> None:
    ground.migrate()
    with opened(ground.owner_url) as reader:
        reader.execute(sa.text("SELECT count(*) FROM account"))
        error = refusal(lambda: downgrade(ground.owner_url, "base", lock_timeout_ms=100))
    assert error.slug == "schema-busy"
    assert ground.migrate().before == needed_revision()


def test_database_of_a_later_release_is_not_touched_and_is_current(ground: Ground) -> None:
    ground.migrate()
    ground.as_superuser("UPDATE alembic_version SET version_num = '9999'")
    ground.as_superuser(f"GRANT SELECT ON board TO {ground.role('gateway')}")
    report = ground.migrate()
    assert report.is_newer
    assert report.before == report.after == "9999"
    assert report.grants.revoked == ()
    assert schema_is_current(sa.create_engine(ground.service_urls["results"], poolclass=sa.NullPool))


def test_schema_of_an_earlier_release_is_not_current(ground: Ground) -> None:
    ground.migrate()
    ground.as_superuser("UPDATE alembic_version SET version_num = '0000'")
    assert not schema_is_current(sa.create_engine(ground.service_urls["results"], poolclass=sa.NullPool))


def test_schema_is_not_current_for_a_role_without_grants(ground: Ground) -> None:
    ground.migrate()
    ground.as_superuser(f"REVOKE SELECT ON alembic_version FROM {ground.role('results')}")
    assert not schema_is_current(sa.create_engine(ground.service_urls["results"], poolclass=sa.NullPool))


def test_question_whether_the_schema_is_current_needs_an_answering_database() -> None:
    engine = sa.create_engine("postgresql+psycopg://qisai:x@127.0.0.1:1/qisai")
    assert isinstance(refusal(lambda: schema_is_current(engine)), Unavailable)


def test_downgrade_to_an_unknown_revision_is_refused(ground: Ground) -> None:
    ground.migrate()
    for revision in ("0099", "head-1", "*", "", "-1"):
        assert refusal(partial(downgrade, ground.owner_url, revision)).slug == "no-such-revision"


def test_downgrade_of_a_later_release_is_refused(ground: Ground) -> None:
    ground.migrate()
    ground.as_superuser("UPDATE alembic_version SET version_num = '9999'")
    assert refusal(lambda: downgrade(ground.owner_url, "base")).slug == "schema-newer"


def test_profiles_edited_by_somebody_are_kept_and_others_follow_the_release(ground: Ground) -> None:
    ground.migrate()
    older = 'data || \'{"board": {"en": "Older"}}\''
    with opened(ground.owner_url) as connection:
        connection.execute(
            sa.text("UPDATE profile SET data = data || '{\"mine\": 1}', version = 2 WHERE code = 'chess'")
        )
        connection.execute(sa.text(f"UPDATE profile SET data = {older}, shipped = {older} WHERE code = 'weiqi'"))
        connection.execute(sa.text("DELETE FROM profile WHERE code = 'gomoku'"))
    profiles = ground.migrate().profiles
    assert (profiles.added, profiles.updated, profiles.kept) == (("gomoku",), ("weiqi",), ("chess",))
    with opened(ground.owner_url) as connection:
        rows = {row.code: row for row in connection.execute(sa.text("SELECT * FROM profile"))}
    assert rows["chess"].data["mine"] == 1
    assert rows["weiqi"].data["board"]["en"] != "Older"
    assert rows["weiqi"].version == 2


def test_profile_edited_while_a_migration_runs_is_kept(ground: Ground) -> None:
    ground.migrate()
    ground.as_superuser("UPDATE profile SET data = '{}', shipped = '{}' WHERE code = 'chess'")
    reports: list[MigrationReport] = []
    thread = threading.Thread(target=lambda: reports.append(ground.migrate()))
    with opened(ground.owner_url) as administrator:
        administrator.execute(sa.text("UPDATE profile SET data = '{\"mine\": 1}', version = 2 WHERE code = 'chess'"))
        thread.start()
        thread.join(timeout=0.8)
        assert thread.is_alive()
    thread.join()
    assert reports[0].profiles.kept == ("chess",)
    assert ground.as_superuser("SELECT data FROM profile WHERE code = 'chess'") == [({"mine": 1},)]


def test_profile_rows_hold_what_the_kernel_says(engine_for: Callable[[str], Engine]) -> None:
    with engine_for("registration").connect() as connection:
        rows = connection.execute(sa.text("SELECT code, data FROM profile ORDER BY position")).all()
    assert [row.code for row in rows] == list(PROFILES)
    xiangqi = rows[0].data
    assert xiangqi["names"]["zh-Hans"] == "中国象棋"
    assert xiangqi["sides"][0]["en"] == "Red"
    assert xiangqi["regulations"]["points"] == {"win": 1, "draw": 0.5, "loss": 0, "bye": 1}
    assert rows[-1].data["unit"] == "team"
