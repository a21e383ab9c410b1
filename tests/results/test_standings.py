"""Standings over HTTP: one computation, any round, always of today."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa

from qisai.kernel.model import Result
from tests import fields
from tests.results.conftest import Play, Service, make_play, problem


@pytest.fixture
def two_rounds(service: Service) -> Play:
    play = make_play(service)
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.FIRST_WIN), (2, 4, Result.DRAW)])
        fields.add_round(session, play.field, pairs=[(1, 2, Result.SECOND_WIN), (3, 4, Result.FIRST_WIN)])
    return play


def table(play: Play, query: str = "") -> list[Any]:
    rows = play.service.public().get(f"{play.event}/standings{query}").json["rows"]
    return [(row["rank"], row["number"], row["points"]) for row in rows]


def test_after_a_round_only_the_rounds_up_to_it_count(two_rounds: Play) -> None:
    assert table(two_rounds, "?after=0") == [(1, 1, 0), (1, 2, 0), (1, 3, 0), (1, 4, 0)]
    assert [row[1:] for row in table(two_rounds, "?after=1")] == [(1, 1), (2, 0.5), (4, 0.5), (3, 0)]
    assert [row[1:] for row in table(two_rounds)] == [(2, 1.5), (1, 1), (3, 1), (4, 0.5)]
    assert table(two_rounds, "?after=2") == table(two_rounds)


def test_every_criterion_is_shown_with_its_value_and_scale(two_rounds: Play) -> None:
    answer = two_rounds.service.public().get(f"{two_rounds.event}/standings").json
    assert answer["after"] == 2
    assert [criterion["code"] for criterion in answer["criteria"]] == ["opponents", "progressive", "direct"]
    first = answer["rows"][0]
    assert (first["name"], first["entrant_id"]) == ("棋手2", two_rounds.field.entrant_ids[2])
    assert first["values"] == {"opponents": 1.5, "progressive": 2, "direct": None}


def test_the_arithmetic_adds_up_to_the_value(two_rounds: Play) -> None:
    answer = two_rounds.service.public().get(f"{two_rounds.event}/standings/2").json
    sums = {
        criterion["code"]: sum(term["value"] for term in criterion["terms"] if term["counted"])
        for criterion in answer["criteria"]
    }
    assert (sums["points"], sums["opponents"], sums["progressive"]) == (1.5, 1.5, 2)
    problem(two_rounds.service.public().get(f"{two_rounds.event}/standings/9"), 404, "unknown-entrant")


def test_a_correction_shows_in_every_later_table_at_once(two_rounds: Play) -> None:
    """Pins that the cache is kept by feed number: these tables were computed, and cached, before the correction."""
    before = (table(two_rounds, "?after=1"), table(two_rounds))
    tag = two_rounds.service.public().get(f"{two_rounds.event}/standings").headers["ETag"]
    two_rounds.chief.put(two_rounds.result_of(1, 1), {"result": "second_win", "reason": "误录"}, version=2)
    after = (table(two_rounds, "?after=1"), table(two_rounds))
    assert (before[0][0][1], after[0][0][1]) == (1, 3)
    assert before[1] != after[1]
    answer = two_rounds.service.public().get(f"{two_rounds.event}/standings", headers={"If-None-Match": tag})
    assert answer.status_code == 200


def test_a_round_that_is_not_published_has_no_table(two_rounds: Play) -> None:
    problem(two_rounds.service.public().get(f"{two_rounds.event}/standings?after=3"), 422, "no-such-round")
    problem(two_rounds.service.public().get(f"{two_rounds.event}/standings?after=x"), 422, "invalid-request")
    problem(two_rounds.service.public().get("/api/v1/events/999999/standings"), 404, "event-not-found")


def test_a_withdrawn_entrant_keeps_its_line(two_rounds: Play) -> None:
    before = table(two_rounds)
    with two_rounds.service.owner() as session:
        session.execute(
            sa.text("UPDATE entrant SET state = 6, withdrawn_from = 3 WHERE id = :id"),
            {"id": two_rounds.field.entrant_ids[4]},
        )
        fields.bump(session, two_rounds.field.event_id)
    assert table(two_rounds) == before
