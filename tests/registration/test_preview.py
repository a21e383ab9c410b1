"""What the form says before an event is made, and that it then is so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from qisai.db.accounts import Role
from qisai.db.session import Database
from qisai.db.snapshot import read_tournament
from qisai.kernel.check import violations
from qisai.kernel.model import Board, Bye, ByeKind, NextRound, Result, Round, Tournament
from qisai.kernel.pairing.draw import pair_round
from tests.registration.conftest import Fair, Service, make_fair, ok, problem


def preview(service: Service, **body: Any) -> dict[str, Any]:
    organiser = service.person(Role.ORGANISER)
    found: dict[str, Any] = ok(organiser.post("/api/v1/events/preview", {"profile": "xiangqi", **body}))
    return found


def made(service: Service, **body: Any) -> Fair:
    return make_fair(service, needs_check_in=False, needs_approval=False, **body)


def played(fair: Fair, rounds: int) -> Tournament:
    """The event drawn and played to the end by the kernel, the upper side of every board winning."""
    connected = Database(fair.service.database.url("pairing"), application="test", pool_size=1)
    try:
        with connected.snapshot() as session:
            tournament = read_tournament(session, fair.event_id).tournament
    finally:
        connected.close()
    for number in range(1, rounds + 1):
        tournament = replace(tournament, next=NextRound(round=number))
        draw = pair_round(tournament)
        assert not violations(tournament, draw)
        boards = tuple(
            Board(board=one.board, first=one.first, second=one.second, result=Result.FIRST_WIN) for one in draw.boards
        )
        byes = () if draw.bye is None else (Bye(entrant=draw.bye, kind=ByeKind.PAIRING),)
        tournament = replace(
            tournament, rounds=(*tournament.rounds, Round(number=number, boards=boards, byes=byes)), next=None
        )
    return tournament


@pytest.mark.parametrize(
    ("entrants", "rounds", "proposed", "reason", "round_robin"),
    [(6, 4, 3, "half_the_field", 5), (8, 7, 4, "one_more_than_single_winner", 7)],
    ids=["six entrants, four rounds", "eight entrants, seven rounds"],
)
def test_a_small_field_with_many_rounds_is_warned_of_and_then_led_around_the_dead_ends(
    service: Service, entrants: int, rounds: int, proposed: int, reason: str, round_robin: int
) -> None:
    said = preview(service, expected_entrants=entrants, regulations={"rounds": rounds})["advice"]
    assert (said["proposed"], said["reason"], said["warnings"]) == (proposed, reason, ["may_run_dry"])
    forecast = said["forecast"]
    assert (forecast["outlook"], forecast["look_ahead"]) == ("may_run_dry", True)
    assert forecast["round_robin"] == round_robin
    fair = made(service, expected_entrants=entrants, regulations={"rounds": rounds})
    assert fair.event()["advice"] == said
    fair.seated(entrants)
    fair.draw_lots({"mode": "seeding"})
    assert len(played(fair, rounds).rounds) == rounds


@pytest.mark.parametrize(
    ("entrants", "rounds", "takes", "warnings"),
    [(8, 7, 7, []), (7, 7, 7, []), (8, 4, 7, ["not_everybody_meets"]), (8, 8, 7, ["too_many_rounds"])],
)
def test_a_round_robin_takes_the_rounds_of_its_table_and_is_told_nothing_of_running_dry(
    service: Service, entrants: int, rounds: int, takes: int, warnings: list[str]
) -> None:
    regulations = {"system": "round_robin", "rounds": rounds}
    said = preview(service, expected_entrants=entrants, regulations=regulations)["advice"]
    assert (said["proposed"], said["safe"], said["reason"]) == (takes, takes, "everybody_meets")
    assert (said["warnings"], said["forecast"]) == (warnings, None)


def test_sixty_four_places_for_ninety_who_come(service: Service) -> None:
    body = {"capacity": 64, "expected_entrants": 90, "regulations": {"rounds": 7}}
    said = preview(service, **body)["advice"]
    assert (said["entrants"], said["waiting"], said["proposed"]) == (64, 26, 7)
    assert said["warnings"] == ["more_expected_than_places"]
    assert said["forecast"]["outlook"] == "safe"
    fair = made(service, **body)
    sheet = "姓名\n" + "".join(f"棋手{number}\n" for number in range(90))
    ok(fair.desk.post(f"{fair.entrants_path}/import?dry_run=false", data=sheet.encode(), content_type="text/csv"))
    event = fair.event()
    assert (event["counts"]["approved"], event["counts"]["waiting"]) == (64, 26)
    assert event["registration"] == {
        "is_open": True, "closed_by": None, "until": None, "places": 64, "free": 0, "waiting": 26,
    }  # fmt: skip


def test_a_preview_names_everything_the_choices_mean_and_makes_nothing(service: Service) -> None:
    before = service.rows("SELECT count(*) AS n FROM event")[0].n
    said = preview(
        service,
        profile="chess",
        expected_entrants=31,
        max_byes=1,
        byes_until_round=4,
        late_entry_until=2,
        regulations={"rounds": 6, "late_entry": "half", "allow_bye": False},
    )
    assert [one["code"] for one in said["tie_breaks"]] == ["bh_c1", "bh", "sb_fide", "direct"]
    assert all(set(one["names"]) == {"zh-Hans", "zh-Hant", "en"} for one in said["tie_breaks"])
    assert said["requested_byes"] == {"max": 1, "until_round": 4}
    assert said["late_entry"] == {"bye": "half", "until_round": 2}
    assert said["advice"]["warnings"] == ["bye_needed"]
    assert said["advice"]["byes"] == {"each_round": 1, "points": 1}
    assert service.rows("SELECT count(*) AS n FROM event")[0].n == before


def test_a_preview_says_what_would_be_refused(service: Service) -> None:
    assert preview(service, expected_entrants=6, regulations={"rounds": 6})["advice"]["warnings"] == ["too_many_rounds"]
    assert preview(service)["advice"]["warnings"] == ["field_unknown"]
    organiser = service.person(Role.ORGANISER)
    path = "/api/v1/events/preview"
    problem(organiser.post(path, {"profile": "shengji", "regulations": {"first_move": True}}), 422, "not-used")
    problem(organiser.post(path, {"profile": "ludo"}), 422, "unknown-profile")


def test_who_is_kept_apart_changes_the_forecast_for_staff_and_is_not_told_to_others(service: Service) -> None:
    fair = made(service, expected_entrants=4, regulations={"rounds": 2})
    one, two, three, four = fair.seated(4)
    assert fair.event()["advice"]["forecast"]["outlook"] == "safe"
    for other in (two, three, four):
        ok(fair.desk.post(f"{fair.path}/forbidden-pairs", {"entrants": [one["id"], other["id"]]}), 201)
    assert fair.event()["advice"]["forecast"]["outlook"] == "impossible"
    assert ok(service.public().get(fair.path))["advice"]["forecast"]["outlook"] == "safe"


def test_a_cloned_event_has_the_rules_and_neither_the_people_nor_the_days(service: Service) -> None:
    fair = make_fair(
        service,
        venue="文化宫",
        capacity=40,
        max_byes=2,
        starts_on="2026-05-01",
        registration_until="2026-04-20T00:00:00+08:00",
        regulations={"rounds": 5, "late_entry": "half"},
    )
    fair.seated(2)
    fair.publish_rounds(1)
    key = {"Idempotency-Key": "clone-1"}
    answer = fair.organiser.post(f"{fair.path}/clone", {"name": "明年赛", "starts_on": "2027-05-01"}, headers=key)
    clone = ok(answer, 201)
    assert answer.headers["Location"] == f"/api/v1/events/{clone['id']}"
    assert (clone["name"], clone["state"], clone["starts_on"]) == ("明年赛", "draft", "2027-05-01")
    assert (clone["venue"], clone["capacity"], clone["max_byes"]) == ("文化宫", 40, 2)
    assert (clone["registration_until"], clone["frozen_at"], sum(clone["counts"].values())) == (None, None, 0)
    assert clone["regulations"] == fair.event()["regulations"]
    assert clone["your_roles"] == ["organiser"]
    again = fair.organiser.post(f"{fair.path}/clone", {"name": "明年赛", "starts_on": "2027-05-01"}, headers=key)
    assert again.json["id"] == clone["id"]  # type: ignore[index]
    (row,) = service.rows("SELECT new FROM audit_log WHERE event_id = :id AND action = 'event.create'", id=clone["id"])
    assert row.new["cloned_from"] == fair.event_id
