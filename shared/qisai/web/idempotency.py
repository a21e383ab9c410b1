"""`Idempotency-Key`: the first answer is stored in the transaction of its effect and given again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Final

import sqlalchemy as sa
from flask import request
from sqlalchemy.orm import Session

from qisai.db.accounts import IdempotencyRow
from qisai.errors import Conflict, Invalid
from qisai.web.identity import Caller
from qisai.web.requests import Answer

HEADER: Final = "Idempotency-Key"
_LONGEST: Final = 128


def once(session: Session, caller: Caller, work: Callable[[], Answer], *, pepper: str = "") -> Answer:
    """Runs `work` once for this caller and key, inside `session`'s transaction.

    The same key and request gets the first answer again; with another request `Invalid` (422); while the first is
    still running `Conflict` (409). Without the header `work` simply runs. `pepper`: a secret that goes into the stored
    fingerprint of a request with a password in it, which could be guessed from a plain hash.
    """
    key = request.headers.get(HEADER)
    if key is None:
        return work()
    if not 1 <= len(key) <= _LONGEST or not key.isprintable():
        raise Invalid("bad-idempotency-key", f"{HEADER} must have 1 to {_LONGEST} printable characters.")
    lock = int.from_bytes(hashlib.sha256(f"{caller.key}\n{key}".encode()).digest()[:8], "big", signed=True)
    if not session.execute(sa.select(sa.func.pg_try_advisory_xact_lock(lock))).scalar_one():
        raise Conflict("still-running", "The same request is still running; ask again in a moment.")
    fingerprint = hashlib.sha256(
        b"\n".join([pepper.encode(), request.method.encode(), request.full_path.encode(), request.get_data(cache=True)])
    ).hexdigest()
    stored = session.get(IdempotencyRow, (caller.key, key))
    if stored is not None:
        if stored.request_hash != fingerprint:
            raise Invalid("idempotency-key-reused", f"This {HEADER} was used for another request; take a new one.")
        return Answer(body=json.loads(stored.body), status=stored.status, headers=stored.headers)
    answer = work()
    session.add(
        IdempotencyRow(
            caller=caller.key,
            key=key,
            request_hash=fingerprint,
            status=answer.status,
            headers=dict(answer.headers),
            body=json.dumps(answer.body, ensure_ascii=False, default=str),
        )
    )
    session.flush()
    return answer
