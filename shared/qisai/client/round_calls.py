"""Calls about rounds: draws, jobs, boards, results, standings, logs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from qisai.client.calls import Calls, text_query
from qisai.client.draws import Drawing, DrawView, Job
from qisai.client.explanations import Explanation
from qisai.client.problems import error_of
from qisai.client.reading import Json, all_items, items
from qisai.client.rounds import Adjustment, BoardLog, Boards, BoardView, RoundView, Standings
from qisai.errors import QisaiError, Unavailable
from qisai.kernel.model import Result


def _round_path(event_id: int, round_no: int) -> str:
    return f"/api/v1/events/{event_id}/rounds/{round_no}"


class RoundCalls(Calls):
    """Rounds of an event."""

    def list(self, event_id: int) -> tuple[RoundView, ...]:
        """All rounds that are published or closed; one that was taken back is neither."""
        found = items(self._get(f"/api/v1/events/{event_id}/rounds"), RoundView.from_json)
        return tuple(round_ for round_ in found if round_.state != "pending")

    def get(self, event_id: int, round_no: int) -> RoundView:
        """One round. Raises `NotFound`."""
        return RoundView.from_json(self._get(_round_path(event_id, round_no)))

    def ask_for_draw(self, event_id: int, round_no: int, *, limits: Mapping[str, int] | None = None) -> Job:
        """Asks for a draw; asking again gives the job under way. Raises `Conflict` whose blockers say what to do."""
        body = {} if limits is None else {"limits": dict(limits)}
        return Job.from_json(self._create(f"{_round_path(event_id, round_no)}/draws", body))

    def job(self, job_id: int) -> Job:
        """State and progress of a job."""
        return Job.from_json(self._get(f"/api/v1/jobs/{job_id}"))

    def cancel_job(self, job_id: int) -> None:
        """Cancels a job that has not ended."""
        self._write("DELETE", f"/api/v1/jobs/{job_id}")

    def wait_for(
        self,
        job: Job,
        *,
        seconds: float = 120.0,
        pause: float = 0.1,
        on_progress: Callable[[Job], None] | None = None,
    ) -> Job:
        """Waits until the job has ended and returns it. Raises `Unavailable` (`still-waiting`) when time is up."""
        end = time.monotonic() + seconds
        while job.is_active:
            if time.monotonic() > end:
                raise Unavailable("still-waiting", f"Job {job.id} has not ended after {seconds:g} s.", job=job.id)
            time.sleep(pause)
            pause = min(pause * 1.3, 1.0)
            job = self.job(job.id)
            if on_progress is not None:
                on_progress(job)
        return job

    def draws(self, event_id: int, round_no: int) -> tuple[DrawView, ...]:
        """All draws of a round, latest first."""
        return self.drawing(event_id, round_no).draws

    def drawing(self, event_id: int, round_no: int) -> Drawing:
        """All draws of a round and its latest job: what runs, or why it ended."""
        return Drawing.from_json(self._get(f"{_round_path(event_id, round_no)}/draws"))

    def draw(self, event_id: int, round_no: int, draw_no: int) -> DrawView:
        """One draw with its pairs, cost and breaches."""
        return DrawView.from_json(self._get(f"{_round_path(event_id, round_no)}/draws/{draw_no}"))

    def why(self, event_id: int, round_no: int, draw_no: int, number: int) -> Explanation:
        """Why entrant `number` has its place in a draw, published or not. Raises `NotFound` (`not-in-draw`)."""
        return Explanation.from_json(self._get(f"{_round_path(event_id, round_no)}/draws/{draw_no}/why/{number}"))

    def edit_draw(
        self, event_id: int, round_no: int, draw: DrawView, edits: Sequence[Mapping[str, Any]], *, dry_run: bool = False
    ) -> DrawView:
        """A new draft with changes `{"kind", "entrants", "reason"}`; with `dry_run` what it would be.

        Raises `Invalid` (`bad-edit`, `reason-needed` with the place of each), `Stale`, `Conflict`.
        """
        path = f"{_round_path(event_id, round_no)}/draws/{draw.number}"
        query = {"dry_run": True} if dry_run else {}
        body = {"edits": [dict(edit) for edit in edits]}
        return DrawView.from_json(self._write("PATCH", path, body, version=draw.version, **query))

    def make_draw(
        self,
        event_id: int,
        round_no: int,
        pairs: Sequence[tuple[int, int]] = (),
        *,
        bye: int | None = None,
        reason: str = "",
        replaces: DrawView | None = None,
        key: str | None = None,
    ) -> DrawView:
        """A draft made by hand from (first, second) numbers; without pairs `left_over` lists the pool in order.

        `replaces`: the draft that is there, as it was seen. Raises `PreconditionMissing` without, `Stale` for another.
        """
        body: dict[str, Any] = {"pairs": [{"first": a, "second": b} for a, b in pairs], "bye": bye, "reason": reason}
        version = None
        if replaces is not None:
            body["replaces"], version = replaces.number, replaces.version
        path = f"{_round_path(event_id, round_no)}/draws/manual"
        return DrawView.from_json(self._create(path, body, key=key, version=version))

    def accept(self, event_id: int, round_no: int, draw: DrawView) -> DrawView:
        """Accepts a degraded draft, so that it may be published."""
        path = f"{_round_path(event_id, round_no)}/draws/{draw.number}"
        self._write("POST", f"{path}/accept", {}, version=draw.version)
        return self.draw(event_id, round_no, draw.number)

    def publish(self, event_id: int, round_no: int, draw: DrawView) -> RoundView:
        """Publishes a draft. Raises `Conflict` (`draw-stale`, `round-published`)."""
        path = f"{_round_path(event_id, round_no)}/draws/{draw.number}/publish"
        return RoundView.from_json(self._write("POST", path, {}, version=draw.version))

    def close(self, event_id: int, round_: RoundView, *, force: bool = False, reason: str = "") -> RoundView:
        """Closes a round whose boards are all reported, or with `force` and a reason any.

        Raises `Conflict` naming the open boards.
        """
        return self._act(event_id, round_, "close", {"force": force, "reason": reason} if force else {})

    def set_clock(self, event_id: int, round_: RoundView, action: str, *, seconds: int | None = None) -> RoundView:
        """`start` or `adjust` (with seconds), `pause`, `resume`, `stop` the clock of a round."""
        return self._act(event_id, round_, "clock", {"action": action, "seconds": seconds})

    def adjustments(self, event_id: int) -> tuple[Adjustment, ...]:
        """Points given or taken by decision of the chief referee, those taken back too."""
        return items(self._get(f"/api/v1/events/{event_id}/adjustments"), Adjustment.from_json)

    def adjust(
        self, event_id: int, entrant_id: int, *, points: float, after_round: int, reason: str, key: str | None = None
    ) -> Adjustment:
        """Gives points, or takes them (below 0); they count in standings after that round and later."""
        body = {"entrant_id": entrant_id, "points": points, "after_round": after_round, "reason": reason}
        return Adjustment.from_json(self._create(f"/api/v1/events/{event_id}/adjustments", body, key=key))

    def take_back_adjustment(self, event_id: int, adjustment: Adjustment, *, reason: str) -> Adjustment:
        """The decision counts no more. Raises `Stale`, `Conflict` for one taken back already."""
        path = f"/api/v1/events/{event_id}/adjustments/{adjustment.id}/take-back"
        return Adjustment.from_json(self._write("POST", path, {"reason": reason}, version=adjustment.version))

    def reopen(self, event_id: int, round_: RoundView, *, reason: str) -> RoundView:
        """Opens a closed round again."""
        return self._act(event_id, round_, "reopen", {"reason": reason})

    def unpublish(self, event_id: int, round_: RoundView, *, reason: str) -> RoundView:
        """Takes the last round back; its boards are gone for good."""
        return self._act(event_id, round_, "unpublish", {"reason": reason})

    def boards(self, event_id: int, round_no: int) -> Boards:
        """All boards of a round with results and versions, and its byes."""
        return Boards.from_json(self._get(f"{_round_path(event_id, round_no)}/boards"))

    def board(self, board_id: int) -> BoardView:
        """One board. Raises `Gone` for a board of an unpublished draw."""
        return BoardView.from_json(self._get(f"/api/v1/boards/{board_id}"))

    def put_result(
        self,
        board_id: int,
        result: Result | None,
        *,
        version: int,
        swapped: bool | None = None,
        note: str | None = None,
        reason: str | None = None,
    ) -> BoardView:
        """Writes a result on the version seen. Raises `Stale` with the present value, `Conflict` for a closed round."""
        body = _result_body(result, swapped=swapped, note=note, reason=reason)
        return BoardView.from_json(self._write("PUT", f"/api/v1/boards/{board_id}/result", body, version=version))

    def correct(
        self,
        board_id: int,
        result: Result | None,
        *,
        version: int,
        reason: str,
        swapped: bool | None = None,
        note: str | None = None,
    ) -> BoardView:
        """The chief referee's correction, also in a closed round, which stays closed. Raises `Stale`, `Conflict`."""
        body = _result_body(result, swapped=swapped, note=note, reason=reason)
        return BoardView.from_json(self._write("PUT", f"/api/v1/boards/{board_id}/correction", body, version=version))

    def put_results(
        self, event_id: int, round_no: int, results: Sequence[Mapping[str, Any]]
    ) -> tuple[BoardView | QisaiError, ...]:
        """Writes results of many boards of a round, each `{"board_id", "version", "result", …}`.

        Each stands or falls alone: its board, or the error that `put_result` would have raised, in their order.
        """
        body = {"results": [dict(result) for result in results]}
        answer = self._write("PUT", f"{_round_path(event_id, round_no)}/results", body)
        return tuple(
            BoardView.from_json(one["board"]) if one["status"] < 400 else error_of(one["status"], {}, one["problem"])
            for one in answer["items"]
        )

    def preview_correction(self, board_id: int, result: Result | None, *, swapped: bool | None = None) -> Json:
        """Whose line another result would move (`moves`) and what it would have meant for each later round."""
        body = {"result": None if result is None else result.value, "swapped": swapped}
        answer: Json = self._write("POST", f"/api/v1/boards/{board_id}/correction/preview", body)
        return answer

    def board_log(self, board_id: int) -> BoardLog:
        """Every change of a board, and every refused one."""
        return BoardLog.from_json(self._get(f"/api/v1/boards/{board_id}/log"))

    def event_log(self, event_id: int, *, kind: str | None = None, **narrowed: Any) -> tuple[Json, ...]:
        """The event's log, latest first; `kind`: `result`, `conflict`, `audit` or `transition`.

        `narrowed`: actor, action, round, entrant_id, board_id, since, until.
        """
        query = text_query({"kind": kind, **narrowed})
        return all_items(self._transport, f"/api/v1/events/{event_id}/log", dict, query=query)

    def event_log_page(
        self, event_id: int, *, cursor: str | None = None, limit: int = 100, **narrowed: Any
    ) -> tuple[tuple[Json, ...], str | None]:
        """One page of the same, and the cursor of the next; None behind the last."""
        body = self._get(f"/api/v1/events/{event_id}/log", cursor=cursor, limit=limit, **narrowed)
        return tuple(body["items"]), body.get("next")

    def standings(self, event_id: int, *, after: int | None = None) -> Standings:
        """The table after a round, or after the last one."""
        return Standings.from_json(self._get(f"/api/v1/events/{event_id}/standings", after=after))

    def arithmetic(self, event_id: int, number: int, *, after: int | None = None) -> Json:
        """The sums behind one entrant's row."""
        body: Json = self._get(f"/api/v1/events/{event_id}/standings/{number}", after=after)
        return body

    def _act(self, event_id: int, round_: RoundView, action: str, body: Json) -> RoundView:
        path = f"{_round_path(event_id, round_.number)}/{action}"
        answer = self._write("POST", path, dict(body), version=round_.version)
        return RoundView.from_json(answer) if answer and "number" in answer else self.get(event_id, round_.number)


def _result_body(
    result: Result | None, *, swapped: bool | None, note: str | None, reason: str | None
) -> dict[str, Any]:
    """A result to write; what is None but the result stays as it is."""
    more = {"swapped": swapped, "note": note, "reason": reason}
    said = {name: value for name, value in more.items() if value is not None}
    return {"result": None if result is None else result.value, **said}
