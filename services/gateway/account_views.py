"""The gateway's own API: sign-in, accounts, grants, tokens. Links that are handed over: `link_views`."""

from __future__ import annotations

from typing import Any

from flask import Response, jsonify, request
from flask_openapi3 import APIBlueprint, Tag

from qisai.db.accounts import AccountRow
from qisai.errors import Forbidden, Invalid
from qisai.web.idempotency import once
from qisai.web.identity import Caller, current_caller
from qisai.web.requests import Answer, version_seen, version_tag
from qisai.web.rights import Right, requires
from services.gateway import account_queries as queries
from services.gateway import accounts as operations
from services.gateway import passwords, schemas, sessions
from services.gateway.credentials import Credential
from services.gateway.parts import credential, parts

people = APIBlueprint("people", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="people")])


@people.post("/sessions", summary="Sign in by password", responses={"201": None})
@requires(Right.PUBLIC)
def sign_in(body: schemas.SignInBody) -> Response:
    """Answers the account and the CSRF token, and sets the cookie."""
    done = sessions.sign_in(
        parts(),
        login=body.login,
        password=body.password,
        address=request.remote_addr or "",
        device=credential().device,
        browser=sessions.browser_of(request.headers.get("User-Agent", "")),
    )
    response = jsonify({"account": schemas.account_json(done.account), "csrf_token": done.csrf_token})
    response.status_code = 201
    sessions.set_cookie(response, done.secret, is_https=parts().is_https)
    return response


@people.delete("/sessions/current", summary="Sign out", responses={"204": None})
@requires(Right.SIGNED_IN)
def sign_out() -> Response:
    """Ends the session of the cookie at once; a token stays what it is."""
    who = credential()
    if who.session_id is None:
        raise Invalid("no-session", "This call was made by token; revoke the token instead.")
    end_session(who, current_caller())
    response = Response(status=204)
    sessions.drop_cookie(response, is_https=parts().is_https)
    return response


def end_session(who: Credential, caller: Caller) -> None:
    """Ends the session of a cookie."""
    assert who.session_id is not None
    with parts().database.transaction() as session:
        sessions.sign_out(session, caller.actor, session_id=who.session_id)
    parts().credentials.forget(who)


@people.get("/me/sessions", summary="Where one is signed in")
@requires(Right.SIGNED_IN)
def list_sessions() -> Response:
    """Browsers that are signed in with the caller's account, the latest first."""
    caller = current_caller()
    assert caller.actor.account_id is not None
    with parts().database.transaction() as session:
        rows = queries.open_sessions(session, account_id=caller.actor.account_id)
        here = credential().session_id
        return jsonify({"items": [schemas.session_json(row, here=here) for row in rows]})


@people.delete("/me/sessions", summary="Sign out everywhere else", responses={"204": None})
@requires(Right.SIGNED_IN)
def end_other_sessions() -> Response:
    """Ends all of the account's browser sessions but the caller's own; tokens stay."""
    with parts().database.transaction() as session:
        sessions.end_others(session, current_caller().actor, but=credential().session_id)
    return Response(status=204)


@people.delete("/me/sessions/<int:session_id>", summary="Sign one browser out", responses={"204": None})
@requires(Right.SIGNED_IN)
def end_one_session(path: schemas.SessionPath) -> Response:
    """Counts from the next call on."""
    with parts().database.transaction() as session:
        sessions.end_own(session, current_caller().actor, session_id=path.session_id)
    return Response(status=204)


@people.get("/me", summary="Who the caller is")
@requires(Right.SIGNED_IN)
def me() -> Response:
    """Account, grants, and the CSRF token for a session by cookie."""
    who, caller = credential(), current_caller()
    assert caller.actor.account_id is not None
    with parts().database.transaction() as session:
        account = schemas.account_json(operations.account(session, caller.actor.account_id))
        rows, _next = queries.grants(session, schemas.GrantQuery(account_id=account["id"], limit=500))
        grants = [schemas.grant_json(row) for row in rows]
    body: dict[str, Any] = {"account": account, "grants": grants, "scopes": list(who.scopes)}
    if who.by_cookie:
        body["csrf_token"] = parts().credentials.csrf_token(who.secret_hash)
    return jsonify(body)


@people.put("/me/password", summary="Change one's own password", responses={"204": None})
@requires(Right.SIGNED_IN)
def change_own_password(body: schemas.NewPassword) -> Response:
    """Needs the old password; ends every sign-in of the account, this one too."""
    set_own_password(current_caller(), old=body.old, new=body.new)
    response = Response(status=204)
    sessions.drop_cookie(response, is_https=parts().is_https)
    return response


def set_own_password(caller: Caller, *, old: str, new: str) -> AccountRow:
    """Changes the caller's password and ends every sign-in of the account.

    Raises `Invalid`, `Forbidden` (`wrong-password`), `TooMany` after too many attempts.
    """
    assert caller.actor.account_id is not None
    passwords.check_form(new)
    with parts().database.transaction() as session:
        account = operations.account(session, caller.actor.account_id)
    parts().sign_in_limits.count(login=account.login, address=request.remote_addr or "")
    if not parts().passwords.matches(account.password_hash, old):
        raise Forbidden("wrong-password", "The old password is wrong.")
    changes = operations.AccountChanges(password_hash=parts().passwords.hash(new))
    with parts().database.transaction() as session:
        changed = operations.change_account(
            session, caller.actor, account_id=account.id, seen_version=account.version, changes=changes
        )
    parts().credentials.forget(credential())
    return changed


