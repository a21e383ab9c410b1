"""What the form of an event says beforehand, and what then happens: small fields with many rounds, and a full house.

The pages are driven as a browser without scripts would, on a whole platform with its workers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from qisai.client import Client
from qisai.kernel.model import Result
from tests.gateway.test_organiser_pages import NEW
from tests.gateway.test_pages import Person
from tests.system.platform_run import platform

pytestmark = [pytest.mark.slow, pytest.mark.timeout(420)]


@dataclass(frozen=True)
class Hall:
    """A platform with an organiser at its pages."""

    person: Person
    client: Client

    def make(self, *, rounds: int, **form: str) -> tuple[int, str]:
        """The event, and what its form said before it was made."""
        asked = {**NEW, **form, "rounds": str(rounds), "name": f"{rounds}轮赛", "needs_check_in": ""}
        asked = {name: value for name, value in asked.items() if value and name != "needs_approval"}
        said = self.person.post("/events/new", **asked, preview="1").text.split('id="preview"')[1]
        made = re.search(r"/events/(\d+)/", self.person.post("/events/new", **asked).url)
        assert made is not None
        return int(made[1]), said

    def fill(self, event_id: int, count: int) -> None:
        """Opens the event and enters so many by an import; whoever has a place is seated."""
        self.client.events.act(self.client.events.get(event_id), "open")
        desk = f"/events/{event_id}/desk"
        roster = "姓名\n" + "\n".join(f"棋手{n:02}" for n in range(1, count + 1))
        report = self.person.post(f"{desk}/import", text=roster).text
        plan = re.search(r'name="plan" value="(\w+)"', report)
        assert plan is not None
        assert "is imported" in self.person.post(f"{desk}/import", text=roster, plan=plan[1], apply="1").text
        look = self.person.post(f"{desk}/bulk", all_in="approved", to="seated").text
        seen = re.findall(r'name="entrant" value="(\d+:\d+)"', look)
        self.person.post(f"{desk}/bulk", entrant=seen, to="seated", apply="1")
        self.person.post(f"{desk}/lots", mode="machine", version="0")
        self.client.events.act(self.client.events.get(event_id), "close-registration")

    def play(self, event_id: int, round_no: int) -> set[frozenset[int]]:
        """Draws, publishes and plays a round, the smaller number always winning; who met whom."""
        rounds = self.client.rounds
        job = rounds.wait_for(rounds.ask_for_draw(event_id, round_no), seconds=90)
        assert job.state == "succeeded", job
        draft = next(draw for draw in rounds.draws(event_id, round_no) if draw.state == "draft")
        rounds.publish(event_id, round_no, draft)
        boards = rounds.boards(event_id, round_no).items
        for board in boards:
            wins = Result.FIRST_WIN if board.first.number < board.second.number else Result.SECOND_WIN
            rounds.put_result(board.id, wins, version=board.version)
        rounds.close(event_id, rounds.get(event_id, round_no))
        return {frozenset((board.first.number, board.second.number)) for board in boards}


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    folder = tmp_path_factory.mktemp("forms")
    with platform(folder / "var", log=folder / "up", QISAI_PAIRING_DEADLINE_MS="60000") as run:
        run.wait_ready()
        password = run.password()
        assert password is not None
        where: Any = SimpleNamespace(gateway=SimpleNamespace(url=run.address))
        person = Person(where)
        person.http.post(f"{run.address}/sign-in", data={"login": "admin", "password": password}, timeout=20)
        yield Hall(person, run.client(password))


@pytest.mark.parametrize(("entrants", "planned"), [(6, 4), (8, 7)])
def test_a_small_field_that_may_run_dry_is_steered_around_it(hall: Hall, entrants: int, planned: int) -> None:
    event_id, said = hall.make(rounds=planned, expected_entrants=str(entrants))
    assert "may run dry" in said
    assert "the draw looks ahead and steers around that while nobody leaves or comes late." in said
    hall.fill(event_id, entrants)
    met: set[frozenset[int]] = set()
    for round_no in range(1, planned + 1):
        pairs = hall.play(event_id, round_no)
        assert len(pairs) == entrants // 2
        assert not pairs & met, "nobody meets twice"
        met |= pairs
    assert len(met) == planned * entrants // 2


def test_ninety_enter_for_sixty_four_places(hall: Hall) -> None:
    event_id, said = hall.make(rounds=7, expected_entrants="90", capacity="64")
    assert "26 of those expected will wait for a place" in said
    assert "Every round has a legal draw as long as the same people come and nobody is kept apart" in said
    assert "6 rounds single out one winner of 64" in said
    hall.fill(event_id, 90)
    counts = hall.client.events.get(event_id).counts
    assert (counts["seated"], counts["waiting"]) == (64, 26)
    won = [0] * 65
    for round_no in range(1, 7):
        pairs = hall.play(event_id, round_no)
        assert len(pairs) == 32
        for pair in pairs:
            won[min(pair)] += 1
    assert won.count(6) == 1, "six rounds single out one winner, as the form said"
