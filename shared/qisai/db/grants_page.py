"""docs/grants.md, made from the matrix: `python -m qisai.db.grants_page > docs/grants.md`."""

from __future__ import annotations

import sys

from qisai.db.grants import MATRIX, Right, rights
from qisai.settings import SERVICES

_HEAD = """\
# Who may do what in the database

Made from `shared/qisai/db/grants.py` by `python -m qisai.db.grants_page > docs/grants.md`; a test keeps the two equal.
Each service logs in as a role of its own. `qisai migrate` gives the roles just these rights and takes every other one
away, PUBLIC's too. Only the owner, whom no service knows, may change the schema. Columns in brackets: only these.
"""


def as_markdown() -> str:
    """The whole page: the table, then the reasons."""
    tables = sorted({grant.table for grant in MATRIX})
    lines = [_HEAD, f"| table | {' | '.join(SERVICES)} |", f"|{'---|' * (len(SERVICES) + 1)}"]
    lines += [f"| `{table}` | {' | '.join(_cell(service, table) for service in SERVICES)} |" for table in tables]
    lines += ["", "## Why", ""]
    for table in tables:
        lines += [f"- `{table}`, {', '.join(services)}: {why}" for why, services in _reasons(table).items()]
    return "\n".join(lines) + "\n"


def _cell(service: str, table: str) -> str:
    columns: dict[Right, list[str | None]] = {}
    for name, right, column in rights(service):
        if name == table:
            columns.setdefault(right, []).append(column)
    words = []
    for right in (right for right in Right if right in columns):
        named = sorted(column for column in columns[right] if column is not None)
        words.append(right.value if None in columns[right] else f"{right.value} ({', '.join(named)})")
    return ", ".join(words) or "–"


def _reasons(table: str) -> dict[str, list[str]]:
    """Services by reason, in the order of the matrix."""
    reasons: dict[str, list[str]] = {}
    for grant in MATRIX:
        if grant.table == table:
            reasons.setdefault(grant.why, []).append(grant.service)
    return reasons


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
