"""`qisai verify FILE DRAW`: the violations of a draw, its cost computed anew, and whether it comes out again."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from qisai.cli.files import STANDARD_INPUT, print_json, read_draw, read_tournament
from qisai.cli.limits import add_limits, limits_of
from qisai.cli.table import render
from qisai.errors import Invalid

if TYPE_CHECKING:
    from qisai.kernel.verification import Verification

EXIT_DOES_NOT_HOLD = 1


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the command."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "verify",
        help="check a draw against its tournament",
        description="Check a draw: rules, cost, and whether drawing again gives the same. Exit 0 only if all hold.",
    )
    parser.add_argument("file", metavar="FILE", help="tournament file (qisai.tournament/1), - for standard input")
    parser.add_argument("draw", metavar="DRAW", help="draw file (qisai.draw/1), - for standard input")
    add_limits(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def run(args: argparse.Namespace) -> int:
    """Check and report; 0 only if the draw is valid, its costs are equal and, if computed, it is reproduced."""
    from qisai.kernel.verification import verification_to_json, verify_draw

    if args.file == args.draw == STANDARD_INPUT:
        raise Invalid("one-input", "FILE and DRAW cannot both be standard input; name one of them.")
    found = verify_draw(read_tournament(args.file), read_draw(args.draw), limits=limits_of(args))
    if args.json:
        print_json(verification_to_json(found))
    else:
        _print(found)
    return 0 if found.holds else EXIT_DOES_NOT_HOLD


def _print(found: Verification) -> None:
    print(f"rules: {'kept' if not found.violations else 'broken'}")
    for violation in found.violations:
        print(f"  {violation.breach}: {violation.detail}")
    print(f"tournament: {'the one the draw was made for' if found.hash_matches else 'another one (hash differs)'}")
    print(f"cost: {'equal' if not found.cost_differences else 'differs'}")
    if found.cost_differences:
        rows = [[name, said, computed] for name, (said, computed) in found.cost_differences.items()]
        print(render(["criterion", "said", "computed"], rows, left=("criterion",)))
    not_asked = "not asked for (the draw was not computed, or was cut short)"
    words = {None: not_asked, True: "the same draw", False: "another draw, or another claim about it"}
    print(f"drawing again: {words[found.reproduced]}")
    if found.false_claims:
        print(f"claims: not true of this draw: {', '.join(found.false_claims)}")
    print("holds" if found.holds else "does not hold")
