"""Boards: read one, write its result or those of many, read its log."""

from __future__ import annotations

from typing import Any

from flask import Response, g
from flask_openapi3 import APIBlueprint, Tag

from qisai.errors import QisaiError, Unavailable
from qisai.web import problems
from qisai.web.identity import Caller, current_caller, may_here
from qisai.web.requests import Answer, version_seen, version_tag
from qisai.web.rights import ROLES, Right, requires
from services.results import answers, correction_answers
from services.results.operations import results as operations
from services.results.process import here
from services.results.queries import boards as queries
from services.results.queries import corrections
from services.results.schemas import BoardPath, CorrectedBody, CorrectionBody, ResultBody, ResultsBody, RoundPath

api = APIBlueprint("boards", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="boards")])


@api.get("/boards/<int:board_id>")
@requires(Right.READ_EVENT, event_of=queries.EVENT_OF_BOARD)
def get_board(path: BoardPath) -> Response:
    """One board with its version."""
    with here().database.transaction() as session:
        return _board_answer(queries.board(session, path.board_id))


@api.put("/boards/<int:board_id>/result")
@requires(Right.ENTER_RESULT, event_of=queries.EVENT_OF_BOARD)
def put_result(path: BoardPath, body: ResultBody) -> Response:
    """Writes the result of a board at the version that was seen; `result: null` takes it back."""
    caller, seen = current_caller(), version_seen()
    wanted = operations.Wanted(result=body.result, swapped=body.swapped, note=body.note, reason=body.reason)
    return _board_answer(_record(caller, path.board_id, seen, wanted))


@api.put("/events/<int:event_id>/rounds/<int:round_no>/results")
@requires(Right.ENTER_RESULT)
def put_results(path: RoundPath, body: ResultsBody) -> Response:
    """Many boards of one round, each at the version that was seen. Each stands or falls alone and says so."""
    caller = current_caller()
    within = operations.RoundOf(event_id=path.event_id, number=path.round_no)
    items: list[dict[str, Any]] = []
    away: Unavailable | None = None
    for item in body.results:
        wanted = operations.Wanted(result=item.result, swapped=item.swapped, note=item.note, reason=item.reason)
        try:
            if away is not None:  # the database does not answer: the rest would only wait for it
                raise away
            row = _record(caller, item.board_id, item.version, wanted, within=within)
            items.append({"board_id": item.board_id, "status": 200, "board": answers.board(row, with_note=True)})
        except QisaiError as error:
            away = error if isinstance(error, Unavailable) else None
            refused = problems.from_error(error)
            items.append({"board_id": item.board_id, "status": refused.status_code, "problem": refused.get_json()})
    return Answer(body=answers.page(items)).response()


@api.put("/boards/<int:board_id>/correction")
@requires(Right.CONTROL_ROUND, event_of=queries.EVENT_OF_BOARD)
def put_correction(path: BoardPath, body: CorrectedBody) -> Response:
    """Writes another result at the version that was seen, with a reason; also in a closed round, which stays closed."""
    caller, seen = current_caller(), version_seen()
    wanted = operations.Wanted(result=body.result, swapped=body.swapped, note=body.note, reason=body.reason)
    return _board_answer(_record(caller, path.board_id, seen, wanted, correcting=True))


@api.post("/boards/<int:board_id>/correction/preview")
@requires(Right.CONTROL_ROUND, event_of=queries.EVENT_OF_BOARD)
def preview_correction(path: BoardPath, body: CorrectionBody) -> Response:
    """Whose points, ranks and tie-breaks another result would move, and which later rounds would have been others.

    `differs`: the published boards that the corrected results would not give; `differed_before`: nor today's.
    """
    with here().database.snapshot() as session:
        found = corrections.asked(session, path.board_id, result=body.result, swapped=body.swapped)
    made = corrections.preview(found)
    wanted = correction_answers.wanted_value(body.result, body.swapped)
    return Answer(body=correction_answers.preview(found, made, wanted=wanted)).response()


@api.get("/boards/<int:board_id>/log")
@requires(Right.READ_STAFF, event_of=queries.EVENT_OF_BOARD)
def board_log(path: BoardPath) -> Response:
    """Every change of a board and every refused one, oldest first."""
    with here().database.snapshot() as session:
        items = [answers.log_entry(row) for row in queries.log_of_board(session, path.board_id)]
        conflicts = [answers.conflict_entry(row) for row in queries.conflicts_of_board(session, path.board_id)]
    return Answer(body={**answers.page(items), "conflicts": conflicts}).response()


def _rights(caller: Caller) -> operations.Rights:
    event_id: int = g.event.id  # of the board, found before the view
    return operations.Rights(
        is_chief=bool(caller.roles_in(event_id) & ROLES[Right.CONTROL_ROUND]),
        may_enter=lambda number: caller.may_enter_board(event_id, board=number),
    )


def _record(
    caller: Caller,
    board_id: int,
    seen: int,
    wanted: operations.Wanted,
    *,
    within: operations.RoundOf | None = None,
    correcting: bool = False,
) -> Any:
    """The one way a result is written, one board in a transaction of its own; a stale write leaves its conflict row."""
    database, rights = here().database, _rights(caller)
    try:
        with database.transaction() as session:
            return operations.record_result(
                session,
                caller.actor,
                board_id=board_id,
                seen_version=seen,
                wanted=wanted,
                rights=rights,
                within=within,
                correcting=correcting,
            )
    except operations.StaleResult as error:
        with database.transaction() as session:
            operations.log_refused_write(session, caller.actor, error.refused)
        raise


def _board_answer(row: Any) -> Response:
    shown = answers.board(row, with_note=may_here(Right.READ_STAFF))
    return Answer(body=shown, headers=version_tag(row.version)).response()
