"""Reading tournament and draw files named on the command line, and writing JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qisai.errors import Invalid

if TYPE_CHECKING:
    from qisai.kernel.model import Draw, Tournament

STANDARD_INPUT = "-"


def read_tournament(name: str) -> Tournament:
    """The tournament in a file, or on standard input for `-`. Raises `Invalid` with file, place and reason."""
    from qisai.kernel.tournament_file import parse_tournament

    return parse_tournament(_read_json(name))


def read_draw(name: str) -> Draw:
    """The draw in a file, or on standard input for `-`. Raises `Invalid` with file, place and reason."""
    from qisai.kernel.draw_file import parse_draw

    return parse_draw(_read_json(name))


def print_json(value: Mapping[str, Any]) -> None:
    """Print a JSON object, one member a line, as UTF-8 whatever the terminal's encoding: files have one form."""
    members = ",\n".join(f"{_compact(name)}: {_compact(member)}" for name, member in value.items())
    sys.stdout.flush()
    sys.stdout.buffer.write(f"{{\n{members}\n}}\n".encode())
    sys.stdout.buffer.flush()


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read_json(name: str) -> Any:
    from qisai.kernel.json_text import parse_json

    return parse_json(_read(name))


def _read(name: str) -> bytes:
    from qisai.kernel.json_text import MAX_BYTES

    try:
        if name == STANDARD_INPUT:
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        with Path(name).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a name with a null byte
        reason = getattr(error, "strerror", None) or str(error)
        raise Invalid("unreadable-file", f"{name} cannot be read: {reason}.") from error
