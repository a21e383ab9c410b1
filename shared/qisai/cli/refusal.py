"""How the commands that draw say that there is no legal draw."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from qisai.kernel.pairing import NoLegalDraw

EXIT_NO_LEGAL_DRAW: Final = 1


def report_no_legal_draw(error: NoLegalDraw) -> int:
    """Print the reason, in words and as data, as one line of JSON on standard error; returns the exit code."""
    print(json.dumps({"detail": error.detail, "reason": error.reason}, ensure_ascii=False), file=sys.stderr)
    return EXIT_NO_LEGAL_DRAW
