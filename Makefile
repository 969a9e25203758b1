# The commands of a fresh clone. Each makes what it needs in .venv; a second call is instant.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# The two cores that most machines have are kept busy by pytest's workers, not by threads inside them.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
# Processes that tests start find the package compiled, also where the environment forbids Python to keep that.
unexport PYTHONDONTWRITEBYTECODE
PIP_ENV := PIP_DISABLE_PIP_VERSION_CHECK=1
# Python compiles what it imports, and keeps that: a small part of what is installed.
INSTALL := -m pip install -qq --no-compile
PIP := $(PIP_ENV) $(BIN)/python $(INSTALL) --constraint constraints.txt

# What touches records, budgets, files and other libraries, and so must be right with every release of what it stands on;
# without what is mathematics alone, or kills programs that need Python alone.
BOUNDARY := tests/curator/engines tests/curator/sources tests/curator/test_conformance.py tests/ledger tests/noise \
	tests/test_api.py tests/test_cli.py tests/test_dependencies.py \
	tests/synthesis/test_folder.py tests/synthesis/test_table.py tests/test_wall.py \
	--ignore tests/ledger/test_ledger_crash.py --ignore tests/noise/test_sampler.py \
	--ignore tests/noise/test_open_domain_gaussian.py --ignore tests/noise/test_wide_gaussian.py \
	--deselect tests/curator/test_conformance.py::test_sensitivity_holds_for_a_privacy_unit
# Thousands of ledgers wait for the disk several times each, and no test can see what a crash of the machine would leave:
# files of tests, 0.3 GB of the last run, are in memory where that has 4 GB to spare and lets them be run.
TESTS_IN_MEMORY := $(shell [ "$$(df -k --output=avail /dev/shm 2> /dev/null | tail -n 1)" -gt 4000000 ] 2> /dev/null && \
	! grep -q '^[^ ]* /dev/shm [^ ]* [^ ]*noexec' /proc/mounts && echo PYTEST_DEBUG_TEMPROOT=/dev/shm)
PYTEST := -m pytest -n 2 --dist worksteal --hypothesis-profile=ci -o tmp_path_retention_count=1
# Another Numba replaces the compiled loops of this one where both keep them in one place.
LOWEST_LOOPS := NUMBA_CACHE_DIR=$(CURDIR)/.venv-lowest/loops
# The lowest versions have wheels for these Pythons alone.
PYTHON_LOWEST ?= $(shell command -v python3.11 || command -v python3.12 || echo $(PYTHON))
# Some of the newest versions want a newer Python than the package does; shims of Pythons that are not there do not run.
PYTHON_NEWEST ?= $(shell for p in python3.14 python3.13 python3.12 $(PYTHON); do $$p -c "" 2> /dev/null && echo $$p && break; done)

.PHONY: demo test collect test-lowest test-newest wheel lint docs clean help
.DEFAULT_GOAL := help

help:
	@echo "make demo    copy a real survey at epsilon 1, show its receipt, and write a report to open"
	@echo "make test    run the tests"
	@echo "make test-lowest, make test-newest"
	@echo "             run those of the curator, the sources and the commands with the lowest"
	@echo "             versions that pyproject.toml admits, and with the newest"
	@echo "make wheel   build the wheel into dist/, and run it where there is no source tree"
	@echo "make lint    check style, types and the import contract"
	@echo "make docs    build the documentation into site/"
	@echo "make clean   remove what these commands made"

demo: $(VENV)/.installed-demo
	$(BIN)/counterfoil demo --out out/demo

# Examples are the same in every run and have no deadline; `pytest` by itself looks for new ones. The slowest tests are
# listed, as all of them together must stay short.
test: $(VENV)/.installed-test
	$(ONE_THREAD) $(TESTS_IN_MEMORY) $(BIN)/python $(PYTEST) --durations 40 --durations-min 3

# Python keeps what it compiles here, and pytest what it makes of assertions.
collect: $(VENV)/.installed-test
	@$(ONE_THREAD) $(BIN)/python -m pytest --collect-only -qq > /dev/null || echo "Not all tests can be collected."

test-lowest: .venv-lowest/.installed
	.venv-lowest/bin/python -m pip freeze --exclude-editable
	.venv-lowest/bin/python .ci/lowest_versions.py --check
	$(ONE_THREAD) $(TESTS_IN_MEMORY) $(LOWEST_LOOPS) .venv-lowest/bin/python $(PYTEST) $(BOUNDARY)

# Looks for newer versions each time.
test-newest:
	@[ -x .venv-newest/bin/python ] || $(PYTHON_NEWEST) -m venv .venv-newest
	@echo "Installing the newest versions into .venv-newest ..."
	@$(PIP_ENV) .venv-newest/bin/python $(INSTALL) --upgrade --upgrade-strategy eager \
		--constraint constraints.txt --editable '.[test]'
	.venv-newest/bin/python -m pip freeze --exclude-editable
	$(ONE_THREAD) $(TESTS_IN_MEMORY) .venv-newest/bin/python $(PYTEST) $(BOUNDARY)

wheel: $(BIN)/python
	PYTHON=$(PYTHON) .ci/wheel $(abspath $(BIN)/python)

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.installed-docs
	@rm -rf site
	@outcome=; \
		said=$$(PYTHONPATH=docs/hooks $(BIN)/zensical build --config-file mkdocs.yml --clean --strict 2>&1) || outcome=$$?; \
		printf '%s\n' "$$said"; [ -z "$$outcome" ] || exit "$$outcome"; \
		case $$said in *griffe:*) echo "A docstring is not as the reference reads it." >&2; exit 1;; esac
	@echo "The documentation is in site/index.html."

clean:
	rm -rf $(VENV) .venv-lowest .venv-newest site .cache build dist out .mypy_cache .ruff_cache .pytest_cache .hypothesis \
		.import_linter_cache
	find src tests -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Counterfoil needs Python 3.11 or newer. Found: $$($(PYTHON) --version 2>&1)."; \
		echo "Name another one: make PYTHON=/path/to/python3.11"; exit 1; } >&2
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "No virtual environment could be made; on Debian: apt-get install python3-venv"; exit 1; } >&2

$(VENV)/.installed-demo: EXTRAS := demo,evaluation,report
# The documentation is built and searched in a browser.
$(VENV)/.installed-test: EXTRAS := test,test-spark,test-torch,docs
$(VENV)/.installed-lint: EXTRAS := lint
$(VENV)/.installed-docs: EXTRAS := docs

$(VENV)/.installed-%: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing counterfoil[$(EXTRAS)] into $(VENV) ..."
	@$(PIP) --editable '.[$(EXTRAS)]'
	@touch $@

.venv-lowest/.installed: pyproject.toml .ci/lowest_versions.py
	@rm -rf .venv-lowest
	@$(PYTHON_LOWEST) -m venv .venv-lowest
	@.venv-lowest/bin/python .ci/lowest_versions.py > .venv-lowest/constraints.txt
	@echo "Installing the lowest versions into .venv-lowest ..."
	@$(PIP_ENV) .venv-lowest/bin/python $(INSTALL) --only-binary :all: \
		--constraint .venv-lowest/constraints.txt --editable '.[test]'
	@touch $@
