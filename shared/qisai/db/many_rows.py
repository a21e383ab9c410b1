"""Writing many rows in one statement, whose text does not grow with them: columns are sent as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.orm import Session

Rows = Sequence[Mapping[str, Any]]


def insert_many(session: Session, model: Any, rows: Rows) -> None:
    """Inserts rows that all name the same columns; what they do not name gets its default."""
    if rows:
        session.execute(_insert(model, rows))


def insert_many_for_ids(session: Session, model: Any, rows: Rows) -> list[int]:
    """The same; ids in the order of the rows, which is the order in which Postgres gives them out."""
    return sorted(session.scalars(_insert(model, rows).returning(model.id))) if rows else []


def upsert_many(session: Session, model: Any, rows: Rows, *, key: str) -> None:
    """Inserts rows, or changes those that are there already in the columns that a row names."""
    for alike in _alike(rows):
        statement = _insert(model, alike)
        changed = {name: statement.excluded[name] for name in alike[0] if name != key}
        session.execute(statement.on_conflict_do_update(index_elements=[key], set_=changed))


def update_many(session: Session, model: Any, rows: Rows) -> None:
    """Changes rows by `id` in the columns that each names: one statement for all that name the same ones."""
    for alike in _alike(rows):
        given = _given(model, alike, list(alike[0]))
        values = {name: given.c[name] for name in alike[0] if name != "id"}
        statement = sa.update(model).where(model.id == given.c.id).values(values)
        session.execute(statement.execution_options(synchronize_session=False))


def _alike(rows: Rows) -> list[Rows]:
    """Rows that name the same columns, together."""
    return [list(group) for _names, group in groupby(sorted(rows, key=sorted), key=sorted)]


def _given(model: Any, rows: Rows, names: Sequence[str]) -> Any:
    columns = model.__table__.c
    arrays = [sa.cast([row[name] for row in rows], ARRAY(columns[name].type)) for name in names]
    return sa.func.unnest(*arrays).table_valued(*names, with_ordinality="place", name="given").render_derived()


def _insert(model: Any, rows: Rows) -> Any:
    first, columns = rows[0], model.__table__.c
    # What all rows have in common is sent once: the driver writes arrays value by value.
    differ = [name for name in first if any(row[name] != first[name] for row in rows)] or [next(iter(first))]
    given = _given(model, rows, differ)
    values = [
        given.c[name] if name in differ else sa.cast(sa.literal(first[name], columns[name].type), columns[name].type)
        for name in first
    ]
    source = sa.select(*values).order_by(given.c.place)
    statement = insert(model).from_select(list(rows[0]), source, include_defaults=False)
    return statement.execution_options(synchronize_session=False)
