"""The typed client of the public API: `Client(HttpTransport("http://…", token="qisai_…"))`.

Calls stand in groups: `client.events`, `client.entrants`, `client.rounds`, `client.tables`, `client.people`,
`client.links`, `client.operations`. Every problem of the API is raised as the error of `qisai.errors` that it stands
for, with slug, context, blockers and the current value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from qisai.client.calls import Calls
from qisai.client.draws import Job
from qisai.client.entrant_calls import EntrantCalls
from qisai.client.events import Event, Imported, Profile
from qisai.client.link_calls import LinkCalls
from qisai.client.operations import Alert, Breaker, QueueView, ServiceHealth, Worker
from qisai.client.people import Account, Grant, Me, Token, WebSession
from qisai.client.reading import all_items, items
from qisai.client.round_calls import RoundCalls
from qisai.client.table_calls import TableCalls
from qisai.client.transport import HttpTransport, Transport
from qisai.db.accounts import Role

API = "/api/v1"


class Client:
    """All calls of the API over one transport."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.people = PeopleCalls(transport)
        self.links = LinkCalls(transport)
        self.events = EventCalls(transport)
        self.entrants = EntrantCalls(transport)
        self.rounds = RoundCalls(transport)
        self.operations = OperationCalls(transport)
        self.tables = TableCalls(transport)

    def sign_in(self, login: str, password: str) -> Me:
        """Signs in by password; the transport keeps the cookie and the CSRF token. Raises `Unauthenticated`."""
        me = self.people.sign_in(login, password)
        if isinstance(self.transport, HttpTransport):
            self.transport.csrf_token = me.csrf_token
        return me

    def sign_out(self) -> None:
        """Ends the session of this transport's cookie."""
        self.people.sign_out()
        if isinstance(self.transport, HttpTransport):
            self.transport.csrf_token = None


class PeopleCalls(Calls):
    """Sign-in, accounts, grants, tokens."""

    def sign_in(self, login: str, password: str) -> Me:
        """Signs in by password. Raises `Unauthenticated`; `Unavailable` after too many attempts."""
        return Me.from_json(self._write("POST", f"{API}/sessions", {"login": login, "password": password}))

    def sign_out(self) -> None:
        """Ends the session at once, everywhere."""
        self._write("DELETE", f"{API}/sessions/current")

    def me(self) -> Me:
        """The caller's account and grants."""
        return Me.from_json(self._get(f"{API}/me"))

    def create_account(self, *, login: str, name: str, password: str | None = None, key: str | None = None) -> Account:
        """A new account; without a password it signs in by token only."""
        body = {"login": login, "name": name} | ({} if password is None else {"password": password})
        return Account.from_json(self._create(f"{API}/accounts", body, key=key))

    def accounts(self, q: str | None = None) -> tuple[Account, ...]:
        """All accounts, or those whose login or name contains `q`."""
        return all_items(self._transport, f"{API}/accounts", Account.from_json, query={} if q is None else {"q": q})

    def change_account(self, account: Account, **changes: Any) -> Account:
        """Changes name, password or `is_active` of the version given."""
        body = self._write("PATCH", f"{API}/accounts/{account.id}", changes, version=account.version)
        return Account.from_json(body)

    def grant(
        self,
        account_id: int,
        role: Role,
        *,
        event_id: int | None = None,
        boards: tuple[int, int] | None = None,
        key: str | None = None,
    ) -> Grant:
        """Gives a role, in one event or everywhere."""
        body = {"account_id": account_id, "role": role.value, "event_id": event_id, "boards": boards}
        return Grant.from_json(self._create(f"{API}/grants", {k: v for k, v in body.items() if v is not None}, key=key))

    def grants(self, *, event_id: int | None = None, account_id: int | None = None) -> tuple[Grant, ...]:
        """Grants of an event, of an account, or all."""
        query = {"event_id": event_id, "account_id": account_id}
        given = {name: str(value) for name, value in query.items() if value is not None}
        return all_items(self._transport, f"{API}/grants", Grant.from_json, query=given)

    def withdraw_grant(self, grant_id: int) -> None:
        """Takes a role away; it counts no more from the next call on."""
        self._write("DELETE", f"{API}/grants/{grant_id}")

    def sessions(self) -> tuple[WebSession, ...]:
        """Browsers signed in with the caller's account, the latest first."""
        return items(self._get(f"{API}/me/sessions"), WebSession.from_json)

    def end_session(self, session_id: int) -> None:
        """Signs one of the caller's browsers out."""
        self._write("DELETE", f"{API}/me/sessions/{session_id}")

    def end_other_sessions(self) -> None:
        """Signs the caller out everywhere else."""
        self._write("DELETE", f"{API}/me/sessions")

    def create_token(
        self,
        *,
        name: str,
        scopes: Sequence[str] = ("read", "write"),
        days: int | None = None,
        account_id: int | None = None,
        key: str | None = None,
    ) -> Token:
        """A new token; `secret` is shown this once. For another account only by an administrator."""
        body = {"name": name, "scopes": list(scopes), "days": days, "account_id": account_id}
        return Token.from_json(self._create(f"{API}/tokens", {k: v for k, v in body.items() if v is not None}, key=key))

    def tokens(self) -> tuple[Token, ...]:
        """The caller's tokens, without their secrets."""
        return all_items(self._transport, f"{API}/tokens", Token.from_json)

    def revoke_token(self, token_id: int) -> None:
        """Ends a token; it counts no more from the next call on."""
        self._write("DELETE", f"{API}/tokens/{token_id}")


