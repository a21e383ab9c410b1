"""Boards: read one, write its result, read its log."""

from __future__ import annotations

from flask import Response, g
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.web.identity import Caller, current_caller
from qisai.web.requests import Answer, version_seen, version_tag
from qisai.web.rights import ROLES, Right, requires
from services.results import answers
from services.results.operations import results as operations
from services.results.process import here
from services.results.queries import boards as queries
from services.results.schemas import BoardPath, ResultBody

api = APIBlueprint("boards", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="boards")])


@api.get("/boards/<int:board_id>")
@requires(Right.READ_EVENT, event_of=queries.event_of_board)
def get_board(path: BoardPath) -> Response:
    """One board with its version."""
    with here().database.transaction() as session:
        return _answer(session, path.board_id)


@api.put("/boards/<int:board_id>/result")
@requires(Right.ENTER_RESULT, event_of=queries.event_of_board)
def put_result(path: BoardPath, body: ResultBody) -> Response:
    """Writes the result of a board at the version that was seen; `result: null` takes it back."""
    caller, seen = current_caller(), version_seen()
    wanted = operations.Wanted(result=body.result, swapped=body.swapped, note=body.note, reason=body.reason)
    database = here().database
    try:
        with database.transaction() as session:
            operations.record_result(
                session, caller.actor, board_id=path.board_id, seen_version=seen, wanted=wanted, rights=_rights(caller)
            )
            return _answer(session, path.board_id)
    except operations.StaleResult as error:
        with database.transaction() as session:
            operations.log_refused_write(session, caller.actor, error.refused)
        raise


@api.get("/boards/<int:board_id>/log")
@requires(Right.READ_STAFF, event_of=queries.event_of_board)
def board_log(path: BoardPath) -> Response:
    """Every change of a board and every refused one, oldest first."""
    with here().database.snapshot() as session:
        items = [answers.log_entry(row) for row in queries.log_of_board(session, path.board_id)]
        conflicts = [answers.conflict_entry(row) for row in queries.conflicts_of_board(session, path.board_id)]
    return Answer(body={**answers.page(items), "conflicts": conflicts}).response()


def _rights(caller: Caller) -> operations.Rights:
    event_id: int = g.event_id  # of the board, found before the view
    return operations.Rights(
        is_chief=bool(caller.roles_in(event_id) & ROLES[Right.CONTROL_ROUND]),
        may_enter=lambda number: caller.may_enter_board(event_id, board=number),
    )


def _answer(session: Session, board_id: int) -> Response:
    row = queries.board(session, board_id)
    return Answer(body=answers.board(row), headers=version_tag(row.version)).response()
