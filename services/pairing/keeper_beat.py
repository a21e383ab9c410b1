"""A keeper's row in the database: who it is, whether it leads, that it lives.

Read by /ops and by the workers, so that a dead keeper is seen without anything that scrapes it.
"""

from __future__ import annotations

import os
import socket
import time

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

import qisai
from qisai.db.jobs import KEEPER_LEADS, KeeperRow
from qisai.db.records import AlertRow, Severity
from qisai.db.session import Database
from services.pairing.alert_kinds import EVERYWHERE, AlertKind, switch


class Beat:
    """Writes the row of this process, at most six times in the time after which it counts as dead (two leases)."""

    def __init__(self, *, lease_seconds: int, name: str | None = None) -> None:
        """`name`: host and process, unless said otherwise."""
        self._late_seconds = 2 * lease_seconds
        self._next = 0.0
        self._led = False
        self._name = name or f"{socket.gethostname()}:{os.getpid()}"

    def write(self, database: Database, *, is_leading: bool) -> None:
        """Beats, if it is time, or if leading has just begun or ended. Raises `Unavailable`."""
        now = time.monotonic()
        if now < self._next and is_leading == self._led:
            return
        row = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "release": qisai.__version__,
            "is_leading": is_leading,
            "late_seconds": self._late_seconds,
        }
        statement = insert(KeeperRow).values(name=self._name, **row)
        seen = {**row, "seen_at": sa.func.clock_timestamp()}
        with database.transaction() as session:
            if is_leading and not self._led:  # of whoever led before; one that lives goes on beating, without the lead
                session.execute(sa.delete(KeeperRow).where(KeeperRow.is_leading, KeeperRow.name != self._name))
            session.execute(statement.on_conflict_do_update(index_elements=["name"], set_=seen))
        self._next, self._led = now + self._late_seconds / 6, is_leading

    def leave(self, database: Database) -> None:
        """This keeper leaves on purpose. The row of one that led stays: it is late only when nobody follows in time.

        Raises `Unavailable`.
        """
        with database.transaction() as session:
            mine = (KeeperRow.name == self._name, KeeperRow.is_leading.is_(False))
            session.execute(sa.delete(KeeperRow).where(*mine))


def tell_if_keeper_is_late(session: Session) -> None:
    """Raises the alert where no keeper leads; the next one that does clears it (`watching`)."""
    keeps = sa.exists().where(*KEEPER_LEADS)
    is_told = sa.exists().where(AlertRow.kind == AlertKind.KEEPER_LATE.value, AlertRow.cleared_at.is_(None))
    if session.execute(sa.select(sa.or_(keeps, is_told))).scalar_one():
        return
    seen_at = session.execute(sa.select(sa.func.max(KeeperRow.seen_at))).scalar_one()
    detail = {"seen_at": None if seen_at is None else seen_at.isoformat()}
    switch(session, AlertKind.KEEPER_LATE, on=True, key=EVERYWHERE, severity=Severity.CRITICAL, detail=detail)
