"""Shapes of the gateway's own routes on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from qisai.db.accounts import AccountRow, GrantRow, InvitationRow, Role, TokenRow, WebSessionRow
from qisai.web.shapes import Body, Id, PageQuery, moment, plain, visible
from services.gateway.invitations import DAYS, MOST_DAYS
from services.gateway.passwords import LONGEST

LAST_BOARD: Final = 20_000
BoardNumber = Annotated[int, Field(ge=1, le=LAST_BOARD)]
Login = Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=64, pattern=r"^[\w.@+-]+$")]
Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=100),
    AfterValidator(plain),
    AfterValidator(visible),
]
Password = Annotated[str, Field(max_length=LONGEST), AfterValidator(plain)]
Typed = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(plain)]
"""A login or password that somebody tries."""
Token = Annotated[str, Field(min_length=1, max_length=200)]
"""The secret at the end of a link."""
Scope = Literal["read", "write"]


class SignInBody(Body):
    login: Typed
    password: Typed


class AccountPath(BaseModel):
    account_id: Id


class GrantPath(BaseModel):
    grant_id: Id


class TokenPath(BaseModel):
    token_id: Id


class SessionPath(BaseModel):
    session_id: Id


class InvitationPath(BaseModel):
    invitation_id: Id


class NewAccount(Body):
    login: Login
    name: Name
    password: Password | None = None


class AccountChange(Body):
    name: Name | None = None
    password: Password | None = None
    is_active: bool | None = None


class NewGrant(Body):
    account_id: Id
    role: Role
    event_id: Id | None = None
    boards: tuple[BoardNumber, BoardNumber] | None = None


class NewToken(Body):
    name: Name
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=2)] = Field(default=["read", "write"])
    days: Annotated[int, Field(ge=1, le=3660)] | None = None
    account_id: Id | None = None


class NewPassword(Body):
    old: Typed
    new: Password


class NewInvitation(Body):
    role: Role
    event_id: Id | None = None
    boards: tuple[BoardNumber, BoardNumber] | None = None
    name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100), AfterValidator(plain)] = ""
    days: Annotated[int, Field(ge=1, le=MOST_DAYS)] = DAYS


class LinkToken(Body):
    token: Token


class SignUp(Body):
    token: Token
    login: Login
    name: Name
    password: Password


class ResetPassword(Body):
    token: Token
    new: Password


class InvitationQuery(PageQuery):
    event_id: Id | None = None


class AccountQuery(PageQuery):
    q: Annotated[str, Field(max_length=100), AfterValidator(plain)] | None = None


class GrantQuery(PageQuery):
    event_id: Id | None = None
    account_id: Id | None = None


class TokenQuery(PageQuery):
    account_id: Id | None = None


def account_json(row: AccountRow) -> dict[str, Any]:
    """An account as the API shows it."""
    return {
        "id": row.id,
        "login": row.login,
        "name": row.name,
        "is_active": row.is_active,
        "has_password": row.password_hash is not None,
        "version": row.version,
        "created_at": moment(row.created_at),
    }


def grant_json(row: GrantRow) -> dict[str, Any]:
    """A grant as the API shows it."""
    return {
        "id": row.id,
        "account_id": row.account_id,
        "role": row.role.value,
        "event_id": row.event_id,
        "boards": None if row.board_from is None else [row.board_from, row.board_to],
        "granted_by": row.granted_by,
        "created_at": moment(row.created_at),
    }


def token_json(row: TokenRow) -> dict[str, Any]:
    """A token as the API shows it, without its secret."""
    return {
        "id": row.id,
        "account_id": row.account_id,
        "name": row.name,
        "scopes": list(row.scopes),
        "created_at": moment(row.created_at),
        "expires_at": moment(row.expires_at),
        "revoked_at": moment(row.revoked_at),
        "last_used_at": moment(row.last_used_at),
    }


def session_json(row: WebSessionRow, *, here: int | None) -> dict[str, Any]:
    """A browser session as its owner sees it. `here`: the session of this call."""
    return {
        "id": row.id,
        "browser": row.browser,
        "created_at": moment(row.created_at),
        "expires_at": moment(row.expires_at),
        "is_this_one": row.id == here,
    }


def invitation_json(row: InvitationRow) -> dict[str, Any]:
    """An invitation as those see it who may invite, without its secret."""
    return {
        "id": row.id,
        "role": row.role.value,
        "event_id": row.event_id,
        "boards": None if row.board_from is None else [row.board_from, row.board_to],
        "name": row.name,
        "invited_by": row.invited_by,
        "created_at": moment(row.created_at),
        "expires_at": moment(row.expires_at),
        "revoked_at": moment(row.revoked_at),
        "accepted_at": moment(row.accepted_at),
        "accepted_by": row.accepted_by,
    }
