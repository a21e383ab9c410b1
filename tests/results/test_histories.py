"""Whatever happened in an event, its standings are those of a fresh import of its exported file, after every round.

Nothing derived is stored that could go its own way: entries, corrections three rounds back, reopenings, withdrawals,
late entries and adjustments in any order, as a seed says. And what comes later never moves an earlier table.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from qisai.db.accounts import Role
from qisai.db.entrants import EntrantRow, EntrantState
from qisai.db.snapshot import read_tournament
from qisai.kernel.model import Result
from qisai.kernel.pairing import NoLegalDraw, pair_round
from tests import fields
from tests.results.conftest import Play, Service, make_play

RESULTS = [result.value for result in Result]


class History:
    """One event and the steps it may take next."""

    def __init__(self, service: Service, random: Random) -> None:
        self.random = random
        regulations = {
            "late_entry": self.random.choice(["zero", "half"]),
            "tie_breaks": ["opponents", "progressive", "sodos", "bh_c1", "wins", "direct"],
            "forfeit_counts_as_met": self.random.random() < 0.5,
        }
        self.play: Play = make_play(service, entrants=9, regulations=regulations)
        self.service = service
        self.rounds = 0
        self.happened: list[str] = []

    def step(self) -> None:
        """One thing that may happen now."""
        steps = [self.enter, self.enter, self.enter, self.correct, self.withdraw, self.late_entry, self.adjust]
        if self.rounds == 0 or self.random.random() < 0.3:
            steps = [self.next_round]
        chosen = self.random.choice(steps)
        chosen()
        self.happened.append(chosen.__name__)

    def next_round(self) -> None:
        if self.rounds:
            self.report_all()
        number = self.rounds + 1
        with self.service.owner() as session:
            tournament = read_tournament(
                session, self.play.field.event_id, round_no=number, for_pairing=True
            ).tournament
        try:
            draw = pair_round(tournament, stage="search")
        except NoLegalDraw:
            return
        body = {"pairs": [{"first": b.first, "second": b.second} for b in draw.boards], "bye": draw.bye}
        made = self.play.chief.post(f"{self.play.round(number)}/draws/manual", body)
        assert made.status_code == 201, made.get_data(as_text=True)
        url = f"{self.play.round(number)}/draws/{made.json['number']}/publish"
        with self.earlier_tables_stay(number):
            assert self.play.chief.post(url, version=1).status_code == 200
        self.rounds = number

    @contextmanager
    def earlier_tables_stay(self, number: int) -> Iterator[None]:
        """What is done to this round moves no table of the rounds before it: one of them is looked at."""
        after = self.random.randint(0, number - 1)
        before = table(self.service, self.play.field.event_id, after)
        yield
        assert table(self.service, self.play.field.event_id, after) == before

    def boards(self, number: int) -> list[Any]:
        items: list[Any] = self.play.chief.get(f"{self.play.round(number)}/boards").json["items"]
        return items

    def put(self, board: Any, result: str | None, **more: Any) -> None:
        body = {"result": result, "reason": "复核", **more}
        answer = self.play.chief.put(f"/api/v1/boards/{board['id']}/result", body, version=board["version"])
        assert answer.status_code == 200, answer.get_data(as_text=True)

    def report_all(self) -> None:
        for number in range(1, self.rounds + 1):
            missing = [board for board in self.boards(number) if board["result"] is None]
            if missing:
                self.reopen(number)
            for board in missing:
                self.put(board, self.random.choice(RESULTS))

    def enter(self) -> None:
        board = self.random.choice(self.boards(self.rounds))
        if self.play.chief.get(self.play.round(self.rounds)).json["state"] == "published":
            with self.earlier_tables_stay(self.rounds):
                self.put(board, self.random.choice([*RESULTS, None]), swapped=self.random.random() < 0.2)

    def reopen(self, number: int) -> None:
        round_ = self.play.chief.get(self.play.round(number)).json
        if round_["state"] == "closed":
            url = f"{self.play.round(number)}/reopen"
            assert self.play.chief.post(url, {"reason": "复核"}, version=round_["version"]).status_code == 200

    def correct(self) -> None:
        number = self.random.randint(1, self.rounds)
        self.reopen(number)
        with self.earlier_tables_stay(number):
            self.put(self.random.choice(self.boards(number)), self.random.choice(RESULTS))
        version = self.play.chief.get(self.play.round(number)).json["version"]
        body = {"force": True, "reason": "续录"}
        assert self.play.chief.post(f"{self.play.round(number)}/close", body, version=version).status_code == 200

    def withdraw(self) -> None:
        with self.service.owner() as session:
            here = (EntrantRow.event_id == self.play.field.event_id, EntrantRow.state == EntrantState.SEATED)
            seated = list(session.scalars(sa.select(EntrantRow.id).where(*here).order_by(EntrantRow.id)))
            if len(seated) > 6:
                gone = sa.update(EntrantRow).where(EntrantRow.id == self.random.choice(seated))
                session.execute(gone.values(state=EntrantState.WITHDRAWN, withdrawn_from=self.rounds + 1))
                fields.bump(session, self.play.field.event_id)

    def late_entry(self) -> None:
        with self.service.owner() as session:
            here = sa.select(sa.func.max(EntrantRow.number)).where(EntrantRow.event_id == self.play.field.event_id)
            number = session.execute(here).scalar_one() + 1
            if number <= 12:
                fields.add_entrant(session, self.play.field.event_id, number=number, entered_round=self.rounds + 1)
                fields.bump(session, self.play.field.event_id)

    def adjust(self) -> None:
        body = {
            "entrant_id": self.random.choice(list(self.play.field.entrant_ids.values())),
            "points": self.random.choice([-1, -0.5, 0.5]),
            "after_round": self.random.randint(1, self.rounds),
            "reason": "裁判长决定",
        }
        made = self.play.chief.post(f"{self.play.event}/adjustments", body)
        assert made.status_code == 201, made.get_data(as_text=True)
        if self.random.random() < 0.3:
            url = f"{self.play.event}/adjustments/{made.json['id']}/take-back"
            assert self.play.chief.post(url, {"reason": "申诉"}, version=1).status_code == 200


def tables(service: Service, event_id: int, rounds: int) -> list[list[Any]]:
    """The table after each round, without ids."""
    return [table(service, event_id, after) for after in range(1, rounds + 1)]


def table(service: Service, event_id: int, after: int) -> list[Any]:
    """The table after one round, as everybody sees it."""
    rows = service.public().get(f"/api/v1/events/{event_id}/standings?after={after}").json["rows"]
    return [(row["rank"], row["number"], row["points"], row["values"]) for row in rows]


def imported(service: Service, document: dict[str, Any]) -> int:
    """A new event from a file; its id."""
    made = service.person(Role.ORGANISER).post("/api/v1/events/imports/json", document)
    assert made.status_code == 201, made.get_data(as_text=True)
    return int(made.json["id"])


def until(document: dict[str, Any], after: int) -> dict[str, Any]:
    """The file as if nothing had been played or decided behind a round."""
    known = {name: value for name, value in document.items() if name != "next"}
    decided = [one for one in document.get("adjustments", []) if one["after_round"] <= after]
    return {**known, "rounds": document["rounds"][:after], "adjustments": decided}


EXAMPLES = 5
"""Each plays some dozens of steps over a real database, in two or three seconds where nothing else runs."""


@pytest.mark.timeout(300)
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    print_blob=True,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(seed=st.integers(0, 2**32), more=st.integers(0, 10))
def test_any_history_gives_the_standings_of_a_fresh_import_of_its_file(service: Service, seed: int, more: int) -> None:
    history = History(service, Random(seed))
    while history.rounds < 4 and len(history.happened) < 20:
        history.step()
    for _ in range(more):
        history.step()
    assert history.rounds, history.happened
    document = history.play.chief.get(f"{history.play.event}/exports/json").json
    before = tables(service, history.play.field.event_id, history.rounds)
    fresh = imported(service, document)
    assert tables(service, fresh, history.rounds) == before
    assert service.person(Role.ASSOCIATION_ADMIN).get(f"/api/v1/events/{fresh}/exports/json").json == document
    for after in range(1, history.rounds + 1):
        assert table(service, imported(service, until(document, after)), after) == before[after - 1]
