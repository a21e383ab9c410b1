"""From an empty event to a numbered field, as a desk does it on the morning of the event."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.registration.conftest import Fair, ok

ROSTER = Path(__file__).parents[2] / ".." / "shared" / "data" / "roster284-gbk.csv"


def test_a_gbk_roster_of_284_becomes_a_numbered_field(fair: Fair) -> None:
    if not ROSTER.exists():
        pytest.skip(f"{ROSTER} is not there")
    content = ROSTER.read_bytes()
    names = [line.split(",")[1] for line in content.decode("gb18030").splitlines()[1:]]
    sent = {"data": content, "content_type": "text/csv"}
    dry = ok(fair.desk.post(f"{fair.entrants_path}/import?dry_run=true", **sent))
    assert (dry["applied"], dry["encoding"], dry["delimiter"]) == (False, "gb18030", ",")
    assert dry["counts"] == {"new": 284, "same": 0, "changed": 0, "refused": 0}
    assert fair.event()["counts"]["registered"] == 0
    done = ok(fair.desk.post(f"{fair.entrants_path}/import?dry_run=false&plan={dry['plan']}", **sent))
    assert done["applied"]
    assert fair.event()["counts"]["registered"] == 284
    again = ok(fair.desk.post(f"{fair.entrants_path}/import?dry_run=false", **sent))
    assert again["counts"] == {"new": 0, "same": 284, "changed": 0, "refused": 0}

    bulk = f"{fair.entrants_path}/bulk-transitions"
    assert len(ok(fair.organiser.post(bulk, {"to": "approved", "from": ["registered"]}))["changed"]) == 284
    assert len(ok(fair.desk.post(f"{fair.path}/check-in", {"all": True}))["changed"]) == 284
    assert len(ok(fair.desk.post(f"{fair.entrants_path}/seat", {"all": True}))["changed"]) == 284
    lots = fair.draw_lots({"mode": "machine", "seed": 7})
    assert sorted(lots["numbers"].values()) == list(range(1, 285))
    assert ok(fair.desk.get(f"{fair.path}/lots")) == lots
    listed = ok(fair.desk.get(f"{fair.entrants_path}?limit=1000"))
    assert [one["number"] for one in listed["items"]] == list(range(1, 285))
    assert sorted(one["name"] for one in listed["items"]) == sorted(names)
    assert fair.act("close-registration")["state"] == "closed"
