"""Calls about links that are handed over: invitations to a role, and new passwords."""

from __future__ import annotations

from qisai.client.calls import Calls
from qisai.client.people import Account, Grant, Invitation, Offered, PasswordLink
from qisai.client.reading import all_items
from qisai.db.accounts import Role

_INVITATIONS = "/api/v1/invitations"


class LinkCalls(Calls):
    """Invitations and new passwords by link."""

    def invite(
        self,
        role: Role,
        *,
        event_id: int | None = None,
        boards: tuple[int, int] | None = None,
        name: str = "",
        days: int = 7,
        key: str | None = None,
    ) -> Invitation:
        """A new invitation; `link` and `token` are shown this once."""
        body = {"role": role.value, "event_id": event_id, "boards": boards, "name": name, "days": days}
        given = {name: value for name, value in body.items() if value is not None}
        return Invitation.from_json(self._create(_INVITATIONS, given, key=key))

    def invitations(self, *, event_id: int | None = None) -> tuple[Invitation, ...]:
        """Invitations into an event, or all; used, revoked and expired ones included."""
        query = {} if event_id is None else {"event_id": str(event_id)}
        return all_items(self._transport, _INVITATIONS, Invitation.from_json, query=query)

    def revoke(self, invitation_id: int) -> None:
        """Ends an invitation; its link counts no more from the next call on."""
        self._write("DELETE", f"{_INVITATIONS}/{invitation_id}")

    def read(self, token: str) -> Offered:
        """What a link offers. Raises `NotFound` for one that does not count."""
        return Offered.from_json(self._write("POST", f"{_INVITATIONS}/read", {"token": token}))

    def accept(self, token: str) -> Grant:
        """Takes the role for the caller's account. Raises `NotFound` for a link that does not count."""
        return Grant.from_json(self._write("POST", f"{_INVITATIONS}/accept", {"token": token}))

    def sign_up(self, token: str, *, login: str, name: str, password: str) -> Account:
        """Makes an account with the role. Raises `NotFound` for a link that does not count, `Conflict`, `Invalid`."""
        body = {"token": token, "login": login, "name": name, "password": password}
        return Account.from_json(self._write("POST", f"{_INVITATIONS}/sign-up", body)["account"])

    def new_password(self, account_id: int) -> PasswordLink:
        """A link by which somebody sets a new password of the account; shown this once, it ends earlier ones."""
        return PasswordLink.from_json(self._create(f"/api/v1/accounts/{account_id}/password-reset"))

    def revoke_new_password(self, account_id: int) -> None:
        """Ends the account's links for a new password."""
        self._write("DELETE", f"/api/v1/accounts/{account_id}/password-reset")

    def set_password(self, token: str, new: str) -> None:
        """Sets the password behind a link and ends every sign-in. Raises `NotFound`, `Invalid`."""
        self._write("POST", "/api/v1/password-resets/use", {"token": token, "new": new})
