"""Registration as people use it: through the gateway, with the typed client, over real processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from qisai.errors import Conflict, NotFound, Stale
from tests.gateway.platform import Platform, running_platform
from tests.servers import Servers


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("platform")


@pytest.fixture(scope="module")
def platform(servers: Servers, logs: Path) -> Iterator[Platform]:
    with running_platform(servers, logs) as running:
        yield running


def test_from_the_announcement_to_a_seated_field(platform: Platform) -> None:
    admin = platform.admin
    choices = {"profile": "xiangqi", "expected_entrants": 6, "regulations": {"rounds": 4}}
    assert admin.events.preview(**choices)["advice"]["warnings"] == ["may_run_dry"]
    last_year = admin.events.create(name="去年赛", needs_check_in=False, max_byes=1, **choices)
    event = admin.events.clone(last_year.id, name="今年赛", starts_on="2027-05-01")
    assert (event.max_byes, event.regulations["rounds"], event.starts_on) == (1, 4, "2027-05-01")
    event = admin.events.act(event, "open")
    assert event.registration["is_open"]
    sheet = "姓名,单位,电话\n陈一,甲队,13800000000\n林二,甲队,\n王三,乙队,\n=赵四,乙队,\n".encode()
    plan = admin.entrants.import_roster(event.id, sheet, dry_run=True).plan
    assert admin.entrants.import_roster(event.id, sheet, dry_run=False, plan=plan).counts["new"] == 4
    workbook = admin.entrants.export(event.id, form="xlsx")
    assert admin.entrants.import_roster(event.id, workbook, dry_run=True).counts["same"] == 4
    said = admin.entrants.move_all(event.id, "approved", states=["registered"], dry_run=True)
    done = admin.entrants.move_all(event.id, "approved", states=["registered"])
    assert (said.applied, len(said.changed), len(done.changed)) == (False, 4, 4)
    assert done.undo is not None
    assert len(admin.entrants.undo(event.id, done.undo).changed) == 4
    admin.entrants.move_all(event.id, "approved", states=["registered"])
    assert admin.entrants.keep_clubs_apart(event.id, to_round=1) == 2
    assert admin.entrants.let_clubs_meet(event.id) == 2
    admin.entrants.seat(event.id)
    lots = admin.entrants.draw_lots(event.id, version=0, seed=7)
    assert lots.replayed
    assert len(lots.order) == 4
    admin.entrants.set_deadline(event.id, 1, "2099-01-01T00:00:00Z")
    admin.entrants.set_present(event.id, 1, lots.order[0])
    assert admin.entrants.attendance(event.id, 1).present == (lots.order[0],)
    admin.entrants.set_deadline(event.id, 1, None)


def test_somebody_without_an_account_registers_and_cancels(platform: Platform, logs: Path) -> None:
    event = platform.admin.events.create(name="公开赛", profile="xiangqi")
    public = platform.gateway.client()
    with pytest.raises(NotFound):
        public.entrants.register_oneself(event.id, name="陈一")
    platform.admin.events.act(event, "open")
    made = public.entrants.register_oneself(event.id, name="陈一", birth_year=1990, phone="13800000000")
    assert made.token is not None
    mine = public.entrants.own_entry(made.token)
    assert (mine.state, mine.said["birth_year"], mine.can_cancel) == ("registered", 1990, True)
    with pytest.raises(Conflict):
        public.entrants.register_oneself(event.id, name="陈一", birth_year=1990)
    assert public.entrants.cancel_own_entry(made.token).state == "cancelled"
    with pytest.raises(NotFound):
        public.entrants.own_entry("x" * 43)
    odd = requests.get(f"{platform.gateway.url}/api/v1/registrations/%E9%99%88%3F%2F..", timeout=10)
    assert odd.status_code in (401, 404)
    assert [log.name for log in logs.iterdir() if made.token in log.read_text(errors="replace")] == []


def test_games_are_edited_with_the_version_that_was_seen(platform: Platform) -> None:
    events = platform.admin.events
    seen = events.profile("gomoku")
    changed = events.change_profile(seen, regulations={"rounds": 7}, reason="新规程")
    assert changed.regulations["rounds"] == 7
    with pytest.raises(Stale):
        events.change_profile(seen, regulations={"rounds": 8})
    assert events.profile_history("gomoku")[0]["reason"] == "新规程"
