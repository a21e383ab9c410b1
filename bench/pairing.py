"""Pairing speed: the best draw, proven, against py4swiss on the same fields; first draws; memory; how it grows."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

from py4swiss.engines import DutchEngine
from py4swiss.trf import TrfParser

from bench.backtracking import backtrack
from bench.curve import svg_curve
from bench.fields import swiss_field
from bench.report import DOCS, machine, table
from bench.trf import trf_text
from qisai.kernel import improve, pair_round
from qisai.kernel.model import Draw, Stage, Tournament
from qisai.kernel.pairing.cost import cost_of
from qisai.kernel.pairing.field import compile_field
from qisai.kernel.pairing.search import search

ROUNDS_PLAYED = (4, 8)
RATIO_TARGETS = {500: 40, 1000: 80, 2000: 100}
REPEATS = {500: (9, 3), 1000: (7, 1), 2000: (5, 1)}
"""Entrants → repeats of ours and of the baseline; the least time counts."""
CURVE = (100, 200, 500, 1000, 2000, 3000, 4000, 5000)
BACKTRACKING_SECONDS = 10.0
PICTURE = "benchmarks-pairing.svg"


def run() -> str:
    """All tables of this part."""
    pair_round(swiss_field(200, rounds_played=4))
    baseline: dict[int, dict[int, float]] = {played: {} for played in ROUNDS_PLAYED}
    ours: dict[int, dict[int, float]] = {played: {} for played in ROUNDS_PLAYED}
    against = _against_py4swiss(ours, baseline)
    growth = _growth(ours)
    _draw_curve(ours, baseline)
    return "\n\n".join(
        [
            "## Pairing speed",
            "From tournament value to draw value, `optimal: true`, in one warm process. Processor time, so that other "
            f"work on the machine does not count; the least of several runs. {machine()}.",
            "### Against py4swiss 0.3.1",
            against,
            "py4swiss pairs by the FIDE Dutch rules, from its parsed input to its pairs: a baseline for time only.",
            f"### Growth\n\n![Time by size]({PICTURE})",
            growth,
            "### First valid draw (search), and plain backtracking",
            _first_draws(),
            "Backtracking as small tools do it: by score and number, the next opponent not met. Cross pairs and side "
            "clashes of its draw, where it finds one, stand against those of the best draw.",
        ]
    )


def _least(repeats: int, work: Callable[[], object]) -> float:
    times = []
    for _ in range(repeats):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def _best_draw(tournament: Tournament) -> Draw:
    draw = pair_round(tournament)
    if not draw.optimal:
        raise AssertionError("the draw is not proven optimal")
    return draw


def _against_py4swiss(ours: dict[int, dict[int, float]], baseline: dict[int, dict[int, float]]) -> str:
    rows = []
    for entrants, target in RATIO_TARGETS.items():
        for played in ROUNDS_PLAYED:
            tournament = swiss_field(entrants, rounds_played=played)
            mine, theirs = REPEATS[entrants]
            fast = _least(mine, lambda t=tournament: _best_draw(t))
            slow = _py4swiss(tournament, theirs)
            ours[played][entrants], baseline[played][entrants] = fast, slow
            rows.append(
                (entrants, played, f"{fast * 1000:.0f} ms", f"{slow:.1f} s", f"{slow / fast:.0f} ×", f"≥ {target} ×")
            )
            print("pairing", *rows[-1], flush=True)
    return table(("entrants", "rounds played", "qisai", "py4swiss", "faster", "target"), rows)


def _py4swiss(tournament: Tournament, repeats: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "field.trf"
        path.write_text(trf_text(tournament), encoding="utf-8")
        parsed = TrfParser.parse(path)
    return _least(repeats, lambda: DutchEngine.generate_pairings(parsed))


def _growth(ours: dict[int, dict[int, float]]) -> str:
    rows = []
    for entrants in CURVE:
        for played in ROUNDS_PLAYED:
            if entrants not in ours[played]:
                tournament = swiss_field(entrants, rounds_played=played)
                ours[played][entrants] = _least(3, lambda t=tournament: _best_draw(t))
            time = ours[played][entrants]
            row = (entrants, played, f"{time * 1000:.0f} ms", f"{time / entrants * 1e6:.0f} µs")
            rows.append(
                (*row, _against_thousand(ours[played], entrants), f"{_peak_megabytes(entrants, played):.0f} MB")
            )
            print("growth", *rows[-1], flush=True)
    head = ("entrants", "rounds played", "time", "per entrant", "of that at 1,000", "peak memory of the process")
    return table(head, rows) + "\n\nTargets at 5,000: per entrant within 3 × of the figure at 1,000; under 400 MB."


def _against_thousand(times: dict[int, float], entrants: int) -> str:
    return f"{times[entrants] / entrants / (times[1000] / 1000):.1f} ×" if 1000 in times else "–"


def _peak_megabytes(entrants: int, played: int) -> float:
    """Peak memory of a process of its own that makes the field and draws it."""
    command = [sys.executable, "-m", "bench.memory", str(entrants), str(played)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) / 1024


def _draw_curve(ours: dict[int, dict[int, float]], baseline: dict[int, dict[int, float]]) -> None:
    series = {f"qisai, {played} rounds played": sorted(times.items()) for played, times in ours.items()}
    series |= {f"py4swiss, {played} rounds": sorted(times.items()) for played, times in baseline.items()}
    text = svg_curve(series, title="Best draw: time by size", x_label="entrants", y_label="seconds")
    (DOCS / PICTURE).write_text(text, encoding="utf-8")


def _first_draws() -> str:
    rows = []
    for entrants in (100, 500, 1000, 5000):
        for played in ROUNDS_PLAYED:
            tournament = swiss_field(entrants, rounds_played=played)
            whole = _least(5, lambda t=tournament: pair_round(t, stage=Stage.SEARCH))
            field = compile_field(tournament)
            alone = _least(5, lambda f=field: search(f))
            first = _least(5, lambda t=tournament: next(improve(t)))
            start = process_time()
            plain = backtrack(field, seconds=BACKTRACKING_SECONDS)
            took = process_time() - start
            best = pair_round(tournament).cost
            quality = ("–", "–")
            if plain is not None:
                cost = cost_of(field, *plain)
                quality = tuple(f"{cost[name]} / {best[name]}" for name in ("cross_pairs", "side_clashes"))
            rows.append(
                (
                    entrants,
                    played,
                    f"{whole * 1000:.1f} ms",
                    f"{whole * 1000 / entrants * 100:.2f} ms",
                    f"{alone * 1000:.1f} ms",
                    f"{alone * 1000 / entrants * 100:.2f} ms",
                    f"{first * 1000:.1f} ms",
                    f"{took * 1000:.1f} ms" if plain else f"none in {BACKTRACKING_SECONDS:.0f} s",
                    *quality,
                )
            )
            print("first draw", *rows[-1], flush=True)
    head = (
        "entrants",
        "rounds played",
        "whole draw",
        "per 100 entrants",
        "search alone",
        "per 100 entrants",
        "first of `improve`",
        "backtracking",
        "cross pairs",
        "side clashes",
    )
    return (
        table(head, rows)
        + "\n\nTarget: under 1 ms per 100 entrants. A whole draw also reads, seats, numbers, costs, hashes and "
        "checks, and all of that grows with the rounds played."
    )
