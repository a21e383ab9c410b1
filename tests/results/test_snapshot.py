"""Rows ↔ kernel: what pairing and standings read, in a number of queries that does not grow with the event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.orm import Session

from qisai.db.entrants import (
    AbsenceRow,
    AttendanceDeadlineRow,
    AttendanceRow,
    EntrantState,
    ForbiddenPairRow,
    MemberRow,
    RequestedByeRow,
)
from qisai.db.events import EventRow
from qisai.db.rounds import BoardRow
from qisai.db.snapshot import read_tournament
from qisai.errors import Conflict, Invalid, NotFound
from qisai.kernel.check import violations
from qisai.kernel.model import Board, Bye, ByeKind, ForbiddenPair, Result
from qisai.kernel.pairing import pair_round
from tests import fields
from tests.results import asked
from tests.results.conftest import Service, make_play
from tests.results.test_files import IMPORT, OPEN284


def test_results_and_sides_are_those_that_were_played(owner_session: Session) -> None:
    event = fields.ready_event(owner_session, entrants=5)
    pairs = [(1, 3, Result.FIRST_WIN), (2, 4)]
    fields.add_round(owner_session, event, pairs=pairs, byes=[(5, ByeKind.PAIRING)])
    swap = sa.update(BoardRow).where(BoardRow.id == event.board_ids[1, 1])
    owner_session.execute(swap.values(swapped=True))
    snapshot = read_tournament(owner_session, event.event_id)
    (round1,) = snapshot.tournament.rounds
    assert round1.boards == (
        Board(board=1, first=3, second=1, result=Result.FIRST_WIN),
        Board(board=2, first=2, second=4, result=None),
    )
    assert round1.byes == (Bye(entrant=5, kind=ByeKind.PAIRING),)
    assert (snapshot.pairing_no, snapshot.feed_no, snapshot.tournament.next) == (2, 2, None)
    assert snapshot.entrant_ids == event.entrant_ids


def test_only_those_who_are_or_were_seated_are_in_the_tournament(owner_session: Session) -> None:
    event = fields.ready_event(owner_session, entrants=2)
    for number, state in enumerate(EntrantState, start=3):
        fields.add_entrant(owner_session, event.event_id, number=number, state=state)
    fields.add_entrant(owner_session, event.event_id, number=None)
    entrants = read_tournament(owner_session, event.event_id, for_pairing=True).tournament.entrants
    withdrawn = {entrant.number: entrant.withdrawn_from for entrant in entrants}
    assert withdrawn == {1: None, 2: None, 7: None, 8: 1, 9: 1}  # seated, withdrawn, disqualified


def test_the_rounds_before_a_round_are_read_and_no_later_ones(owner_session: Session) -> None:
    event = fields.ready_event(owner_session)
    for pairs in ([(1, 3, Result.DRAW), (2, 4, Result.DRAW)], [(1, 2, Result.DRAW), (3, 4, Result.DRAW)]):
        fields.add_round(owner_session, event, pairs=pairs)
    assert len(read_tournament(owner_session, event.event_id, round_no=2).tournament.rounds) == 1
    assert len(read_tournament(owner_session, event.event_id, round_no=3, for_pairing=True).tournament.rounds) == 2
    with pytest.raises(Conflict) as published:
        read_tournament(owner_session, event.event_id, round_no=2, for_pairing=True)
    assert (published.value.slug, published.value.context["published_by"]) == ("round-published", "a test")
    with pytest.raises(Conflict) as gap:
        read_tournament(owner_session, event.event_id, round_no=5, for_pairing=True)
    assert (gap.value.slug, gap.value.context["round"]) == ("earlier-round-missing", 3)


def test_who_misses_the_next_round_and_how(owner_session: Session) -> None:
    """A bye asked for wins over an absence; those who left and those to come later are neither."""
    event = fields.ready_event(owner_session, entrants=6)
    ids, here = event.entrant_ids, event.event_id
    ids = {**ids, 7: fields.add_entrant(owner_session, here, number=7, entered_round=2)}
    ids[8] = fields.add_entrant(owner_session, here, number=8, state=EntrantState.WITHDRAWN, withdrawn_from=1)
    owner_session.add_all(AbsenceRow(entrant_id=ids[number], round_no=1) for number in (2, 3, 8))
    owner_session.add_all(
        [
            AbsenceRow(entrant_id=ids[4], round_no=2),
            RequestedByeRow(entrant_id=ids[3], round_no=1, kind=ByeKind.HALF),
            RequestedByeRow(entrant_id=ids[5], round_no=1, kind=ByeKind.FULL),
            RequestedByeRow(entrant_id=ids[6], round_no=3, kind=ByeKind.FULL),
        ]
    )
    owner_session.flush()
    upcoming = read_tournament(owner_session, here, round_no=1, for_pairing=True).tournament.next
    assert upcoming is not None
    assert upcoming.absent == (2,)
    assert [(bye.entrant, bye.kind) for bye in upcoming.byes] == [
        (3, ByeKind.HALF),
        (5, ByeKind.FULL),
        (7, ByeKind.ZERO),
    ]


def test_check_in_is_looked_up_when_the_pool_is_read(owner_session: Session) -> None:
    event = fields.ready_event(owner_session, entrants=3)
    owner_session.add(AttendanceRow(entrant_id=event.entrant_ids[2], round_no=1))
    owner_session.add(RequestedByeRow(entrant_id=event.entrant_ids[3], round_no=1, kind=ByeKind.HALF))
    hour = sa.text("interval '1 hour'")
    owner_session.add(AttendanceDeadlineRow(event_id=event.event_id, round_no=1, until=sa.func.now() + hour))
    owner_session.flush()
    with pytest.raises(Conflict, match="Check-in for round 1 is open until"):
        read_tournament(owner_session, event.event_id, round_no=1, for_pairing=True)
    lenient = read_tournament(owner_session, event.event_id, with_next=True).tournament.next
    assert lenient is not None
    assert lenient.absent == ()
    owner_session.execute(sa.update(AttendanceDeadlineRow).values(until=sa.func.now()))
    passed = read_tournament(owner_session, event.event_id, round_no=1, for_pairing=True).tournament.next
    assert passed is not None
    assert (passed.absent, [bye.entrant for bye in passed.byes]) == ((1,), [3])


@pytest.mark.parametrize(("late_entry", "kind"), [("zero", ByeKind.ZERO), ("half", ByeKind.HALF)])
def test_a_late_entrant_has_a_bye_for_each_round_before(owner_session: Session, late_entry: str, kind: ByeKind) -> None:
    event = fields.ready_event(owner_session, regulations={"late_entry": late_entry})
    for pairs in ([(1, 3, Result.DRAW), (2, 4, Result.DRAW)], [(1, 2, Result.DRAW), (3, 4, Result.DRAW)]):
        fields.add_round(owner_session, event, pairs=pairs)
    fields.add_entrant(owner_session, event.event_id, number=5, entered_round=2)
    rounds = read_tournament(owner_session, event.event_id).tournament.rounds
    assert [round_.byes for round_ in rounds] == [(Bye(entrant=5, kind=kind),), ()]


def test_members_forbidden_pairs_and_lots_are_read(owner_session: Session) -> None:
    event = fields.ready_event(owner_session, profile="shengji")
    ids = event.entrant_ids
    owner_session.add_all(MemberRow(entrant_id=ids[2], position=p, name=n) for p, n in ((2, "乙"), (1, "甲")))
    owner_session.add(
        ForbiddenPairRow(event_id=event.event_id, a_entrant_id=ids[1], b_entrant_id=ids[4], from_round=2, to_round=3)
    )
    owner_session.execute(sa.text("UPDATE entrant SET lot = 7 WHERE id = :id"), {"id": ids[3]})
    tournament = read_tournament(owner_session, event.event_id).tournament
    assert tournament.entrants[1].members == ("甲", "乙")
    assert tournament.forbidden_pairs == (ForbiddenPair(entrants=(1, 4), from_round=2, to_round=3),)
    assert tournament.lots == {3: 7}


def test_an_event_keeps_its_regulations_when_its_profile_is_no_longer_shipped(owner_session: Session) -> None:
    event = fields.ready_event(owner_session)
    renamed = sa.func.jsonb_set(EventRow.regulations, sa.text("'{profile}'"), sa.text("""'"old_game"'::jsonb"""))
    owner_session.execute(sa.update(EventRow).where(EventRow.id == event.event_id).values(regulations=renamed))
    assert read_tournament(owner_session, event.event_id).tournament.regulations.profile == "old_game"


def test_one_entrant_out_of_place_stops_with_its_name(owner_session: Session) -> None:
    event = fields.ready_event(owner_session)
    fields.add_round(owner_session, event, pairs=[(1, 3), (2, 4)])
    owner_session.execute(sa.text("UPDATE entrant SET state = 9 WHERE id = :id"), {"id": event.entrant_ids[3]})
    with pytest.raises(Invalid, match=f"Entrant with id {event.entrant_ids[3]} has a place in a published round"):
        read_tournament(owner_session, event.event_id)
    with pytest.raises(NotFound):
        read_tournament(owner_session, 999_999)


def test_every_role_that_reads_snapshots_may(session_for: Callable[[str], Session]) -> None:
    for login in ("results", "pairing"):
        with pytest.raises(NotFound):
            read_tournament(session_for(login), 999_999, round_no=1, for_pairing=True)


@pytest.mark.skipif(not OPEN284.exists(), reason="../shared/data/open284.json is not here")
def test_a_further_round_of_the_open_of_284_is_drawn_from_its_rows_and_valid(service: Service) -> None:
    from qisai.db.accounts import Role

    organiser = service.person(Role.ORGANISER)
    event_id = organiser.post(IMPORT, data=OPEN284.read_bytes(), content_type="application/json").json["id"]
    with service.owner() as session:
        tournament = read_tournament(session, event_id, round_no=8, for_pairing=True).tournament
    draw = pair_round(tournament, stage="search")
    assert violations(tournament, draw) == []


def test_no_route_sends_more_queries_for_more_boards(service: Service) -> None:
    """Pins that nothing is read row by row: an event of 60 boards costs the queries of one of 10."""
    counts: dict[str, list[int]] = {}
    corrected = {"result": "draw", "reason": "复核"}
    swap = {"edits": [{"kind": "swap", "entrants": [1, 2]}]}
    for entrants in (20, 120):
        play = make_play(service, entrants=entrants)
        half = entrants // 2
        with service.owner() as session:
            won = [(i, i + half, Result.FIRST_WIN) for i in range(1, half + 1)]
            fields.add_round(session, play.field, pairs=won)
            drawn = [(i, i + half // 2) for low in (1, half + 1) for i in range(low, low + half // 2)]
            fields.add_draft(session, play.field, round_no=2, pairs=drawn)
        calls: dict[str, Callable[[], Any]] = {
            "rounds": lambda play=play: play.chief.get(f"{play.event}/rounds"),
            "boards": lambda play=play: play.chief.get(f"{play.round(1)}/boards"),
            "standings": lambda play=play: play.chief.get(f"{play.event}/standings"),
            "export": lambda play=play: play.chief.get(f"{play.event}/exports/json"),
            "log": lambda play=play: play.chief.get(f"{play.event}/log"),
            "draw": lambda play=play: play.chief.get(f"{play.round(2)}/draws/1"),
            "adjustments": lambda play=play: play.chief.get(f"{play.event}/adjustments"),
            "change": lambda play=play: play.chief.patch(f"{play.round(2)}/draws/1?dry_run=1", swap, version=1),
            "ask": lambda play=play: play.chief.post(f"{play.round(2)}/draws"),
            "publish": lambda play=play: play.chief.post(f"{play.round(2)}/draws/1/publish", version=1),
            "result": lambda play=play: play.chief.put(play.result_of(1, 1), corrected, version=2),
            "close": lambda play=play: play.chief.post(f"{play.round(1)}/close", version=2),
        }
        for name, call in calls.items():
            with asked.statements(service.app) as found:
                assert call().status_code in (200, 202), name
            counts.setdefault(name, []).append(len(found))
    assert {name: few for name, (few, _many) in counts.items()} == {name: many for name, (_few, many) in counts.items()}
