"""Accounts, grants, tokens, sign-ins and invitations as the API shows them."""

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
class Invitation:
    """A role offered by a link. `link` and `token` are there only in the answer that made it."""

    id: int
    role: Role
    event_id: int | None = None
    boards: tuple[int, int] | None = None
    name: str = ""
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    accepted_at: datetime | None = None
    accepted_by: int | None = None
    link: str | None = None
    token: str | None = None

    @classmethod
    def from_json(cls, body: Json) -> Invitation:
        """From the API's object."""
        boards = body.get("boards")
        return cls(
            id=body["id"],
            role=Role(body["role"]),
            event_id=body.get("event_id"),
            boards=None if boards is None else (boards[0], boards[1]),
            name=body.get("name", ""),
            expires_at=moment(body.get("expires_at")),
            revoked_at=moment(body.get("revoked_at")),
            accepted_at=moment(body.get("accepted_at")),
            accepted_by=body.get("accepted_by"),
            link=body.get("link"),
            token=body.get("token"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """What the holder of an invitation's link is told. `event` None: a role in all events."""

    role: Role
    event_id: int | None
    event: str | None
    boards: tuple[int, int] | None
    name: str
    invited_by: str
    expires_at: datetime | None

    @classmethod
    def from_json(cls, body: Json) -> Offered:
        """From the API's object."""
        boards = body.get("boards")
        return cls(
            role=Role(body["role"]),
            event_id=body.get("event_id"),
            event=body.get("event"),
            boards=None if boards is None else (boards[0], boards[1]),
            name=body.get("name", ""),
            invited_by=body["invited_by"],
            expires_at=moment(body.get("expires_at")),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordLink:
    """A link by which somebody sets a new password of an account, once."""

    account_id: int
    expires_at: datetime | None
    link: str
    token: str

    @classmethod
    def from_json(cls, body: Json) -> PasswordLink:
        """From the API's object."""
        expires_at = moment(body.get("expires_at"))
        return cls(account_id=body["account_id"], expires_at=expires_at, link=body["link"], token=body["token"])


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSession:
    """A browser that is signed in."""

    id: int
    browser: str
    created_at: datetime | None
    is_this_one: bool

    @classmethod
    def from_json(cls, body: Json) -> WebSession:
        """From the API's object."""
        return cls(
            id=body["id"],
            browser=body["browser"],
            created_at=moment(body.get("created_at")),
            is_this_one=body["is_this_one"],
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
