"""Health and metrics of the keeper: `/healthz`, `/readyz`, `/metrics`."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from prometheus_client import CONTENT_TYPE_LATEST

from qisai.errors import Unavailable

if TYPE_CHECKING:
    from services.pairing.keeper import Keeper
    from services.pairing.metrics import Metrics


def serve(keeper: Keeper, metrics: Metrics, *, port: int, host: str = "127.0.0.1") -> ThreadingHTTPServer:
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
                    self._send(200, CONTENT_TYPE_LATEST, metrics.measure())
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
