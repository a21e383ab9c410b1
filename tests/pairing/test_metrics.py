"""The keeper's metrics: every figure from the tables; the alert rules name only metrics that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import yaml
from prometheus_client.parser import text_string_to_metric_families

from qisai.db.jobs import JobState
from qisai.db.session import Database as Connections
from qisai.web import metrics as web_metrics
from services.pairing import canary
from services.pairing.alert_kinds import AlertKind
from services.pairing.metrics import Metrics
from services.pairing.operations import serve
from services.pairing.solving import Solver
from services.pairing.terms import Terms
from tests.fields import owner_of
from tests.pairing.asking import event_with_job
from tests.pairing.test_keeper import keeper_of
from tests.servers import Database

RULES = Path(__file__).parents[2] / "deploy" / "prometheus" / "alerts.yml"


@pytest.fixture
def metrics(pairing: Connections, valkey: str) -> Metrics:
    """Metrics of a keeper that looked once."""
    keeper = keeper_of(pairing, valkey)
    keeper.look()
    return Metrics(pairing, keeper, limits=keeper.limits)


def figures(metrics: Metrics) -> dict[str, float]:
    """Every sample as `name{label="value"}` → value."""
    return {
        sample.name + "".join(f"[{value}]" for value in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(metrics.measure().decode())
        for sample in family.samples
    }


def sql(database: Database, statement: str) -> None:
    """One statement as the owner."""
    with owner_of(database.owner_url) as session:
        session.execute(sa.text(statement))


def test_waits_runs_and_ends_are_counted_from_the_rows(
    database: Database, pairing: Connections, metrics: Metrics, solver: Solver, terms: Terms
) -> None:
    before = figures(metrics)
    assert before["qisai_jobs_ended_total[succeeded]"] == before["qisai_job_wait_seconds_count[pairing.small]"] == 0
    _, first = event_with_job(database)
    _, second = event_with_job(database)
    sql(database, f"UPDATE pairing_job SET requested_at = now() - interval '20 seconds' WHERE id = {first}")
    assert serve(pairing, solver, nudged=second, terms=terms) == 2
    event_with_job(database)
    after = figures(metrics)
    assert after["qisai_jobs_ended_total[succeeded]"] == after["qisai_jobs[succeeded]"] == 2
    assert (after["qisai_jobs[queued]"], after["qisai_due_jobs[pairing.small]"]) == (1, 1)
    assert after["qisai_oldest_due_job_seconds[pairing.small]"] > 0
    assert after["qisai_oldest_due_job_seconds[pairing.large]"] == 0
    assert after["qisai_job_wait_seconds_count[pairing.small]"] == 2
    assert after["qisai_job_wait_seconds_bucket[10.0][pairing.small]"] == 1
    assert after["qisai_job_wait_seconds_bucket[30.0][pairing.small]"] == 2
    assert 20 < after["qisai_job_wait_seconds_sum[pairing.small]"] < 60
    assert after["qisai_job_run_seconds_count[pairing.small]"] == 2
    assert after["qisai_job_run_seconds_count[pairing.large]"] == 0


def test_counting_begins_with_the_keeper_and_not_with_the_first_scrape(
    database: Database, pairing: Connections, metrics: Metrics, solver: Solver, terms: Terms
) -> None:
    """What ended before anybody looked is counted too; what ended before the keeper was there is not."""
    event_with_job(database)
    past = "now() - interval '1 hour'"
    sql(database, f"UPDATE pairing_job SET state = 'failed', started_at = {past}, finished_at = {past}")
    _, job_id = event_with_job(database)
    assert serve(pairing, solver, nudged=job_id, terms=terms) == 1
    first = figures(metrics)
    assert first["qisai_jobs_ended_total[succeeded]"] == first["qisai_job_run_seconds_count[pairing.small]"] == 1
    assert first["qisai_jobs_ended_total[failed]"] == 0


def test_workers_breakers_alerts_and_canary_are_shown(
    database: Database, pairing: Connections, metrics: Metrics, solver: Solver, terms: Terms
) -> None:
    before = figures(metrics)
    assert (before["qisai_live_workers"], before["qisai_open_alerts_by_kind[no-live-worker]"]) == (0, 1)
    assert "qisai_canary_age_seconds" not in before, "no figure rather than an invented one"
    event, _ = event_with_job(database)
    worker = "INSERT INTO worker (name, host, pid, release, algorithms, queues, job_id) VALUES"
    sql(database, f"{worker} ('a', 'h', 1, '1', '[]', '[]', 7), ('b', 'h', 2, '1', '[]', '[]', null)")
    sql(database, f"INSERT INTO breaker (event_id, state) VALUES ({event.event_id}, 'open')")
    with pairing.transaction() as session:
        job_id = canary.ask(session, every_seconds=60)
    assert job_id is not None
    serve(pairing, solver, nudged=job_id, terms=terms)
    after = figures(metrics)
    assert (after["qisai_live_workers"], after["qisai_busy_workers"]) == (2, 1)
    assert (after["qisai_breakers[open]"], after["qisai_breakers[closed]"]) == (1, 0)
    assert 0 <= after["qisai_canary_age_seconds"] < 60
    assert after["qisai_canary_round_trip_seconds"] > 0
    assert after["qisai_jobs_ended_total[succeeded]"] == 1, "a canary is no event's job"
    assert after["qisai_keeper_leading"] == 0
    assert after["qisai_broker_answers"] == 1


def test_labels_are_bounded(database: Database, metrics: Metrics) -> None:
    """Twenty events more make not one series more."""
    before = set(figures(metrics))
    for _ in range(20):
        event_with_job(database, entrants=2)
    assert set(figures(metrics)) == before
    kinds = {kind.value for kind in AlertKind}
    assert {name for name in before if name.startswith("qisai_open_alerts_by_kind")} == {
        f"qisai_open_alerts_by_kind[{kind}]" for kind in kinds
    }


def rules() -> Iterator[dict[str, Any]]:
    """The alert rules as shipped."""
    content = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    assert set(content) == {"groups"}
    for group in content["groups"]:
        assert set(group) <= {"name", "interval", "rules"}
        yield from group["rules"]


def test_the_alert_rules_are_well_formed() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(names) == len(set(names)) >= 6
    for rule in rules():
        assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}, rule["alert"]
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert re.fullmatch(r"\d+[smh]", rule["for"])
        assert set(rule["annotations"]) == {"summary", "description"}
        assert rule["expr"].count("(") == rule["expr"].count(")")


def test_rules_about_waiting_judge_each_queue_by_its_oldest_due_job() -> None:
    """Else a queue that nobody works on hides behind the one that moves; and who never starts has no waiting time."""
    shipped = {rule["alert"]: rule["expr"] for rule in rules()}
    for name in ("QisaiQueueStuck", "QisaiDrawsWaitLong"):
        assert "max by (queue) (qisai_oldest_due_job_seconds)" in shipped[name], name
        kept = re.findall(r"\b(?:max|sum|on)\b *(?:by)? *\(([^()]*)", shipped[name])
        assert kept, name
        assert all("queue" in labels for labels in kept), f"{name} puts queues together: {kept}"


def test_the_alert_rules_name_only_metrics_and_labels_that_exist(
    database: Database, pairing: Connections, metrics: Metrics, solver: Solver, terms: Terms
) -> None:
    with pairing.transaction() as session:
        job_id = canary.ask(session, every_seconds=60)
    assert job_id is not None
    serve(pairing, solver, nudged=job_id, terms=terms)
    known: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(metrics.measure().decode()):
        for sample in family.samples:
            known.setdefault(sample.name, set()).update(sample.labels)
    web_metrics.REQUESTS.labels("results", "PUT", "/", "2xx")
    for family in (*web_metrics.REQUESTS.collect(), *web_metrics.SECONDS.collect()):
        for suffix in ("_total", "_bucket", "_count", "_sum"):
            labels = {"service", "method", "route", "status", "le"}
            known.setdefault(f"{family.name.removesuffix('_total')}{suffix}", labels)
    for rule in rules():
        used = re.findall(r"\b(qisai_[a-z_]+)(\{[^}]*\})?", rule["expr"])
        assert used, rule["alert"]
        for name, selector in used:
            assert name in known, f"{rule['alert']} uses {name}"
            for label in re.findall(r"([a-z_]+)\s*[=!]", selector):
                assert label in known[name], f"{rule['alert']} uses {name} by {label}"


def test_every_state_a_job_may_end_in_is_counted(metrics: Metrics) -> None:
    shown = {name for name in figures(metrics) if name.startswith("qisai_jobs_ended_total")}
    active = {JobState.QUEUED, JobState.RUNNING}
    assert shown == {f"qisai_jobs_ended_total[{state.value}]" for state in set(JobState) - active}
