"""Calls about tables: crosstable, one entrant's history, prizes by category, sheets."""

from __future__ import annotations

from qisai.client.calls import Calls, text_query
from qisai.client.tables import Crosstable, History, PrizeTable
from qisai.client.transport import Request


class TableCalls(Calls):
    """Tables of an event; `after` None: after the last published round."""

    def crosstable(self, event_id: int, *, after: int | None = None) -> Crosstable:
        """The standings with each entrant's rounds."""
        return Crosstable.from_json(self._get(f"/api/v1/events/{event_id}/crosstable", after=after))

    def history(self, event_id: int, number: int, *, after: int | None = None) -> History:
        """One entrant's rounds. Raises `NotFound` for a number that is not in the standings."""
        return History.from_json(self._get(f"/api/v1/events/{event_id}/histories/{number}", after=after))

    def prizes(
        self,
        event_id: int,
        *,
        after: int | None = None,
        club: str | None = None,
        sex: str | None = None,
        age_group: str | None = None,
        rating_from: int | None = None,
        rating_to: int | None = None,
    ) -> PrizeTable:
        """The standings of a category. Raises `Unauthenticated` or `Forbidden` for sex and age, which are private."""
        query = {"club": club, "sex": sex, "age_group": age_group, "rating_from": rating_from, "rating_to": rating_to}
        return PrizeTable.from_json(self._get(f"/api/v1/events/{event_id}/standings", after=after, **query))

    def csv(self, event_id: int, what: str, *, after: int | None = None) -> bytes:
        """`standings`, `crosstable` or `pairings` as CSV with headers in the client's language."""
        path, query = f"/api/v1/events/{event_id}/exports/csv", {"what": what, "after": after}
        return self._transport.send(Request(method="GET", path=path, query=text_query(query))).content
