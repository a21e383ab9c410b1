"""The draw of lots."""

from __future__ import annotations

import hashlib
from typing import Any

import sqlalchemy as sa

from qisai.db.accounts import Role
from tests.registration.conftest import Fair, Service, make_fair, ok, problem


def draw(fair: Fair, **body: Any) -> dict[str, Any]:
    return fair.draw_lots(body)


def numbers(fair: Fair, field: list[dict[str, Any]]) -> list[int | None]:
    return [fair.entrant(one["id"])["number"] for one in field]


def test_anybody_can_replay_the_machine_from_its_seed(fair: Fair) -> None:
    field = fair.seated(9)
    lots = draw(fair, mode="machine")
    assert lots["mode"] == "machine"
    ids = [one["id"] for one in field]
    by_hash = sorted(ids, key=lambda one: hashlib.sha256(f"{lots['seed']}:{one}".encode()).hexdigest())
    assert {int(one): number for one, number in lots["numbers"].items()} == {
        one: place for place, one in enumerate(by_hash, start=1)
    }
    assert ok(fair.service.public().get(f"{fair.path}/lots")) == lots


def test_the_same_seed_gives_the_same_numbers_and_a_new_draw_new_ones(fair: Fair) -> None:
    field = fair.seated(8)
    first = draw(fair, mode="machine", seed=5)
    draw(fair, mode="machine", seed=6)
    other = numbers(fair, field)
    assert draw(fair, mode="machine", seed=5)["numbers"] == first["numbers"]
    assert numbers(fair, field) != other


def test_without_a_seed_two_draws_differ(fair: Fair) -> None:
    fair.seated(2)
    assert draw(fair, mode="machine")["seed"] != draw(fair, mode="machine")["seed"]


def test_seeding_order_is_by_rating_those_without_one_last(service: Service) -> None:
    fair = make_fair(service, needs_approval=False, needs_check_in=False)
    field = [fair.add(name, **more) for name, more in (("无", {}), ("低", {"seed": 1500}), ("高", {"seed": 2000}))]
    ok(fair.desk.post(f"{fair.entrants_path}/seat", {"all": True}))
    draw(fair, mode="seeding")
    assert numbers(fair, field) == [3, 2, 1]


def test_numbering_by_seeding_sets_fold_where_the_organiser_set_nothing(service: Service) -> None:
    fair = make_fair(service)
    fair.seated(2)
    assert fair.event()["regulations"]["within_group"] == "adjacent"
    draw(fair, mode="seeding")
    assert fair.event()["regulations"]["within_group"] == "fold"
    draw(fair, mode="machine")
    assert fair.event()["regulations"]["within_group"] == "adjacent"


def test_numbering_by_seeding_leaves_what_the_organiser_set(service: Service) -> None:
    said = make_fair(service, regulations={"within_group": "slide"})
    said.seated(2)
    draw(said, mode="seeding")
    assert said.event()["regulations"]["within_group"] == "slide"
    later = make_fair(service)
    ok(later.organiser.patch(later.path, {"regulations": {"within_group": "adjacent"}}, version=2))
    later.seated(2)
    draw(later, mode="seeding")
    assert later.event()["regulations"]["within_group"] == "adjacent"


def test_numbers_drawn_by_hand_are_typed_in(fair: Fair) -> None:
    field = fair.seated(3)
    wanted = dict(zip((str(one["id"]) for one in field), (2, 3, 1), strict=True))
    lots = draw(fair, mode="hand", numbers=wanted)
    assert (lots["mode"], lots["seed"], lots["numbers"]) == ("hand", None, {**wanted})
    assert numbers(fair, field) == [2, 3, 1]


def test_numbers_by_hand_must_be_one_for_everybody_from_1_to_n(fair: Fair) -> None:
    one, two, three = (str(entrant["id"]) for entrant in fair.seated(3))
    before = fair.numbers()
    for given, slugs in (
        ({one: 1, two: 2}, ["missing"]),
        ({one: 1, two: 2, three: 2}, ["duplicate"]),
        ({one: 1, two: 2, three: 4}, ["range"]),
        ({one: 1, two: 2, three: 3, "999999": 1}, ["not-seated"]),
    ):
        body = problem(fair.try_lots({"mode": "hand", "numbers": given}), 422, "lots")
        assert [error["slug"] for error in body["errors"]] == slugs
        assert body["errors"][0]["pointer"].startswith("/numbers/")
    assert fair.numbers() == before


