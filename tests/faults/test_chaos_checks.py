"""What the chaos campaign calls a cause: a fault of the kind at that time, not one of its name at some other."""

from __future__ import annotations

from bench.chaos_checks import LAG_SECONDS, had_cause, nobody_asks_again_for_want_of_redis
from bench.chaos_faults import Fault
from bench.chaos_load import Acknowledged, Refusal

FAULTS = [Fault("broker killed", began=100, ended=105), Fault("database restarted", began=200, ended=203)]


def test_an_alert_has_a_cause_only_while_its_fault_lasts_and_shortly_after() -> None:
    assert had_cause(("broker",), 101, FAULTS)
    assert had_cause(("broker",), 105 + LAG_SECONDS, FAULTS)
    assert not had_cause(("broker",), 99, FAULTS), "raised before anything was broken"
    assert not had_cause(("broker",), 106 + LAG_SECONDS, FAULTS), "long over"
    assert not had_cause(("worker",), 101, FAULTS), "something else was broken"
    assert had_cause(("worker", "database"), 201, FAULTS)
    assert not had_cause((), 101, FAULTS), "a kind that no fault of ours leads to"


def test_a_503_is_trouble_unless_the_database_was_broken() -> None:
    done = Acknowledged()
    for asked in (102, 201, 400):
        done.refused.append(Refusal("POST /draws", asked=asked, answered=asked + 0.5))
    found = list(nobody_asks_again_for_want_of_redis(None, done, FAULTS))  # type: ignore[arg-type]
    assert [text.split(": ")[0] for text in found] == ["POST /draws"] * 2
    assert "broker killed" in found[0]
    assert "nothing" in found[1]