class EventCalls(Calls):
    """Game profiles and events."""

    def profiles(self) -> tuple[Profile, ...]:
        """All games."""
        return items(self._get(f"{API}/profiles"), Profile.from_json)

    def list(self, *, state: str | None = None, q: str | None = None) -> tuple[Event, ...]:
        """Events the caller may know of."""
        query = {name: value for name, value in {"state": state, "q": q}.items() if value is not None}
        return all_items(self._transport, f"{API}/events", Event.from_json, query=query)

    def get(self, event_id: int) -> Event:
        """One event. Raises `NotFound`."""
        return Event.from_json(self._get(f"{API}/events/{event_id}"))

    def create(
        self,
        *,
        name: str,
        profile: str,
        regulations: Mapping[str, Any] | None = None,
        key: str | None = None,
        **basics: Any,
    ) -> Event:
        """A new event in state draft. `basics`: venue, starts_on, capacity, … as in the API."""
        body = {"name": name, "profile": profile, **basics}
        if regulations is not None:
            body["regulations"] = dict(regulations)
        return Event.from_json(self._create(f"{API}/events", body, key=key))

    def change(self, event: Event, **changes: Any) -> Event:
        """Changes the version given. Raises `Stale`, and `Conflict` for regulations once round 1 is published."""
        return Event.from_json(self._write("PATCH", f"{API}/events/{event.id}", changes, version=event.version))

    def preview(self, *, profile: str, **choices: Any) -> dict[str, Any]:
        """What an event with these choices would mean: `advice`, `tie_breaks` in words, byes. Makes nothing."""
        body: dict[str, Any] = self._write("POST", f"{API}/events/preview", {"profile": profile, **choices})
        return body

    def clone(self, event_id: int, *, key: str | None = None, **anew: Any) -> Event:
        """A draft with this event's game, regulations and rules. `anew`: name, starts_on, registration_until, venue."""
        return Event.from_json(self._create(f"{API}/events/{event_id}/clone", anew, key=key))

    def profile(self, code: str) -> Profile:
        """One game with its version. Raises `NotFound`."""
        return Profile.from_json(self._get(f"{API}/profiles/{code}"))

    def change_profile(self, profile: Profile, **changes: Any) -> Profile:
        """Changes the version given, for new events: names, sides, board, team_size, regulations, reason."""
        path = f"{API}/profiles/{profile.code}"
        return Profile.from_json(self._write("PATCH", path, changes, version=profile.version))

    def profile_history(self, code: str) -> tuple[Mapping[str, Any], ...]:
        """Changes of a game, newest first: at, actor, old, new, reason."""
        return tuple(self._get(f"{API}/profiles/{code}/history")["items"])

    def alerts(self, event_id: int) -> tuple[Alert, ...]:
        """Open alerts of an event, for those who work at it; who operates gets what is critical anywhere with them."""
        return items(self._get(f"{API}/events/{event_id}/alerts"), Alert.from_json)

    def act(self, event: Event, action: str, **said: Any) -> Event:
        """One step of the event's state by its name in the API; `undo` takes archive and start back."""
        self._write("POST", f"{API}/events/{event.id}/{action}", said, version=event.version)
        return self.get(event.id)

    def export(self, event_id: int) -> dict[str, Any]:
        """The whole event as `qisai.tournament/1`."""
        body: dict[str, Any] = self._get(f"{API}/events/{event_id}/exports/json")
        return body

    def import_tournament(
        self, document: Mapping[str, Any], *, name: str | None = None, key: str | None = None
    ) -> Imported:
        """A new event from a whole `qisai.tournament/1`."""
        body = self._create(f"{API}/events/imports/json", dict(document), key=key, name=name)
        return Imported(
            id=body["id"], name=body["name"], entrants=body.get("entrants", 0), rounds=body.get("rounds", 0)
        )


class OperationCalls(Calls):
    """The queue and what works at it."""

    def queue(self, *, hours: int = 1) -> QueueView:
        """Depth, age, jobs under way, in trouble and latest, the last hours, keepers."""
        return QueueView.from_json(self._get(f"{API}/ops/queue", hours=hours))

    def jobs(self) -> tuple[Job, ...]:
        """Jobs, newest first."""
        return items(self._get(f"{API}/ops/jobs"), Job.from_json)

    def cancel_job(self, job_id: int) -> None:
        """Cancels a job of any event."""
        self._write("POST", f"{API}/ops/jobs/{job_id}/cancel", {})

    def workers(self) -> tuple[Worker, ...]:
        """Pairing workers and their last heartbeats."""
        return items(self._get(f"{API}/ops/workers"), Worker.from_json)

    def breakers(self) -> tuple[Breaker, ...]:
        """Circuit breakers that are not at rest."""
        return items(self._get(f"{API}/ops/breakers"), Breaker.from_json)

    def reset_breaker(self, event_id: int) -> None:
        """Closes an event's breaker by hand."""
        self._write("POST", f"{API}/ops/breakers/{event_id}/reset", {})

    def alerts(self, *, severity: str | None = None) -> tuple[Alert, ...]:
        """Open alerts, latest first: all, or those of one severity."""
        return items(self._get(f"{API}/ops/alerts", severity=severity), Alert.from_json)

    def acknowledge(self, alert_id: int) -> None:
        """Notes that somebody has seen the alert."""
        self._write("POST", f"{API}/ops/alerts/{alert_id}/acknowledge", {})

    def services(self) -> tuple[ServiceHealth, ...]:
        """The services behind the gateway."""
        return items(self._get(f"{API}/ops/services"), ServiceHealth.from_json)
