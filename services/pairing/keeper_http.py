"""Health and metrics of the keeper: `/healthz`, `/readyz`, `/metrics`, read from the job table, never from Redis."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest

from qisai.db.jobs import JobRow, JobState, WorkerRow
from qisai.db.records import AlertRow, Severity
from qisai.db.session import Database
from qisai.errors import Unavailable
from services.pairing.jobs import CLOCK
from services.pairing.keeping import WORKER_DEAD_SECONDS

if TYPE_CHECKING:
    from services.pairing.keeper import Keeper


def measure(database: Database) -> bytes:
    """Metrics of the pairing queue in Prometheus' text form. Raises `Unavailable`."""
    registry = CollectorRegistry()
    by_state = Gauge("qisai_jobs", "Pairing jobs by state", ["state"], registry=registry)
    oldest = Gauge("qisai_oldest_due_job_seconds", "Age of the oldest due job, in seconds", registry=registry)
    workers = Gauge("qisai_live_workers", "Workers with a recent heartbeat", registry=registry)
    alerts = Gauge("qisai_open_alerts", "Open alerts by severity", ["severity"], registry=registry)
    with database.snapshot() as session:
        by = sa.select(JobRow.state, sa.func.count()).group_by(JobRow.state)
        counts: dict[JobState, int] = dict(iter(session.execute(by)))
        due = (JobRow.state == JobState.QUEUED, JobRow.due_at <= CLOCK)
        age = session.execute(
            sa.select(sa.func.extract("epoch", CLOCK - sa.func.min(JobRow.due_at))).where(*due)
        ).scalar_one()
        recent = CLOCK - sa.func.make_interval(0, 0, 0, 0, 0, 0, WORKER_DEAD_SECONDS)
        live = session.execute(
            sa.select(sa.func.count()).select_from(WorkerRow).where(WorkerRow.seen_at > recent)
        ).scalar_one()
        is_open = AlertRow.cleared_at.is_(None)
        raised = sa.select(AlertRow.severity, sa.func.count()).where(is_open).group_by(AlertRow.severity)
        severities: dict[Severity, int] = dict(iter(session.execute(raised)))
    for state in JobState:
        by_state.labels(state.value).set(counts.get(state, 0))
    for severity in Severity:
        alerts.labels(severity.value).set(severities.get(severity, 0))
    oldest.set(float(age or 0))
    workers.set(live)
    return generate_latest(registry)


def serve(keeper: Keeper, database: Database, *, port: int, host: str = "127.0.0.1") -> ThreadingHTTPServer:
    """Starts the server in a thread and returns it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/healthz":
                self._json(200, {"status": "alive"})
            elif self.path == "/readyz":
                ready = keeper.healthy
                self._json(
                    200 if ready else 503, {"status": "ready" if ready else "waiting", "leading": keeper.leading}
                )
            elif self.path == "/metrics":
                try:
                    self._send(200, CONTENT_TYPE_LATEST, measure(database))
                except Unavailable as error:
                    self._json(503, {"status": error.slug})
            else:
                self._json(404, {"status": "not-found"})

        def _json(self, status: int, body: dict[str, Any]) -> None:
            self._send(status, "application/json", json.dumps(body).encode())

        def _send(self, status: int, content_type: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            """Nothing: probes come every second."""

    server = ThreadingHTTPServer((host, port), Handler)
    threading.Thread(target=server.serve_forever, name="keeper-http", daemon=True).start()
    return server
