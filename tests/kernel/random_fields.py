"""Compiled fields with a random history, for tests of the optimal stage."""

from __future__ import annotations

import random
from collections.abc import Iterator

from qisai.errors import QisaiError
from qisai.kernel.model import System
from qisai.kernel.pairing.field import Field, compile_field
from qisai.kernel.tournament_file import parse_tournament
from tests.kernel.random_tournaments import random_tournament


def random_fields(seeds: range, *, smallest: int, largest: int) -> Iterator[tuple[int, Field]]:
    """(seed, field) for each seed whose tournament can be paired at all; round robins are left out."""
    for seed in seeds:
        tournament = random_tournament(random.Random(seed), smallest=smallest, largest=largest, present_limit=largest)
        try:
            field = compile_field(parse_tournament(tournament))
        except QisaiError:
            continue
        if field.regulations.system is not System.ROUND_ROBIN:
            yield seed, field
