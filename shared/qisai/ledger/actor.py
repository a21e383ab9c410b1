"""Who acts: goes into every log row."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """A person, a token of a person, or a process. `account_id` None: the public or the system itself."""

    account_id: int | None
    name: str
    device: str = ""
    request_id: str = "-"


def system_actor(name: str, *, request_id: str = "-") -> Actor:
    """A process that acts on its own: `pairing`, `keeper`."""
    return Actor(account_id=None, name=name, request_id=request_id)
