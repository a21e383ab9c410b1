"""Games are changed for the whole association; what an event took from them stays as it was."""

from __future__ import annotations

from typing import Any

import pytest

from qisai.db.accounts import Role
from tests import calls
from tests.registration.conftest import Service, ok, problem

PATH = "/api/v1/profiles/weiqi"


@pytest.fixture
def admin(service: Service) -> calls.Caller:
    return service.person(Role.ASSOCIATION_ADMIN, name="孙协会")


def test_a_changed_game_is_what_new_events_start_from(service: Service, admin: calls.Caller) -> None:
    before = ok(service.public().get(PATH))
    organiser = service.person(Role.ORGANISER)
    old = ok(organiser.post("/api/v1/events", {"name": "旧赛", "profile": "weiqi"}), 201)
    change = {"regulations": {"tie_breaks": ["opponents", "sosos"], "rounds": 5}, "reason": "新规程"}
    answer = admin.patch(PATH, change, version=before["version"])
    changed = ok(answer)
    assert answer.headers["ETag"] == f'"v{before["version"] + 1}"'
    assert changed["regulations"]["tie_breaks"] == ["opponents", "sosos"]
    assert changed["names"] == before["names"]
    new = ok(organiser.post("/api/v1/events", {"name": "新赛", "profile": "weiqi"}), 201)
    assert new["regulations"]["rounds"] == 5
    assert ok(organiser.get(f"/api/v1/events/{old['id']}"))["regulations"]["rounds"] is None
    back = admin.patch(PATH, {"regulations": {"rounds": None}}, version=changed["version"])
    assert ok(back)["regulations"]["rounds"] is None
    history = ok(admin.get(f"{PATH}/history"))["items"]
    assert (history[1]["actor"], history[1]["reason"]) == ("孙协会", "新规程")
    assert history[1]["old"] == {"regulations": before["regulations"]}
    assert history[0]["new"]["regulations"]["rounds"] is None


def test_a_stale_change_gets_the_present_game_and_who_changed_it(admin: calls.Caller) -> None:
    seen = ok(admin.get("/api/v1/profiles/gomoku"))["version"]
    names = {"zh-Hans": "连珠", "zh-Hant": "連珠", "en": "Renju"}
    ok(admin.patch("/api/v1/profiles/gomoku", {"names": names}, version=seen))
    body = problem(admin.patch("/api/v1/profiles/gomoku", {"names": names}, version=seen), 412, "stale")
    assert body["current"]["names"] == names
    assert (body["current"]["version"], body["current"]["updated_by"]) == (seen + 1, "孙协会")
    problem(admin.patch("/api/v1/profiles/gomoku", {"names": names}), 428, "version-needed")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"regulations": {"seat_balance": True}}, "/regulations/seat_balance"),
        ({"regulations": {"rounds": 0}}, "/regulations/rounds"),
        ({"regulations": {"profile": "weiqi"}}, "/regulations/profile"),
        ({"names": {"en": "Go"}}, "/names/zh-Hans"),
        ({"unit": "team"}, "/unit"),
        ({"team_size": -1}, "/team_size"),
        ({"team_size": 3}, "/team_size"),
        ({"team_size": 1}, "/team_size"),
        ({"regulations": {"direction": "U"}}, "/regulations/direction"),
    ],
)
def test_a_game_that_cannot_be_is_refused_at_its_place(
    admin: calls.Caller, change: dict[str, Any], pointer: str
) -> None:
    before = ok(admin.get("/api/v1/profiles/chess"))
    answer = admin.patch("/api/v1/profiles/chess", change, version=before["version"])
    assert answer.status_code == 422
    assert pointer in [error["pointer"] for error in answer.json["errors"]]  # type: ignore[index]
    assert ok(admin.get("/api/v1/profiles/chess")) == before


def test_an_unknown_game_is_not_found(admin: calls.Caller) -> None:
    for answer in (
        admin.get("/api/v1/profiles/ludo"),
        admin.get("/api/v1/profiles/ludo/history"),
        admin.patch("/api/v1/profiles/ludo", {}, version=1),
    ):
        problem(answer, 404, "profile-not-found")


def test_the_presets_that_a_form_offers_are_listed_with_the_games(service: Service) -> None:
    presets = ok(service.public().get("/api/v1/profiles"))["presets"]
    assert presets["points"]["3-1-0"] == {"win": 3, "draw": 1, "loss": 0, "bye": 3}
    assert presets["tie_breaks"]["prc_progressive"] == ["progressive", "wins", "second_wins"]
