"""The offline command line as people start it: exit codes, what is printed where, and never a traceback."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from qisai.cli.main import main

EVENT: dict[str, Any] = {
    "format": "qisai.tournament/1",
    "regulations": {"rounds": 3},
    "entrants": [{"number": n, "name": name} for n, name in enumerate(("陈一", "王小二", "Zoë", "李四"), start=1)],
    "rounds": [
        {
            "number": 1,
            "boards": [
                {"board": 1, "first": 1, "second": 4, "result": "first_win"},
                {"board": 2, "first": 3, "second": 2, "result": "draw"},
            ],
        }
    ],
}
DRY = {
    "format": "qisai.tournament/1",
    "entrants": [{"number": 1}, {"number": 2}],
    "rounds": [{"number": 1, "boards": [{"board": 1, "first": 1, "second": 2, "result": "draw"}]}],
}


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    returncode: int
    stdout: bytes
    stderr: bytes


Run = Callable[..., Done]


@pytest.fixture
def qisai(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run `qisai` in a folder of its own with bytes on standard input (in this process: starting one takes longer)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = main(arguments)
        except SystemExit as error:
            code = int(error.code or 0)
        captured = capfdbinary.readouterr()
        assert b"Traceback" not in captured.err, captured.err.decode()
        assert b"internal error" not in captured.err, captured.err.decode()
        return Done(code, captured.out, captured.err)

    return run


def started(*arguments: str, cwd: Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The same as a process of its own."""
    command = [sys.executable, "-m", "qisai.cli.main", *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, input=stdin, capture_output=True, cwd=cwd, env=env, timeout=60, check=False)


def as_bytes(obj: Any) -> bytes:
    return json.dumps(obj, ensure_ascii=False).encode()


def test_help_names_the_commands(qisai: Run) -> None:
    done = qisai("--help")
    assert done.returncode == 0
    for command in (b"pair", b"simulate", b"standings", b"verify"):
        assert command in done.stdout


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from qisai.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'rustworkx', 'sqlalchemy', 'celery', 'flask', 'qisai.kernel'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_standings_print_a_table_that_lines_up_with_chinese_names(qisai: Run, tmp_path: Path) -> None:
    (tmp_path / "event.json").write_bytes(as_bytes(EVENT))
    done = qisai("standings", "event.json")
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "Standings after round 1"
    assert lines[2].split() == ["1", "1", "陈一", "1", "0", "1", "–"]
    cells = {sum(2 if "一" <= character <= "龥" else 1 for character in line) for line in lines[1:]}
    assert len(cells) == 1, "every line ends in the same cell"


def test_standings_as_json_after_a_round_from_standard_input(qisai: Run) -> None:
    done = qisai("standings", "-", "--after", "0", "--json", stdin=as_bytes(EVENT))
    found = json.loads(done.stdout)
    assert [row["rank"] for row in found["rows"]] == [1, 1, 1, 1]
    done = qisai("standings", "-", "--json", stdin=as_bytes(EVENT))
    found = json.loads(done.stdout)
    assert found["after"] == 1
    assert found["rows"][0] == {
        "rank": 1,
        "number": 1,
        "points": 1,
        "values": {"opponents": 0, "progressive": 1, "direct": None},
        "name": "陈一",
    }


def test_standings_explain_the_sums_of_one_entrant(qisai: Run) -> None:
    done = qisai("standings", "-", "--explain", "2", "--json", stdin=as_bytes(EVENT))
    sums = json.loads(done.stdout)["arithmetic"]
    assert [(term["opponent"], term["value"]) for term in sums["opponents"]] == [(3, 0.5)]
    assert b"opponent_score" in qisai("standings", "-", "--explain", "2", stdin=as_bytes(EVENT)).stdout


