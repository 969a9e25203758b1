# The commands of a fresh clone. Each makes what it needs in .venv; a second call is instant.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# The two cores that most machines have are kept busy by pytest's workers, not by threads inside them.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install -qq --constraint constraints.txt

.PHONY: demo test lint docs clean help
.DEFAULT_GOAL := help

help:
	@echo "make demo    copy a real survey at epsilon 1, and show its receipt"
	@echo "make test    run the tests"
	@echo "make lint    check style, types and the import contract"
	@echo "make docs    build the documentation into site/"
	@echo "make clean   remove what these commands made"

demo: $(VENV)/.installed-demo
	$(BIN)/counterfoil demo --out out/demo

# Examples are the same in every run and have no deadline; `pytest` by itself looks for new ones.
test: $(VENV)/.installed-test
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal --hypothesis-profile=ci

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "The documentation is in site/index.html."

clean:
	rm -rf $(VENV) site build dist out .mypy_cache .ruff_cache .pytest_cache .hypothesis \
		.import_linter_cache
	find src tests -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Counterfoil needs Python 3.11 or newer. Found: $$($(PYTHON) --version 2>&1)."; \
		echo "Name another one: make PYTHON=/path/to/python3.11"; exit 1; } >&2
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "No virtual environment could be made; on Debian: apt-get install python3-venv"; exit 1; } >&2

$(VENV)/.installed-demo: EXTRAS := demo,evaluation
$(VENV)/.installed-test: EXTRAS := test
$(VENV)/.installed-lint: EXTRAS := lint
$(VENV)/.installed-docs: EXTRAS := docs

$(VENV)/.installed-%: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing counterfoil[$(EXTRAS)] into $(VENV) ..."
	@$(PIP) --editable '.[$(EXTRAS)]'
	@touch $@
