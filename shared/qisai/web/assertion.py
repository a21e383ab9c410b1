"""The signed assertion with which the gateway tells a service who calls.

Ed25519 over a JWT that lives 60 seconds and is bound to one method and path. Services hold the public key only.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Final

import jwt

from qisai.errors import Unauthenticated

HEADER: Final = "Qisai-Assertion"
LIFETIME_SECONDS: Final = 60
_AUDIENCE: Final = "qisai-services"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """Who calls, from what, for which request. `account_id` None: the public."""

    account_id: int | None
    session_id: int | None = None
    token_id: int | None = None
    scopes: tuple[str, ...] = ()
    method: str
    path: str
    request_id: str
    device: str = ""


def sign(assertion: Assertion, *, private_key: Any) -> str:
    """The header's value. `private_key`: PEM, or the key once loaded, which spares its parsing at each call."""
    issued = int(time.time())
    claims: dict[str, Any] = {
        "aud": _AUDIENCE,
        "iat": issued,
        "exp": issued + LIFETIME_SECONDS,
        "acc": assertion.account_id,
        "ses": assertion.session_id,
        "tok": assertion.token_id,
        "scp": list(assertion.scopes),
        "mth": assertion.method,
        "pth": assertion.path,
        "rid": assertion.request_id,
        "dev": assertion.device,
    }
    return jwt.encode(claims, private_key, algorithm="EdDSA")


def verify(header: str | None, *, public_key: Any, method: str, path: str) -> Assertion:
    """The assertion behind a header. Raises `Unauthenticated` for a missing, forged, expired or foreign one."""
    if not header:
        raise Unauthenticated("no-assertion", "This service answers the gateway only.")
    try:
        claims = jwt.decode(
            header,
            public_key,
            algorithms=["EdDSA"],
            audience=_AUDIENCE,
            leeway=5,
            options={"require": ["exp", "iat", "aud", "mth", "pth"]},
        )
    except jwt.PyJWTError as error:
        raise Unauthenticated("bad-assertion", "The proof of who calls is not valid.") from error
    if claims["mth"] != method or claims["pth"] != path:
        raise Unauthenticated("bad-assertion", "The proof of who calls was made for another request.")
    return Assertion(
        account_id=claims.get("acc"),
        session_id=claims.get("ses"),
        token_id=claims.get("tok"),
        scopes=tuple(claims.get("scp", ())),
        method=method,
        path=path,
        request_id=str(claims.get("rid", "-")),
        device=str(claims.get("dev", ""))[:64],
    )
