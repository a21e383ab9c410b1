"""The rules of standings where people read them: fixtures and hand-made events through import, API, file and sheets."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from qisai.cli.main import main
from qisai.db.accounts import Role
from qisai.kernel.model import Result
from qisai.kernel.profiles import PROFILES
from qisai.kernel.tie_breaks import TIE_BREAKS
from qisai.kernel.tournament_file import tournament_to_json
from tests import calls, fields
from tests.kernel.crosstable import tournament
from tests.kernel.random_tournaments import random_tournament
from tests.kernel.test_tie_breaks_fixture import EXPECTED, TABLE
from tests.results.asked import statements
from tests.results.conftest import Service, make_play, problem

OPEN284 = Path(__file__).parents[3] / "shared" / "data" / "open284.json"
ALL = tuple(code for code in TIE_BREAKS if code != "lots")


@pytest.fixture
def organiser(service: Service) -> calls.Caller:
    return service.person(Role.ORGANISER, name="孔主办")


def imported(organiser: calls.Caller, document: dict[str, Any]) -> str:
    made = organiser.post("/api/v1/events/imports/json?profile=xiangqi", document)
    assert made.status_code == 201, made.text
    return f"/api/v1/events/{made.json['id']}"


def of_table(organiser: calls.Caller, table: str, *, tie_breaks: tuple[str, ...] = ALL, **settings: Any) -> str:
    """An event from lines as in `tests.kernel.crosstable`."""
    document = tournament_to_json(tournament(table, tie_breaks=tie_breaks, **settings))
    for entrant in document["entrants"]:
        entrant["name"] = f"棋手{entrant['number']}"
    return imported(organiser, document)


def rows(caller: calls.Caller, event: str, query: str = "") -> dict[int, Any]:
    answer = caller.get(f"{event}/standings{query}")
    assert answer.status_code == 200, answer.text
    return {row["number"]: row for row in answer.json["rows"]}


def column(caller: calls.Caller, event: str, code: str) -> list[float | None]:
    found = rows(caller, event)
    return [found[n]["points"] if code == "points" else found[n]["values"][code] for n in sorted(found)]


def test_the_fixture_of_the_rules_comes_out_of_the_api_cell_by_cell(organiser: calls.Caller) -> None:
    event = of_table(organiser, TABLE)
    assert {code: tuple(column(organiser, event, code)) for code in EXPECTED} == EXPECTED


def test_the_progressive_check_of_the_rules_with_its_correction(service: Service) -> None:
    """Results 1, 1, ½, 0 give 8; with round 1 corrected to ½, three rounds later, 6 (docs/rules.md section 9)."""
    play = make_play(service, entrants=6)
    with service.owner() as session:
        for pairs in (
            [(1, 2, Result.FIRST_WIN), (3, 4, Result.DRAW), (5, 6, Result.DRAW)],
            [(1, 3, Result.FIRST_WIN), (2, 5, Result.DRAW), (4, 6, Result.DRAW)],
            [(1, 4, Result.DRAW), (2, 6, Result.DRAW), (3, 5, Result.DRAW)],
            [(5, 1, Result.FIRST_WIN), (2, 4, Result.DRAW), (3, 6, Result.DRAW)],
        ):
            fields.add_round(session, play.field, pairs=pairs)
    public = service.public()
    assert rows(public, play.event)[1]["values"]["progressive"] == 8
    before = [public.get(f"{play.event}/standings?after={after}").json for after in range(5)]
    done = play.chief.put(play.result_of(1, 1), {"result": "draw", "reason": "误录"}, version=2)
    assert done.status_code == 200, done.text
    assert rows(public, play.event)[1]["values"]["progressive"] == 6
    after = [public.get(f"{play.event}/standings?after={after}").json for after in range(5)]
    assert [a == b for a, b in zip(before, after, strict=True)] == [True, False, False, False, False]
    assert [row["points"] for row in (rows(public, play.event, f"?after={n}")[2] for n in range(1, 5))] == [
        0.5, 1, 1.5, 2,
    ]  # fmt: skip


def test_a_circle_of_three_shares_its_rank_and_the_arithmetic_says_why(organiser: calls.Caller) -> None:
    event = of_table(
        organiser,
        """
        1: 2w1 3b0 4w1
        2: 1b0 4w1 3w1
        3: 4w1 1w1 2b0
        4: 3b0 2b0 1b0
        """,
        tie_breaks=("direct",),
    )
    found = rows(organiser, event)
    assert [found[number]["rank"] for number in (1, 2, 3, 4)] == [1, 1, 1, 4]
    assert {found[number]["values"]["direct"] for number in (1, 2, 3)} == {1}
    sums = organiser.get(f"{event}/standings/1").json["criteria"]
    direct = next(one for one in sums if one["code"] == "direct")["terms"]
    assert [(term["round"], term["opponent"], term["value"]) for term in direct] == [(1, 2, 1), (2, 3, 0)]


UNPLAYED = """
    1: 2w1 3w+ 4wV U
    2: 1b0 4wX 3w1 H
    3: 4w1 1b- 2b0 Z
    4: 3b0 2bX 1bV F
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("points", (3, 1.5, 1, 1)),
        ("opponents", (1.5, 4, 2.5, 1)),
        ("progressive", (8, 2.5, 4, 1)),
        ("wins", (3, 1, 1, 1)),
        ("wins_played", (1, 1, 1, 0)),
        ("second_games", (0, 1, 1, 1)),
        ("sodos", (1.5, 1, 1, 0)),
    ],
)
def test_forfeits_void_games_and_each_kind_of_bye_count_as_the_rules_say(
    organiser: calls.Caller, code: str, expected: tuple[float, ...]
) -> None:
    assert tuple(column(organiser, of_table(organiser, UNPLAYED), code)) == expected


