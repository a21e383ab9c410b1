"""Every fault of one value that can reach a caller has a text in both Chinese scripts, and is given what it names."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any, Final

import pytest
from pydantic import BaseModel
from werkzeug.datastructures import LanguageAccept

from qisai.web.field_texts import field_text, field_texts
from tests.gateway.test_problem_texts import ROOT, modules

PAGES = ROOT / "services" / "gateway" / "pages"
"""What pages raise for themselves is in the page's language already."""
DYNAMIC: Final = {
    "shared/qisai/kernel/json_reader.py": set(),  # passes on what `fail` was given
    "shared/qisai/kernel/pairing/hand.py": set(),  # passes on what `_bad` was given
    "shared/qisai/formats/roster.py": set(),  # cells of a sheet: the report of an import has texts of its own
    "services/registration/operations/regulations.py": {"too-many-rounds"},
    "shared/qisai/kernel/pairing/history.py": {
        "unknown-entrant.bye", "duplicate.bye", "self-pairing.seat", "unknown-entrant.seat", "duplicate.seat",
        "result-missing.seat",
    },
}  # fmt: skip
"""Files that compute a slug, with what comes of it."""
FIXED_VARIANTS: Final = {"not-used": {"settled", "no-first", "first", "score-group", "draw-number"}}


@dataclass(frozen=True, slots=True)
class Raised:
    key: str
    given: frozenset[str]
    where: str


