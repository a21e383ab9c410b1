"""What is refused reaches people in their own language, by the names of the fields they see: no English on Chinese
pages, no pointers, no codes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from flask import Flask
from werkzeug.datastructures import LanguageAccept

from qisai.errors import Conflict, FieldError, Invalid, QisaiError
from qisai.web.problem_texts import localised, texts
from services.gateway.pages import fault_words, language, site
from tests.gateway.harness import PASSWORD
from tests.gateway.platform import Platform
from tests.gateway.test_pages import Person
from tests.gateway.test_problem_texts import RAISED, ROOT, modules

CHINESE = re.compile("[一-鿿]")


def placeholders(text: str | None) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text or "") if name}


def raised(path: Path) -> Iterator[tuple[str, set[str], int]]:
    """Each error with a slug that is written out: the slug, what is given with it, where."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], ast.Constant):
            continue
        slug, name = node.args[0].value, getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name not in RAISED or slug not in texts():
            continue
        given = {str(word.arg) for word in node.keywords}
        if any(word.arg is None for word in node.keywords):
            continue  # what it is given stands elsewhere
        for written in [*node.args[2:3], *(word.value for word in node.keywords if word.arg == "context")]:
            if isinstance(written, ast.Dict):
                given |= {str(key.value) for key in written.keys if isinstance(key, ast.Constant)}
            else:
                given |= placeholders(texts()[slug]["zh-Hans"][1])
        yield slug, given, node.lineno


def test_every_error_is_given_what_its_text_names() -> None:
    """Else a Chinese page says the English detail."""
    lacking = []
    for path in modules():
        for slug, given, line in raised(path):
            known = [texts()[key]["zh-Hans"][1] for key in (slug, f"{slug}.plain") if key in texts()]
            if not any(placeholders(text) <= given for text in known):
                lacking.append(f"{path.relative_to(ROOT)}:{line} {slug}")
    assert lacking == []


def test_the_plain_text_is_taken_where_an_error_knows_less() -> None:
    chinese = LanguageAccept([("zh-Hans", 1)])
    said = {
        many: localised("round-published", "in English", context=context, languages=chinese)[1]
        for many, context in (("who", {"round": 3, "published_by": "王"}), ("no who", {"round": 3}), ("nothing", {}))
    }
    assert said["who"] == "第 3 轮已由 王 公布。"
    assert said["no who"].startswith("第 3 轮已经公布")
    assert said["nothing"] == "in English"


@pytest.fixture
def chinese() -> Iterator[None]:
    app = Flask(__name__)
    language.install(app)
    with app.test_request_context("/?lang=zh-Hans"):
        app.preprocess_request()
        yield


LAST_ADMIN = Conflict("last-admin", "This is the last administrator; make another one first.")
TAKEN = Conflict("login-taken", "There is already an account 小王.", login="小王")
RANGE = Invalid("bad-boards", "boards is a range such as [1, 20] and only for the role referee.")
FAULTS = (
    (FieldError("/reason", "must be filled in", "string_too_short", {"variant": "empty"}), "", "原因：请填写。"),
    (FieldError("/edits/0/x", "须写明理由。"), "", "须写明理由。"),
    (FieldError("/days", "天数：1 到 30 的数"), "", "天数：1 到 30 的数"),
    (FieldError("", "须为两名不同的参赛者。"), "", "须为两名不同的参赛者。"),
    (FieldError("/seed", "须为整数。"), "", "等级分：须为整数。"),
    (FieldError("/seed", "须为整数。"), "lots", "随机种子：须为整数。"),
    (FieldError("/name", "请填写。"), "", "姓名：请填写。"),
    (FieldError("/name", "请填写。"), "team", "队名：请填写。"),
    (FieldError("/name", "请填写。"), "event", "比赛名称：请填写。"),
)


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize("error", [LAST_ADMIN, TAKEN, RANGE], ids=lambda error: error.slug)
def test_what_the_gateway_refuses_is_said_in_the_pages_language(error: QisaiError) -> None:
    for lines in (fault_words.lines_of(error), site.lines_of(error)):
        assert len(lines) == 1
        assert CHINESE.search(lines[0].replace("小王", "")), lines


@pytest.mark.usefixtures("chinese")
@pytest.mark.parametrize(("fault", "form", "line"), FAULTS, ids=lambda one: str(one)[:20])
def test_a_fault_stands_behind_the_name_of_its_field_or_alone(fault: FieldError, form: str, line: str) -> None:
    error = Invalid("invalid-request", "请求不合要求。", errors=[fault])
    assert fault_words.lines_of(error, form) == [line]


def test_pages_of_people_refuse_in_chinese(platform: Platform) -> None:
    admin = Person(platform, platform.login)
    admin.http.headers["Accept-Language"] = "zh-CN"
    event_id = platform.event()
    platform.gateway.account(login="ranger", password=PASSWORD, name="小李")
    refused = admin.post(f"/events/{event_id}/staff", login="ranger", role="referee", boards="20-1")
    assert refused.status_code == 422
    said = re.search(r'role="alert">(.*?)</div>', refused.text, re.S)
    assert said is not None
    assert CHINESE.search(said[1])
    assert "boards is" not in refused.text


def test_an_empty_text_is_to_be_filled_in(platform: Platform) -> None:
    """Of a text nobody says how many items it has."""
    admin = Person(platform, platform.login)
    admin.http.headers["Accept-Language"] = "zh-CN"
    refused = admin.post("/events/new", profile="xiangqi", shown_game="xiangqi", name="", time_zone="Asia/Shanghai")
    assert "比赛名称：请填写。" in refused.text
    assert "至少 1 项" not in refused.text