def test_pair_prints_a_draw_that_verifies(qisai: Run, tmp_path: Path) -> None:
    (tmp_path / "event.json").write_bytes(as_bytes(EVENT))
    done = qisai("pair", "event.json", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    draw = json.loads(done.stdout)
    assert (draw["format"], draw["round"], len(draw["boards"]), draw["optimal"]) == ("qisai.draw/1", 2, 2, True)
    verified = qisai("verify", "event.json", "-", stdin=done.stdout)
    assert (verified.returncode, verified.stdout.splitlines()[-1]) == (0, b"holds")


def test_pair_prints_a_table_with_names(qisai: Run) -> None:
    text = qisai("pair", "-", stdin=as_bytes(EVENT)).stdout.decode()
    assert text.startswith("Round 2\n")
    assert all(name in text for name in ("陈一", "王小二", "Zoë", "李四", "best draw, proven", "side_breaches"))


def test_pair_with_limits_gives_the_draw_of_the_search(qisai: Run) -> None:
    done = qisai("pair", "-", "--max-depth", "3", "--max-steps", "1000", "--json", stdin=as_bytes(EVENT))
    assert done.returncode == 0
    assert qisai("pair", "-", "--max-depth", "0", stdin=as_bytes(EVENT)).returncode == 2


def test_pair_explains_the_place_of_one_entrant(qisai: Run) -> None:
    text = qisai("pair", "-", "--explain", "1", stdin=as_bytes(EVENT)).stdout.decode()
    assert "1 陈一, 1 points, round 2" in text
    assert re.search(r"^meets [23] .+ on board 1$", text, re.MULTILINE)
    assert "side: " in text
    found = json.loads(qisai("pair", "-", "--explain", "1", "--json", stdin=as_bytes(EVENT)).stdout)
    assert (found["draw"]["format"], found["explanation"]["number"]) == ("qisai.draw/1", 1)
    assert qisai("pair", "-", "--explain", "9", stdin=as_bytes(EVENT)).returncode == 2


def test_no_legal_draw_is_exit_1_with_the_reason_as_json(qisai: Run) -> None:
    done = qisai("pair", "-", stdin=as_bytes(DRY))
    assert (done.returncode, done.stdout) == (1, b"")
    told = json.loads(done.stderr)
    assert told["reason"]["present"] == 2
    assert told["detail"]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"boards": [{"board": 1, "first": 1, "second": 4, "result": "first_win"}] * 2}, b"twice"),
        ({"boards": [{"board": 1, "first": 1, "second": 1, "result": "draw"}]}, b"itself"),
        ({"boards": [{"board": 1, "first": 1, "second": 4, "result": None}]}, b"no result"),
        ({"number": 2}, b"round 1 is missing"),
    ],
)
def test_bad_input_is_exit_2_with_the_place(qisai: Run, change: dict[str, Any], word: bytes) -> None:
    event = {**EVENT, "rounds": [{**EVENT["rounds"][0], **change}]}
    done = qisai("pair", "-", stdin=as_bytes(event))
    assert (done.returncode, done.stdout) == (2, b"")
    assert word in done.stderr


def test_an_empty_pool_and_a_finished_event_are_bad_input(qisai: Run) -> None:
    away = {**EVENT, "next": {"round": 2, "absent": [1, 2, 3, 4]}}
    finished = {**EVENT, "regulations": {"rounds": 1}}
    for event in (away, finished, {**EVENT, "entrants": [], "rounds": []}):
        done = qisai("pair", "-", stdin=as_bytes(event))
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.startswith(b"qisai: ")


