"""Registering on one's own while an event is open, and the link to one's own entry."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa

from services.registration.operations import self_registration
from tests.registration.conftest import Fair, Service, make_fair, ok, problem

KEY = "0123456789abcdef0123"


def register(fair: Fair, name: str, *, key: str | None = None, **more: Any) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    return fair.service.public().post(f"{fair.path}/registrations", {"name": name, **more}, headers=headers)


def test_somebody_registers_reads_and_cancels_through_the_link_alone(fair: Fair) -> None:
    answer = register(fair, "陈一", club="甲队", birth_year=1990, phone="138 0000 0000", email="c@example.org")
    made = ok(answer, 201)
    assert answer.headers["Location"] == f"/api/v1/registrations/{made['token']}"
    assert answer.headers["Cache-Control"] == "no-store"
    public = fair.service.public()
    mine = ok(public.get(answer.headers["Location"]))
    assert (mine["name"], mine["club"], mine["phone"]) == ("陈一", "甲队", "138 0000 0000")
    assert (mine["state"], mine["can_cancel"], mine["event"]["id"]) == ("registered", True, fair.event_id)
    assert fair.entrant(made["id"])["email"] == "c@example.org"
    gone = ok(public.delete(answer.headers["Location"]))
    assert (gone["state"], gone["can_cancel"]) == ("cancelled", False)
    assert ok(public.delete(answer.headers["Location"]))["state"] == "cancelled"
    log = ok(fair.desk.get(f"{fair.entrants_path}/{made['id']}/transitions"))["items"]
    assert (log[-1]["to"], log[-1]["actor"], log[-1]["reason"]) == ("cancelled", "陈一", "by the entrant")


def test_the_secret_of_a_link_is_stored_nowhere(fair: Fair) -> None:
    token = ok(register(fair, "陈一", key=KEY), 201)["token"]
    for table in ("entrant_link", "idempotency_key", "audit_log", "feed_entry"):
        rows = fair.service.rows(f"SELECT t::text AS line FROM {table} t")
        assert not [row for row in rows if token in row.line], table


def test_the_same_request_again_is_the_same_entry_with_a_further_link(fair: Fair) -> None:
    first, again = (ok(register(fair, "陈一", key=KEY + "x"), 201) for _ in range(2))
    assert first["id"] == again["id"]
    public = fair.service.public()
    for token in (first["token"], again["token"]):
        assert ok(public.get(f"/api/v1/registrations/{token}"))["id"] == first["id"]
    assert fair.event()["counts"]["registered"] == 1
    problem(register(fair, "林二", key="short"), 422, "bad-idempotency-key")


def test_a_wrong_link_opens_nothing(fair: Fair) -> None:
    token = ok(register(fair, "陈一"), 201)["token"]
    public = fair.service.public()
    for wrong in (token[:-1], token + "a", "x" * 43):
        problem(public.get(f"/api/v1/registrations/{wrong}"), 404, "no-such-link")
        problem(public.delete(f"/api/v1/registrations/{wrong}"), 404, "no-such-link")


def test_only_an_open_event_takes_registrations(service: Service) -> None:
    fair = make_fair(service)
    fair.act("close-registration")
    problem(register(fair, "陈一"), 409, "registration-closed")
    hidden = make_fair(service, is_public=False)
    problem(register(hidden, "陈一"), 404, "event-not-found")


@pytest.mark.parametrize("field", ["seed", "notes", "external_id", "fixed_board", "state"])
def test_the_public_says_nothing_that_the_desk_decides(fair: Fair, field: str) -> None:
    answer = register(fair, "陈一", **{field: "1"})
    assert [error["pointer"] for error in answer.json["errors"]] == [f"/{field}"]


def test_who_waits_sees_the_place_and_moves_up_when_somebody_cancels(service: Service) -> None:
    fair = make_fair(service, capacity=1)
    links = [ok(register(fair, name), 201)["token"] for name in ("甲", "乙", "丙")]
    public = service.public()

    def seen(place: int) -> tuple[str, int | None]:
        mine = ok(public.get(f"/api/v1/registrations/{links[place]}"))
        return mine["state"], mine["waiting_place"]

    assert [seen(place) for place in range(3)] == [("registered", None), ("waiting", 1), ("waiting", 2)]
    ok(public.delete(f"/api/v1/registrations/{links[0]}"))
    assert [seen(place) for place in range(3)] == [("cancelled", None), ("registered", None), ("waiting", 1)]


def test_once_seated_only_the_desk_takes_an_entry_out(service: Service) -> None:
    fair = make_fair(service, needs_approval=False, needs_check_in=False)
    made = ok(register(fair, "陈一"), 201)
    fair.move(made, "seated")
    problem(service.public().delete(f"/api/v1/registrations/{made['token']}"), 409, "ask-the-desk")
    assert fair.entrant(made["id"])["state"] == "seated"


def test_the_same_person_twice_is_refused_and_a_namesake_is_not(fair: Fair) -> None:
    ok(register(fair, "陈一", club="甲队", birth_year=1990), 201)
    problem(register(fair, "陈一", club="甲队"), 409, "double-entry")
    problem(register(fair, "陈一", club="乙队", birth_year=1990), 409, "double-entry")
    ok(register(fair, "陈一", club="甲队", birth_year=1991), 201)
    ok(register(fair, "陈一", club="丙队", birth_year=1992), 201)


def test_a_flood_is_stopped_and_says_when_to_try_again(fair: Fair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_registration, "MOST_A_MINUTE", 2)
    ok(register(fair, "甲"), 201), ok(register(fair, "乙"), 201)
    answer = register(fair, "丙")
    problem(answer, 429, "too-many-registrations")
    assert answer.headers["Retry-After"] == "60"


def test_asking_again_and_again_for_one_entry_locks_nobody_out(fair: Fair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_registration, "MOST_A_MINUTE", 2)
    most = self_registration.MOST_LINKS
    made = [ok(register(fair, "甲", key=KEY + "again"), 201) for _ in range(most)]
    body = problem(register(fair, "甲", key=KEY + "again"), 409, "too-many-links")
    assert body["context"]["most"] == most
    links = "SELECT count(*) AS links FROM entrant_link WHERE entrant_id = :id"
    assert fair.service.rows(links, id=made[0]["id"])[0].links == most
    assert len({one["token"] for one in made}) == most
    logged = "SELECT actor_name, new FROM audit_log WHERE action = 'entrant.link' AND subject = :subject ORDER BY id"
    further = fair.service.rows(logged, subject=f"entrant:{made[0]['id']}")
    assert [row.new for row in further] == [{"links": number} for number in range(2, most + 1)]
    stale = problem(fair.try_move(made[0], "approved", version=9), 412, "stale")["current"]
    (step,) = ok(fair.desk.get(f"{fair.entrants_path}/{made[0]['id']}/transitions"))["items"]
    assert (stale["version"], stale["updated_at"]) == (1, step["at"]), "a further link changes no entry"
    for one in made:
        assert ok(fair.service.public().get(f"/api/v1/registrations/{one['token']}"))["id"] == made[0]["id"]
    ok(register(fair, "乙"), 201)
    problem(register(fair, "丙"), 429, "too-many-registrations")


def test_a_link_asked_for_anew_is_no_new_entry(fair: Fair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_registration, "MOST_A_MINUTE", 1)
    ok(register(fair, "甲", key=KEY + "later"), 201)
    with fair.service.owner() as session:
        session.execute(sa.text("UPDATE entrant_link SET created_at = created_at - interval '2 minutes'"))
    ok(register(fair, "甲", key=KEY + "later"), 201)
    ok(register(fair, "乙"), 201)


def test_fifty_who_register_at_once_never_exceed_the_last_places(service: Service) -> None:
    fair = make_fair(service, capacity=3)
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda n: register(fair, f"棋手{n}").status_code, range(50)))
    assert set(answers) <= {201, 503}
    counts = fair.event()["counts"]
    assert counts["registered"] == 3
    assert counts["registered"] + counts["waiting"] == answers.count(201)
