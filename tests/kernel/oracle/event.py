"""A tournament file read into plain facts: settings with defaults, who is present, and what each entrant has done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

CARD_GAMES = ("shengji", "tuolaji", "poker_team")
OVER_THE_BOARD = ("first_win", "second_win", "draw", "adjourned")
FORFEITS = ("first_forfeit", "second_forfeit", "double_forfeit")


@dataclass
class Past:
    """What one entrant has behind it. Scores in half-points; `sides` in round order, games with a side only."""

    score: int = 0
    sides: list[str] = field(default_factory=list)
    left_seats: int = 0
    floats: list[tuple[int, str]] = field(default_factory=list)
    unplayed: int = 0
    byes_counted: int = 0

    @property
    def surplus(self) -> int:
        return self.sides.count("first") - self.sides.count("second")

    @property
    def wish(self) -> str | None:
        """The side wanted (section 4, definitions)."""
        if not self.sides:
            return None
        if self.surplus == 0:
            return "second" if self.sides[-1] == "first" else "first"
        return "second" if self.surplus > 0 else "first"


@dataclass
class Event:
    """All the judge needs. `met` and `forbidden` hold sorted pairs; `forbidden` with its range of rounds."""

    regulations: Json
    entrants: dict[int, Json]
    round: int
    present: list[int]
    not_withdrawn: list[int]
    full_byes_now: list[int]
    met: set[tuple[int, int]]
    forbidden: list[tuple[tuple[int, int], int, int | None]]
    past: dict[int, Past]

    @property
    def is_last_round(self) -> bool:
        return bool(self.regulations["rounds"] == self.round)

    @property
    def has_side_criteria(self) -> bool:
        return bool(self.regulations["first_move"] and self.regulations["balance_sides"])

    @property
    def is_score_group(self) -> bool:
        return bool(self.regulations["system"] == "score_group")

    @property
    def avoids_clubs(self) -> bool:
        return self.round == 1 and bool(self.regulations["first_round"]["avoid_same_club"])

    def score(self, number: int) -> int:
        return self.past[number].score

    def is_forbidden(self, pair: tuple[int, int], round_number: int) -> bool:
        """Rule 3 of section 3, with the range of rounds."""
        return any(
            pair == banned and start <= round_number and (end is None or round_number <= end)
            for banned, start, end in self.forbidden
        )

    def withdrawn_in(self, number: int, round_number: int) -> bool:
        start = self.entrants[number].get("withdrawn_from")
        return start is not None and start <= round_number


def sorted_pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def settings(given: Json) -> Json:
    """The regulations with the defaults of files.md, by profile where one is named."""
    cards = given.get("profile") in CARD_GAMES
    system = given.get("system", "draw_number" if cards else "score_group")
    points = {"win": 2, "draw": 1, "loss": 0} if cards else {"win": 1, "draw": 0.5, "loss": 0}
    points |= given.get("points", {})
    points.setdefault("bye", points["win"])
    first_round = {"mode": "system" if system == "draw_number" else "fold", "avoid_same_club": False}
    return {
        "system": system,
        "direction": given.get("direction", "Z"),
        "within_group": given.get("within_group", "adjacent"),
        "first_move": given.get("first_move", not cards),
        "balance_sides": given.get("balance_sides", True),
        "seat_balance": given.get("seat_balance", False),
        "side_priority": given.get("side_priority", "over_score"),
        "first_round": first_round | given.get("first_round", {}),
        "lot_seed": given.get("lot_seed", 0),
        "allow_bye": given.get("allow_bye", True),
        "halves": {name: round(2 * value) for name, value in points.items()},
        "rounds": given.get("rounds"),
        "forfeit_counts_as_met": given.get("forfeit_counts_as_met", False),
    }


def board_points(result: str, halves: Json) -> tuple[int, int]:
    """Half-points of the first and the second side (section 9; adjourned as for pairing)."""
    return {
        "first_win": (halves["win"], halves["loss"]),
        "second_win": (halves["loss"], halves["win"]),
        "draw": (halves["draw"], halves["draw"]),
        "adjourned": (halves["draw"], halves["draw"]),
        "first_forfeit": (0, halves["win"]),
        "second_forfeit": (halves["win"], 0),
        "double_forfeit": (0, 0),
        "void": (0, 0),
    }[result]


def bye_points(kind: str, halves: Json) -> int:
    return int({"full": halves["win"], "half": halves["draw"], "pairing": halves["bye"], "zero": 0, "absent": 0}[kind])


def read(tournament: Json) -> Event:
    """Everything above from a `qisai.tournament/1` dict that is known to be well-formed."""
    regulations = settings(tournament.get("regulations", {}))
    entrants = {entrant["number"]: entrant for entrant in tournament["entrants"]}
    rounds = sorted(tournament.get("rounds", []), key=lambda item: item["number"])
    coming = tournament.get("next") or {"round": len(rounds) + 1}
    event = Event(
        regulations=regulations,
        entrants=entrants,
        round=len(rounds) + 1,
        present=[],
        not_withdrawn=[],
        full_byes_now=[bye["entrant"] for bye in coming.get("byes", []) if bye["kind"] == "full"],
        met=set(),
        forbidden=[
            (sorted_pair(*ban["entrants"]), ban.get("from_round") or 1, ban.get("to_round"))
            for ban in tournament.get("forbidden_pairs", [])
        ],
        past={number: Past() for number in entrants},
    )
    for past_round in rounds:
        _replay(event, past_round)
    event.not_withdrawn = sorted(number for number in entrants if not event.withdrawn_in(number, event.round))
    away = set(coming.get("absent", [])) | {bye["entrant"] for bye in coming.get("byes", [])}
    event.present = [number for number in event.not_withdrawn if number not in away]
    return event


def _replay(event: Event, past_round: Json) -> None:
    """Add one past round to the facts. Scores change only after all boards of the round were looked at."""
    halves = event.regulations["halves"]
    gained = dict.fromkeys(event.entrants, 0)
    unplayed = set(event.entrants)
    for board in past_round.get("boards", []):
        first, second, result = board["first"], board["second"], board["result"]
        gained[first], gained[second] = board_points(result, halves)
        if result in OVER_THE_BOARD:
            unplayed -= {first, second}
            event.past[first].left_seats += 1
            if event.regulations["first_move"]:
                event.past[first].sides.append("first")
                event.past[second].sides.append("second")
        if result in OVER_THE_BOARD or (result in FORFEITS and event.regulations["forfeit_counts_as_met"]):
            event.met.add(sorted_pair(first, second))
        if result in ("first_forfeit", "second_forfeit"):
            event.past[second if result == "first_forfeit" else first].byes_counted += 1
        for one, other in ((first, second), (second, first)):
            if event.score(one) != event.score(other):
                way = "down" if event.score(one) > event.score(other) else "up"
                event.past[one].floats.append((past_round["number"], way))
    for bye in past_round.get("byes", []):
        gained[bye["entrant"]] = bye_points(bye["kind"], halves)
        event.past[bye["entrant"]].byes_counted += bye["kind"] in ("pairing", "full")
    for number, points in gained.items():
        event.past[number].score += points
        event.past[number].unplayed += number in unplayed
