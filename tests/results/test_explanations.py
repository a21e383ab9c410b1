"""Why an entrant meets its opponent, asked over the API: of a draft and of what was published, as codes."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from qisai.db.entrants import AbsenceRow, EntrantRow, EntrantState
from qisai.kernel.model import ByeKind, Result
from services.results.queries.explanations import WORKED_OUT
from tests import fields
from tests.results.conftest import Play, Service, make_play, problem


@pytest.fixture
def round2(service: Service) -> Play:
    """Six entrants; round 1: 1–4, 2–5, 3–6, the first ones won. Round 2 is drafted: 1–2, 3–4, 5–6."""
    play = make_play(service, entrants=6)
    with service.owner() as session:
        won = [(1, 4, Result.FIRST_WIN), (2, 5, Result.FIRST_WIN), (3, 6, Result.FIRST_WIN)]
        fields.add_round(session, play.field, pairs=won)
        fields.add_draft(session, play.field, round_no=2, pairs=[(1, 2), (3, 4), (5, 6)])
    return play


def why(play: Play, number: int, *, round_no: int = 2, draw: int = 1) -> Any:
    return play.chief.get(f"{play.round(round_no)}/draws/{draw}/why/{number}")


def test_it_names_opponent_ideal_float_and_side_in_codes_and_numbers(round2: Play) -> None:
    body = why(round2, 3).json
    assert (body["entrant"]["number"], body["entrant"]["name"], body["points"]) == (3, "棋手3", 1)
    assert (body["opponent"]["number"], body["board"], body["bye"]) == (4, 2, None)
    assert body["floated"]["direction"] == "down"
    assert body["floated"]["gap"] == 1
    assert body["floated"]["why"] in {"costs_more", "no_draw_left", "nothing"}
    better = {one["entrant"]["number"]: one for one in body["better"]}
    assert {1, 2} <= better.keys()
    assert better[1]["partner"]["number"] == 2
    assert body["better_count"] == len(body["better"])
    assert body["side"]["side"] == "first"
    assert len(body["side"]["sides"]) == 1
    assert body["worked_out"] == 5


def test_who_met_before_is_said_with_the_round(service: Service) -> None:
    play = make_play(service, entrants=4)
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 2, Result.DRAW), (3, 4, Result.DRAW)])
        fields.add_draft(session, play.field, round_no=2, pairs=[(4, 1), (3, 2)])
    better = {one["entrant"]["number"]: one for one in why(play, 1).json["better"]}
    assert (better[2]["why"], better[2]["round"]) == ("met", 1)


def test_a_published_draw_is_explained_by_the_pool_it_was_made_for(service: Service) -> None:
    """Entrant 5 was absent in round 1 and 4 has withdrawn since: neither changes what the draw of round 1 says."""
    play = make_play(service, entrants=5)
    with service.owner() as session:
        won = [(1, 3, Result.FIRST_WIN), (2, 4, Result.FIRST_WIN)]
        fields.add_round(session, play.field, pairs=won, byes=[(5, ByeKind.ABSENT)])
    body = why(play, 4, round_no=1).json
    assert (body["opponent"]["number"], body["round"]) == (2, 1)
    with service.owner() as session:
        gone = sa.update(EntrantRow).where(EntrantRow.id == play.field.entrant_ids[4])
        session.execute(gone.values(state=EntrantState.WITHDRAWN, withdrawn_from=1))
        fields.bump(session, play.field.event_id)
    assert why(play, 4, round_no=1).json == body
    assert {one["why"] for one in body["better"]} <= {"met", "costs_more", "no_draw_left", "side_limit", "nothing"}


def test_the_bye_is_explained(service: Service) -> None:
    play = make_play(service, entrants=3)
    with service.owner() as session:
        fields.add_draft(session, play.field, round_no=1, pairs=[(1, 2)], bye=3)
    body = why(play, 3, round_no=1).json
    assert (body["opponent"], body["board"], body["side"]) == (None, None, None)
    assert (body["bye"]["had"], body["bye"]["eligible"]) == (0, 3)


def test_who_has_no_place_or_is_nobody_is_refused_by_name(round2: Play) -> None:
    with round2.service.owner() as session:
        fields.add_draft(session, round2.field, round_no=2, pairs=[(1, 2)], state="replaced")
    for number in (3, 77):
        refusal = why(round2, number, draw=2)
        assert str(number) in problem(refusal, 404, "not-in-draw")["detail"]
    assert why(round2, 3, draw=9).status_code == 404


def test_what_is_worked_out_ends_where_it_would_hold_up_results(round2: Play, service: Service) -> None:
    """Beyond the bound nothing is worked out, whatever is asked; the answer says so."""
    largest = WORKED_OUT[-1][0]
    play = make_play(service, entrants=largest + 2)
    half = largest // 2 + 1
    with service.owner() as session:
        fields.add_draft(session, play.field, round_no=1, pairs=[(n, n + half) for n in range(1, half + 1)])
    body = why(play, half, round_no=1).json
    assert body["worked_out"] == 0
    assert {one["why"] for one in body["better"]} <= {"needed_elsewhere", "met", "forbidden", "side_limit"}


def test_a_kept_answer_is_not_given_once_the_pool_is_another(round2: Play) -> None:
    before = why(round2, 3).json
    assert why(round2, 3).json == before
    with round2.service.owner() as session:
        session.add(AbsenceRow(entrant_id=round2.field.entrant_ids[1], round_no=2))
    after = why(round2, 3).json
    assert 1 not in {one["entrant"]["number"] for one in after["better"]}
    assert 1 in {one["entrant"]["number"] for one in before["better"]}
