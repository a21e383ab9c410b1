"""Events: created from a game's profile, changed, opened and closed, hidden and shown."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from qisai.db.accounts import Role
from qisai.kernel.profiles import PROFILES
from qisai.web.shapes import moment
from tests.registration.conftest import Fair, Service, make_fair, ok, problem


def create(service: Service, **body: Any) -> Any:
    organiser = service.person(Role.ORGANISER)
    return organiser.post("/api/v1/events", {"name": "甲市赛", "profile": "xiangqi", **body})


def test_all_games_are_listed_for_everybody(service: Service) -> None:
    items = ok(service.public().get("/api/v1/profiles"))["items"]
    assert [item["code"] for item in items] == list(PROFILES)
    assert items[0]["names"]["zh-Hans"] == "中国象棋"
    assert items[0]["version"] == 1


@pytest.mark.parametrize("profile", PROFILES)
def test_every_game_makes_an_event_with_complete_regulations_of_its_own(service: Service, profile: str) -> None:
    event = ok(create(service, profile=profile), 201)
    assert event["state"] == "draft"
    assert event["profile_copy"]["code"] == profile
    assert event["regulations"]["profile"] == profile
    assert event["regulations"] == event["profile_copy"]["regulations"]
    assert event["your_roles"] == ["organiser"]
    assert (event["feed_no"], event["version"], event["counts"]["seated"]) == (1, 1, 0)


def test_what_is_not_said_comes_from_the_game(service: Service) -> None:
    event = ok(create(service, regulations={"rounds": 7, "points": {"win": 3, "draw": 1}}), 201)
    assert event["regulations"]["rounds"] == 7
    assert event["regulations"]["points"] == {"win": 3, "draw": 1, "loss": 0, "bye": 3}
    assert event["regulations"]["tie_breaks"] == ["opponents", "progressive", "direct"]


def test_a_profile_that_is_edited_later_leaves_the_event_alone(service: Service) -> None:
    event = ok(create(service, profile="gomoku"), 201)
    edit = sa.text("UPDATE profile SET data = jsonb_set(data, '{regulations,rounds}', '5') WHERE code = 'gomoku'")
    undo = sa.text("UPDATE profile SET data = shipped WHERE code = 'gomoku'")
    with service.owner() as session:
        session.execute(edit)
    admin = service.person(Role.ASSOCIATION_ADMIN)
    assert ok(admin.get(f"/api/v1/events/{event['id']}"))["regulations"]["rounds"] is None
    assert ok(create(service, profile="gomoku"), 201)["regulations"]["rounds"] == 5
    with service.owner() as session:
        session.execute(undo)


@pytest.mark.parametrize(
    ("regulations", "pointer"),
    [
        ({"rounds": 0}, "/regulations/rounds"),
        ({"points": {"win": 0.3}}, "/regulations/points/win"),
        ({"tie_breaks": ["opponents", "luck"]}, "/regulations/tie_breaks/1"),
        ({"colour": "red"}, "/regulations/colour"),
        ({"\ud800": "red"}, "/regulations/?"),
        ({"profile": "chess"}, "/regulations/profile"),
        ({"first_move": False}, "/regulations/first_move"),
        ({"seat_balance": True}, "/regulations/seat_balance"),
        ({"seat_balance": False}, "/regulations/seat_balance"),
        ({"direction": "U"}, "/regulations/direction"),
        ({"direction": "Z"}, "/regulations/direction"),
        ({"system": "draw_number", "within_group": "fold"}, "/regulations/within_group"),
        ({"system": "draw_number", "side_priority": "under_score"}, "/regulations/side_priority"),
        ({"system": "round_robin", "direction": "U"}, "/regulations/direction"),
    ],
)
def test_regulations_that_cannot_be_are_refused_at_their_place(
    service: Service, regulations: dict[str, Any], pointer: str
) -> None:
    response = create(service, regulations=regulations)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json["errors"]] == [pointer]


@pytest.mark.parametrize(
    "regulations",
    [
        {"first_move": True},
        {"balance_sides": False},
        {"balance_sides": True},
        {"side_priority": "under_score"},
        {"within_group": "fold"},
        {"tie_breaks": ["second_wins"]},
    ],
    ids=lambda value: next(iter(value)),
)
def test_a_card_event_has_no_sides(service: Service, regulations: dict[str, Any]) -> None:
    body = problem(create(service, profile="shengji", regulations=regulations), 422, "not-used")
    assert body["errors"][0]["pointer"].startswith(f"/regulations/{next(iter(regulations))}")


def test_what_is_not_used_is_refused_with_where_it_is_used_and_how_to_go_on(service: Service) -> None:
    for profile, said, how in (
        ("shengji", {"balance_sides": True}, "is not used: in this game nobody moves first; leave it out"),
        ("xiangqi", {"seat_balance": True}, "is not used: it is for games in which nobody moves first; leave it out"),
        ("xiangqi", {"direction": "U"}, "is not used: it is for the system draw_number; leave it out, or choose that"),
        ("poker_team", {"within_group": "fold"}, "is not used: it is for the system score_group; leave it out, or"),
    ):
        body = problem(create(service, profile=profile, regulations=said), 422, "not-used")
        assert body["errors"][0]["detail"].startswith(how)


UNUSED = {
    "xiangqi": {"seat_balance", "direction"},
    "shengji": {"balance_sides", "side_priority", "within_group"},
}


def without_unused(regulations: dict[str, Any], *, profile: str) -> bool:
    return not UNUSED[profile] & set(regulations) and len(regulations) == 18 - len(UNUSED[profile])


@pytest.mark.parametrize("profile", UNUSED)
def test_what_a_game_does_not_use_is_filled_nowhere(service: Service, profile: str) -> None:
    event = ok(create(service, profile=profile), 201)
    assert without_unused(event["regulations"], profile=profile)
    assert without_unused(event["profile_copy"]["regulations"], profile=profile)
    (row,) = service.rows("SELECT regulations, profile_copy FROM event WHERE id = :id", id=event["id"])
    assert without_unused(row.regulations, profile=profile)
    assert without_unused(row.profile_copy["regulations"], profile=profile)
    game = ok(service.public().get(f"/api/v1/profiles/{profile}"))
    assert without_unused(game["regulations"], profile=profile)
    assert (game["team_size"] is None) == (profile == "xiangqi")


def test_another_system_uses_other_fields(service: Service) -> None:
    fair = make_fair(service, state="draft", regulations={"within_group": "slide"})
    change = {"regulations": {"system": "draw_number"}}
    by_number = ok(fair.organiser.patch(fair.path, change, version=1))["regulations"]
    assert ("within_group" in by_number, "side_priority" in by_number, by_number["direction"]) == (False, False, "Z")
    change = {"regulations": {"system": "score_group", "direction": None}}
    by_score = ok(fair.organiser.patch(fair.path, change, version=2))["regulations"]
    assert ("direction" in by_score, by_score["within_group"], by_score["side_priority"]) == (
        False, "adjacent", "over_score",
    )  # fmt: skip


def test_an_event_of_an_earlier_release_shows_no_unused_fields_and_can_be_changed(service: Service) -> None:
    fair = make_fair(service, state="draft", profile="shengji")
    filled = '{"balance_sides": true, "side_priority": "over_score", "within_group": "adjacent", "seat_balance": false}'
    with service.owner() as session:
        session.execute(
            sa.text(
                "UPDATE event SET regulations = regulations || CAST(:filled AS jsonb), profile_copy = jsonb_set("
                "profile_copy, '{regulations}', profile_copy -> 'regulations' || CAST(:filled AS jsonb)) WHERE id = :id"
            ),
            {"filled": filled, "id": fair.event_id},
        )
    event = fair.event()
    assert without_unused(event["regulations"], profile="shengji")
    assert without_unused(event["profile_copy"]["regulations"], profile="shengji")
    ok(fair.organiser.patch(fair.path, {"venue": "文化宫"}, version=1))
    (row,) = service.rows("SELECT regulations FROM event WHERE id = :id", id=fair.event_id)
    assert "within_group" in row.regulations, "what nobody changed stays as it was: draws carry its hash"
    changed = ok(fair.organiser.patch(fair.path, {"regulations": {"rounds": 5}}, version=2))
    assert changed["regulations"] == event["regulations"] | {"rounds": 5}
    log = service.rows(
        "SELECT old, new FROM audit_log WHERE event_id = :id AND action = 'event.change' ORDER BY id", id=fair.event_id
    )[-1]
    assert log.new["regulations"] == log.old["regulations"] | {"rounds": 5}
    clone = ok(fair.organiser.post(f"{fair.path}/clone", {}), 201)
    assert without_unused(clone["regulations"], profile="shengji")


def test_the_games_own_regulations_may_be_sent_back_as_they_are(service: Service) -> None:
    for profile in ("shengji", "xiangqi"):
        regulations = ok(create(service, profile=profile), 201)["regulations"]
        assert ok(create(service, profile=profile, regulations=regulations), 201)["regulations"] == regulations


def test_more_rounds_than_the_field_can_play_are_refused_and_many_are_warned_of(service: Service) -> None:
    body = problem(create(service, regulations={"rounds": 6}, expected_entrants=6), 422, "too-many-rounds")
    assert body["errors"][0]["pointer"] == "/regulations/rounds"
    problem(create(service, regulations={"rounds": 6}, capacity=6), 422, "too-many-rounds")
    advice = ok(create(service, regulations={"rounds": 4}, expected_entrants=6), 201)["advice"]
    assert advice["warnings"] == ["may_run_dry"]
    assert ok(create(service, expected_entrants=64), 201)["advice"]["proposed"] == 7
    assert ok(create(service, regulations={"rounds": 5}, expected_entrants=64), 201)["advice"]["warnings"] == [
        "no_single_winner"
    ]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"name": ""}, "/name"),
        ({"name": "\u200b \u3000"}, "/name"),
        ({"name": "甲\u0000"}, "/name"),
        ({"name": "甲\ud800"}, "/name"),
        ({"profile": "go"}, "/profile"),
        ({"profile": "a\u0000b"}, "/profile"),
        ({"profile": "a\ud800b"}, "/profile"),
        ({"time_zone": "Mars/Base"}, "/time_zone"),
        ({"time_zone": "localtime"}, "/time_zone"),
        ({"capacity": 0}, "/capacity"),
        ({"capacity": True}, "/capacity"),
        ({"starts_on": "2026-13-01"}, "/starts_on"),
        ({"starts_on": 5}, "/starts_on"),
        ({"registration_until": "2026-12-01T08:00:00"}, "/registration_until"),
        ({"registration_until": "9999-12-31T23:59:59-12:00"}, "/registration_until"),
        ({"registration_until": "0001-01-01T00:00:00+12:00"}, "/registration_until"),
        ({"is_public": "yes"}, "/is_public"),
        ({"state": "open"}, "/state"),
    ],
)
def test_a_bad_value_is_refused_at_its_place(service: Service, body: dict[str, Any], pointer: str) -> None:
    response = create(service, **body)
    assert response.status_code == 422
    assert [error["pointer"] for error in response.json["errors"]] == [pointer]


def test_basics_are_kept_as_said(service: Service) -> None:
    said = {
        "venue": "文化宫",
        "starts_on": "2026-12-05",
        "time_zone": "Asia/Taipei",
        "is_public": False,
        "needs_approval": False,
        "needs_check_in": False,
        "capacity": 64,
        "expected_entrants": 60,
        "registration_until": "2026-12-01T20:00:00+08:00",
    }
    event = ok(create(service, **said), 201)
    assert {name: event[name] for name in said} == {**said, "registration_until": "2026-12-01T12:00:00Z"}


def test_a_change_says_which_version_it_saw_and_changes_nothing_else(fair: Fair) -> None:
    before = fair.event()
    changed = ok(fair.organiser.patch(fair.path, {"venue": "文化宫"}, version=before["version"]))
    assert changed["venue"] == "文化宫"
    assert changed["version"] == before["version"] + 1
    same = [name for name in before if name not in ("venue", "version", "feed_no")]
    assert {name: changed[name] for name in same} == {name: before[name] for name in same}
    body = problem(fair.organiser.patch(fair.path, {"venue": "体育馆"}, version=before["version"]), 412, "stale")
    assert (body["current"]["venue"], body["current"]["version"]) == ("文化宫", changed["version"])
    (last,) = fair.service.rows(
        "SELECT at FROM audit_log WHERE event_id = :id AND action = 'event.change'", id=fair.event_id
    )
    assert (body["current"]["updated_by"], body["current"]["updated_at"]) == ("李组织", moment(last.at))


def test_changed_regulations_are_merged_and_make_drafts_stale(fair: Fair) -> None:
    before = fair.numbers()[1]
    changed = ok(fair.organiser.patch(fair.path, {"regulations": {"rounds": 5}}, version=2))
    assert changed["regulations"]["rounds"] == 5
    changed = ok(fair.organiser.patch(fair.path, {"regulations": {"late_entry": "half"}}, version=3))
    assert (changed["regulations"]["rounds"], changed["regulations"]["late_entry"]) == (5, "half")
    assert fair.numbers()[1] == before + 2


def test_after_round_1_regulations_are_frozen_and_the_venue_is_not(fair: Fair) -> None:
    fair.seated(2)
    fair.publish_rounds(1)
    version = fair.event()["version"]
    problem(fair.organiser.patch(fair.path, {"regulations": {"rounds": 3}}, version=version), 409, "frozen")
    assert fair.event()["regulations"]["rounds"] is None
    ok(fair.organiser.patch(fair.path, {"venue": "文化宫", "regulations": {}}, version=version))


def test_states_go_forward_and_back_and_each_step_is_logged(service: Service) -> None:
    fair = make_fair(service, state="draft")
    for action, state in (
        ("open", "open"),
        ("close-registration", "closed"),
        ("open", "open"),
        ("draft", "draft"),
        ("archive", "archived"),
    ):
        assert fair.act(action)["state"] == state
    version = fair.event()["version"]
    assert ok(fair.organiser.post(f"{fair.path}/archive", {"undo": True}, version=version))["state"] == "draft"
    log = service.rows(
        "SELECT old, new FROM audit_log WHERE event_id = :id AND action <> 'event.create' ORDER BY id",
        id=fair.event_id,
    )
    assert [(row.old["state"], row.new["state"]) for row in log] == [
        ("draft", "open"),
        ("open", "closed"),
        ("closed", "open"),
        ("open", "draft"),
        ("draft", "archived"),
        ("archived", "draft"),
    ]


@pytest.mark.parametrize("steps", [("open", "close-registration"), ("open", "close-registration", "draft"), ()])
def test_an_event_leaves_the_archive_to_where_it_came_from(service: Service, steps: tuple[str, ...]) -> None:
    fair = make_fair(service, state="draft")
    for action in steps:
        fair.act(action)
    before = fair.event()["state"]
    fair.act("archive")
    for _time in range(2):
        back = fair.organiser.post(f"{fair.path}/archive", {"undo": True}, version=fair.event()["version"])
        assert ok(back)["state"] == before
        fair.act("archive")


def test_a_finished_event_leaves_the_archive_as_finished(fair: Fair) -> None:
    fair.seated(2)
    fair.publish_rounds(1)
    with fair.service.owner() as session:
        session.execute(sa.text("UPDATE event SET state = 'finished' WHERE id = :id"), {"id": fair.event_id})
    fair.act("archive")
    back = fair.organiser.post(f"{fair.path}/archive", {"undo": True}, version=fair.event()["version"])
    assert ok(back)["state"] == "finished"


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain"])
def test_a_body_that_is_not_sent_as_json_is_refused_not_passed_over(service: Service, kind: str) -> None:
    fair = make_fair(service, state="draft")
    fair.act("archive")
    version = fair.event()["version"]
    answer = fair.organiser.post(f"{fair.path}/archive", data='{"undo": true}', content_type=kind, version=version)
    problem(answer, 415, "unsupported-media-type")
    problem(
        fair.organiser.post(f"{fair.path}/clone", data='{"name": "x"}', content_type=kind),
        415,
        "unsupported-media-type",
    )
    assert fair.event()["version"] == version


def test_a_step_that_is_not_possible_names_both_states(fair: Fair) -> None:
    version = fair.event()["version"]
    body = problem(fair.organiser.post(f"{fair.path}/archive", {}, version=version), 409, "event-state")
    assert (body["context"]["state"], body["context"]["target"]) == ("open", "archived")
    current = problem(fair.organiser.post(f"{fair.path}/close-registration", version=1), 412, "stale")["current"]
    assert (current["state"], current["updated_by"]) == ("open", "李组织")


def test_a_running_event_does_not_go_back_to_registration(fair: Fair) -> None:
    fair.act("close-registration")
    with fair.service.owner() as session:
        statement = "INSERT INTO round (event_id, number, state) VALUES (:event, 1, 'published')"
        session.execute(sa.text(statement), {"event": fair.event_id})
    version = fair.event()["version"]
    problem(fair.organiser.post(f"{fair.path}/open", version=version), 409, "frozen")
    assert fair.event()["state"] == "closed"


def test_a_draft_is_seen_by_those_who_work_at_it_only(service: Service) -> None:
    fair = make_fair(service, state="draft", name="未公开的赛事")
    listed = "/api/v1/events?q=" + "未公开的赛事"

    def seen(caller: Any) -> bool:
        one = caller.get(fair.path).status_code == 200
        assert one == (fair.event_id in [item["id"] for item in ok(caller.get(listed))["items"]])
        return one

    assert seen(fair.organiser)
    assert seen(fair.desk)
    assert seen(service.person(Role.ASSOCIATION_ADMIN))
    assert not seen(service.public())
    assert not seen(service.person(Role.ORGANISER))
    assert not seen(service.person(None))
    fair.act("open")
    assert seen(service.public())
    ok(fair.organiser.patch(fair.path, {"is_public": False}, version=fair.event()["version"]))
    assert not seen(service.public())
    assert seen(fair.desk)


def test_lists_go_on_where_a_page_ends_and_can_be_filtered(service: Service) -> None:
    made = [make_fair(service, name=f"分页赛 {place}").event_id for place in range(5)]
    path, found = "/api/v1/events?q=分页赛&limit=2", []
    cursor = ""
    while True:
        body = ok(service.public().get(path + cursor))
        found += [item["id"] for item in body["items"]]
        if body["next"] is None:
            break
        cursor = f"&cursor={body['next']}"
    assert found == made[::-1]
    assert ok(service.public().get("/api/v1/events?q=分页赛&state=closed"))["items"] == []
    problem(service.public().get("/api/v1/events?cursor=abc"), 422, "bad-cursor")
    problem(service.public().get("/api/v1/events?q=%00"), 422, "invalid-request")


def test_creating_twice_with_one_key_makes_one_event(service: Service) -> None:
    organiser = service.person(Role.ORGANISER)
    body, headers = {"name": "钥匙赛", "profile": "chess"}, {"Idempotency-Key": "create-1"}
    first = organiser.post("/api/v1/events", body, headers=headers)
    again = organiser.post("/api/v1/events", body, headers=headers)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json == again.json
    assert first.headers["Location"] == again.headers["Location"] == f"/api/v1/events/{first.json['id']}"  # type: ignore[index]
    assert first.headers["ETag"] == '"v1"'


def test_a_referee_creates_no_event(service: Service) -> None:
    problem(service.person(Role.REFEREE).post("/api/v1/events", {"name": "x", "profile": "chess"}), 403, "no-right")
    problem(service.public().post("/api/v1/events", {"name": "x", "profile": "chess"}), 401, "sign-in-needed")
