"""`qisai migrate` and `qisai token`: what they do, what they print, and what they say when they cannot."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa

from qisai.cli.main import main
from qisai.cli.migrate import make_first_administrator
from qisai.db.migrate import needed_revision
from qisai.db.secrets import TOKEN_PREFIX, hash_secret, password_matches
from qisai.settings import SERVICES
from tests.db.conftest import Ground
from tests.servers import Database


@dataclass(frozen=True, slots=True)
class Said:
    """What a command printed, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


Qisai = Callable[..., Said]


@pytest.fixture
def qisai(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Qisai:
    """Runs the command line with no QISAI variable but those given."""

    def run(*words: str, **environment: str) -> Said:
        with monkeypatch.context() as patch:
            for name in [name for name in os.environ if name.startswith("QISAI_")]:
                patch.delenv(name)
            for name, value in environment.items():
                patch.setenv(name, value)
            code = main(words)
        return Said(code, *capsys.readouterr())

    return run


def variables(ground: Ground) -> dict[str, str]:
    logins = {f"QISAI_{service.upper()}_DATABASE_URL": ground.service_urls[service] for service in SERVICES}
    return {"QISAI_DATABASE_URL": ground.owner_url, **logins}


def rows(url: str, query: str) -> list[sa.Row[tuple[object, ...]]]:
    with sa.create_engine(url, poolclass=sa.NullPool).connect() as connection:
        return list(connection.execute(sa.text(query)))


@pytest.fixture
def administered(database: Database) -> Database:
    """A migrated database with one account, `admin`."""
    with sa.create_engine(database.owner_url, poolclass=sa.NullPool).begin() as connection:
        connection.execute(sa.text("INSERT INTO account (login, name) VALUES ('admin', 'A')"))
    return database


def test_migrate_prints_the_first_password_once_and_it_is_the_right_one(ground: Ground, qisai: Qisai) -> None:
    first = qisai("migrate", **variables(ground))
    assert (first.returncode, first.stderr) == (0, "")
    (line,) = [line for line in first.stdout.splitlines() if "password" in line]
    password = line.split("password ")[1].split()[0]
    (account,) = rows(ground.owner_url, "SELECT * FROM account")
    assert account.login == "admin"
    assert account.password_hash.startswith("$argon2id$")
    assert password_matches(account.password_hash, password)
    assert not password_matches(account.password_hash, password[:-1])
    (grant,) = rows(ground.owner_url, "SELECT * FROM access_grant")
    assert (grant.account_id, grant.role, grant.event_id) == (account.id, "association_admin", None)
    (entry,) = rows(ground.owner_url, "SELECT * FROM audit_log")
    assert (entry.action, entry.actor_name) == ("account.create", "qisai migrate")
    second = qisai("migrate", **variables(ground))
    assert second.stdout == f"the database is at {needed_revision()}: nothing to do\n"
    assert len(rows(ground.owner_url, "SELECT * FROM account")) == 1


def test_migrate_as_json_tells_everything_it_did(ground: Ground, qisai: Qisai) -> None:
    said = json.loads(qisai("migrate", "--json", **variables(ground)).stdout)
    assert (said["before"], said["after"]) == (None, needed_revision())
    assert len(said["roles_made"]) == len(SERVICES)
    assert "xiangqi" in said["profiles"]["added"]
    assert said["administrator"]["login"] == "admin"
    said = json.loads(qisai("migrate", "--json", **variables(ground)).stdout)
    assert said["administrator"] is None


def test_migrate_names_a_setting_that_is_missing(ground: Ground, qisai: Qisai) -> None:
    given = variables(ground)
    del given["QISAI_RESULTS_DATABASE_URL"]
    said = qisai("migrate", **given)
    assert said.returncode == 2
    assert said.stderr.startswith("qisai: QISAI_RESULTS_DATABASE_URL is not set")
    assert "Traceback" not in said.stderr


def test_no_first_administrator_where_any_account_exists(database: Database) -> None:
    with sa.create_engine(database.owner_url).begin() as connection:
        connection.execute(sa.text("INSERT INTO account (login, name, is_active) VALUES ('w', 'W', false)"))
    assert make_first_administrator(database.owner_url) is None
    assert len(rows(database.owner_url, "SELECT * FROM account")) == 1


def test_account_made_at_the_same_moment_is_waited_for(database: Database) -> None:
    made: list[str | None] = []
    thread = threading.Thread(target=lambda: made.append(make_first_administrator(database.owner_url)))
    with sa.create_engine(database.owner_url, poolclass=sa.NullPool).begin() as connection:
        connection.execute(sa.text("INSERT INTO account (login, name) VALUES ('w', 'W')"))
        thread.start()
        thread.join(timeout=0.5)
        assert thread.is_alive()
    thread.join()
    assert made == [None]


def test_token_is_printed_alone_and_stored_as_its_hash_only(administered: Database, qisai: Qisai) -> None:
    said = qisai("token", "--login", "ADMIN", "--name", "scoreboard", QISAI_DATABASE_URL=administered.owner_url)
    assert said.returncode == 0, said.stderr
    token = said.stdout.strip()
    assert token.startswith(TOKEN_PREFIX)
    assert len(token) >= len(TOKEN_PREFIX) + 43
    (row,) = rows(administered.owner_url, "SELECT * FROM api_token")
    assert (row.secret_hash, row.scopes, row.expires_at) == (hash_secret(token), ["read", "write"], None)
    assert token not in str(rows(administered.owner_url, "SELECT * FROM audit_log"))
    assert rows(administered.owner_url, "SELECT 1 FROM audit_log WHERE action = 'token.create'")


def test_token_can_expire_and_be_for_reading_only(administered: Database, qisai: Qisai) -> None:
    words = ("token", "--login", "admin", "--name", "x", "--days", "3", "--scope", "read", "--json")
    said = json.loads(qisai(*words, QISAI_DATABASE_URL=administered.owner_url).stdout)
    assert said["scopes"] == ["read"]
    (row,) = rows(administered.owner_url, "SELECT *, expires_at - created_at AS lasts FROM api_token")
    assert (row.id, row.lasts.days, row.scopes) == (said["id"], 3, ["read"])
    assert said["expires_at"] == row.expires_at.isoformat()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--login", "nobody", "--name", "x"), "there is no account 'nobody' (there are: admin)"),
        (("--login", "admin", "--name", " "), "--name must have"),
        (("--login", "admin", "--name", "x", "--days", "0"), "--days is 0"),
    ],
)
def test_bad_token_request_is_one_clear_line(
    administered: Database, words: tuple[str, ...], expected: str, qisai: Qisai
) -> None:
    said = qisai("token", *words, QISAI_DATABASE_URL=administered.owner_url)
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr.startswith(f"qisai: {expected}")
    assert said.stderr.count("\n") == 1
    assert rows(administered.owner_url, "SELECT * FROM api_token") == []


