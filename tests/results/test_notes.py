"""Notes on results are what referees tell each other: nobody sees them who does not work at the event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from qisai.db.accounts import Role
from tests import calls, fields
from tests.results.conftest import Play

NOTE: Final = "两人争执后和棋"
STAFF: Final = (Role.ASSOCIATION_ADMIN, Role.ORGANISER, Role.CHIEF_REFEREE, Role.REFEREE, Role.DESK)

Who = Callable[[Play], calls.Caller]
STRANGERS: Final[dict[str, Who]] = {
    "the public": lambda play: play.service.public(),
    "an account": lambda play: play.service.person(None),
    "ops": lambda play: play.service.person(Role.OPS),
    "a referee of another event": lambda play: play.service.person(Role.REFEREE, _another(play)),
    "an organiser of other events": lambda play: play.service.person(Role.ORGANISER),
}


def _another(play: Play) -> int:
    with play.service.owner() as session:
        return fields.ready_event(session).event_id


@pytest.fixture
def noted(play: Play) -> Play:
    """One round, a result with a note, and one corrected with another."""
    with play.service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3), (2, 4)])
    for version, result in ((1, "first_win"), (2, "draw")):
        answer = play.chief.put(play.result_of(1, 1), {"result": result, "note": NOTE}, version=version)
        assert answer.status_code == 200
        assert answer.json["note"] == NOTE
    return play


def places(play: Play) -> list[str]:
    """Every place that shows something of a result to whoever may read the event."""
    board = f"/api/v1/boards/{play.field.board_ids[1, 1]}"
    of_event = [
        "rounds", "rounds/1", "rounds/1/boards", "feed", "standings", "crosstable", "histories/1", "standings/1",
        "exports/json", *(f"exports/csv?what={what}" for what in ("standings", "crosstable", "pairings")),
    ]  # fmt: skip
    return [board, *(f"{play.event}/{place}" for place in of_event)]


@pytest.mark.parametrize("who", STRANGERS)
def test_who_does_not_work_at_the_event_finds_a_note_nowhere(noted: Play, who: str) -> None:
    caller = STRANGERS[who](noted)
    for place in places(noted):
        answer = caller.get(place)
        assert answer.status_code == 200, place
        said = answer.get_data(as_text=True)
        assert NOTE not in said, place
        assert ascii(NOTE)[1:-1] not in said, place
    for log in (f"{places(noted)[0]}/log", f"{noted.event}/log", f"{noted.event}/log/csv"):
        assert caller.get(log).status_code in (401, 403)


@pytest.mark.parametrize("role", STAFF)
def test_who_works_at_the_event_sees_the_note_with_the_board_in_lists_and_in_the_log(noted: Play, role: Role) -> None:
    caller = noted.service.person(role, None if role is Role.ASSOCIATION_ADMIN else noted.field.event_id)
    board = places(noted)[0]
    assert caller.get(board).json["note"] == NOTE
    assert caller.get(f"{noted.event}/rounds/1/boards").json["items"][0]["note"] == NOTE
    for log in (f"{board}/log", f"{noted.event}/log", f"{noted.event}/log/csv"):
        assert NOTE in caller.get(log).get_data(as_text=True)


def test_who_gets_a_role_is_not_told_that_the_list_without_notes_is_unchanged(noted: Play) -> None:
    boards = f"{noted.event}/rounds/1/boards"
    seen = noted.service.public().get(boards)
    assert noted.service.public().get(boards, headers={"If-None-Match": seen.headers["ETag"]}).status_code == 304
    again = noted.chief.get(boards, headers={"If-None-Match": seen.headers["ETag"]})
    assert (again.status_code, again.json["items"][0]["note"]) == (200, NOTE)
    kept = noted.chief.get(boards, headers={"If-None-Match": again.headers["ETag"]})
    assert kept.status_code == 304
