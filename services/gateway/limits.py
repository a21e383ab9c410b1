"""How often: calls by token or address, sign-ins by login and address. Counted in Redis, in memory while it is away.

Redis is asked without retries and with short time-outs: a limit must never cost more than the call it limits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import limits
import structlog
from flask import Flask, Response
from flask_limiter import Limiter
from flask_limiter.errors import RateLimitExceeded
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


def _redis_options() -> dict[str, Any]:
    return {"socket_timeout": 0.2, "socket_connect_timeout": 0.2, "retry": Retry(NoBackoff(), 0)}


def install(app: Flask, settings: GatewaySettings, *, key: Callable[[], str], exempt: Callable[[], bool]) -> None:
    """Limits all calls together by `key`, but where `exempt` says so. Raises `Invalid` for a setting that is none."""
    parsed(settings.rate_limit, name="QISAI_RATE_LIMIT")
    limiter = Limiter(
        key,
        app=app,
        application_limits=[settings.rate_limit],
        application_limits_exempt_when=exempt,
        storage_uri=settings.redis_url,
        storage_options=_redis_options(),
        strategy="fixed-window",
        in_memory_fallback_enabled=True,
        headers_enabled=False,  # it would put its own Retry-After on every answer, and ask Redis once more for it
        key_prefix=settings.redis_prefix,
    )

    @app.errorhandler(RateLimitExceeded)
    def exceeded(error: RateLimitExceeded) -> Response:
        reset = limiter.current_limit.reset_at if limiter.current_limit is not None else int(time.time()) + 60
        return _too_many(error.limit.limit, reset, "too-many-requests", "Too many calls; wait a little.")


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
        self._prefix = f"{settings.redis_prefix}sign-in"
        self._shared = FixedWindowRateLimiter(storage_from_string(settings.redis_url, **_redis_options()))
        self._own = FixedWindowRateLimiter(MemoryStorage())

    def count(self, *, login: str, address: str) -> None:
        """Counts one attempt. Raises `TooMany` once there were too many for this login, or from this address."""
        self._hit(self._by_address, address)
        self._hit(self._by_login, f"{address} {login.strip().lower()[:200]}")

    def _hit(self, limit: limits.RateLimitItem, who: str) -> None:
        limiter = self._shared
        try:
            allowed = limiter.hit(limit, self._prefix, who)
        except RedisError as error:
            log.warning("limits.redis_away", error=type(error).__name__)
            limiter = self._own
            allowed = limiter.hit(limit, self._prefix, who)
        if not allowed:
            reset = limiter.get_window_stats(limit, self._prefix, who).reset_time
            raise TooMany(
                "too-many-sign-ins", "Too many attempts to sign in; wait a little.", retry_after=_seconds_until(reset)
            )


def _too_many(limit: limits.RateLimitItem, reset: float, slug: str, detail: str) -> Response:
    response = from_error(TooMany(slug, detail, retry_after=_seconds_until(reset)))
    response.headers["RateLimit-Limit"] = str(limit.amount)
    response.headers["RateLimit-Remaining"] = "0"
    response.headers["RateLimit-Reset"] = str(_seconds_until(reset))
    return response


def _seconds_until(moment: float) -> int:
    return max(1, int(moment - time.time()) + 1)