def test_token_for_an_account_that_is_switched_off_is_refused(administered: Database, qisai: Qisai) -> None:
    with sa.create_engine(administered.owner_url).begin() as connection:
        connection.execute(sa.text("UPDATE account SET is_active = false"))
    said = qisai("token", "--login", "admin", "--name", "x", QISAI_DATABASE_URL=administered.owner_url)
    assert (said.returncode, said.stdout) == (2, "")
    assert "switched off" in said.stderr


def test_token_in_a_database_without_tables_says_to_migrate(ground: Ground, qisai: Qisai) -> None:
    said = qisai("token", "--login", "admin", "--name", "x", QISAI_DATABASE_URL=ground.owner_url)
    assert said.returncode == 2
    assert "qisai migrate" in said.stderr
    assert said.stderr.count("\n") == 1


def test_token_without_a_database_says_what_to_name(tmp_path: Path, qisai: Qisai) -> None:
    said = qisai("token", "--login", "admin", "--name", "x", "--var", str(tmp_path))
    assert said.returncode == 2
    assert said.stderr.startswith(f"qisai: nothing runs in {tmp_path}: set QISAI_DATABASE_URL")


def test_token_finds_the_database_of_a_local_run(administered: Database, tmp_path: Path, qisai: Qisai) -> None:
    from qisai.local import postgres, run_state

    server = administered.server
    myself = run_state.identify("up", os.getpid())
    assert myself is not None
    state = run_state.RunState(address="", supervisor=myself, ports={"postgres": server.port}, processes=())
    run_state.write(tmp_path, state)
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "postgres-owner").write_text(server.owner_password + "\n", encoding="ascii")
    said = qisai("token", "--login", "nobody", "--name", "x", QISAI_VAR=str(tmp_path))
    # The database that such a run always has is there, and empty here: reaching it is what is shown.
    assert postgres.DATABASE == "qisai"
    assert "run `qisai migrate` first" in said.stderr
