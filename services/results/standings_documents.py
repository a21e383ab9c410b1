"""The documents that standings are read from, by pages, API and exports alike: as JSON text, kept by feed number.

Looked for in this process, then in the database, then computed; what was computed is kept in both.
"""

from __future__ import annotations

import json
from typing import Any

import structlog
from sqlalchemy.orm import Session

from qisai.db.rounds import StandingsKind
from qisai.errors import Unavailable
from services.results import standings_answers as answers
from services.results.operations.standings import keep
from services.results.process import here
from services.results.queries import standings as queries
from services.results.queries.standings import Point, Table

log = structlog.get_logger()


def text(session: Session, at: Point, kind: StandingsKind) -> str:
    """The document as JSON text. `session` sees the moment of `at`."""

    def found() -> str:
        document = queries.kept(session, at, kind)
        if document is None:
            document = json.dumps(answers.document(table(session, at), kind), ensure_ascii=False)
            _keep(at, kind, document)
        return document

    document: str = here().standings.get((at.event_id, at.feed_no, at.after, kind.value), found)
    return document


def read(session: Session, at: Point, kind: StandingsKind) -> dict[str, Any]:
    """The document as values, for answers that are made of parts of it."""
    document: dict[str, Any] = json.loads(text(session, at, kind))
    return document


def table(session: Session, at: Point) -> Table:
    """The computed standings themselves, for the arithmetic behind a value."""
    found: Table = here().standings.get(
        (at.event_id, at.feed_no, at.after, "table"), lambda: queries.table(session, at)
    )
    return found


def _keep(at: Point, kind: StandingsKind, document: str) -> None:
    """A reader gets the answer even where it cannot be kept: the next one computes it again."""
    try:
        with here().database.transaction() as session:
            keep(session, at, kind, document)
    except Unavailable as error:
        log.warning("standings.not_kept", event_id=at.event_id, after=at.after, kind=kind.value, error=error.slug)
