"""The feed of an event as its readers see it."""

from __future__ import annotations

from qisai.ledger import feed
from tests.results.conftest import Play


def test_drafts_and_alerts_are_for_staff_and_leave_no_gap_for_others(play: Play) -> None:
    event_id = play.field.event_id
    with play.service.owner() as session:
        feed.publish(session, event_id, "draw.ready", data={"round": 1, "job": 7})
        feed.publish(session, event_id, "alert.raised", data={"alert": "draw-degraded"})
        feed.publish(session, event_id, "event.state", data={"state": "running"})
    staff = play.chief.get(f"{play.event}/feed").json["items"]
    public = play.service.public().get(f"{play.event}/feed")
    assert [item["kind"] for item in staff] == ["draw.ready", "alert.raised", "event.state"]
    items = public.json["items"]
    assert [(item["kind"], item["data"]) for item in items] == [
        ("internal", {}),
        ("internal", {}),
        ("event.state", {"state": "running"}),
    ]
    assert [item["feed_no"] for item in items] == [item["feed_no"] for item in staff]
    assert {"Authorization", "Cookie"} <= set(public.headers["Vary"].split(", "))
