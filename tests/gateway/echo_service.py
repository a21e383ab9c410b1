"""A service for tests of the proxy, run by a real server: it answers what it was asked, or misbehaves when told to.

The query says how: `status`, `sleep` (seconds), `pieces` (stream that many), `die` (end the process at once), `break`
(end it after the first piece), `html` (an error page that is no problem), `length` (so many bytes).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from flask import Flask, Response, jsonify, request

app = Flask(__name__, static_folder=None)
writes: list[str] = []


@app.get("/readyz")
def readyz() -> Any:
    return jsonify({"status": "ready"})


@app.get("/internal/openapi.json")
def api_description() -> Any:
    return jsonify({"openapi": "3.1.0", "info": {"title": "echo", "version": "1"}, "paths": {}})


@app.get("/writes")
def written() -> Any:
    return jsonify({"writes": writes})


@app.route("/<path:_path>", methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
def echo(_path: str) -> Any:
    query = request.args
    if request.method != "GET":
        writes.append(request.get_data(as_text=True))
    if "die" in query:
        os._exit(1)
    if "sleep" in query:
        time.sleep(float(query["sleep"]))
    if "pieces" in query or "break" in query:
        return Response(pieces(int(query.get("pieces", 2)), breaks="break" in query), content_type="text/plain")
    if "html" in query:
        return Response("<h1>Traceback</h1>", status=500, content_type="text/html")
    if "length" in query:
        return Response(b"x" * int(query["length"]), content_type="application/octet-stream")
    body = {
        "method": request.method,
        "path": request.path,
        "query": request.query_string.decode(),
        "headers": dict(request.headers),
        "body": request.get_data(as_text=True),
        "pid": os.getpid(),
    }
    response = jsonify(body)
    response.status_code = int(query.get("status", 200))
    response.headers["ETag"] = '"v3"'
    response.headers["Set-Cookie"] = "leak=1"
    response.headers["X-Inner"] = "secret"
    return response


def pieces(count: int, *, breaks: bool) -> Iterator[bytes]:
    for number in range(count):
        yield f"piece {number}\n".encode()
        if breaks:
            time.sleep(0.1)
            os._exit(1)
        time.sleep(0.2)
