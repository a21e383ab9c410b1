"""JSON that other readers let pass, or that crashes them, is refused with a reason."""

from __future__ import annotations

import pytest

from qisai.errors import Invalid, TooLarge
from qisai.kernel import json_text
from qisai.kernel.json_text import parse_json


def test_plain_json_reads_with_and_without_a_byte_order_mark() -> None:
    assert parse_json('{"名": [1, 0.5, null]}'.encode()) == {"名": [1, 0.5, None]}
    assert parse_json("\ufeff{}".encode()) == {}


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        (b"", "not-json"),
        (b"{", "not-json"),
        (b'{"a": 1}}', "not-json"),
        (b"{'a': 1}", "not-json"),
        (b'{"a": NaN}', "not-json"),
        (b'{"a": -Infinity}', "not-json"),
        (b'{"a": 1, "a": 2}', "duplicate-name"),
        (b'[{"x": {"b": 1, "c": 2, "b": 1}}]', "duplicate-name"),
        (b"\xff\xfe{}", "not-utf8"),
        ("{'单位': 1}".encode("gb18030"), "not-utf8"),
        (b"9" * 5000, "number-too-long"),
        (b"[" * 200_000, "json-too-deep"),
        (b'{"a":' * 200_000, "json-too-deep"),
    ],
)
def test_what_is_no_strict_json_is_refused(text: bytes, slug: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_json(text)
    assert caught.value.slug == slug


def test_a_file_above_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "MAX_BYTES", 10)
    with pytest.raises(TooLarge, match="at most 10"):
        parse_json(b"[" + b" " * 20 + b"]")