def test_a_withdrawn_leader_keeps_place_and_rounds(service: Service) -> None:
    play = make_play(service)
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.FIRST_WIN), (2, 4, Result.DRAW)])
        fields.add_round(session, play.field, pairs=[(1, 2, Result.FIRST_WIN), (3, 4, Result.DRAW)])
    public = service.public()
    before = rows(public, play.event)
    with service.owner() as session:
        session.execute(
            sa.text("UPDATE entrant SET state = 6, withdrawn_from = 3 WHERE id = :id"),
            {"id": play.field.entrant_ids[1]},
        )
        fields.bump(session, play.field.event_id)
    after = rows(public, play.event)
    assert after[1] == {**before[1], "withdrawn_from": 3}
    assert after[1]["rank"] == 1
    assert {number: after[number] for number in (2, 3, 4)} == {number: before[number] for number in (2, 3, 4)}
    history = public.get(f"{play.event}/histories/1").json
    assert [cell["fate"] for cell in history["rounds"]] == ["win", "win"]


def test_a_stray_result_after_the_finish_is_refused_and_moves_nothing(service: Service) -> None:
    play = make_play(service)
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 3, Result.FIRST_WIN), (2, 4, Result.DRAW)])
    chief, public = play.chief, service.public()
    version = chief.get(play.round(1)).json["version"]
    assert chief.post(f"{play.round(1)}/close", {}, version=version).status_code == 200
    event_version = service.rows("SELECT version FROM event WHERE id = :id", id=play.field.event_id)[0].version
    finished = chief.post(f"{play.event}/finish", version=event_version)
    assert finished.status_code == 200, finished.text
    table = public.get(f"{play.event}/standings").json
    for caller in (chief, play.referee()):
        problem(caller.put(play.result_of(1, 1), {"result": "draw", "reason": "迟到"}, version=2), 409, "round-closed")
    assert public.get(f"{play.event}/standings").json == table
    problem(
        chief.post(f"{play.round(1)}/reopen", {"reason": "迟到的成绩"}, version=version + 1), 409, "event-not-running"
    )


@pytest.mark.parametrize("seed", range(6))
def test_standings_after_a_round_never_depend_on_later_rounds(organiser: calls.Caller, seed: int) -> None:
    document = random_tournament(random.Random(seed), smallest=5, largest=9, rounds=4)
    document.pop("next")
    document.pop("adjustments", None)
    whole = imported(organiser, document)
    for after in range(4):
        cut = imported(organiser, {**document, "rounds": document["rounds"][:after]})
        for what in ("standings", "crosstable"):
            early = organiser.get(f"{cut}/{what}").json
            late = organiser.get(f"{whole}/{what}?after={after}").json
            assert _without_ids(early) == _without_ids(late)


def _without_ids(table: dict[str, Any]) -> dict[str, Any]:
    return {**table, "rows": [{**row, "entrant_id": 0} for row in table["rows"]]}


