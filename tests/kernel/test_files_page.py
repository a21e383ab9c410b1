"""docs/files.md shows every member of both files, and its examples can be read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from qisai.kernel import pair_round
from qisai.kernel.draw_file import draw_to_json, parse_draw
from qisai.kernel.model import Regulations
from qisai.kernel.standings import standings
from qisai.kernel.tournament_file import parse_tournament, regulations_to_json, tournament_to_json

PAGE = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
TOURNAMENT, DRAW = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))


def names(value: Any) -> Any:
    """The names of an object and of what is in it; of a list, those of its first item."""
    if isinstance(value, dict):
        return {name: names(item) for name, item in value.items()}
    return names(value[0]) if isinstance(value, list) and value else None


def test_the_example_tournament_has_every_member_and_can_be_paired() -> None:
    tournament = parse_tournament(TOURNAMENT)
    assert names(tournament_to_json(tournament)) == names(TOURNAMENT)
    assert pair_round(tournament).optimal
    assert len(standings(tournament).rows) == len(TOURNAMENT["entrants"])


def test_the_regulations_shown_are_the_defaults() -> None:
    assert TOURNAMENT["regulations"] == regulations_to_json(Regulations())


def test_the_example_draw_has_every_member() -> None:
    assert draw_to_json(parse_draw(DRAW)) == DRAW
    members = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (.*?) \|", PAGE, re.MULTILINE))))
    assert members | {"format", "round", "algorithm", "boards", "edits"} == DRAW.keys()
