# Two commands are all a newcomer needs: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test check snapshots clean

demo: .venv/core.stamp
	@$(BIN)/rltop demo

test: .venv/dev.stamp
	$(BIN)/python -m pytest -n 2 -q

check: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

snapshots: .venv/dev.stamp
	$(BIN)/python -m pytest -q tests/tui/test_snapshots.py --snapshot-update

clean:
	rm -rf .venv build *.egg-info

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "rltop needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "no venv module; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

.venv/core.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e .
	@touch $@

.venv/dev.stamp: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e '.[dev]'
	@touch $@ .venv/core.stamp