@pytest.mark.parametrize("command", ["pair", "standings", "verify"])
@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b"null", b"\xff\xfe\x00", b"[" * 100_000, b"9" * 10_000, b'{"format": NaN}', b'{"a":1,"a":2}'],
    ids=["empty", "cut", "list", "null", "binary", "deep", "digits", "nan", "twice"],
)
def test_what_is_no_tournament_is_refused_in_one_line(qisai: Run, tmp_path: Path, command: str, text: bytes) -> None:
    (tmp_path / "bad").write_bytes(text)
    arguments = ["verify", "bad", "bad"] if command == "verify" else [command, "bad"]
    done = qisai(*arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert len(done.stderr.splitlines()) == 1


def test_files_that_cannot_be_read_are_named(qisai: Run, tmp_path: Path) -> None:
    for name in ("missing.json", "."):
        done = qisai("standings", name)
        assert done.returncode == 2
        assert f"{name} cannot be read".encode() in done.stderr


def test_wrong_arguments_are_exit_2(qisai: Run) -> None:
    for arguments in ([], ["draw"], ["pair"], ["standings", "-", "--after", "x"], ["simulate", "--entrants", "8"]):
        assert qisai(*arguments).returncode == 2
    assert qisai("standings", "-", "--after", "7", stdin=as_bytes(EVENT)).returncode == 2
    assert qisai("standings", "-", "--explain", "77", stdin=as_bytes(EVENT)).returncode == 2
    assert b"cannot both be standard input" in qisai("verify", "-", "-").stderr


def test_verify_says_what_is_wrong_with_a_draw(qisai: Run, tmp_path: Path) -> None:
    (tmp_path / "event.json").write_bytes(as_bytes(EVENT))
    draw = json.loads(qisai("pair", "event.json", "--json").stdout)

    def verify(**changes: Any) -> dict[str, Any]:
        done = qisai("verify", "event.json", "-", "--json", stdin=as_bytes({**draw, **changes}))
        assert done.returncode == 1, changes
        found: dict[str, Any] = json.loads(done.stdout)
        assert not found["holds"]
        return found

    rematch = [{"board": 1, "first": 1, "second": 4}, {"board": 2, "first": 2, "second": 3}]
    assert [violation["breach"] for violation in verify(boards=rematch)["violations"]] == ["rematch", "rematch"]
    assert verify(boards=draw["boards"][:1])["violations"]
    assert verify(cost={**draw["cost"], "order": 99})["cost_differences"]["order"]["said"] == 99
    assert verify(cost={})["cost_differences"]
    assert verify(cross_cap=7)["cost_differences"] == {"cross_cap": {"said": 7, "computed": draw["cross_cap"]}}
    turned = [{**board, "first": board["second"], "second": board["first"]} for board in draw["boards"]]
    found = verify(boards=turned)
    assert (found["violations"], found["cost_differences"], found["reproduced"]) == ([], {}, False)
    assert verify(tournament_sha256="0" * 64)["hash_matches"] is False
    for claim in ({"proven": []}, {"relaxed": ["sides"]}, {"look_ahead": "excluded"}):
        assert verify(**claim)["reproduced"] is False, claim
    assert qisai("verify", "event.json", "-", stdin=as_bytes({**draw, "cross_cap": 7})).returncode == 1


def test_a_rule_breaking_draw_does_not_hold_even_if_all_else_is_right(qisai: Run, tmp_path: Path) -> None:
    (tmp_path / "event.json").write_bytes(as_bytes(EVENT))
    draw = json.loads(qisai("pair", "event.json", "--json").stdout)
    draw.update(source="manual", optimal=False, cost={}, boards=EVENT["rounds"][0]["boards"])
    draw["boards"] = [{name: board[name] for name in ("board", "first", "second")} for board in draw["boards"]]
    told = json.loads(qisai("verify", "event.json", "-", "--json", stdin=as_bytes(draw)).stdout)["cost_differences"]
    draw["cross_cap"] = told.pop("cross_cap", {"computed": draw["cross_cap"]})["computed"]
    draw["cost"] = {name: difference["computed"] for name, difference in told.items()}
    done = qisai("verify", "event.json", "-", "--json", stdin=as_bytes(draw))
    found = json.loads(done.stdout)
    assert (found["hash_matches"], found["cost_differences"], found["reproduced"]) == (True, {}, None)
    assert (done.returncode, len(found["violations"])) == (1, 2)


def test_a_draw_by_hand_need_not_be_reproduced(qisai: Run, tmp_path: Path) -> None:
    (tmp_path / "event.json").write_bytes(as_bytes(EVENT))
    draw = json.loads(qisai("pair", "event.json", "--json").stdout)
    draw["source"], draw["optimal"] = "manual", False
    draw["boards"] = [{**board, "first": board["second"], "second": board["first"]} for board in draw["boards"]]
    done = qisai("verify", "event.json", "-", "--json", stdin=as_bytes(draw))
    assert (done.returncode, json.loads(done.stdout)["reproduced"]) == (0, None)


def test_simulate_prints_a_tournament_file_that_is_the_same_each_time(qisai: Run) -> None:
    arguments = ["simulate", "--entrants", "30", "--rounds", "4", "--seed", "9", "--absent-rate", "0.05"]
    arguments += ["--withdraw-rate", "0.03", "--forfeit-rate", "0.05", "--late-rate", "0.1"]
    done = qisai(*arguments)
    assert done.returncode == 0
    event = json.loads(done.stdout)
    assert (len(event["entrants"]), len(event["rounds"])) == (30, 4)
    assert qisai(*arguments, "--json").stdout == done.stdout
    assert qisai("standings", "-", stdin=done.stdout).returncode == 0


def test_simulate_refuses_what_cannot_be_played(qisai: Run) -> None:
    for arguments in (
        ["--entrants", "1"],
        ["--absent-rate", "2"],
        ["--rounds", "0"],
        ["--profile", "ludo"],
        ["--seed", "-1"],
    ):
        done = qisai("simulate", "--entrants", "8", "--rounds", "2", *arguments)
        assert (done.returncode, done.stdout) == (2, b"")
    dry = qisai("simulate", "--entrants", "4", "--rounds", "5")
    assert (dry.returncode, json.loads(dry.stderr)["reason"]["present"]) == (1, 4)


def test_a_terminal_without_chinese_shows_substitutes_and_files_stay_utf8(tmp_path: Path) -> None:
    narrow = {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    assert b"??" in started("standings", "-", cwd=tmp_path, stdin=as_bytes(EVENT), **narrow).stdout
    found = started("standings", "-", "--json", cwd=tmp_path, stdin=as_bytes(EVENT), **narrow).stdout
    assert "陈一".encode() in found


def test_a_started_process_answers_like_the_function(qisai: Run, tmp_path: Path) -> None:
    for arguments, text in ((("pair", "-"), DRY), (("standings", "-"), EVENT), (("standings", "-"), {})):
        one, other = qisai(*arguments, stdin=as_bytes(text)), started(*arguments, cwd=tmp_path, stdin=as_bytes(text))
        assert (one.returncode, one.stdout, one.stderr) == (other.returncode, other.stdout, other.stderr)


def test_a_reader_that_goes_away_is_no_error_message(tmp_path: Path) -> None:
    (tmp_path / "event.json").write_bytes(as_bytes(EVENT))
    command = f"{sys.executable} -m qisai.cli.main standings event.json | true"
    done = subprocess.run(["sh", "-c", command], capture_output=True, cwd=tmp_path, timeout=60, check=False)
    assert done.stderr == b""


def test_a_defect_of_ours_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def broken(args: object) -> int:
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr("qisai.cli.standings.run", broken)
    assert main(["standings", "-"]) == 2
    told = capsys.readouterr().err
    assert "internal error (ZeroDivisionError: by nought)" in told
    assert "Traceback" not in told
    assert main(["--debug", "standings", "-"]) == 2
    assert "Traceback" in capsys.readouterr().err
