"""The examples of docs/how-to work as they are printed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from qisai.kernel import profiles
from qisai.kernel.names import Language
from qisai.kernel.standings import standings
from qisai.kernel.tie_breaks import TIE_BREAKS
from tests.kernel.crosstable import tournament, values

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


def example(page: str) -> str:
    """The first Python block of a page."""
    found = re.search(r"```python\n(.*?)```", (HOW_TO / page).read_text(encoding="utf-8"), re.DOTALL)
    assert found, page
    return found[1]


def test_the_example_tie_break_is_one_file_and_one_entry() -> None:
    module: dict[str, Any] = {"__name__": "draws"}
    exec(compile(example("add-a-tie-break.md"), "draws.py", "exec"), module)
    event = tournament("1: 2w= 3b= U\n2: 1b= H 3w1\n3: Z 1w= 2b0", tie_breaks=("draws", "direct"))
    found = standings(event, tie_breaks={**TIE_BREAKS, "draws": module["DRAWS"]})
    assert values(found, "draws") == {1: 2, 2: 1, 3: 1}
    assert [term.round for term in found.arithmetic(1, "draws")] == [1, 2]


def test_the_example_profile_is_one_row() -> None:
    row = eval(example("add-a-game-profile.md").strip(), dict(vars(profiles)))
    assert (row.code, row.names[Language.EN], row.regulations().tie_breaks) == (
        "draughts",
        "Draughts",
        ("opponents", "sosos"),
    )
