"""API of links that are handed over: invitations to a role, and new passwords.

Secrets travel in bodies, never in paths or queries, which end up in logs.
"""

from __future__ import annotations

from collections.abc import Callable

from flask import Response, jsonify, request
from flask_openapi3 import APIBlueprint, Tag
from sqlalchemy.orm import Session

from qisai.web.idempotency import once
from qisai.web.identity import current_caller
from qisai.web.requests import Answer
from qisai.web.rights import Right, requires
from qisai.web.shapes import moment
from services.gateway import account_queries as queries
from services.gateway import accounts, invitations, password_resets, passwords, schemas
from services.gateway.account_views import shown_once
from services.gateway.parts import credential, parts

links = APIBlueprint("links", __name__, url_prefix="/api/v1", abp_tags=[Tag(name="people")])


@links.get("/invitations", summary="Invitations")
@requires(Right.MANAGE_GRANTS)
def list_invitations(query: schemas.InvitationQuery) -> Response:
    """All for an administrator; those into one event for its organiser. Links are never shown again."""
    with parts().database.transaction() as session:
        accounts.require_may_give(session, current_caller(), role=None, event_id=query.event_id)
        rows, following = queries.invitations(session, query)
        return jsonify({"items": [schemas.invitation_json(row) for row in rows], "next": following})


@links.post("/invitations", summary="Invite somebody to a role", responses={"201": None})
@requires(Right.MANAGE_GRANTS)
def create_invitation(body: schemas.NewInvitation) -> Response:
    """The link stands in this answer only: the same `Idempotency-Key` again gets the answer without it."""
    caller = current_caller()
    secret: list[str] = []
    offer = invitations.Offer(**body.model_dump())

    def work() -> Answer:
        row, plain = invitations.invite(session, caller, offer)
        session.refresh(row)
        secret.append(plain)
        return Answer(body=schemas.invitation_json(row), status=201)

    with parts().database.transaction() as session:
        answer = once(session, caller, work)
    plain = secret[0] if secret else None
    return shown_once(answer, token=plain, link=None if plain is None else invitation_link(plain))


@links.delete("/invitations/<int:invitation_id>", summary="Revoke an invitation", responses={"204": None})
@requires(Right.MANAGE_GRANTS)
def delete_invitation(path: schemas.InvitationPath) -> Response:
    """Its link counts no more; a role that was taken by it stays until it is taken away."""
    with parts().database.transaction() as session:
        invitations.revoke(session, current_caller(), invitation_id=path.invitation_id)
    return Response(status=204)


@links.post("/invitations/read", summary="What an invitation offers")
@requires(Right.PUBLIC)
def read_invitation(body: schemas.LinkToken) -> Response:
    """For whoever holds the link."""
    count_attempt()
    with parts().database.transaction() as session:
        found = invitations.find(session, body.token)
        row = schemas.invitation_json(found.row)
    shown = {name: row[name] for name in ("role", "event_id", "boards", "name", "expires_at")}
    return jsonify({**shown, "event": found.event, "invited_by": found.invited_by})


@links.post("/invitations/accept", summary="Take an offered role", responses={"201": None})
@requires(Right.SIGNED_IN)
def accept_invitation(body: schemas.LinkToken) -> Response:
    """For the caller's account."""
    count_attempt()
    with parts().database.transaction() as session:
        grant = invitations.accept(session, current_caller().actor, body.token)
        session.refresh(grant)
        return Answer(body=schemas.grant_json(grant), status=201).response()


@links.post("/invitations/sign-up", summary="Make an account by invitation", responses={"201": None})
@requires(Right.PUBLIC)
def sign_up(body: schemas.SignUp) -> Response:
    """Makes the account and takes the role; the next call signs in."""
    count_attempt()
    password_hash = password_of_new_account(body)
    with parts().database.transaction() as session:
        account, grant = invitations.sign_up(
            session, body.token, login=body.login, name=body.name, password_hash=password_hash,
            device=credential().device,
        )  # fmt: skip
        session.refresh(account)
        session.refresh(grant)
        shown = {"account": schemas.account_json(account), "grant": schemas.grant_json(grant)}
    return Answer(body=shown, status=201).response()


@links.post("/accounts/<int:account_id>/password-reset", summary="Make a link for a new password")
@requires(Right.MANAGE_ACCOUNTS)
def create_password_reset(path: schemas.AccountPath) -> Response:
    """The link stands in this answer only, counts two hours, and ends earlier ones of the account."""
    with parts().database.transaction() as session:
        row, secret = password_resets.make(session, current_caller().actor, account_id=path.account_id)
        shown = {"account_id": row.account_id, "expires_at": moment(row.expires_at)}
    return shown_once(Answer(body=shown, status=201), token=secret, link=password_link(secret))


@links.delete("/accounts/<int:account_id>/password-reset", summary="Revoke it", responses={"204": None})
@requires(Right.MANAGE_ACCOUNTS)
def delete_password_reset(path: schemas.AccountPath) -> Response:
    """Ends the account's links for a new password."""
    with parts().database.transaction() as session:
        password_resets.revoke(session, current_caller().actor, account_id=path.account_id)
    return Response(status=204)


@links.post("/password-resets/use", summary="Set a new password by link", responses={"204": None})
@requires(Right.PUBLIC)
def use_password_reset(body: schemas.ResetPassword) -> Response:
    """Ends every sign-in and every API token of the account."""
    count_attempt()
    set_password(body.token, body.new)
    return Response(status=204)


def password_of_new_account(body: schemas.SignUp) -> str:
    """The hash of the password of an account that an invitation makes. Raises `Invalid`, `NotFound`."""
    passwords.check_form(body.password)
    return _hashed(body.password, lambda session: invitations.find(session, body.token))


def set_password(secret: str, password: str) -> None:
    """Sets the password behind a link. Raises `Invalid`, `NotFound`."""
    passwords.check_form(password)
    password_hash = _hashed(password, lambda session: password_resets.find(session, secret))
    with parts().database.transaction() as session:
        password_resets.use(session, secret, password_hash=password_hash, device=credential().device)


def _hashed(password: str, link: Callable[[Session], object]) -> str:
    """The hash of a password that a link sets. It is costly: only for those whose link counts, before they wait in line
    for it and still when it is their turn. Raises what `link` raises, `Unavailable`."""

    def counts() -> None:
        with parts().database.transaction() as session:
            link(session)

    counts()
    return parts().passwords.hash(password, first=counts)


def count_attempt() -> None:
    """Counts a try to use a link from this address, as tries to sign in are. Raises `TooMany`."""
    parts().sign_in_limits.count_link(address=request.remote_addr or "")


def invitation_link(secret: str) -> str:
    """Address of an invitation, to be handed over."""
    return f"{parts().settings.public_url.rstrip('/')}/invitations/{secret}"


def password_link(secret: str) -> str:
    """Address where a new password is set, to be handed over."""
    return f"{parts().settings.public_url.rstrip('/')}/new-password/{secret}"
