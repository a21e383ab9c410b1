"""The order of the desk's list, without any page around it."""

from __future__ import annotations

import pytest

from qisai.client import Entrant
from services.gateway.pages import desk_list


@pytest.mark.parametrize("sort", ["number", "name", "club", "rating", "state"])
def test_names_of_one_sound_stand_together_by_their_characters(sort: str) -> None:
    names = ("张伟", "章伟", "张伟", "章伟")
    entrants = [Entrant(id=place, name=name, state="registered", version=1) for place, name in enumerate(names, 1)]
    listed = [(row.entrant.name, row.entrant.id) for row in desk_list.rows(entrants, (), sort=sort)]
    assert listed == [("张伟", 1), ("张伟", 3), ("章伟", 2), ("章伟", 4)]
