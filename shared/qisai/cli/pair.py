"""`qisai pair FILE`: draws the next round."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any, Final

from qisai.cli.files import print_json, read_tournament
from qisai.cli.limits import add_limits, limits_of
from qisai.cli.refusal import report_no_legal_draw
from qisai.cli.table import render

if TYPE_CHECKING:
    from qisai.kernel.model import Draw, Tournament
    from qisai.kernel.pairing.explain import Explanation

LARGE_FIELD: Final = 1000
"""Entrants from which drawing may take long enough to say so."""


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Declare the command."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "pair",
        help="draw the next round of a tournament file",
        description="Draw the next round. Exit 0 drawn, 1 no legal draw (reason as JSON on stderr), 2 bad input.",
    )
    parser.add_argument("file", metavar="FILE", help="tournament file (qisai.tournament/1), - for standard input")
    parser.add_argument("--search", action="store_true", help="the first valid draw instead of the best one")
    add_limits(parser)
    parser.add_argument("--explain", type=int, metavar="NUMBER", help="also say why this entrant has its place")
    parser.add_argument("--json", action="store_true", help="print the draw file (qisai.draw/1)")
    return parser


def run(args: argparse.Namespace) -> int:
    """Draw and print; limits on the search mean that the search is asked for."""
    from qisai.kernel.draw_file import draw_to_json
    from qisai.kernel.model import Stage
    from qisai.kernel.pairing import NoLegalDraw, pair_round
    from qisai.kernel.pairing.explain import explain

    tournament = read_tournament(args.file)
    limits = limits_of(args)
    stage = Stage.SEARCH if args.search or limits is not None else Stage.OPTIMAL
    if len(tournament.entrants) >= LARGE_FIELD:
        print(f"drawing round {tournament.next_round} for {len(tournament.entrants)} entrants …", file=sys.stderr)
    try:
        draw = pair_round(tournament, stage=stage, limits=limits)
    except NoLegalDraw as error:
        return report_no_legal_draw(error)
    explanation = None if args.explain is None else explain(tournament, draw, args.explain)
    if args.json:
        found = draw_to_json(draw)
        print_json(found if explanation is None else {"draw": found, "explanation": explanation.as_data()})
    else:
        _print(tournament, draw)
        if explanation is not None:
            _print_explanation(tournament, explanation)
    return 0


def _print(tournament: Tournament, draw: Draw) -> None:
    from qisai.kernel.scoring import pairing_scores
    from qisai.kernel.standings_file import value_number
    from qisai.kernel.tie_breaks.criterion import Scale

    names = {entrant.number: entrant.name for entrant in tournament.entrants}
    points = {number: value_number(score, Scale.HALF) for number, score in pairing_scores(tournament).items()}
    rows = [
        [board.board, *(cell for n in (board.first, board.second) for cell in (n, names[n], points[n]))]
        for board in draw.boards
    ]
    print(f"Round {draw.round}")
    headers = ["board", "no.", "first", "points", "no. ", "second", "points "]
    print(render(headers, rows, left=("first", "second")))
    if draw.bye is not None:
        print(f"bye: {draw.bye} {names[draw.bye]} ({points[draw.bye]})")
    print(f"\n{'best draw, proven' if draw.optimal else 'valid draw, not proven to be the best'}")
    if draw.relaxed:
        print(f"relaxed by the search: {', '.join(draw.relaxed)}")
    for flag in draw.flags:
        print(f"note: {json.dumps(dict(flag), ensure_ascii=False)}")
    print(render(["criterion", "cost"], list(draw.cost.items()), left=("criterion",)))


def _print_explanation(tournament: Tournament, explanation: Explanation) -> None:
    from qisai.cli.explanation import sentences

    names = {entrant.number: entrant.name for entrant in tournament.entrants}
    print("\n" + "\n".join(sentences(explanation, names)))
