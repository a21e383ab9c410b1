"""docs/benchmarks.md: each part of the benchmark owns one section between its markers and replaces only that."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy
import rustworkx

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = DOCS / "benchmarks.md"
TITLE = "# Benchmarks\n\nWritten by `make bench`; each part replaces its own section. Targets are the design's.\n"


def write_section(name: str, text: str, *, page: Path = PAGE) -> None:
    """Replace the section of a part, or add it at the end of the page."""
    begin, end = f"<!-- bench:{name} -->", f"<!-- /bench:{name} -->"
    content = page.read_text(encoding="utf-8") if page.exists() else TITLE
    section = f"{begin}\n{text.strip()}\n{end}"
    if begin in content:
        before, rest = content.split(begin, 1)
        content = before + section + rest.split(end, 1)[1]
    else:
        content = f"{content.rstrip()}\n\n{section}\n"
    page.parent.mkdir(exist_ok=True)
    page.write_text(content, encoding="utf-8")


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table, numbers to the right."""
    lines = [" | ".join(head), " | ".join("---:" if at else "---" for at in range(len(head)))]
    lines += [" | ".join(str(cell) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def machine() -> str:
    """What the figures were measured on, in a few words."""
    return (
        f"Python {platform.python_version()}, numpy {numpy.__version__}, rustworkx {rustworkx.__version__}, "
        f"{sys.platform} {platform.machine()}"
    )
