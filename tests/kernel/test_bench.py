"""The benchmark's own parts: its fields are fair, its baseline reads them, its pictures and page are well-formed."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from py4swiss.engines import DutchEngine
from py4swiss.trf import TrfParser

from bench.backtracking import backtrack
from bench.curve import svg_curve
from bench.fields import swiss_field
from bench.report import write_section
from bench.trf import trf_text
from qisai.kernel.pairing.field import compile_field


def test_a_benchmark_field_is_the_same_every_time_and_nobody_met_twice() -> None:
    tournament = swiss_field(60, rounds_played=6)
    assert tournament == swiss_field(60, rounds_played=6)
    met = [frozenset((board.first, board.second)) for round_ in tournament.rounds for board in round_.boards]
    played = [board for round_ in tournament.rounds for board in round_.boards]
    assert len(played) == len(met)
    assert len(met) - len(set(met)) <= sum(board.result is not None and "forfeit" in board.result for board in played)
    assert any(entrant.withdrawn_from for entrant in tournament.entrants)


def test_the_baseline_reads_the_field_and_pairs_the_same_entrants(tmp_path: Path) -> None:
    tournament = swiss_field(61, rounds_played=4)
    path = tmp_path / "field.trf"
    path.write_text(trf_text(tournament), encoding="utf-8")
    parsed = TrfParser.parse(path)
    parsed.validate_contents()
    paired = {number for pair in DutchEngine.generate_pairings(parsed) for number in (pair.white, pair.black) if number}
    assert paired == set(compile_field(tournament).number)


def test_plain_backtracking_gives_a_legal_draw_where_it_gives_one() -> None:
    field = compile_field(swiss_field(41, rounds_played=5))
    found = backtrack(field, seconds=5)
    assert found is not None
    pairs, bye = found
    assert sorted([v for pair in pairs for v in pair] + ([] if bye is None else [bye])) == list(range(field.size))
    assert all(j not in field.barred[i] for i, j in pairs)


def test_a_section_of_the_page_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    write_section("one", "first", page=page)
    write_section("two", "second", page=page)
    write_section("one", "third", page=page)
    text = page.read_text(encoding="utf-8")
    assert "first" not in text
    assert text.index("third") < text.index("second")
    assert text.count("<!-- bench:one -->") == 1


def test_the_curve_is_well_formed() -> None:
    picture = svg_curve({"a": [(100, 0.01), (5000, 1.5)]}, title="t", x_label="x", y_label="y")
    assert ElementTree.fromstring(picture).tag.endswith("svg")
