# Everything a developer or an operator runs. `make` alone prints what there is.
# Nothing is needed but Python >= 3.11 and make; uv is used for the installation where it is on the PATH.

.DEFAULT_GOAL := help
.PHONY: help up test check format bench campaign chaos demo secrets lock clean venv
MAKEFLAGS += --no-print-directory

PY := .venv/bin/python
# Arguments for the command behind a target: make up ARGS="--port 9000", make test ARGS="tests/kernel -x"
ARGS ?=
# Not the pages in docs/: code in them is an excerpt, and excerpts have no format of their own.
SOURCES := shared services tests bench
ROSTER ?= docs/examples/roster.csv
ROUNDS ?= 7

help: ## print this
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

up: venv ## start the whole system on this machine; Ctrl-C stops it (ARGS="--port 9000 --var DIR")
	@exec $(PY) -m qisai.cli.main up $(ARGS)

# Three processes for two cores: tests of whole processes wait about as long as they compute.
test: venv ## run every test, against servers that the tests start themselves
	@$(PY) -m pytest -n 3 --dist loadfile --no-loadscope-reorder --max-worker-restart 0 $(ARGS)

check: venv ## format, lint, strict types, import rules
	$(PY) -m ruff format --check $(SOURCES)
	$(PY) -m ruff check $(SOURCES)
	$(PY) -m mypy
	@$(PY) -c "from importlinter.cli import lint_imports_command; lint_imports_command()" --no-cache

format: venv ## format all Python files
	$(PY) -m ruff check --fix-only $(SOURCES)
	$(PY) -m ruff format $(SOURCES)

bench: venv ## measure speed side by side with the baselines
	@$(PY) -m bench $(ARGS)

campaign: venv ## simulate 10,000 tournaments and check every draw
	@$(PY) -m bench.campaign $(ARGS)

chaos: venv ## break everything under load for some minutes, then check that nothing was lost (ARGS="--seed 1")
	@$(PY) -m bench.chaos $(ARGS)

demo: venv ## play a whole event over HTTP, on the running system or one of its own (ROSTER=file.csv ROUNDS=7)
	@$(PY) -m qisai.cli.main demo --roster "$(ROSTER)" --rounds $(ROUNDS) $(ARGS)

secrets: venv ## make the keys and passwords that docker-compose.yml needs, in deploy/secrets
	@$(PY) -m qisai.local.compose_secrets deploy/secrets

lock: ## write the lock files from pyproject.toml (needs uv)
	uv pip compile -q --universal --generate-hashes --no-header --python-version 3.11 --group dev pyproject.toml -o requirements.lock
	echo hatchling | uv pip compile -q --universal --generate-hashes --no-header --no-annotate --python-version 3.11 pyproject.toml - -c requirements.lock -o deploy/requirements.lock

clean: ## remove caches; data in var/ and the environment in .venv/ stay
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
	find shared services tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment is made anew when the lock, the project file or the place of this folder changed.
venv:
	@deploy/make-venv