def named(call: ast.Call) -> str:
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def constant(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def said(node: ast.AST | None, function: ast.AST) -> dict[str, ast.AST]:
    """The context given to a fault: a dict written out there, or in a variable just before."""
    if isinstance(node, ast.Name):
        written = [
            one.value
            for one in ast.walk(function)
            if isinstance(one, ast.Assign)
            and getattr(one.targets[0], "id", "") == node.id
            and one.lineno <= node.lineno
        ]
        node = written[-1] if written else None
    if not isinstance(node, ast.Dict):
        return {}
    return {str(constant(key)): value for key, value in zip(node.keys, node.values, strict=True)}


def raised_in(path: Path) -> Iterator[Raised | str]:
    """Faults whose slug is written out; the file's name for one that is computed."""
    where = str(path.relative_to(ROOT))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for call in ast.walk(function):
            if not isinstance(call, ast.Call) or named(call) not in ("FieldError", "fail", "_bad", "refused"):
                continue
            at = 0 if named(call) == "refused" else 2
            if named(call) == "FieldError":
                context = said(call.args[3] if len(call.args) > 3 else None, function)
            else:
                context = {str(word.arg): word.value for word in call.keywords}
            slug = constant(call.args[at]) if len(call.args) > at else None
            if slug is None:
                yield where
                continue
            variants: set[str | None] = set(FIXED_VARIANTS.get(slug, ())) or {None}
            if constant(context.get("variant")) is not None:
                variants = {constant(context["variant"])}
            for variant in variants:
                yield Raised(slug if variant is None else f"{slug}.{variant}", frozenset(context), where)


def everything() -> list[Raised | str]:
    return [one for path in modules() if PAGES not in path.parents for one in raised_in(path)]


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_every_fault_has_a_text_and_is_given_what_the_text_names() -> None:
    found = [one for one in everything() if isinstance(one, Raised)]
    assert len(found) > 60
    texts = field_texts()
    assert sorted({f"{one.key} ({one.where})" for one in found if one.key not in texts}) == []
    lacking = [f"{one.key} ({one.where})" for one in found if not placeholders(texts[one.key]["zh-Hans"]) <= one.given]
    assert lacking == []


def test_slugs_are_written_out_but_where_we_know_what_comes_of_them() -> None:
    assert {one for one in everything() if isinstance(one, str)} == set(DYNAMIC)
    assert set().union(*DYNAMIC.values()) - set(field_texts()) == set()


def test_both_texts_name_the_same_things() -> None:
    for key, by_language in field_texts().items():
        assert placeholders(by_language["zh-Hans"]) == placeholders(by_language["zh-Hant"]), key


SCHEMAS = (
    "services.registration.event_schemas", "services.registration.entrant_schemas",
    "services.registration.step_schemas", "services.registration.ahead_schemas", "services.results.schemas",
    "services.results.draw_schemas", "services.results.standings_schemas", "services.gateway.schemas",
    "qisai.web.shapes",
)  # fmt: skip
_DATE = {"date_type", "date_parsing", "date_from_datetime_parsing", "date_from_datetime_inexact"}
_TIME = {"datetime_type", "datetime_parsing", "datetime_from_date_parsing", "datetime_object_invalid"}
FAULTS_OF: Final[dict[str, set[str]]] = {
    "model": {"model_type"},
    "model-fields": {"missing", "extra_forbidden", "model_attributes_type", "invalid_key"},
    "int": {"int_type", "int_parsing", "int_parsing_size", "int_from_float"},
    "float": {"float_type", "float_parsing", "finite_number"},
    "str": {"string_type", "string_unicode"},
    "bool": {"bool_type", "bool_parsing"},
    "enum": {"enum"},
    "literal": {"literal_error"},
    "date": _DATE,
    "datetime": _TIME | {"timezone_aware"},
    "dict": {"dict_type"},
    "list": {"list_type"},
    "tuple": {"tuple_type"},
    "definitions": {"recursion_loop"},
}
"""What pydantic may say of a value of each kind (its documentation, "Validation Errors")."""
FAULTS_OF_LIMITS: Final[dict[tuple[str, str], set[str]]] = {
    ("str", "min_length"): {"string_too_short"},
    ("str", "max_length"): {"string_too_long"},
    ("str", "pattern"): {"string_pattern_mismatch"},
    **{(kind, "ge"): {"greater_than_equal"} for kind in ("int", "float")},
    **{(kind, "le"): {"less_than_equal"} for kind in ("int", "float")},
    **{(kind, "min_length"): {"too_short"} for kind in ("list", "dict")},
    **{(kind, "max_length"): {"too_long"} for kind in ("list", "dict")},
}
LIMITS: Final = {"ge", "le", "gt", "lt", "min_length", "max_length", "pattern", "multiple_of"}
NEVER_AT_FAULT: Final = {
    "model-field", "default", "nullable", "no-info", "function-before", "function-after", "definition-ref", "any",
}  # fmt: skip


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if isinstance(schema.get("type"), str):
            yield schema
        for name, below in schema.items():
            if name not in ("metadata", "serialization"):
                yield from nodes(below)
    elif isinstance(schema, list | tuple):
        for below in schema:
            yield from nodes(below)


def types_of_our_schemas() -> set[str]:
    """Every type of fault that pydantic can find with our schemas; `KeyError` for a kind this test does not know."""
    found: set[str] = set()
    for name in SCHEMAS:
        for model in vars(importlib.import_module(name)).values():
            if isinstance(model, type) and issubclass(model, BaseModel):
                for node in nodes(model.__pydantic_core_schema__):
                    kind = node["type"]
                    found |= set() if kind in NEVER_AT_FAULT else FAULTS_OF[kind]
                    for limit in LIMITS & node.keys():
                        found |= FAULTS_OF_LIMITS[kind, limit]
    return found


def test_every_type_of_fault_that_our_schemas_can_find_has_a_text() -> None:
    found = types_of_our_schemas()
    assert {"missing", "extra_forbidden", "string_too_long", "enum"} <= found
    assert found - set(field_texts()) == set()


@pytest.mark.parametrize("path", sorted((ROOT / "services").rglob("*schemas.py")), ids=str)
def test_no_schema_refuses_in_english_only(path: Path) -> None:
    assert "raise ValueError" not in path.read_text(encoding="utf-8")
    assert str(path.relative_to(ROOT))[:-3].replace("/", ".") in SCHEMAS


def test_a_text_that_lacks_what_it_names_is_said_in_english() -> None:
    languages = LanguageAccept([("zh-Hant", 1)])
    context = {"value": 7, "low": 1, "high": 3}
    assert field_text("range", "is 7", context=context, languages=languages) == "現為 7，須在 1 到 3 之間。"
    assert field_text("range", "is 7", context={}, languages=languages) == "is 7"
    assert field_text("range", "is 7", context=context, languages=LanguageAccept([("en", 1)])) == "is 7"
