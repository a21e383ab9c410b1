"""Values of the wire that several shapes share: names, texts, times, and what of them is refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Annotated, Any, Final
from zoneinfo import available_timezones

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field, StrictInt, StrictStr

from qisai.formats.typed_text import email_fits, phone_fits, tidy, tidy_name, unprintable
from qisai.web.shapes import plain, refused, visible
from services.registration.states import SLUGS


def _tidy(text: Any, *, by: Callable[[str], str] = tidy) -> Any:
    """Checked before it is tidied: what cannot be stored is refused, not silently dropped."""
    if not isinstance(text, str):
        return text
    neat = by(text)
    if unprintable(neat) is not None:
        raise refused("characters", "contains control characters or broken Unicode; remove them")
    return neat


def _tidy_name(text: Any) -> Any:
    return _tidy(text, by=tidy_name)


Name = Annotated[StrictStr, BeforeValidator(_tidy), Field(min_length=1, max_length=200), AfterValidator(visible)]
ShortText = Annotated[StrictStr, BeforeValidator(_tidy), Field(max_length=200)]
EntrantName = Annotated[
    StrictStr, BeforeValidator(_tidy_name), Field(min_length=1, max_length=200), AfterValidator(visible)
]
ClubName = Annotated[StrictStr, BeforeValidator(_tidy_name), Field(max_length=200)]
ExternalId = Annotated[StrictStr, BeforeValidator(_tidy), Field(min_length=1, max_length=60)]
SearchText = Annotated[str, Field(max_length=200), AfterValidator(plain)]
Seed = Annotated[StrictInt, Field(ge=0, le=4000)]
Email = Annotated[StrictStr, BeforeValidator(_tidy), Field(max_length=200), AfterValidator(lambda text: _email(text))]
Phone = Annotated[StrictStr, BeforeValidator(_tidy), Field(max_length=40), AfterValidator(lambda text: _phone(text))]
Notes = Annotated[StrictStr, BeforeValidator(_tidy), Field(max_length=1000)]
BirthYear = Annotated[StrictInt, Field(ge=1900, le=2100), AfterValidator(lambda year: _past(year))]
BoardNumber = Annotated[StrictInt, Field(ge=1, le=10_000)]
Capacity = Annotated[StrictInt, Field(ge=1, le=20_000)]


def _email(text: str) -> str:
    if text and not email_fits(text):
        raise refused("email", "is no e-mail address")
    return text


def _phone(text: str) -> str:
    if text and not phone_fits(text):
        raise refused("phone", "is no telephone number: digits, spaces and + - ( ) only, at least 5 digits")
    return text


def _past(year: int) -> int:
    if year > datetime.now(UTC).year:
        raise refused("future", "lies in the future")
    return year


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError:  # in another zone still year 1 or 9999, in UTC neither
        raise refused("beyond-years", "lies outside the years 1 to 9999 in UTC") from None


_OF_THE_MACHINE: Final = frozenset({"localtime", "Factory"})
"""Names that mean something else on every machine, or nothing."""


def _zone(name: str) -> str:
    if name not in available_timezones() - _OF_THE_MACHINE:
        raise refused("time-zone", "is not a time zone of the IANA list, such as Asia/Shanghai")
    return name


def _state(slug: str) -> str:
    if slug not in SLUGS:
        raise refused("unknown-kind", "must be one of {known}", known=", ".join(SLUGS))
    return slug


Zone = Annotated[StrictStr, Field(max_length=64), AfterValidator(_zone)]
State = Annotated[StrictStr, AfterValidator(_state)]
"""An entrant's state by its name in the API."""


def _date_text(value: Any) -> Any:
    if value is not None and not (isinstance(value, str) and len(value) == 10):
        raise refused("date", "must be a date such as 2026-12-05")
    return value


def _time_text(value: Any) -> Any:
    if value is not None and not isinstance(value, str):
        raise refused("moment", "must be a time such as 2026-12-05T08:30:00+08:00")
    return value


Day = Annotated[date, BeforeValidator(_date_text)]
Moment = Annotated[AwareDatetime, BeforeValidator(_time_text), AfterValidator(lambda at: _in_utc(at))]