@pytest.mark.parametrize("seed", range(10, 16))
def test_api_command_line_and_sheets_agree_cell_by_cell(
    organiser: calls.Caller, tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    document = random_tournament(random.Random(seed), smallest=5, largest=9, rounds=4)
    document["regulations"]["tie_breaks"] = list(ALL)
    _agree(organiser, imported(organiser, document), tmp_path / "event.json", capsys)


@pytest.mark.skipif(not OPEN284.exists(), reason="../shared/data/open284.json is not here")
def test_the_open_of_284_agrees_everywhere(
    organiser: calls.Caller, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    event = imported(organiser, json.loads(OPEN284.read_text(encoding="utf-8")))
    _agree(organiser, event, tmp_path / "event.json", capsys)


def _agree(organiser: calls.Caller, event: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(json.dumps(organiser.get(f"{event}/exports/json").json), encoding="utf-8")
    for after in range(1 + organiser.get(f"{event}/standings").json["after"]):
        table = organiser.get(f"{event}/standings?after={after}").json
        capsys.readouterr()
        assert main(["standings", str(file), "--after", str(after), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        lines = [{name: row[name] for name in ("rank", "number", "name", "points", "values")} for row in table["rows"]]
        assert [{name: row[name] for name in lines[0]} for row in told["rows"]] == lines
        written = _sheet(organiser, event, f"what=standings&after={after}")
        assert written[1:] == [
            [*_who(row), _text(row["points"]), *(_text(row["values"][one["code"]]) for one in table["criteria"])]
            for row in table["rows"]
        ]
        _crosstable_agrees(organiser, event, after, table)


def _crosstable_agrees(organiser: calls.Caller, event: str, after: int, table: dict[str, Any]) -> None:
    cross = organiser.get(f"{event}/crosstable?after={after}").json
    rows_alone = [{n: v for n, v in row.items() if n not in ("cells", "adjustment")} for row in cross["rows"]]
    assert rows_alone == table["rows"]
    for row, line in zip(cross["rows"], _sheet(organiser, event, f"what=crosstable&after={after}")[1:], strict=True):
        width, who = 4 if cross["sides"] else 3, len(_who(row))
        for at, cell in enumerate(row["cells"]):
            written = line[who + at * width : who + (at + 1) * width]
            assert (written[0], written[-1]) == (_text(cell["opponent"]), _text(cell["points"]))
        assert line[who + after * width] == _text(row["adjustment"])
    for row in cross["rows"][:3]:
        history = organiser.get(f"{event}/histories/{row['number']}?after={after}").json
        opponents = [None if cell["opponent"] is None else cell["opponent"]["number"] for cell in history["rounds"]]
        assert opponents == [cell["opponent"] for cell in row["cells"]]


def _sheet(caller: calls.Caller, event: str, query: str) -> list[list[str]]:
    content = caller.get(f"{event}/exports/csv?{query}").data.decode("utf-8-sig")
    return list(csv.reader(io.StringIO(content, newline="")))


def _who(row: dict[str, Any]) -> list[str]:
    """The first columns of a line; teams are listed with their members."""
    members = ["、".join(row["members"])] if "members" in row else []
    return [str(row["rank"]), str(row["number"]), row["name"], *members, row["club"]]


def _text(value: Any) -> str:
    return "" if value is None else str(value)


@pytest.mark.parametrize(
    "path",
    ["standings", "standings?club=x", "standings/1", "crosstable", "histories/1", "exports/csv?what=standings",
     "exports/csv?what=crosstable", "exports/csv?what=pairings", "exports/json", "rounds", "rounds/1",
     "rounds/1/boards", "feed", "log", "log/csv", "adjustments"],
)  # fmt: skip
def test_the_number_of_queries_does_not_grow_with_the_event(service: Service, path: str) -> None:
    asked = []
    for entrants in (4, 40):
        play = make_play(service, entrants=entrants)
        with service.owner() as session:
            for shift in range(2):
                half = entrants // 2
                pairs = [(n, half + 1 + (n - 1 + shift) % half, Result.DRAW) for n in range(1, half + 1)]
                fields.add_round(session, play.field, pairs=pairs)
        for board in range(1, entrants // 2 + 1):
            assert play.chief.put(play.result_of(2, board), {"result": "first_win"}, version=2).status_code == 200
        with statements(service.app) as found:
            assert play.chief.get(f"{play.event}/{path}").status_code == 200
        asked.append(found)
    assert len(asked[0]) > 1
    assert asked[0] == asked[1]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_has_its_tables(service: Service, profile: str) -> None:
    play = make_play(service, profile=profile)
    with service.owner() as session:
        fields.add_round(session, play.field, pairs=[(1, 2, Result.FIRST_WIN), (3, 4, Result.SECOND_FORFEIT)])
    for path in ("standings", "standings/1", "crosstable", "histories/1", "exports/csv?what=pairings"):
        assert service.public().get(f"{play.event}/{path}").status_code == 200, path
