"""What a demo claims at the end, each claim checked from what the system itself says: export, log, boards."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from qisai.cli.demo.event import Played
from qisai.cli.demo.patience import patiently
from qisai.client import Client, HttpTransport, Standings
from qisai.formats.roster import read_roster
from qisai.kernel.check import violations
from qisai.kernel.model import ByeKind, Draw, DrawnBoard, NextRound, Tournament
from qisai.kernel.tournament_file import parse_tournament


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence, and whether it is true."""

    text: str
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The standings and everything that was checked."""

    event_id: int
    standings: Standings
    claims: tuple[Claim, ...]
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether every claim is true."""
        return all(claim.holds for claim in self.claims)

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "event": self.event_id,
            "seconds": round(self.seconds, 2),
            "holds": self.holds,
            "claims": [{"text": claim.text, "holds": claim.holds} for claim in self.claims],
            "standings": [
                {"rank": row.rank, "number": row.player.number, "name": row.player.name, "points": row.points}
                for row in self.standings.rows
            ],
        }


def check(played: Played, *, url: str, token: str, say: Callable[[str], None]) -> Proof:
    """Checks draws, log, collisions and standings of a played event."""
    say("checking draws, log and standings")
    client = Client(HttpTransport(url, token=token, device="demo-desk"))
    table = patiently(lambda: client.rounds.standings(played.event_id, after=played.rounds))
    exported = patiently(lambda: client.events.export(played.event_id))
    tournament = parse_tournament(exported)
    claims = [
        _about_names(tournament, played),
        *_about_draws(tournament, played),
        *_about_the_log(client, played),
        _about_standings(table, exported, rounds=played.rounds),
        _about_the_end(client, played),
    ]
    return Proof(event_id=played.event_id, standings=table, claims=tuple(claims), seconds=played.seconds)


def _about_the_end(client: Client, played: Played) -> Claim:
    """Finished after the last round; an event with more rounds than were played still runs."""
    event = patiently(lambda: client.events.get(played.event_id))
    is_over = event.regulations.get("rounds") in (None, played.rounds)
    return Claim(text=f"the event is {event.state}", holds=event.state == ("finished" if is_over else "running"))


def _about_names(tournament: Tournament, played: Played) -> Claim:
    """The names of the export are those of the roster, character by character."""
    wanted = Counter(row.name for row in read_roster(played.roster).rows)
    found = Counter(entrant.name for entrant in tournament.entrants)
    same = sum((wanted & found).values())
    return Claim(text=f"{same} of {wanted.total()} names of the roster intact", holds=wanted == found)


def _about_draws(tournament: Tournament, played: Played) -> Iterator[Claim]:
    breaches = sum(len(breaches_of_round(tournament, number)) for number in range(1, played.rounds + 1))
    yield Claim(
        text=f"{len(tournament.rounds)} rounds, {breaches} violations of the rules in any draw",
        holds=len(tournament.rounds) == played.rounds and breaches == 0,
    )


def breaches_of_round(tournament: Tournament, number: int) -> list[Any]:
    """Violations of a played round's draw, judged against the tournament as it was before it."""
    this = tournament.rounds[number - 1]
    asked = tuple(bye for bye in this.byes if bye.kind not in (ByeKind.PAIRING, ByeKind.ABSENT))
    seen = {n for board in this.boards for n in (board.first, board.second)} | {bye.entrant for bye in this.byes}
    absent = tuple(bye.entrant for bye in this.byes if bye.kind is ByeKind.ABSENT)
    gone = tuple(e.number for e in tournament.entrants if e.number not in seen and _is_in(e.withdrawn_from, number))
    before = replace(
        tournament,
        rounds=tournament.rounds[: number - 1],
        next=NextRound(round=number, absent=(*absent, *gone), byes=asked),
    )
    draw = Draw(
        round=number,
        boards=tuple(DrawnBoard(board=b.board, first=b.first, second=b.second) for b in this.boards),
        bye=next((bye.entrant for bye in this.byes if bye.kind is ByeKind.PAIRING), None),
        cost={},
        cross_cap=0,
        optimal=False,
        proven=(),
    )
    return list(violations(before, draw))


def _is_in(withdrawn_from: int | None, number: int) -> bool:
    return withdrawn_from is None or withdrawn_from > number


def _about_the_log(client: Client, played: Played) -> Iterator[Claim]:
    results = patiently(lambda: client.rounds.event_log(played.event_id, kind="result"))
    conflicts = patiently(lambda: client.rounds.event_log(played.event_id, kind="conflict"))
    versions: dict[int, list[int]] = {}
    latest: dict[int, Mapping[str, Any]] = {}
    for row in sorted(results, key=lambda row: row["version"]):
        versions.setdefault(row["board_id"], []).append(row["version"])
        latest[row["board_id"]] = row["new"]
    wrong = 0
    boards = 0
    for number in range(1, played.rounds + 1):
        for board in patiently(lambda n=number: client.rounds.boards(played.event_id, n)).items:  # type: ignore[misc]
            boards += 1
            complete = versions.get(board.id) == list(range(2, board.version + 1))
            same = board.result is not None and latest.get(board.id, {}).get("result") == board.result.value
            wrong += not (complete and same)
    yield Claim(
        text=f"log complete: {len(results)} changes at {boards} boards, each board stands as its last log row says",
        holds=wrong == 0 and boards > 0,
    )
    refused = Counter(board for report in played.reports for board in report.refused)
    logged = Counter(row["board_id"] for row in conflicts)
    overwritten = sum(1 for row in conflicts if row["present_version"] <= row["seen_version"])
    if refused:  # a resumed demo saw only a part of them
        yield Claim(
            text=f"{sum(refused.values())} collisions answered 412, each in the log, nothing overwritten",
            holds=not refused - logged and overwritten == 0,
        )
    yield Claim(text=f"{len(conflicts)} collisions counted from the result log", holds=len(conflicts) > 0)


def _about_standings(table: Standings, exported: Mapping[str, Any], *, rounds: int) -> Claim:
    """Compares the API's table with `qisai standings` run in another process on the exported file."""
    command = [sys.executable, "-m", "qisai.cli.main", "standings", "-", "--after", str(rounds), "--json"]
    told = subprocess.run(command, input=json.dumps(exported), capture_output=True, text=True, check=False)
    same = False
    if told.returncode == 0:
        recomputed = [
            (row["rank"], row["number"], row["points"], row["values"]) for row in json.loads(told.stdout)["rows"]
        ]
        shown = [(row.rank, row.player.number, row.points, dict(row.values)) for row in table.rows]
        same = recomputed == shown
    return Claim(text="standings equal those of `qisai standings` on the exported file", holds=same)