def test_without_anybody_seated_there_is_nothing_to_draw(fair: Fair) -> None:
    fair.add("陈一")
    problem(fair.try_lots({"mode": "machine"}), 409, "nobody-seated")
    lots = ok(fair.organiser.get(f"{fair.path}/lots"))
    assert (lots["mode"], lots["seed"], lots["numbers"], lots["replayed"]) == (None, None, {}, None)


def test_a_second_draw_after_somebody_left_has_no_holes(fair: Fair) -> None:
    field = fair.seated(4)
    draw(fair, mode="seeding")
    fair.move(field[0], "withdrawn")
    draw(fair, mode="seeding")
    assert numbers(fair, field) == [None, 1, 2, 3]


def test_after_round_1_numbers_stand(fair: Fair) -> None:
    field = fair.seated(3)
    draw(fair, mode="seeding")
    fair.publish_rounds(1)
    for body in ({"mode": "machine"}, {"mode": "seeding"}):
        problem(fair.try_lots(body), 409, "frozen")
    assert numbers(fair, field) == [1, 2, 3]


def test_after_round_1_was_taken_back_lots_can_be_drawn_again(fair: Fair) -> None:
    fair.seated(3)
    fair.publish_rounds(1)
    with fair.service.owner() as session:
        session.execute(sa.text("UPDATE round SET state = 'pending' WHERE event_id = :id"), {"id": fair.event_id})
    assert len(draw(fair, mode="machine")["numbers"]) == 3


def test_a_draw_of_lots_is_logged_and_makes_drafts_stale(fair: Fair) -> None:
    fair.seated(2)
    before = fair.numbers()[1]
    lots = draw(fair, mode="machine", seed=3)
    assert fair.numbers()[1] == before + 1
    query = "SELECT new, actor_name FROM audit_log WHERE event_id = :id AND action = 'lots.draw'"
    (row,) = fair.service.rows(query, id=fair.event_id)
    assert (row.new["seed"], row.new["numbers"], row.actor_name) == (3, lots["numbers"], "李组织")


def test_the_chief_referee_draws_lots_and_the_desk_does_not(fair: Fair) -> None:
    fair.seated(2)
    chief = fair.service.person(Role.CHIEF_REFEREE, fair.event_id)
    fair.draw_lots({"mode": "machine"}, by=chief)
    problem(fair.try_lots({"mode": "machine"}, by=fair.desk), 403, "no-right")


def test_a_draw_says_which_one_it_saw(fair: Fair) -> None:
    fair.seated(2)
    path = f"{fair.path}/lots"
    problem(fair.organiser.post(path, {"mode": "machine"}), 428, "version-needed")
    first = fair.organiser.post(path, {"mode": "machine"}, version=0)
    assert (ok(first)["version"], first.headers["ETag"]) == (1, '"v1"')
    for stale in (0, 2):
        problem(fair.organiser.post(path, {"mode": "seeding"}, version=stale), 412, "stale")
    assert ok(fair.organiser.get(path)) == first.json


def test_a_draw_that_saw_one_which_never_was_is_stale(fair: Fair) -> None:
    fair.seated(2)
    path = f"{fair.path}/lots"
    for seen in (1, 7, 2_000_000_000):
        body = problem(fair.organiser.post(path, {"mode": "machine"}, version=seen), 412, "stale")
        assert body["current"] == {
            "version": 0, "mode": None, "seed": None, "numbers": {}, "updated_by": None, "updated_at": None
        }  # fmt: skip
    assert ok(fair.organiser.post(path, {"mode": "machine"}, version=0))["version"] == 1


def test_a_draw_whose_answer_was_lost_may_be_asked_for_again_by_the_same_person(fair: Fair) -> None:
    fair.seated(3)
    path, body = f"{fair.path}/lots", {"mode": "machine", "seed": 5}
    first = ok(fair.organiser.post(path, body, version=0))
    feed = fair.numbers()
    assert ok(fair.organiser.post(path, body, version=0)) == first
    assert fair.numbers() == feed
    problem(fair.organiser.post(path, {**body, "seed": 6}, version=0), 412, "stale")
    chief = fair.service.person(Role.CHIEF_REFEREE, fair.event_id)
    problem(chief.post(path, body, version=0), 412, "stale")
