"""What is known ahead of rounds: absences, byes asked for, fixed boards, forbidden pairs."""

from __future__ import annotations

from flask import Response
from flask_openapi3 import APIBlueprint, Tag

from qisai.kernel.model import ByeKind
from qisai.web.idempotency import once
from qisai.web.identity import current_caller
from qisai.web.requests import Answer, version_seen
from qisai.web.rights import Right, requires
from qisai.web.shapes import EventPath, OptionalBody, page
from services.registration import answers
from services.registration.ahead_schemas import ByeBody, EntrantRoundPath, PairBody, PairPath, SameClubBody
from services.registration.entrant_schemas import EntrantPath, FixedBoardBody
from services.registration.operations import ahead as operations
from services.registration.operations import entrants as entrant_operations
from services.registration.operations import same_club
from services.registration.process import database
from services.registration.views.entrants import entrant_answer

api = APIBlueprint("ahead", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="entrants")])


@api.put("/events/<int:event_id>/absences/<int:round_no>/<int:entrant_id>")
@requires(Right.MANAGE_ENTRANTS)
def put_absence(path: EntrantRoundPath, body: OptionalBody) -> Response:  # noqa: ARG001 - refuses bodies that say more
    """The entrant will be absent in this round."""
    _set_absence(path, absent=True)
    return Answer(body={"entrant_id": path.entrant_id, "round": path.round_no, "absent": True}).response()


@api.delete("/events/<int:event_id>/absences/<int:round_no>/<int:entrant_id>")
@requires(Right.MANAGE_ENTRANTS)
def delete_absence(path: EntrantRoundPath) -> Response:
    """The entrant will be there after all."""
    _set_absence(path, absent=False)
    return Answer(body=None, status=204).response()


@api.put("/events/<int:event_id>/byes/<int:round_no>/<int:entrant_id>")
@requires(Right.MANAGE_ENTRANTS)
def put_bye(path: EntrantRoundPath, body: ByeBody) -> Response:
    """The entrant has a half, full or zero-point bye in this round."""
    _set_bye(path, body.kind)
    answer = {"entrant_id": path.entrant_id, "round": path.round_no, "kind": body.kind.value}
    return Answer(body=answer).response()


@api.delete("/events/<int:event_id>/byes/<int:round_no>/<int:entrant_id>")
@requires(Right.MANAGE_ENTRANTS)
def delete_bye(path: EntrantRoundPath) -> Response:
    """The entrant has no bye in this round."""
    _set_bye(path, None)
    return Answer(body=None, status=204).response()


@api.put("/events/<int:event_id>/fixed-boards/<int:entrant_id>")
@requires(Right.MANAGE_ENTRANTS)
def put_fixed_board(path: EntrantPath, body: FixedBoardBody) -> Response:
    """The board that the entrant keeps in every round, at the version of the entrant that was seen; null: none."""
    seen = version_seen()
    with database().transaction() as session:
        entrant_operations.change_entrant(
            session,
            current_caller().actor,
            event_id=path.event_id,
            entrant_id=path.entrant_id,
            seen_version=seen,
            changes={"fixed_board": body.board},
        )
        return entrant_answer(session, path.event_id, path.entrant_id).response()


@api.get("/events/<int:event_id>/forbidden-pairs")
@requires(Right.READ_STAFF)
def list_pairs(path: EventPath) -> Response:
    """Pairs that must not meet."""
    with database().transaction() as session:
        items = [answers.forbidden_pair(row) for row in operations.forbidden_pairs(session, path.event_id)]
    return Answer(body=page(items)).response()


@api.post("/events/<int:event_id>/forbidden-pairs")
@requires(Right.MANAGE_ENTRANTS)
def forbid_pair(path: EventPath, body: PairBody) -> Response:
    """These two do not meet in these rounds."""
    caller = current_caller()
    with database().transaction() as session:

        def work() -> Answer:
            row = operations.forbid_pair(
                session,
                caller.actor,
                event_id=path.event_id,
                entrants=(body.entrants[0], body.entrants[1]),
                from_round=body.from_round,
                to_round=body.to_round,
            )
            where = f"/api/v1/events/{path.event_id}/forbidden-pairs/{row.id}"
            return Answer(body=answers.forbidden_pair(row), status=201, headers={"Location": where})

        return once(session, caller, work).response()


@api.post("/events/<int:event_id>/forbidden-pairs/same-club")
@requires(Right.MANAGE_ENTRANTS)
def keep_clubs_apart(path: EventPath, body: SameClubBody) -> Response:
    """No two of one club meet in these rounds; asked again, it adds those who entered since."""
    caller = current_caller()
    with database().transaction() as session:

        def work() -> Answer:
            clubs = same_club.keep_clubs_apart(
                session,
                caller.actor,
                event_id=path.event_id,
                from_round=body.from_round,
                to_round=body.to_round,
                clubs=body.clubs,
            )
            found = [{"club": one.name, "entrants": one.entrants, "added": one.added} for one in clubs]
            return Answer(body={"added": sum(one.added for one in clubs), "clubs": found})

        return once(session, caller, work).response()


@api.delete("/events/<int:event_id>/forbidden-pairs/same-club")
@requires(Right.MANAGE_ENTRANTS)
def let_clubs_meet(path: EventPath) -> Response:
    """Takes back the pairs that keeping clubs apart made, not those that were forbidden one by one."""
    with database().transaction() as session:
        count = same_club.let_clubs_meet(session, current_caller().actor, event_id=path.event_id)
    return Answer(body={"removed": count}).response()


@api.delete("/events/<int:event_id>/forbidden-pairs/<int:pair_id>")
@requires(Right.MANAGE_ENTRANTS)
def allow_pair(path: PairPath) -> Response:
    """These two may meet again."""
    with database().transaction() as session:
        operations.allow_pair(session, current_caller().actor, event_id=path.event_id, pair_id=path.pair_id)
    return Answer(body=None, status=204).response()


def _set_absence(path: EntrantRoundPath, *, absent: bool) -> None:
    with database().transaction() as session:
        operations.set_absence(
            session,
            current_caller().actor,
            event_id=path.event_id,
            entrant_id=path.entrant_id,
            round_no=path.round_no,
            absent=absent,
        )


def _set_bye(path: EntrantRoundPath, kind: ByeKind | None) -> None:
    with database().transaction() as session:
        operations.set_bye(
            session,
            current_caller().actor,
            event_id=path.event_id,
            entrant_id=path.entrant_id,
            round_no=path.round_no,
            kind=kind,
        )