@people.get("/accounts", summary="Accounts")
@requires(Right.MANAGE_ACCOUNTS)
def list_accounts(query: schemas.AccountQuery) -> Response:
    """Accounts in order of their ids."""
    with parts().database.transaction() as session:
        rows, following = queries.accounts(session, query)
        return jsonify({"items": [schemas.account_json(row) for row in rows], "next": following})


@people.post("/accounts", summary="Make an account", responses={"201": None})
@requires(Right.MANAGE_ACCOUNTS)
def create_account(body: schemas.NewAccount) -> Response:
    """Without a password the account signs in by token only."""
    password_hash = _hashed(body.password)

    def work() -> Answer:
        row = operations.create_account(
            session, current_caller().actor, login=body.login, name=body.name, password_hash=password_hash
        )
        session.refresh(row)
        return Answer(body=schemas.account_json(row), status=201, headers=version_tag(row.version))

    with parts().database.transaction() as session:
        return once(session, current_caller(), work, pepper=parts().settings.secret_key).response()


@people.patch("/accounts/<int:account_id>", summary="Change an account")
@requires(Right.MANAGE_ACCOUNTS)
def change_account(path: schemas.AccountPath, body: schemas.AccountChange) -> Response:
    """Name, password, active or not. Needs If-Match."""
    seen = version_seen()
    changes = operations.AccountChanges(name=body.name, password_hash=_hashed(body.password), is_active=body.is_active)
    with parts().database.transaction() as session:
        row = operations.change_account(
            session, current_caller().actor, account_id=path.account_id, seen_version=seen, changes=changes
        )
        return Answer(body=schemas.account_json(row), headers=version_tag(row.version)).response()


@people.get("/grants", summary="Roles of people")
@requires(Right.MANAGE_GRANTS)
def list_grants(query: schemas.GrantQuery) -> Response:
    """All grants for an administrator; those of one event for its organiser."""
    with parts().database.transaction() as session:
        operations.require_may_give(session, current_caller(), role=None, event_id=query.event_id)
        rows, following = queries.grants(session, query)
        return jsonify({"items": [schemas.grant_json(row) for row in rows], "next": following})


@people.post("/grants", summary="Give a role", responses={"201": None})
@requires(Right.MANAGE_GRANTS)
def create_grant(body: schemas.NewGrant) -> Response:
    """Any role by an administrator; chief referee, referee and desk of an event by its organiser."""
    caller = current_caller()

    def work() -> Answer:
        row = operations.give_role(
            session,
            caller.actor,
            account_id=body.account_id,
            role=body.role,
            event_id=body.event_id,
            boards=body.boards,
            granted_by=caller.actor.name,
        )
        session.refresh(row)
        return Answer(body=schemas.grant_json(row), status=201)

    with parts().database.transaction() as session:
        operations.require_may_give(session, caller, role=body.role, event_id=body.event_id)
        return once(session, caller, work).response()


@people.delete("/grants/<int:grant_id>", summary="Take a role away", responses={"204": None})
@requires(Right.MANAGE_GRANTS)
def delete_grant(path: schemas.GrantPath) -> Response:
    """Counts from the next call on."""
    caller = current_caller()
    with parts().database.transaction() as session:
        row = operations.grant(session, path.grant_id)
        operations.require_may_give(session, caller, role=row.role, event_id=row.event_id)
        operations.take_role(session, caller.actor, row)
    return Response(status=204)


@people.get("/tokens", summary="API tokens")
@requires(Right.SIGNED_IN)
def list_tokens(query: schemas.TokenQuery) -> Response:
    """One's own tokens, or another account's for an administrator. Secrets are never shown again."""
    caller = current_caller()
    assert caller.actor.account_id is not None
    account_id = query.account_id or caller.actor.account_id
    if account_id != caller.actor.account_id and not operations.is_admin(caller):
        raise Forbidden("no-right", "Only an administrator sees other people's tokens.")
    with parts().database.transaction() as session:
        rows, following = queries.tokens(session, query, account_id=account_id)
        return jsonify({"items": [schemas.token_json(row) for row in rows], "next": following})


@people.post("/tokens", summary="Make an API token", responses={"201": None})
@requires(Right.SIGNED_IN)
def create_token(body: schemas.NewToken) -> Response:
    """The secret stands in this answer only: the same `Idempotency-Key` again gets the answer without it."""
    caller = current_caller()
    secret: list[str] = []

    def work() -> Answer:
        row, plain = operations.create_token(
            session,
            caller,
            account_id=body.account_id or caller.actor.account_id or 0,
            name=body.name,
            scopes=list(body.scopes),
            days=body.days,
        )
        session.refresh(row)
        secret.append(plain)
        return Answer(body=schemas.token_json(row), status=201)

    with parts().database.transaction() as session:
        answer = once(session, caller, work)
    return shown_once(answer, token=secret[0] if secret else None)


@people.delete("/tokens/<int:token_id>", summary="Revoke an API token", responses={"204": None})
@requires(Right.SIGNED_IN)
def delete_token(path: schemas.TokenPath) -> Response:
    """Counts from the next call on."""
    with parts().database.transaction() as session:
        operations.revoke_token(session, current_caller(), token_id=path.token_id)
    return Response(status=204)


def shown_once(answer: Answer, **secrets: str | None) -> Response:
    """The answer with secrets that are stored nowhere, so that no repeated request gets them again."""
    response = Answer(body={**answer.body, **secrets}, status=answer.status, headers=answer.headers).response()
    response.headers["Cache-Control"] = "no-store"
    return response


def _hashed(password: str | None) -> str | None:
    if password is None:
        return None
    passwords.check_form(password)
    return parts().passwords.hash(password)
