"""The file `qisai.draw/1`: JSON to `Draw` and back."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from qisai.kernel.json_reader import JsonReader
from qisai.kernel.model import Draw, DrawnBoard, LookAhead, Source, Stage
from qisai.kernel.regulations_file import MAX_ROUNDS
from qisai.kernel.tournament_file import MAX_ENTRANTS, MAX_NUMBER, read_algorithm

FORMAT: Final = "qisai.draw/1"
MAX_COST: Final = 2**63 - 1
MAX_TEXT: Final = 2000
MAX_LIST: Final = 1000

_DRAW: Final = frozenset({"format", *Draw.__dataclass_fields__})
_BOARD: Final = frozenset(DrawnBoard.__dataclass_fields__)


def parse_draw(obj: Any) -> Draw:
    """A draw from parsed JSON, boards in order of their numbers.

    Only the form is judged here: whether the draw fits a tournament is for `check.violations`. Raises `Invalid` with a
    `FieldError` for every place.
    """
    reader = JsonReader()
    given = reader.object(obj, "", names=_DRAW)
    if given.get("format") != FORMAT:
        if isinstance(obj, dict):
            reader.fail("/format", f"must be {FORMAT!r}", "format", format=FORMAT)
        reader.finish("invalid-draw", "This is not a draw file")
    for name in ("round", "boards"):
        if name not in given:
            reader.fail(f"/{name}", "is missing", "missing")
    draw = Draw(
        round=reader.integer(given.get("round", 1), "/round", low=1, high=MAX_ROUNDS),
        boards=_boards(reader, given.get("boards", ())),
        bye=reader.optional_integer(given.get("bye"), "/bye", low=1, high=MAX_NUMBER),
        cost=_counts(reader, given.get("cost", {}), "/cost"),
        cross_cap=reader.integer(given.get("cross_cap", 0), "/cross_cap", low=0, high=MAX_ENTRANTS),
        optimal=reader.flag(given.get("optimal", False), "/optimal"),
        proven=_texts(reader, given.get("proven", ()), "/proven"),
        relaxed=_texts(reader, given.get("relaxed", ()), "/relaxed"),
        look_ahead=reader.choice(given.get("look_ahead", LookAhead.NONE.value), "/look_ahead", LookAhead),
        stage=reader.choice(given.get("stage", Stage.SEARCH.value), "/stage", Stage),
        source=reader.choice(given.get("source", Source.MANUAL.value), "/source", Source),
        budget_used=_counts(reader, given.get("budget_used", {}), "/budget_used"),
        edits=_notes(reader, given.get("edits", ()), "/edits"),
        tournament_sha256=reader.text(given.get("tournament_sha256", ""), "/tournament_sha256", maximum=64),
        algorithm=read_algorithm(reader, given),
        flags=_notes(reader, given.get("flags", ()), "/flags"),
    )
    reader.finish("invalid-draw", "The draw cannot be taken")
    return draw


def draw_to_json(draw: Draw) -> dict[str, Any]:
    """The draw as plain JSON values; `parse_draw` gives an equal draw back. `flags` is left out when empty."""
    value: dict[str, Any] = {
        "format": FORMAT,
        "round": draw.round,
        "algorithm": draw.algorithm,
        "tournament_sha256": draw.tournament_sha256,
        "boards": [{"board": board.board, "first": board.first, "second": board.second} for board in draw.boards],
        "bye": draw.bye,
        "cost": dict(draw.cost),
        "cross_cap": draw.cross_cap,
        "optimal": draw.optimal,
        "proven": list(draw.proven),
        "relaxed": list(draw.relaxed),
        "look_ahead": draw.look_ahead.value,
        "stage": draw.stage.value,
        "source": draw.source.value,
        "budget_used": dict(draw.budget_used),
        "edits": [dict(edit) for edit in draw.edits],
    }
    if draw.flags:
        value["flags"] = [dict(flag) for flag in draw.flags]
    return value


def _boards(reader: JsonReader, value: Any) -> tuple[DrawnBoard, ...]:
    boards: list[DrawnBoard] = []
    for index, item in enumerate(reader.array(value, "/boards", maximum=MAX_ENTRANTS)):
        at = f"/boards/{index}"
        given = reader.object(item, at, names=_BOARD)
        board, first, second = (
            reader.integer(given.get(name), f"{at}/{name}", low=1, high=MAX_NUMBER)
            for name in ("board", "first", "second")
        )
        boards.append(DrawnBoard(board=board, first=first, second=second))
    return tuple(sorted(boards, key=lambda board: board.board))


def _counts(reader: JsonReader, value: Any, at: str) -> Mapping[str, int]:
    if not isinstance(value, dict):
        reader.fail(at, "must be an object: name → integer", "type", variant="counts")
        return MappingProxyType({})
    return MappingProxyType(
        {str(name): reader.integer(count, f"{at}/{name}", low=0, high=MAX_COST) for name, count in value.items()}
    )


def _texts(reader: JsonReader, value: Any, at: str) -> tuple[str, ...]:
    items = reader.array(value, at, maximum=MAX_LIST)
    return tuple(reader.text(item, f"{at}/{index}", maximum=MAX_TEXT) for index, item in enumerate(items))


def _notes(reader: JsonReader, value: Any, at: str) -> tuple[Mapping[str, Any], ...]:
    notes: list[Mapping[str, Any]] = []
    for index, item in enumerate(reader.array(value, at, maximum=MAX_LIST)):
        if isinstance(item, dict):
            notes.append(MappingProxyType(item))
        else:
            reader.fail(f"{at}/{index}", "must be an object", "type", variant="object")
    return tuple(notes)
