"""Shapes of the wire that every service shares: ids, lines of text, bodies, paths, pages, moments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Annotated, Any, LiteralString

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictStr, model_validator
from pydantic_core import PydanticCustomError

from qisai.formats.typed_text import is_visible, tidy

Id = Annotated[int, Field(ge=1, le=2**63 - 1)]
RoundNumber = Annotated[int, Field(ge=1, le=100)]


def refused(slug: LiteralString, text: LiteralString, **context: Any) -> PydanticCustomError:
    """What a validator raises: like `ValueError`, with a slug that has texts in every language (`field_texts`)."""
    return PydanticCustomError(slug, text, context)


def plain(text: str) -> str:
    """Refuses what no column can hold and no page can show: control characters, halves of surrogate pairs."""
    if any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 or 0xD800 <= ord(c) <= 0xDFFF for c in text if c not in "\n\t"):
        raise refused("characters", "contains control characters or broken Unicode; remove them")
    return text


def visible(text: str) -> str:
    """Refuses a text of which nothing is drawn."""
    if not is_visible(tidy(text)):
        raise refused("invisible", "must have a character that can be seen")
    return text


Line = Annotated[StrictStr, Field(max_length=500), AfterValidator(plain)]
"""Text that a person types: a note, a reason."""


class Body(BaseModel):
    """A JSON object that holds nothing but what its schema names."""

    model_config = ConfigDict(extra="forbid")


class OptionalBody(Body):
    """A body that may be left out altogether."""

    @model_validator(mode="before")
    @classmethod
    def _nothing_said(cls, value: Any) -> Any:
        return {} if value is None else value


class EventPath(BaseModel):
    event_id: Id


class RoundPath(EventPath):
    round_no: RoundNumber


class Query(BaseModel):
    """The values of a query string.

    Its JSON schema is made once: flask-openapi3 asks for it at each request, and making it takes as long as a read.
    """

    @classmethod
    def model_json_schema(cls, *arguments: Any, **named: Any) -> dict[str, Any]:
        """The schema; with arguments, as for the description of the API, a new one."""
        return super().model_json_schema(*arguments, **named) if arguments or named else _plain_schema(cls)


@cache
def _plain_schema(model: type[Query]) -> dict[str, Any]:
    return super(Query, model).model_json_schema()


class PageQuery(Query):
    """Where to go on in a list, and how much of it."""

    cursor: Annotated[str | None, Field(max_length=400)] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 200


class Reason(OptionalBody):
    reason: Line = ""


class NeededReason(Body):
    reason: Annotated[Line, Field(min_length=1)]


def moment(value: datetime | None) -> str | None:
    """RFC 3339 in UTC."""
    return None if value is None else value.isoformat().replace("+00:00", "Z")


def page(items: Sequence[dict[str, Any]], *, after: str | None = None) -> dict[str, Any]:
    """A list with the cursor of what follows."""
    return {"items": list(items), "next": after}
