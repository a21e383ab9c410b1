"""Twenty thousand rows, and numbers of statements that do not grow with the field."""

from __future__ import annotations

import time
from typing import Any

import pytest

from qisai.db.entrants import EntrantState as S
from qisai.formats.sheet_xlsx import xlsx_bytes
from tests.registration.conftest import Fair, Service, make_fair, ok
from tests.registration.test_bulk import with_field
from tests.results import asked

HEAD = ["编号", "姓名", "单位", "等级分", "性别", "出生年", "电话", "邮箱"]


def people(count: int) -> list[list[str]]:
    return [
        [str(n), f"棋手{n}", f"单位{n % 300}", str(1000 + n % 1500), "女" if n % 3 else "男", str(1950 + n % 60),
         f"1380000{n:05d}", f"a{n}@example.org"]
        for n in range(count)
    ]  # fmt: skip


@pytest.mark.slow
def test_twenty_thousand_rows_go_in_and_are_changed_within_seconds_of_work(service: Service) -> None:
    fair = make_fair(service)

    def send(rows: list[list[str]], *, dry_run: bool, outcome: str) -> dict[str, Any]:
        sheet = "\n".join([",".join(HEAD), *(",".join(row) for row in rows)]).encode()
        path = f"{fair.entrants_path}/import?dry_run={str(dry_run).lower()}"
        began, worked = time.monotonic(), time.process_time()
        report: dict[str, Any] = ok(fair.desk.post(path, data=sheet, content_type="text/csv"))
        took, work = time.monotonic() - began, time.process_time() - worked
        print(f"20,000 rows, dry run {dry_run}, {outcome}: {took:.1f} s, {work:.1f} s of work here")
        assert report["counts"][outcome] == 20_000
        assert work < 30  # of this process; a guard against squares, which would be minutes on any machine
        return report

    rows = people(20_000)
    send(rows, dry_run=True, outcome="new")
    report = send(rows, dry_run=False, outcome="new")
    query = "SELECT id, name, external_id FROM entrant WHERE event_id = :id"
    stored = {row.id: (row.name, row.external_id) for row in service.rows(query, id=fair.event_id)}
    assert {row["entrant"]: row["name"] for row in report["rows"]} == {one: name for one, (name, _) in stored.items()}
    changed = [[*row[:3], str(int(row[3]) + 1), *row[4:6], "010-" + row[0].rjust(7, "0"), row[7]] for row in rows]
    send(changed, dry_run=False, outcome="changed")
    send(changed, dry_run=True, outcome="same")


def imported(service: Service, count: int) -> tuple[Fair, int]:
    """An event after an import of so many, and how many statements that took."""
    fair = make_fair(service)
    content = xlsx_bytes("x", HEAD, people(count))
    path = f"{fair.entrants_path}/import?dry_run=false"
    with asked.statements(service.app) as sent:
        ok(fair.desk.post(path, data=content, content_type="application/octet-stream"))
    return fair, len(sent)


def test_reads_and_imports_take_as_many_statements_for_five_as_for_fifty(service: Service) -> None:
    statements: dict[int, list[int]] = {}
    for count in (5, 50):
        fair, imports = imported(service, count)
        statements[count] = [imports]
        for path in (
            fair.path,
            fair.entrants_path,
            f"{fair.entrants_path}/export",
            f"{fair.path}/lots",
            f"{fair.path}/attendance/1",
            f"{fair.path}/forbidden-pairs",
            "/api/v1/profiles",
            "/api/v1/events",
        ):
            with asked.statements(service.app) as sent:
                assert fair.desk.get(path).status_code == 200
            statements[count].append(len(sent))
    assert statements[5] == statements[50]


def test_writes_of_many_take_as_many_statements_for_five_as_for_five_hundred(service: Service) -> None:
    statements: dict[int, list[int]] = {}
    for count in (5, 500):
        fair = with_field(service, count, S.CHECKED_IN)
        statements[count] = []
        seat, attendance = f"{fair.entrants_path}/seat", f"{fair.path}/attendance/1"
        same_club, bulk = f"{fair.path}/forbidden-pairs/same-club", f"{fair.entrants_path}/bulk-transitions"
        undo = 0
        for path, body in (
            (seat, {"all": True}),
            (bulk, {"to": "withdrawn", "from": ["seated"], "dry_run": True}),
            (attendance, {"all": True}),
            (same_club, {}),
            (bulk, {"to": "withdrawn", "from": ["seated"]}),
            ("undo", {}),
        ):
            where = f"{bulk}/{undo}/undo" if path == "undo" else path
            with asked.statements(service.app) as sent:
                answer = ok(fair.desk.post(where, body))
            undo = answer.get("undo") or undo
            statements[count].append(len(sent))
        assert fair.event()["counts"]["seated"] == count
    assert statements[500] == statements[5]


def test_five_hundred_check_in_within_a_second_of_work(service: Service) -> None:
    fair = with_field(service, 500, S.APPROVED)
    began, worked = time.monotonic(), time.process_time()
    answer = ok(fair.desk.post(f"{fair.path}/check-in", {"all": True}))
    took, work = time.monotonic() - began, time.process_time() - worked
    print(f"500 check in: {took:.3f} s, {work:.3f} s of work here")
    assert len(answer["changed"]) == 500
    assert work < 1
