"""An event of the fault tests with its chief referee, who does everything over the results service's HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from werkzeug.test import TestResponse

from qisai.db.accounts import Role
from qisai.kernel.draw_file import parse_draw
from qisai.kernel.model import Result
from qisai.kernel.pairing import pair_round
from qisai.kernel.tournament_file import parse_tournament
from tests import calls, fields
from tests.faults.stage import Stage

TURNS = (Result.FIRST_WIN, Result.DRAW, Result.SECOND_WIN, Result.FIRST_WIN)


@dataclass(frozen=True, slots=True)
class Play:
    """An event and who leads it."""

    stage: Stage
    field: fields.Field
    chief: calls.Caller
    round_no: int = 2

    @property
    def round(self) -> str:
        return f"/api/v1/events/{self.field.event_id}/rounds/{self.round_no}"

    @property
    def key(self) -> str:
        """Key of the alerts of the round."""
        return f"{self.field.event_id}:{self.round_no}"

    def ask(self, **limits: int) -> int:
        """Asks for the draw; the id of the job."""
        response = self.request(**limits)
        assert response.status_code == 202, response.get_data(as_text=True)
        return int(response.json["id"])

    def request(self, **limits: int) -> TestResponse:
        return self.chief.post(f"{self.round}/draws", json={"limits": limits})

    def correct(self, board: int, result: str) -> TestResponse:
        """Corrects a result of round 1."""
        path = f"/api/v1/boards/{self.field.board_ids[1, board]}"
        version = self.chief.get(path).json["version"]
        return self.chief.put(f"{path}/result", json={"result": result, "reason": "misread"}, version=version)

    def publish(self) -> TestResponse:
        """Publishes the latest draw as it is."""
        draw = self.chief.get(f"{self.round}/draws").json["items"][0]
        return self.chief.post(f"{self.round}/draws/{draw['number']}/publish", version=draw["version"])

    def accept(self) -> TestResponse:
        """Accepts the latest draw."""
        draw = self.chief.get(f"{self.round}/draws").json["items"][0]
        return self.chief.post(f"{self.round}/draws/{draw['number']}/accept", version=draw["version"])

    def feed(self) -> list[tuple[str, dict[str, Any]]]:
        """Entries of the event's feed."""
        statement = "SELECT kind, data FROM feed_entry WHERE event_id = :id ORDER BY feed_no"
        return [(row.kind, row.data) for row in self.stage.rows(statement, id=self.field.event_id)]


def make_play(stage: Stage, *, entrants: int = 10, **event: Any) -> Play:
    """An event after one published round with results."""
    half = entrants // 2
    with stage.owner() as session:
        field = fields.ready_event(session, entrants=entrants, **event)
        pairs = [(n, n + half, TURNS[n % 4]) for n in range(1, half + 1)]
        fields.add_round(session, field, pairs=pairs)
    return Play(stage, field, stage.person(Role.CHIEF_REFEREE, field.event_id))


def is_the_draw(play: Play, job_id: int) -> None:
    """The job left one draft, and it is the draw that its stored tournament has, whoever computes it."""
    (draft,) = play.stage.drafts(job_id)
    assert parse_draw(draft.document).boards == pair_round(parse_tournament(draft.snapshot)).boards
