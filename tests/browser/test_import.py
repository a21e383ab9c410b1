"""Importing a large roster in a browser: what is being done is said, with how many rows and what the check took."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from qisai.formats.sheet_xlsx import xlsx_bytes
from tests.gateway.platform import Platform
from tests.gateway.test_desk_pages import new_field

WATCH = """() => {
  window.said = [];
  const progress = document.getElementById("progress");
  const look = () => {
    const bar = progress.querySelector("progress");
    const says = progress.querySelector("span").textContent;
    window.said.push([progress.hidden, says, bar.hasAttribute("value") ? bar.value : null]);
  };
  new MutationObserver(look).observe(progress, { subtree: true, childList: true, attributes: true });
}"""


def said(page: Page) -> list[tuple[str, float | None]]:
    """What the page said of its progress since it was asked last, and how far the bar was."""
    found = page.evaluate("() => window.said.splice(0)")
    return [(text, share) for hidden, text, share in found if not hidden]


def test_progress_counts_bytes_then_rows_and_measures_the_import_by_the_check(
    page: Page, platform: Platform, tmp_path: Path
) -> None:
    there = new_field(platform)
    roster = tmp_path / "名单.csv"
    lines = "".join(f"棋手{number},甲队\r\n" for number in range(3000))
    roster.write_bytes(f"姓名,单位\r\n\r\n{lines}".encode("gb18030"))
    page.goto(f"{there.desk}/import")
    page.evaluate(WATCH)
    page.locator('#import input[type="file"]').set_input_files(roster)
    page.get_by_role("button", name="Check it first").click()
    expect(page.get_by_role("button", name="Import 3000 new and 0 changed")).to_be_visible(timeout=60_000)
    checked = said(page)
    assert any(re.match(r"sending … \d+ %$", text) and share is not None for text, share in checked), checked
    assert any(text.startswith("checking the rows (about 3,000) …") for text, _share in checked), checked
    assert all(share is None for text, share in checked if text.startswith("checking")), "nobody knows how long"
    page.get_by_role("button", name="Import 3000 new and 0 changed").click()
    expect(page.get_by_text("The roster is imported.")).to_be_visible(timeout=60_000)
    done = [(text, share) for text, share in said(page) if text.startswith("importing")]
    assert any(
        re.match(r"importing the rows \(3,000\) … \d+ s \(the last check took \d+ s\)$", text) for text, _share in done
    ), done
    shares = [share for _text, share in done if share is not None]
    assert shares
    assert shares == sorted(shares)
    assert shares[-1] <= 95, "not done before the answer is there"


def test_of_a_workbook_the_rows_are_known_only_once_they_were_checked(
    page: Page, platform: Platform, tmp_path: Path
) -> None:
    there = new_field(platform)
    roster = tmp_path / "名单.xlsx"
    roster.write_bytes(xlsx_bytes("名单", ["姓名"], [["陈一"], ["林二"]]))
    page.goto(f"{there.desk}/import")
    page.evaluate(WATCH)
    page.locator('#import input[type="file"]').set_input_files(roster)
    page.get_by_role("button", name="Check it first").click()
    expect(page.get_by_role("button", name="Import 2 new and 0 changed")).to_be_visible()
    texts = [text for text, _share in said(page)]
    assert any(text.startswith("checking the rows …") for text in texts), texts
    page.get_by_role("button", name="Import 2 new and 0 changed").click()
    expect(page.get_by_text("The roster is imported.")).to_be_visible()
    assert any(text.startswith("importing the rows (2) …") for text, _share in said(page))
