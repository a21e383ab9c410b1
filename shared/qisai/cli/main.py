"""The entry point of `qisai`: parses arguments, runs one command, turns errors into one line and an exit code.

Exit codes: 0 done, 1 the answer is no (no legal draw, a draw that does not verify), 2 bad input or arguments,
130 interrupted. A command is a module of this package named in `COMMANDS`, with `add_parser(subparsers)` and
`run(args) -> int`; modules import what is heavy inside `run`, so that `qisai --help` answers at once.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Final, TextIO

from qisai.errors import QisaiError

COMMANDS: Final = (
    "demo",
    "migrate",
    "pair",
    "simulate",
    "standings",
    "token",
    "up",
    "verify",
)
"""Modules of `qisai.cli`, in the order of the help."""

EXIT_ERROR: Final = 2
EXIT_INTERRUPTED: Final = 130
SHOWN_ERRORS: Final = 20


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. Never lets a traceback out unless `--debug` asks for it."""
    for stream in (sys.stdout, sys.stderr):
        _never_fail_on_characters(stream)
    debug = False
    try:
        args = _parser().parse_args(argv)
        debug = args.debug
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except QisaiError as error:
        _say(error)
        return EXIT_ERROR
    except BrokenPipeError:
        # The reader of our output (`| head`) went away: nothing to say, and Python must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_ERROR
    except KeyboardInterrupt:
        print("qisai: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last wall: a defect of ours is told in one line, not as a traceback
        if debug:
            traceback.print_exc()
        print(
            f"qisai: internal error ({type(error).__name__}: {error}). This is a defect; please report it with the "
            "command and its input. --debug shows where it happened.",
            file=sys.stderr,
        )
        return EXIT_ERROR


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="qisai", description="Swiss tournaments for board-game associations.")
    parser.add_argument("--debug", action="store_true", help="show where an internal error happened")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f"qisai.cli.{name}")
        command: argparse.ArgumentParser = module.add_parser(subparsers)
        command.set_defaults(run=module.run)
    return parser


def _say(error: QisaiError) -> None:
    """The error as one line, then every single place where there are several."""
    print(f"qisai: {error.detail}", file=sys.stderr)
    places = getattr(error, "errors", ())
    if len(places) > 1:
        for place in places[:SHOWN_ERRORS]:
            print(f"  {place.pointer or '/'}: {place.detail}", file=sys.stderr)
        if len(places) > SHOWN_ERRORS:
            print(f"  … and {len(places) - SHOWN_ERRORS} more", file=sys.stderr)


def _never_fail_on_characters(stream: TextIO) -> None:
    """A terminal whose encoding lacks a character shows a substitute instead of failing."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
