"""The options that bound a search, shared by the commands that draw."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from qisai.errors import Invalid

if TYPE_CHECKING:
    from qisai.kernel.model import Limits


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Declare `--max-depth` and `--max-steps`."""
    parser.add_argument("--max-depth", type=int, metavar="N", help="search: pairs that may be reopened at a dead end")
    parser.add_argument("--max-steps", type=int, metavar="N", help="search: steps before something is relaxed")


def limits_of(args: argparse.Namespace) -> Limits | None:
    """The limits given, None if none were. Raises `Invalid` for counts below 1."""
    from qisai.kernel.model import Limits

    for name, value in (("--max-depth", args.max_depth), ("--max-steps", args.max_steps)):
        if value is not None and value < 1:
            raise Invalid("invalid-limit", f"{name} is {value}, but must be at least 1.")
    if args.max_depth is None and args.max_steps is None:
        return None
    return Limits(max_depth=args.max_depth, max_steps=args.max_steps)
