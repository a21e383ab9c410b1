"""Every text of every page stands in both Chinese catalogues, and a page speaks the language that was asked for."""

from __future__ import annotations

import re
from functools import cache
from string import Formatter

import pytest
import requests
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

from services.gateway.pages.language import FOLDER
from tests.gateway.harness import Gateway

PAGES = FOLDER.parent
KEYWORDS = {"_": None, "__": None, "gettext": None, "lazy_gettext": None, "ngettext": (1, 2)}


OF_TWO_MEANINGS = {
    "Draw": {"templates/draw.html", "templates/parts.html"},  # a round's; a game is drawn: "Drawn game"
    "Drawn game": {"templates/regulation_fields.html", "log_values.py"},
    "Rating from": {"templates/prizes.html"},  # and to; where a rating comes from: "Source of the rating"
    "From": {"templates/log.html"},  # a time
    "seed": set(),  # "Random seed", or "Rating"
    "Seed": set(),
    "name": {"templates/link_parts.html"},  # a person's
    "draft": {"wording.py"},  # an event in preparation; of a round: "draft, not published"
}
"""English words that Chinese tells apart: where each may stand, as its translation fits there."""


@cache
def uses() -> frozenset[tuple[str, str | tuple[str, ...]]]:
    """All texts in code and templates, with the file of each."""
    found = extract_from_dir(
        PAGES,
        method_map=[("**.py", "python"), ("**.html", "jinja2")],
        options_map={"**.html": {"newstyle_gettext": "1", "silent": "false"}},
        keywords=KEYWORDS,
    )
    return frozenset((file, message) for file, _line, message, _comments, _context in found)


def texts() -> frozenset[str | tuple[str, ...]]:
    """All texts in code and templates."""
    return frozenset(message for _file, message in uses())


@pytest.mark.parametrize("word", OF_TWO_MEANINGS)
def test_a_word_of_two_meanings_stands_only_where_its_translation_fits(word: str) -> None:
    assert {file for file, message in uses() if message == word} <= OF_TWO_MEANINGS[word]


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"%\((\w+)\)", text))


@pytest.mark.parametrize("locale", ["zh_Hans", "zh_Hant"])
def test_every_text_is_translated_with_its_placeholders(locale: str) -> None:
    with (FOLDER / f"{locale}.po").open("rb") as file:
        catalogue = {message.id: message.string for message in read_po(file, locale=locale) if message.id}
    assert len(texts()) > 200
    assert texts() - set(catalogue) == set(), "untranslated"
    assert set(catalogue) - texts() == set(), "no longer used"
    for source, translation in catalogue.items():
        last = source[-1] if isinstance(source, (tuple, list)) else source
        for form in translation if isinstance(translation, (tuple, list)) else [translation]:
            assert form.strip(), source
            assert placeholders(form) == placeholders(last), source
            assert not next(iter(Formatter().parse(form)))[1]


@pytest.mark.parametrize(
    ("accepts", "query", "language", "word"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "", "zh-Hans", "登录"),
        ("zh-TW,zh;q=0.9,en;q=0.8", "", "zh-Hant", "登入"),
        ("en-GB,en;q=0.9", "", "en", "Sign in"),
        ("fr-FR,fr;q=0.9", "", "zh-Hans", "登录"),
        ("fr-FR,fr;q=0.9,en;q=0.1", "", "en", "Sign in"),
        ("", "", "zh-Hans", "登录"),
        ("zh-CN", "?lang=en", "en", "Sign in"),
        ("en", "?lang=xx", "en", "Sign in"),
    ],
)
def test_a_page_speaks_the_readers_language(
    gateway: Gateway, accepts: str, query: str, language: str, word: str
) -> None:
    page = requests.get(f"{gateway.url}/sign-in{query}", headers={"Accept-Language": accepts}, timeout=10).text
    assert f'<html lang="{language}">' in page
    assert f"<h1>{word}</h1>" in page


def test_a_language_that_was_chosen_stays(gateway: Gateway) -> None:
    browser = requests.Session()
    browser.get(f"{gateway.url}/sign-in?lang=zh-Hant", timeout=10)
    assert "<h1>登入</h1>" in browser.get(f"{gateway.url}/sign-in", headers={"Accept-Language": "en"}, timeout=10).text


def test_problems_speak_the_callers_language(gateway: Gateway) -> None:
    details = {
        tag: requests.get(f"{gateway.url}/api/v1/me", headers={"Accept-Language": tag}, timeout=10).json()["title"]
        for tag in ("en", "zh-CN", "zh-TW")
    }
    assert len(set(details.values())) == 3
