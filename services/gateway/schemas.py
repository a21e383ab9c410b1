"""Shapes of the gateway's own routes on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from qisai.db.accounts import AccountRow, GrantRow, Role, TokenRow
from services.gateway.passwords import LONGEST

BIGGEST = 2**63 - 1
Id = Annotated[int, Field(ge=1, le=BIGGEST)]
BoardNumber = Annotated[int, Field(ge=1, le=20_000)]
Login = Annotated[str, StringConstraints(strip_whitespace=True, min_length=2, max_length=64, pattern=r"^[\w.@+-]+$")]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
Scope = Literal["read", "write"]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SignInBody(_Body):
    login: Annotated[str, Field(min_length=1, max_length=200)]
    password: Annotated[str, Field(min_length=1, max_length=1000)]


class AccountPath(BaseModel):
    account_id: Id


class GrantPath(BaseModel):
    grant_id: Id


class TokenPath(BaseModel):
    token_id: Id


class NewAccount(_Body):
    login: Login
    name: Name
    password: Annotated[str, Field(max_length=LONGEST)] | None = None


class AccountChange(_Body):
    name: Name | None = None
    password: Annotated[str, Field(max_length=LONGEST)] | None = None
    is_active: bool | None = None


class NewGrant(_Body):
    account_id: Id
    role: Role
    event_id: Id | None = None
    boards: tuple[BoardNumber, BoardNumber] | None = None


class NewToken(_Body):
    name: Name
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=2)] = ["read", "write"]
    days: Annotated[int, Field(ge=1, le=3660)] | None = None
    account_id: Id | None = None


class NewPassword(_Body):
    old: Annotated[str, Field(min_length=1, max_length=1000)]
    new: Annotated[str, Field(max_length=LONGEST)]


class Paging(BaseModel):
    cursor: Annotated[str, Field(max_length=200)] | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 200


class AccountQuery(Paging):
    q: Annotated[str, Field(max_length=100)] | None = None


class GrantQuery(Paging):
    event_id: Id | None = None
    account_id: Id | None = None


class TokenQuery(Paging):
    account_id: Id | None = None


def utc(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC."""
    return None if moment is None else moment.isoformat().replace("+00:00", "Z")


def account_json(row: AccountRow) -> dict[str, Any]:
    """An account as the API shows it."""
    return {
        "id": row.id,
        "login": row.login,
        "name": row.name,
        "is_active": row.is_active,
        "has_password": row.password_hash is not None,
        "version": row.version,
        "created_at": utc(row.created_at),
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
        "created_at": utc(row.created_at),
    }


def token_json(row: TokenRow) -> dict[str, Any]:
    """A token as the API shows it, without its secret."""
    return {
        "id": row.id,
        "account_id": row.account_id,
        "name": row.name,
        "scopes": list(row.scopes),
        "created_at": utc(row.created_at),
        "expires_at": utc(row.expires_at),
        "revoked_at": utc(row.revoked_at),
        "last_used_at": utc(row.last_used_at),
    }
