"""One installation for all fault tests that a process runs in a row; each finds it whole and may break any part."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.play import Play, make_play
from tests.faults.stage import Stage, raised


@pytest.fixture(scope="package")
def installation() -> Iterator[Stage]:
    """Servers, two workers, a keeper, the results service. It ends with these tests: what looks about every few tenths
    of a second would slow all that come after."""
    with raised() as stage:
        yield stage


@pytest.fixture
def stage(installation: Stage) -> Stage:
    """The installation, whole."""
    installation.heal()
    return installation


@pytest.fixture
def play(stage: Stage) -> Play:
    """An event of ten after one round, about to draw the second."""
    return make_play(stage)
