"""A real browser before a real platform. Without a Chromium on this machine these tests are skipped, saying so."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.gateway.harness import PASSWORD
from tests.gateway.platform import Platform, running_platform
from tests.servers import Servers

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next((path for path in map(shutil.which, NAMES) if path), None)
    if found is None:
        pytest.skip(f"no browser on this machine: none of {', '.join(NAMES)} (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def platform(browser: Browser, servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """Started only where there is a browser to look at it."""
    often = {"QISAI_SIGN_IN_LIMIT": "1000/minute"}  # each test signs the same account in
    with running_platform(servers, tmp_path_factory.mktemp("browser"), **often) as running:
        yield running


@pytest.fixture
def context(browser: Browser, platform: Platform) -> Iterator[BrowserContext]:
    """A browser with nothing in it; a script that fails, or is refused by the page's policy, fails the test."""
    faults: list[str] = []
    opened = browser.new_context(base_url=platform.gateway.url, locale="en-GB")
    opened.set_default_timeout(10_000)
    opened.on("weberror", lambda error: faults.append(str(error.error)))
    opened.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    yield opened
    opened.close()
    assert faults == []


@pytest.fixture
def page(context: BrowserContext, platform: Platform) -> Page:
    """A page of the signed-in chief referee."""
    opened = context.new_page()
    opened.goto("/sign-in")
    opened.get_by_label("Login").fill(platform.login)
    opened.get_by_label("Password").fill(PASSWORD)
    opened.get_by_role("main").get_by_role("button", name="Sign in").click()
    opened.wait_for_url("**/")
    return opened
