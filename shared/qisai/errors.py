"""Errors of the domain: what went wrong, as data, without any word of HTTP.

Inner code raises these; `qisai.web.problems` alone knows which HTTP status each one gets, and the command line prints
them as one line with exit code 2. `slug` is stable and part of the public API; `detail` is for people; `context`
holds what translations and clients need (all JSON-serialisable).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class FieldError:
    """One bad value: where (a JSON pointer such as `/entrants/3/seed`) and what is wrong with it.

    `context` holds what the translations of the slug name; `variant` in it tells several texts of one slug apart.
    """

    pointer: str
    detail: str
    slug: str = "invalid"
    context: Mapping[str, Any] = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Blocker:
    """One thing that stands in the way of a change of state, and what to do about it."""

    slug: str
    detail: str
    context: Mapping[str, Any] = field(default_factory=dict)


class QisaiError(Exception):
    """Base of all errors a person may see. `slug` is kebab-case and never changes its meaning."""

    def __init__(self, slug: str, detail: str, **context: Any) -> None:
        super().__init__(detail)
        self.slug = slug
        self.detail = detail
        self.context: dict[str, Any] = context


class NotFound(QisaiError):
    """The thing does not exist, or the caller may not know that it does."""


class Gone(QisaiError):
    """The thing existed and was taken back (a board of an unpublished draw)."""


class Forbidden(QisaiError):
    """The caller is known and has no right to do this."""


class Unauthenticated(QisaiError):
    """Nobody is signed in, or the proof of identity is missing, wrong or expired."""


class Conflict(QisaiError):
    """The state of things does not allow this now; `blockers` say what to do first."""

    def __init__(self, slug: str, detail: str, *, blockers: Sequence[Blocker] = (), **context: Any) -> None:
        super().__init__(slug, detail, **context)
        self.blockers = tuple(blockers)


class PreconditionMissing(QisaiError):
    """A write did not say which version it saw."""


class Stale(QisaiError):
    """A write saw an older version. `current` is the present value, with its version, author and time."""

    def __init__(self, slug: str, detail: str, *, current: Mapping[str, Any], **context: Any) -> None:
        super().__init__(slug, detail, **context)
        self.current = dict(current)


class Invalid(QisaiError):
    """Input that cannot be taken: says what, where and how to mend it, one `FieldError` for each place."""

    def __init__(self, slug: str, detail: str, *, errors: Sequence[FieldError] = (), **context: Any) -> None:
        super().__init__(slug, detail, **context)
        self.errors = tuple(errors)


class TooLarge(QisaiError):
    """Input above a limit that is named in the detail."""


class Unavailable(QisaiError):
    """Something this needs (database, upstream, queue) does not answer; trying again later is safe."""

    def __init__(self, slug: str, detail: str, *, retry_after: int = 2, **context: Any) -> None:
        super().__init__(slug, detail, **context)
        self.retry_after = retry_after


class TooMany(Unavailable):
    """More calls than the limit allows; `retry_after` seconds later it goes on."""
