"""Values kept in a process: the ones used last, each computed by one thread while others wait for it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from qisai.web.kept_values import KeptValues


def test_the_values_used_last_are_kept() -> None:
    kept = KeptValues(2)
    computed: list[int] = []

    def compute(number: int) -> int:
        computed.append(number)
        return number

    assert [kept.get(n, lambda n=n: compute(n)) for n in (1, 2, 1, 3, 1, 2)] == [1, 2, 1, 3, 1, 2]
    assert computed == [1, 2, 3, 2]


def test_of_many_who_miss_at_once_one_computes() -> None:
    kept = KeptValues(2)
    began, computed = threading.Barrier(8), []

    def compute() -> int:
        computed.append(1)
        threading.Event().wait(0.05)
        return len(computed)

    def ask(_number: int) -> int:
        began.wait()
        return int(kept.get("key", compute))

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {1}
    assert len(computed) == 1


def test_others_are_not_held_up_by_one_who_computes_another_value() -> None:
    kept = KeptValues(2)
    slow, go_on = threading.Event(), threading.Event()

    def compute() -> str:
        slow.set()
        assert go_on.wait(5)
        return "slow"

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(kept.get, "slow", compute)
        assert slow.wait(5)
        assert kept.get("fast", lambda: "fast") == "fast"
        go_on.set()
        assert waiting.result() == "slow"


def test_a_value_that_could_not_be_computed_is_tried_again() -> None:
    kept = KeptValues(2)

    def fail() -> int:
        raise ValueError("not now")

    with pytest.raises(ValueError, match="not now"):
        kept.get("key", fail)
    assert kept.get("key", lambda: 7) == 7
