"""The Celery application, configured once: for those who send and for those who work.

The broker carries nudges only. No result backend: the job row is the record. Sending must fail fast when Redis is away,
because a referee's request waits for it and the keeper sends again anyway; working must wait for ever.
"""

from __future__ import annotations

from celery import Celery

from qisai.queue.names import QUEUE_SMALL


def make_celery(redis_url: str, *, prefix: str, for_worker: bool) -> Celery:
    """A configured application. `prefix` keeps installations on one server apart."""
    app = Celery("qisai", broker=redis_url, set_as_current=for_worker)
    # A publisher gives up at once where nobody listens (kombu would wait 2 s before its second try) and within about a
    # second where nobody answers; a worker's blocking read must outlast the time between messages.
    sending = {"max_retries": 1, "interval_start": 0, "socket_timeout": 1, "socket_connect_timeout": 0.5}
    working = {"socket_timeout": 5, "socket_connect_timeout": 5, "socket_keepalive": True, "health_check_interval": 10}
    app.conf.update(
        task_ignore_result=True,
        result_backend=None,
        task_serializer="json",
        accept_content=["json"],
        task_default_queue=QUEUE_SMALL,
        task_create_missing_queues=True,
        task_publish_retry=False,
        broker_transport_options={"global_keyprefix": prefix, **(working if for_worker else sending)},
        # Acknowledge early: the lease in Postgres decides who works, so a redelivered message is only noise.
        task_acks_late=False,
        # Prefetching would hide short jobs behind a long one while another worker is idle.
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=True,
        # For ever: a worker must outlive any absence of the broker.
        broker_connection_retry=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        timezone="UTC",
        enable_utc=True,
    )
    return app
