"""The regulations of an event as JSON, both ways: part of `qisai.tournament/1` and the frozen copy of an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from qisai.kernel.json_reader import JsonReader
from qisai.kernel.model import (
    ByeCompensation,
    CompensationKind,
    Direction,
    FirstRound,
    FirstRoundMode,
    LateEntry,
    Limits,
    Points,
    Regulations,
    SidePriority,
    System,
    WithinGroup,
)
from qisai.kernel.profiles import PROFILES, Profile, default_first_round_mode
from qisai.kernel.tie_breaks import TIE_BREAKS

MAX_ROUNDS: Final = 100
MAX_POINTS: Final = 100
"""Whole points that a win, a draw, a loss, a bye or a compensation may be worth."""
MAX_LOT_SEED: Final = 2**63 - 1
MAX_BUDGET: Final = 10**12
MAX_CODE: Final = 60

_NAMES: Final = frozenset(Regulations.__dataclass_fields__)
_POINTS: Final = frozenset(Points.__dataclass_fields__)
_FIRST_ROUND: Final = frozenset(FirstRound.__dataclass_fields__)
_COMPENSATION: Final = frozenset(ByeCompensation.__dataclass_fields__)
_LIMITS: Final = frozenset(Limits.__dataclass_fields__)


def parse_regulations(obj: Any, *, profile_defaults: Regulations | None = None, pointer: str = "") -> Regulations:
    """Regulations from JSON; what is not said is taken from `profile_defaults`, else from the profile it names.

    Raises `Invalid` with one `FieldError` for every bad value; `pointer` is where `obj` stands in the caller's input.
    """
    reader = JsonReader()
    regulations = read_regulations(reader, obj, pointer, defaults=profile_defaults)
    reader.finish("invalid-regulations", "The regulations cannot be taken")
    return regulations


def read_regulations(
    reader: JsonReader,
    obj: Any,
    pointer: str,
    *,
    defaults: Regulations | None = None,
    profiles: Mapping[str, Profile] = PROFILES,
) -> Regulations:
    """As `parse_regulations`, but complaints go to `reader`."""
    given = reader.object(obj, pointer, names=_NAMES)
    base = _base(reader, given, pointer, defaults=defaults, profiles=profiles)

    def flag(name: str, default: bool) -> bool:
        return reader.flag(given[name], f"{pointer}/{name}") if name in given else default

    def choice(name: str, default: Any) -> Any:
        return reader.choice(given[name], f"{pointer}/{name}", type(default)) if name in given else default

    system: System = choice("system", base.system)
    direction: Direction = choice("direction", base.direction)
    within_group: WithinGroup = choice("within_group", base.within_group)
    side_priority: SidePriority = choice("side_priority", base.side_priority)
    late_entry: LateEntry = choice("late_entry", base.late_entry)
    seed = given.get("lot_seed", base.lot_seed)
    rounds = given.get("rounds", base.rounds)
    return replace(
        base,
        system=system,
        direction=direction,
        within_group=within_group,
        side_priority=side_priority,
        late_entry=late_entry,
        first_move=flag("first_move", base.first_move),
        balance_sides=flag("balance_sides", base.balance_sides),
        seat_balance=flag("seat_balance", base.seat_balance),
        allow_bye=flag("allow_bye", base.allow_bye),
        forfeit_counts_as_met=flag("forfeit_counts_as_met", base.forfeit_counts_as_met),
        lot_seed=reader.integer(seed, f"{pointer}/lot_seed", low=0, high=MAX_LOT_SEED),
        rounds=reader.optional_integer(rounds, f"{pointer}/rounds", low=1, high=MAX_ROUNDS),
        first_round=_first_round(reader, given, pointer, base=base, system=system),
        points=_points(reader, given, pointer, base=base.points),
        bye_compensation=_compensation(reader, given, pointer, base=base.bye_compensation),
        tie_breaks=_tie_breaks(reader, given, pointer, base=base.tie_breaks),
        limits=_limits(reader, given, pointer, base=base.limits),
    )


def regulations_to_json(regulations: Regulations) -> dict[str, Any]:
    """The regulations as docs/files.md has them: every name present, points as numbers in steps of .5."""
    points, compensation = regulations.points, regulations.bye_compensation
    return {
        "profile": regulations.profile,
        "system": regulations.system.value,
        "direction": regulations.direction.value,
        "within_group": regulations.within_group.value,
        "first_move": regulations.first_move,
        "balance_sides": regulations.balance_sides,
        "seat_balance": regulations.seat_balance,
        "side_priority": regulations.side_priority.value,
        "first_round": {
            "mode": regulations.first_round.mode.value,
            "avoid_same_club": regulations.first_round.avoid_same_club,
        },
        "lot_seed": regulations.lot_seed,
        "allow_bye": regulations.allow_bye,
        "points": {
            "win": points_number(points.win),
            "draw": points_number(points.draw),
            "loss": points_number(points.loss),
            "bye": points_number(points.bye),
        },
        "bye_compensation": {
            "kind": compensation.kind.value,
            "points": None if compensation.points is None else points_number(compensation.points),
        },
        "late_entry": regulations.late_entry.value,
        "rounds": regulations.rounds,
        "forfeit_counts_as_met": regulations.forfeit_counts_as_met,
        "tie_breaks": list(regulations.tie_breaks),
        "limits": {"max_depth": regulations.limits.max_depth, "max_steps": regulations.limits.max_steps},
    }


def unused_fields(*, first_move: bool, system: str) -> frozenset[str]:
    """Regulations that mean nothing where somebody (or nobody) moves first, and under this system.

    An event neither takes nor keeps nor shows them (docs/rules.md section 2); pairing goes by their defaults.
    """
    unused = {"seat_balance"} if first_move else {"balance_sides", "side_priority"}
    if system != System.SCORE_GROUP:
        unused.add("side_priority")
    if system == System.DRAW_NUMBER:  # a round robin falls back on it where its table cannot be kept
        unused.add("within_group")
    else:
        unused.add("direction")
    return frozenset(unused)


def used_fields(complete: Mapping[str, Any]) -> dict[str, Any]:
    """Of complete regulations as JSON what the game and the system use: what an event keeps and shows."""
    unused = unused_fields(first_move=complete["first_move"], system=complete["system"])
    return {name: value for name, value in complete.items() if name not in unused}


def points_number(half_points: int) -> int | float:
    """Half-points as the number people write: 2 → 1, 3 → 1.5."""
    return half_points // 2 if half_points % 2 == 0 else half_points / 2


def _base(
    reader: JsonReader,
    given: Mapping[str, Any],
    pointer: str,
    *,
    defaults: Regulations | None,
    profiles: Mapping[str, Profile],
) -> Regulations:
    code = given.get("profile")
    if code is not None:
        code = reader.text(code, f"{pointer}/profile", maximum=MAX_CODE)
    if defaults is not None:
        if code is not None and code != defaults.profile:
            detail = f"is {code!r}, but the event's game is {defaults.profile!r}"
            reader.fail(f"{pointer}/profile", detail, "profile", value=code, game=defaults.profile)
        return defaults
    if code is None:
        system = System.SCORE_GROUP
        if given.get("system") in (System.DRAW_NUMBER.value, System.ROUND_ROBIN.value):
            system = System(given["system"])
        return Regulations(first_round=FirstRound(mode=default_first_round_mode(system)))
    if code not in profiles:
        known = ", ".join(profiles)
        reader.fail(f"{pointer}/profile", f"is {code!r}, but must be one of {known}", "unknown-profile", known=known)
        return Regulations()
    return profiles[code].regulations()


def _first_round(
    reader: JsonReader, given: Mapping[str, Any], pointer: str, *, base: Regulations, system: System
) -> FirstRound:
    at = f"{pointer}/first_round"
    obj = reader.object(given["first_round"], at, names=_FIRST_ROUND) if "first_round" in given else {}
    mode = base.first_round.mode if system is base.system else default_first_round_mode(system)
    avoid = base.first_round.avoid_same_club
    return FirstRound(
        mode=reader.choice(obj["mode"], f"{at}/mode", FirstRoundMode) if "mode" in obj else mode,
        avoid_same_club=reader.flag(obj["avoid_same_club"], f"{at}/avoid_same_club")
        if "avoid_same_club" in obj
        else avoid,
    )


def _points(reader: JsonReader, given: Mapping[str, Any], pointer: str, *, base: Points) -> Points:
    if "points" not in given:
        return base
    at = f"{pointer}/points"
    obj = reader.object(given["points"], at, names=_POINTS)

    def value(name: str, default: int) -> int:
        return reader.half_points(obj[name], f"{at}/{name}", maximum=MAX_POINTS) if name in obj else default

    complaints = len(reader.errors)
    win, draw, loss = value("win", base.win), value("draw", base.draw), value("loss", base.loss)
    bye = value("bye", win if "win" in obj else base.bye)
    if len(reader.errors) == complaints and not (win > draw >= loss and win >= bye):
        detail = "a win must be worth more than a draw, a draw no less than a loss, a bye no more than a win"
        reader.fail(at, detail, "points-order")
    return Points(win=win, draw=draw, loss=loss, bye=bye)


def _compensation(
    reader: JsonReader, given: Mapping[str, Any], pointer: str, *, base: ByeCompensation
) -> ByeCompensation:
    if "bye_compensation" not in given:
        return base
    at = f"{pointer}/bye_compensation"
    obj = reader.object(given["bye_compensation"], at, names=_COMPENSATION)
    kind = reader.choice(obj["kind"], f"{at}/kind", CompensationKind) if "kind" in obj else CompensationKind.ZERO
    value = obj.get("points")
    points = None if value is None else reader.half_points(value, f"{at}/points", maximum=MAX_POINTS)
    if (kind is CompensationKind.FIXED) != (points is not None):
        reader.fail(f"{at}/points", "must be given with kind fixed, and only then", "points-with-fixed")
    return ByeCompensation(kind=kind, points=points)


def _tie_breaks(
    reader: JsonReader, given: Mapping[str, Any], pointer: str, *, base: tuple[str, ...]
) -> tuple[str, ...]:
    if "tie_breaks" not in given:
        return base
    at = f"{pointer}/tie_breaks"
    codes: list[str] = []
    for index, value in enumerate(reader.array(given["tie_breaks"], at, maximum=len(TIE_BREAKS))):
        code = reader.text(value, f"{at}/{index}", maximum=MAX_CODE)
        if code not in TIE_BREAKS:
            known = ", ".join(TIE_BREAKS)
            reader.fail(f"{at}/{index}", f"is {code!r}, but must be one of {known}", "unknown-tie-break", known=known)
        if code in codes:
            reader.fail(f"{at}/{index}", f"{code} stands twice", "duplicate", value=code)
        codes.append(code)
    return tuple(codes)


def _limits(reader: JsonReader, given: Mapping[str, Any], pointer: str, *, base: Limits) -> Limits:
    if "limits" not in given:
        return base
    at = f"{pointer}/limits"
    obj = reader.object(given["limits"], at, names=_LIMITS)
    depth, steps = obj.get("max_depth", base.max_depth), obj.get("max_steps", base.max_steps)
    return Limits(
        max_depth=reader.optional_integer(depth, f"{at}/max_depth", low=1, high=MAX_BUDGET),
        max_steps=reader.optional_integer(steps, f"{at}/max_steps", low=1, high=MAX_BUDGET),
    )
