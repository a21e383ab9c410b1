"""Rules about the repository itself: imports, settings, names of files, and nothing of the machine it was made on."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qisai.settings import VARIABLES

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("shared", "services", "tests", "bench")
PRODUCT = ("shared", "services")
UNTRACKED = {".venv", ".git", "var", "__pycache__", "dist", "secrets", ".mypy_cache", ".ruff_cache", ".pytest_cache"}

KERNEL_MAY_IMPORT = {
    *("__future__", "abc", "bisect", "collections", "contextlib", "copy", "dataclasses", "decimal", "enum"),
    *("fractions", "functools", "hashlib", "heapq", "itertools", "json", "math", "operator", "re", "string"),
    *("types", "typing", "unicodedata", "array", "struct", "statistics"),
    *("numpy", "rustworkx", "qisai.errors", "qisai.kernel"),
}


def python_files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(
            path for path in (ROOT / folder).rglob("*.py") if not UNTRACKED & set(path.relative_to(ROOT).parts)
        )


def text_files() -> Iterator[Path]:
    for path in sorted(ROOT.rglob("*")):
        inside = path.relative_to(ROOT)
        hidden = any(
            part.startswith(".") and part not in (".ci", ".importlinter", ".gitignore") for part in inside.parts
        )
        if path.is_file() and not hidden and not UNTRACKED & set(inside.parts):
            yield path


def imported(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            yield node.lineno, node.module or ""


def test_every_setting_is_described_in_the_example_and_nothing_else_is() -> None:
    lines = (ROOT / "deploy" / "env.example").read_text(encoding="utf-8").splitlines()
    shown: dict[str, int] = {}
    for number, line in enumerate(lines):
        found = re.match(r"#?(QISAI_[A-Z_]+?)(_FILE)?=", line)
        if found:
            shown.setdefault(found[1], number)
    assert set(shown) == set(VARIABLES)
    for name, number in shown.items():
        while re.match(r"#?QISAI_[A-Z_]+=", lines[number]):
            number -= 1
        assert re.match(r"# \S", lines[number]), f"{name} has no comment above it"


def test_only_settings_reads_the_environment() -> None:
    allowed = {
        "shared/qisai/settings.py",
        # From a worker to its solver, no setting of an operator: pid of the parent and memory limit, read before main.
        "services/pairing/solver.py",
        "services/pairing/solving.py",
    }
    found = []
    for path in python_files(*PRODUCT):
        if str(path.relative_to(ROOT)) in allowed:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        written = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)}
        for node in ast.walk(tree):
            reads = isinstance(node, ast.Attribute) and node.attr in ("environ", "environb", "getenv")
            if reads and id(node) not in written:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    program = "from importlinter.cli import lint_imports_command as run; run(['--no-cache'])"
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{root / 'shared'}:{root}"}
    command = [sys.executable, "-P", "-c", program]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def test_import_rules_hold() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_import_rule_finds_its_breach(tmp_path: Path) -> None:
    for folder in PRODUCT:
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / ".importlinter", tmp_path)
    breaches = {
        "services/results/breach.py": "import services.gateway",
        "shared/qisai/breach.py": "import services.results",
        "shared/qisai/db/breach.py": "import qisai.web",
        "shared/qisai/formats/breach.py": "import qisai.db",
        "shared/qisai/kernel/breach.py": "import random",
        "services/results/operations/breach.py": "import flask",
        "services/gateway/breach.py": "import qisai.db.rounds",
    }
    for path, line in breaches.items():
        (tmp_path / path).write_text(line + "\n")
    said = lint_imports(tmp_path).stdout
    assert "0 kept" in said, said
    assert said.count(" BROKEN") == len(breaches)


def test_the_kernel_imports_only_values_and_mathematics() -> None:
    found = []
    for path in python_files("shared/qisai/kernel"):
        for line, name in imported(path):
            allowed = any(name == may or name.startswith(f"{may}.") for may in KERNEL_MAY_IMPORT)
            if not allowed:
                found.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert found == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    empty_words = {"utils", "util", "common", "helpers", "helper", "misc"}
    assert [path for path in python_files(*SOURCES) if path.stem in empty_words] == []


def test_our_own_code_is_never_mocked() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in python_files("tests", "bench")
        for line, name in imported(path)
        if name in ("mock", "unittest.mock", "pytest_mock")
    ]
    assert found == []


@pytest.mark.parametrize(
    "pattern",
    [
        "/" + "work/",
        "/" + "root/",
        r"/home/(?!qisai\b)\w+",
        "pypi" + r"\.org",
        "python" + "hosted",
        "index" + "-url",
    ],
)
def test_nothing_of_the_machine_it_was_made_on_is_left(pattern: str) -> None:
    looked_for = re.compile(pattern)
    found = []
    for path in text_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {hit.group()}" for hit in looked_for.finditer(text)]
    assert found == []


def test_the_image_gets_the_very_versions_that_are_tested() -> None:
    def pins(name: str) -> dict[str, str]:
        blocks = re.split(r"\n(?=\S)", (ROOT / name).read_text(encoding="utf-8"))
        plain = [re.sub(r"\n\s*#.*| ; .*(?= \\)", "", block).strip() for block in blocks if "==" in block]
        return {block.split("==")[0]: block for block in plain}

    tested, shipped = pins("requirements.lock"), pins("deploy/requirements.lock")
    assert shipped
    assert {name: tested.get(name) for name in shipped} == shipped


def test_every_make_target_explains_itself() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    said = subprocess.run(["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    targets = set(re.search(r"^\.PHONY: (.+)$", text, re.M)[1].split()) - {"venv"}  # type: ignore[index]
    assert {line.split()[1] for line in said.splitlines()} == targets


@pytest.mark.parametrize(("failing", "code"), [("nothing", 0), ("check", 1), ("test", 1)])
def test_what_has_to_pass_before_a_merge_fails_if_any_part_does(tmp_path: Path, failing: str, code: int) -> None:
    make = tmp_path / "make"
    make.write_text(f'#!/bin/sh\necho "made $1 in $PWD"\n[ "$1" != {failing} ]\n')
    make.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run([ROOT / ".ci" / "run"], env=environment, capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == code
    assert done.stdout.splitlines() == [f"made check in {ROOT}", f"made test in {ROOT}"]
