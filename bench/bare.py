"""What results are measured against: a bare Flask service with the same SQL, behind a bare requests proxy.

The very statements of the product, who calls included, and nothing decided from them: no signature, no rights, no log
lines, no problems, no metrics, no limits. Only what a result costs the database, and what passing a request on costs.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import psycopg
import requests
from flask import Flask, Response, jsonify, request
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from qisai.ledger import feed
from qisai.web import identity
from services.results.operations import results
from services.results.queries import boards

WHO = identity.caller_and_event(boards.EVENT_OF_BOARD).text
READ = boards.HELD_BOARD.text
WRITE = results.WRITE.text
PUBLISH = feed.PUBLISH.text
LATER = results.LATER.text
"""The very same texts."""


def create_service() -> Flask:
    """The service: one connection a thread; for each result who calls, then four statements in a transaction."""
    app = Flask("bare")
    here = threading.local()
    account_id = int(os.environ["BARE_ACCOUNT_ID"])

    def connection() -> Any:
        if not hasattr(here, "connection"):
            url = os.environ["BARE_DATABASE_URL"]
            here.connection = psycopg.connect(url, row_factory=dict_row, autocommit=True)
        return here.connection

    @app.get("/healthz")
    def health() -> str:
        return "ok"

    @app.put("/api/v1/boards/<int:board_id>/result")
    def put_result(board_id: int) -> Response:
        wanted = request.get_json()["result"]
        seen = int(request.headers["If-Match"][2:-1])
        who = {"account_id": account_id, "session_id": None, "token_id": None, "about": board_id}
        connection().execute(WHO, who).fetchone()
        with connection().transaction():
            cursor = connection().cursor()
            row = cursor.execute(READ, {"board_id": board_id}).fetchone()
            new = {"result": wanted, "swapped": row["swapped"], "note": row["note"]}
            values = {**new, "old": Jsonb({name: row[name] for name in new}), "new": Jsonb(new), "actor": "bare"}
            more = {"board_id": board_id, "seen_version": seen, "round_no": row["round_no"], "account_id": None}
            rest = {"device": "", "reason": "", "request_id": "-"}
            written = cursor.execute(WRITE, values | more | rest).fetchone()
            data = Jsonb({"board_id": board_id, "board": row["number"], "result": wanted, "version": seen + 1})
            published = {"event_id": row["event_id"], "kind": "result.recorded", "data": data, "pairing": 1}
            cursor.execute(PUBLISH, published)
            cursor.execute(LATER, {"event_id": row["event_id"], "number": row["round_no"]})
        answer = jsonify({"id": board_id, "result": wanted, "version": written["version"]})
        answer.headers["ETag"] = f'"v{written["version"]}"'
        return answer

    return app


def create_proxy() -> Flask:
    """The proxy: one pooled session, headers and body passed on, the answer passed back."""
    app = Flask("bare-proxy")
    upstream = os.environ["BARE_SERVICE_URL"]
    session = requests.Session()
    session.trust_env = False
    session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=64))

    @app.get("/healthz")
    def health() -> str:
        return "ok"

    @app.put("/api/v1/boards/<int:board_id>/result")
    def pass_on(board_id: int) -> Response:
        headers = {name: request.headers[name] for name in ("Content-Type", "If-Match")}
        url = f"{upstream}/api/v1/boards/{board_id}/result"
        answer = session.put(url, data=request.get_data(), headers=headers, timeout=30)
        passed = {name: answer.headers[name] for name in ("Content-Type", "ETag")}
        return Response(answer.content, status=answer.status_code, headers=passed)

    return app
