"""`qisai standings FILE [--after N] [--explain NUMBER]`: ranked rows with points and every criterion."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from qisai.cli.files import print_json, read_tournament
from qisai.cli.table import render

COLUMNS: Final = ("round", "code", "opponent", "value", "reason")

if TYPE_CHECKING:
    from qisai.kernel.model import Tournament
    from qisai.kernel.standings import Standings


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the command."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "standings", help="standings of a tournament file", description="Print the standings after a round."
    )
    parser.add_argument("file", metavar="FILE", help="tournament file (qisai.tournament/1), - for standard input")
    parser.add_argument("--after", type=int, metavar="N", help="count rounds 1 to N only (default: all)")
    parser.add_argument("--explain", type=int, metavar="NUMBER", help="show the sums behind one entrant's values")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the table, or the sums behind one row."""
    from qisai.kernel.standings import standings

    tournament = read_tournament(args.file)
    found = standings(tournament, after=args.after)
    if args.explain is not None:
        _explain(found, args.explain, as_json=args.json)
    elif args.json:
        _print_json(found, tournament)
    else:
        _print_table(found, tournament)
    return 0


def _print_json(found: Standings, tournament: Tournament) -> None:
    from qisai.kernel.standings_file import standings_to_json

    names = {entrant.number: entrant.name for entrant in tournament.entrants}
    value = standings_to_json(found)
    for row in value["rows"]:
        row["name"] = names[row["number"]]
    print_json(value)


def _print_table(found: Standings, tournament: Tournament) -> None:
    from qisai.kernel.standings_file import standings_to_json

    entrants = {entrant.number: entrant for entrant in tournament.entrants}
    rows = [
        [
            row["rank"],
            row["number"],
            entrants[row["number"]].name,
            entrants[row["number"]].club,
            row["points"],
            *row["values"].values(),
        ]
        for row in standings_to_json(found)["rows"]
    ]
    print(f"Standings after round {found.after}")
    print(render(["rank", "no.", "name", "club", "points", *found.tie_breaks], rows, left=("name", "club")))


def _explain(found: Standings, number: int, *, as_json: bool) -> None:
    from qisai.kernel.standings_file import arithmetic_to_json

    sums = {
        code: arithmetic_to_json(found.arithmetic(number, code), found.scale(code))
        for code in ("points", *found.tie_breaks)
    }
    if as_json:
        print_json({"number": number, "after": found.after, "arithmetic": sums})
        return
    for code, terms in sums.items():
        print(f"{code}:" if terms else f"{code}: nothing")
        rows = [[*(term[name] for name in COLUMNS), "" if term["counted"] else "not counted"] for term in terms]
        if rows:
            print(render([*COLUMNS, ""], rows, left=("code", "reason", "")))
