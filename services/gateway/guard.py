"""What every request passes before a view sees it: who calls, how often, and whether they may."""

from __future__ import annotations

from typing import Final

from flask import Flask, current_app, g, request
from sqlalchemy.orm import Session

from qisai import telemetry
from qisai.errors import Forbidden, QisaiError, Unauthenticated
from qisai.settings import GatewaySettings
from qisai.web import identity, rights
from qisai.web.app import refuse_broken_json
from qisai.web.assertion import Assertion
from qisai.web.identity import Caller
from qisai.web.rights import ROLES, Right
from services.gateway import limits, proxy
from services.gateway.credentials import PUBLIC, Credential
from services.gateway.parts import credential, parts

METRICS_RULE: Final = "/metrics"
SIGN_IN_PATHS: Final = frozenset({"/api/v1/sessions", "/sign-in"})
"""Where a browser with a cookie that counts or no longer counts may sign in anew."""


def install(app: Flask, settings: GatewaySettings) -> None:
    """Adds the checks in this order: credential, limits, rights."""
    app.before_request(_identify)
    limits.install(app, settings, key=limit_key, exempt=lambda: _right() is Right.INTERNAL)
    app.before_request(_authorise)


def limit_key() -> str:
    """Who a limit counts: the token, the sign-in, else the address."""
    who = credential()
    if who.token_id is not None:
        return f"token:{who.token_id}"
    if who.session_id is not None:
        return f"session:{who.session_id}"
    return f"address:{request.remote_addr}"


def load_caller(session: Session, who: Credential) -> Caller:
    """The caller with name and grants, read now. Raises `Unauthenticated` where the credential no longer counts."""
    said = Assertion(
        account_id=who.account_id,
        session_id=who.session_id,
        token_id=who.token_id,
        scopes=who.scopes,
        method=request.method,
        path=request.path,
        request_id=telemetry.request_id.get(),
        device=who.device,
    )
    try:
        return identity.load_caller(session, said)
    except Unauthenticated:
        parts().credentials.forget(who)
        raise


def acting(session: Session) -> Caller:
    """The caller of a page's form that changes something. Raises `Unauthenticated`, and `Forbidden` for a credential
    that may only read."""
    caller = load_caller(session, credential())
    identity.authorise(session, caller, right=Right.SIGNED_IN, method=request.method, event_id=None)
    return caller


def _right() -> Right | None:
    """The right that the view under way declares. `/metrics` is for those who operate the platform."""
    if request.url_rule is None or request.endpoint is None:
        return None  # 404 and 405 are answered without telling more
    if request.url_rule.rule == METRICS_RULE:
        return Right.OPERATE
    declared = rights.declaration_of(current_app.view_functions[request.endpoint])
    if declared is None:
        raise RuntimeError(f"{request.url_rule.rule} has no declared right")
    return declared.right


def _identify() -> None:
    """Notes who calls. A refusal is raised behind the limits, so that guessing tokens is limited too."""
    if _right() in (None, Right.INTERNAL):
        return
    try:
        g.credential = parts().credentials.of(request)
    except QisaiError as error:
        g.credential = PUBLIC
        g.refusal = error


def _authorise() -> None:
    right = _right()
    if right is None or right is Right.INTERNAL:
        return
    if "refusal" in g:
        raise g.refusal
    who = credential()
    if request.method not in identity.READ_METHODS and who.token_id is None:  # no browser sends a token by itself
        parts().credentials.check_origin(request)
        if request.path not in SIGN_IN_PATHS:
            parts().credentials.check_write(request, who)
    if not (request.endpoint or "").startswith(proxy.ENDPOINT):
        refuse_broken_json()
    if right is Right.PUBLIC:
        return  # passed on to a service, which decides, or truly public
    with parts().database.transaction() as session:
        g.caller = load_caller(session, who)
        # The gateway's own routes are about people, not about one event: MANAGE_GRANTS may come from a role in any
        # event, and the operation narrows it to the event in question.
        by_role = Right.SIGNED_IN if right is Right.MANAGE_GRANTS else right
        identity.authorise(session, g.caller, right=by_role, method=request.method, event_id=None)
    if right is Right.MANAGE_GRANTS and not {grant.role for grant in g.caller.grants} & ROLES[right]:
        raise Forbidden("no-right", "Only administrators and organisers give roles.", right=right.value)
