"""How often: calls by token or address, sign-ins by login and address. Counted in Redis, in memory while it is away.

Redis is asked without retries and with short time-outs, and after a failure not at all for a moment: a limit must never
cost more than the call it limits, and no call may fail for want of a count.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import limits
import structlog
from flask import Flask, Response
from limits.storage import MemoryStorage, storage_from_string
from limits.strategies import FixedWindowRateLimiter
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from qisai.errors import Invalid, TooMany
from qisai.settings import GatewaySettings
from qisai.web.problems import from_error

log = structlog.get_logger()

_ADDRESS_FACTOR: Final = 5
"""The referees of a hall share one address: it may try this many times as often as one login from it."""
_REST_SECONDS: Final = 1.0
"""After Redis failed to answer it is left alone for so long; then one call tries it, the others go on in memory."""
_REDIS_OPTIONS: Final = {"socket_timeout": 0.2, "socket_connect_timeout": 0.2}


class Counts:
    """Counts that all processes share while Redis answers, and that each process keeps for itself while it does not."""

    def __init__(self, settings: GatewaySettings) -> None:
        options: dict[str, Any] = {**_REDIS_OPTIONS, "retry": Retry(NoBackoff(), 0)}
        self._prefix = settings.redis_prefix
        self._shared = FixedWindowRateLimiter(storage_from_string(settings.redis_url, **options))
        self._own = FixedWindowRateLimiter(MemoryStorage())
        self._is_away = False
        self._ask_again = 0.0

    def hit(self, limit: limits.RateLimitItem, *who: str) -> int | None:
        """Counts once. None where the limit allows it, else the seconds until it would again."""
        if self._may_ask():
            try:
                left = _hit(self._shared, limit, self._prefix, *who)
            except RedisError as error:
                self._away(error)
            else:
                self._back()
                return left
        return _hit(self._own, limit, self._prefix, *who)

    def _may_ask(self) -> bool:
        """Whether this call may ask Redis. While it is away one call a second may; the next one waits for its turn."""
        if not self._is_away:
            return True
        now = time.monotonic()
        if now < self._ask_again:
            return False
        self._ask_again = now + _REST_SECONDS
        return True

    def _away(self, error: RedisError) -> None:
        # Each call finds out for itself: many may be waiting for the same silent server, and each goes on in memory.
        self._ask_again = time.monotonic() + _REST_SECONDS
        if not self._is_away:
            self._is_away = True
            log.warning("limits.redis_away", error=type(error).__name__)

    def _back(self) -> None:
        if self._is_away:
            self._is_away = False
            log.info("limits.redis_back")


def _hit(limiter: FixedWindowRateLimiter, limit: limits.RateLimitItem, *who: str) -> int | None:
    if limiter.hit(limit, *who):
        return None
    return max(1, int(limiter.get_window_stats(limit, *who).reset_time - time.time()) + 1)


def install(app: Flask, settings: GatewaySettings, *, key: Callable[[], str], exempt: Callable[[], bool]) -> None:
    """Limits all calls together by `key`, but where `exempt` says so. Raises `Invalid` for a setting that is none."""
    limit = parsed(settings.rate_limit, name="QISAI_RATE_LIMIT")
    counts = Counts(settings)

    @app.before_request
    def count() -> Response | None:
        if exempt():
            return None
        seconds = counts.hit(limit, "calls", key())
        return None if seconds is None else _too_many(limit, seconds)


def parsed(text: str, *, name: str) -> limits.RateLimitItem:
    """A limit such as `10/minute`. Raises `Invalid` naming the setting."""
    try:
        return limits.parse(text)
    except ValueError:
        raise Invalid("bad-setting", f"{name} is {text!r}, but must look like 10/minute") from None


class SignInLimits:
    """Counts attempts to sign in, right or wrong, before a password is checked."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._by_login = parsed(settings.sign_in_limit, name="QISAI_SIGN_IN_LIMIT")
        self._by_address = type(self._by_login)(self._by_login.amount * _ADDRESS_FACTOR, self._by_login.multiples)
        self._counts = Counts(settings)

    def count(self, *, login: str, address: str) -> None:
        """Counts one attempt. Raises `TooMany` once there were too many for this login, or from this address."""
        self._hit(self._by_address, address)
        self._hit(self._by_login, f"{address} {login.strip().lower()[:200]}")

    def count_link(self, *, address: str) -> None:
        """Counts one attempt to use a link. Raises `TooMany` after as many as sign-ins from one address."""
        self._hit(self._by_address, f"{address} link")

    def _hit(self, limit: limits.RateLimitItem, who: str) -> None:
        seconds = self._counts.hit(limit, "sign-in", who)
        if seconds is not None:
            detail = "Too many attempts to sign in; wait a little."
            raise TooMany("too-many-sign-ins", detail, retry_after=seconds)


def _too_many(limit: limits.RateLimitItem, seconds: int) -> Response:
    detail = "Too many calls; wait a little."
    response = from_error(TooMany("too-many-requests", detail, retry_after=seconds))
    response.headers["RateLimit-Limit"] = str(limit.amount)
    response.headers["RateLimit-Remaining"] = "0"
    response.headers["RateLimit-Reset"] = str(seconds)
    return response
