"""Whether the broker answers: asked by the keeper before it sends, so that a job is not marked as sent in vain."""

from __future__ import annotations

import time
from typing import Final

import redis
import structlog
from redis.backoff import NoBackoff
from redis.retry import Retry

log = structlog.get_logger()

PAUSE_SECONDS: Final = 1.0
"""Between two questions; a broker that went away in between shows when a message cannot be sent."""


class Broker:
    """Asks with short time-outs: the keeper has more to do than to wait for Redis."""

    def __init__(self, url: str) -> None:
        self._client = redis.Redis.from_url(
            url, socket_timeout=0.5, socket_connect_timeout=0.5, retry=Retry(NoBackoff(), 0)
        )
        self._next = 0.0
        self.answers = True

    def ask(self) -> bool:
        """Whether it answered just now, or a moment ago."""
        if self.answers and time.monotonic() < self._next:
            return True
        try:
            self._client.ping()
        except redis.RedisError as error:
            self.lost(type(error).__name__)
            return False
        if not self.answers:
            log.info("broker.back")
        self._next = time.monotonic() + PAUSE_SECONDS
        self.answers = True
        return True

    def lost(self, why: str) -> None:
        """It did not answer, or did not take a message."""
        if self.answers:
            log.warning("broker.away", error=why)
        self.answers = False

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()
