"""All tables in one import, for migrations and for tests that compare them with the models."""

from qisai.db import accounts, entrants, events, jobs, records, rounds
from qisai.db.base import Base

__all__ = ["Base", "accounts", "entrants", "events", "jobs", "records", "rounds"]
