"""What tests of the pairing service share: a database as the pairing role, a solver, terms."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qisai.db.session import Database as Connections
from services.pairing.solving import Solver
from services.pairing.terms import Terms
from tests.servers import Database


@pytest.fixture
def pairing(database: Database) -> Iterator[Connections]:
    """Connections as the pairing role."""
    connections = Connections(database.url("pairing"), application="test", pool_size=4)
    yield connections
    connections.close()


@pytest.fixture(scope="module")
def solver() -> Iterator[Solver]:
    """One warm solver process."""
    solver = Solver(memory_bytes=2 << 30)
    yield solver
    solver.kill()


@pytest.fixture
def terms() -> Terms:
    """A worker's terms with a short lease."""
    return Terms(worker="test:1", lease_seconds=3, max_attempts=3, deadline_ms=20_000)
