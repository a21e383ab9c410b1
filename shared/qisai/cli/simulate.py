"""`qisai simulate --entrants N --rounds R`: plays a whole event and prints the tournament file."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any, Final

from qisai.cli.files import print_json
from qisai.cli.progress import Progress
from qisai.cli.refusal import report_no_legal_draw
from qisai.errors import Invalid

RATES: Final = (
    ("--absent-rate", "absent", "absent from a round, per entrant and round"),
    ("--half-bye-rate", "half_bye", "requested half-point byes, per entrant and round"),
    ("--zero-bye-rate", "zero_bye", "requested zero-point byes, per entrant and round"),
    ("--full-bye-rate", "full_bye", "full-point byes, per entrant and round"),
    ("--withdraw-rate", "withdraw", "withdrawals, per entrant and round"),
    ("--return-rate", "returning", "returns, per withdrawn entrant and round"),
    ("--forfeit-rate", "forfeit", "forfeits, per board"),
    ("--void-rate", "void", "void games, per board"),
    ("--adjourned-rate", "adjourned", "games adjourned until after the next round, per board"),
    ("--late-rate", "late", "share of entrants who enter late"),
)


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the command."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "simulate",
        help="play a made-up event and print its tournament file",
        description="Play a whole event with made-up entrants and results and print the tournament file.",
    )
    parser.add_argument("--entrants", type=int, required=True, metavar="N")
    parser.add_argument("--rounds", type=int, required=True, metavar="R")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="same settings and seed, same event")
    parser.add_argument("--profile", default="xiangqi", metavar="GAME", help="game profile (default: xiangqi)")
    for option, name, meaning in RATES:
        parser.add_argument(option, dest=name, type=float, default=0.0, metavar="P", help=f"{meaning} (0 to 1)")
    parser.add_argument("--json", action="store_true", help="accepted for symmetry: the file is JSON anyway")
    return parser


def run(args: argparse.Namespace) -> int:
    """Play the event; progress by round goes to standard error."""
    from qisai.kernel.pairing import NoLegalDraw, pair_round
    from qisai.kernel.profiles import PROFILES
    from qisai.kernel.simulation import Plan, simulate
    from qisai.kernel.tournament_file import tournament_to_json

    if args.profile not in PROFILES:
        raise Invalid("unknown-profile", f"There is no game profile {args.profile!r}; known are {', '.join(PROFILES)}.")
    plan = Plan(
        entrants=args.entrants,
        rounds=args.rounds,
        seed=args.seed,
        regulations=replace(PROFILES[args.profile].regulations(), lot_seed=args.seed),
        **{name: getattr(args, name) for _, name, _ in RATES},
    )
    progress = Progress()
    try:
        tournament = simulate(
            plan, pair=pair_round, progress=lambda n: progress.say(f"round {n} of {args.rounds} played")
        )
    except NoLegalDraw as error:
        return report_no_legal_draw(error)
    print_json(tournament_to_json(tournament))
    return 0
