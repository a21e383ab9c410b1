"""Accounts, grants, tokens and sign-ins as the API shows them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from qisai.client.reading import Json, moment
from qisai.db.accounts import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A person who can sign in."""

    id: int
    login: str
    name: str
    is_active: bool = True
    version: int = 1

    @classmethod
    def from_json(cls, body: Json) -> Account:
        """From the API's object."""
        return cls(
            id=body["id"],
            login=body["login"],
            name=body["name"],
            is_active=body.get("is_active", True),
            version=body.get("version", 1),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A role of an account; `event_id` None: in all events; `boards`: only these board numbers, both ends counted."""

    id: int
    account_id: int
    role: Role
    event_id: int | None = None
    boards: tuple[int, int] | None = None

    @classmethod
    def from_json(cls, body: Json) -> Grant:
        """From the API's object."""
        boards = body.get("boards")
        return cls(
            id=body["id"],
            account_id=body["account_id"],
            role=Role(body["role"]),
            event_id=body.get("event_id"),
            boards=None if boards is None else (boards[0], boards[1]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """An API token. `secret` is there only in the answer that made it."""

    id: int
    account_id: int
    name: str
    scopes: tuple[str, ...]
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    secret: str | None = None

    @classmethod
    def from_json(cls, body: Json) -> Token:
        """From the API's object."""
        return cls(
            id=body["id"],
            account_id=body["account_id"],
            name=body["name"],
            scopes=tuple(body["scopes"]),
            expires_at=moment(body.get("expires_at")),
            revoked_at=moment(body.get("revoked_at")),
            last_used_at=moment(body.get("last_used_at")),
            secret=body.get("token"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """Who the caller is. `csrf_token` is given to cookie sessions only."""

    account: Account
    grants: tuple[Grant, ...]
    csrf_token: str | None = None

    @classmethod
    def from_json(cls, body: Json) -> Me:
        """From the API's object."""
        return cls(
            account=Account.from_json(body["account"]),
            grants=tuple(Grant.from_json(grant) for grant in body.get("grants", ())),
            csrf_token=body.get("csrf_token"),
        )

    @property
    def roles(self) -> frozenset[Role]:
        """Roles held anywhere."""
        return frozenset(grant.role for grant in self.grants)
