"""`qisai demo --roster FILE --rounds N`: plays a whole event over the gateway's HTTP API and checks what came of it."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qisai import settings
from qisai.cli.files import print_json
from qisai.errors import Invalid

if TYPE_CHECKING:
    from qisai.cli.demo.proof import Proof


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the command."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "demo",
        help="play a whole event over HTTP",
        description="Creates an event, imports a roster, approves, checks in, seats, draws lots, then plays round by "
        "round with four referees at once, some of whom collide on purpose; checks draws, log and standings at the "
        "end. Uses the system that runs in ./var, or --url with --token; where nothing runs it starts one for itself.",
    )
    parser.add_argument("--roster", required=True, metavar="FILE", help="spreadsheet of entrants (CSV)")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="rounds to play (default 7)")
    parser.add_argument("--profile", default="xiangqi", help="game (default xiangqi)")
    parser.add_argument("--name", help="name of the event (default: after the roster)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="decides the games' results (default 1)")
    parser.add_argument("--resume", type=int, metavar="EVENT", help="go on with an event that an earlier demo began")
    parser.add_argument("--url", help="address of the gateway (QISAI_URL)")
    parser.add_argument("--token", help="token of an administrator (QISAI_TOKEN)")
    parser.add_argument("--var", metavar="DIR", help="data folder of `qisai up` (QISAI_VAR; default ./var)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def run(args: argparse.Namespace) -> int:
    """Play and check; exit code 1 where a check fails, which it says."""
    from qisai.cli.demo.event import Plan, play
    from qisai.cli.demo.proof import check
    from qisai.cli.demo.system import System, own_system, running_system

    if not 1 <= args.rounds <= 50:
        raise Invalid("bad-rounds", f"--rounds is {args.rounds}, but must be between 1 and 50")
    roster = _read(args.roster)
    plan = Plan(
        roster=roster,
        rounds=args.rounds,
        profile=args.profile,
        name=args.name or f"演示赛 {Path(args.roster).stem}",
        seed=args.seed,
        resume=args.resume,
    )
    url, token = args.url or settings.read("QISAI_URL"), args.token or settings.read("QISAI_TOKEN")
    with ExitStack() as stack:
        if url is not None:
            if token is None:
                raise Invalid("no-token", "--url needs --token (or QISAI_TOKEN): make one with `qisai token`")
            system = System(url=url, token=token)
        else:
            var = Path(args.var or settings.read("QISAI_VAR") or "var").resolve()
            system = running_system(var, token) or stack.enter_context(own_system(say))
        say(f"playing at {system.url}")
        played = play(plan, url=system.url, token=system.token, say=say)
        proof = check(played, url=system.url, token=system.token, say=say)
    if args.json:
        print_json(proof.to_json())
    else:
        _print(proof)
    return 0 if proof.holds else 1


def say(text: str) -> None:
    """One line of progress."""
    print(text, file=sys.stderr, flush=True)


def _read(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise Invalid("no-roster", f"{path} cannot be read: {error.strerror}") from error


def _print(proof: Proof) -> None:
    from qisai.cli.table import render

    rows = [
        [row.rank, row.player.number, row.player.name, row.player.club, f"{row.points:g}"]
        + ["" if row.values.get(code) is None else f"{row.values[code]:g}" for code in proof.standings.criteria]
        for row in proof.standings.rows
    ]
    heads = ["rank", "no.", "name", "club", "points", *proof.standings.criteria]
    print(f"Standings after round {proof.standings.after}")
    print(render(heads, rows, left=("name", "club")))
    print()
    for claim in proof.claims:
        print(f"{'✓' if claim.holds else '✗'} {claim.text}")
