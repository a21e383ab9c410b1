"""`qisai up`: starts the whole system on this machine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from qisai import settings
from qisai.errors import Invalid


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Registers the command."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "up",
        help="start the whole system on this machine",
        description="Starts PostgreSQL and Valkey (unless QISAI_DATABASE_URL and QISAI_REDIS_URL name others), "
        "migrates, and starts all services; keeps them running until Ctrl-C.",
    )
    parser.add_argument("--var", metavar="DIR", help="folder for all data (QISAI_VAR; default ./var)")
    parser.add_argument("--host", help="address to listen on (QISAI_HOST; default 127.0.0.1)")
    parser.add_argument("--port", help="port to listen on (QISAI_PORT; default 8080)")
    return parser


def run(args: argparse.Namespace) -> int:
    """Runs until told to stop; exit code 0 after that. Raises what `qisai.local.start.up` raises."""
    from qisai.local.output import Output
    from qisai.local.start import up

    var = Path(args.var or settings.read("QISAI_VAR") or "var").resolve()
    host = args.host or settings.read("QISAI_HOST") or "127.0.0.1"
    port = _port(args.port)
    output = Output(sys.stdout, colour=sys.stdout.isatty())
    try:
        up(output, var=var, host=host, port=port)
    finally:
        output.close()
    return 0


def _port(text: str | None) -> int:
    if text is None:
        return settings.number("QISAI_PORT", default=8080, least=1, most=65_535)
    if not text.isdecimal() or not 1 <= int(text) <= 65_535:
        raise Invalid("bad-port", f"--port is {text!r}, but must be a whole number between 1 and 65535")
    return int(text)
