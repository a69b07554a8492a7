# Everything a fresh machine needs is set up by the first target that wants it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
RUNS   := $(VENV)/.runs
PINS   := pyproject.toml constraints.txt tools/install.py
SCRIPTS := package.json src/cobandit/report/static/vendor/files.toml tools/third_party.py

# Hundreds of processes import the same packages: what Python has compiled is kept, whatever the shell asks for.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run docs site test long quick mutations lint style types bench bench-robot clips pictures faults floors matrix examples coverage release container setup machine browser database proxies scripts clean

# npm fetches the scripts of the pages while teams are compared: the report is the first that contains one. The
# documentation and its packages are installed and built while the server already answers, and only after a change.
run: $(RUNS)  ## the main job: compare teams, reproduce the paper's figures, then serve both studies, report, demo and docs
	@$(BIN)/python tools/third_party.py & scripts=$$!; \
	$(BIN)/cobandit compare --relabel --runs 400 --figure out/comparison.svg && wait $$scripts
	$(BIN)/cobandit reproduce --resume --out out/reproduce
	$(BIN)/cobandit watch --relabel --seed 4 --out out/reproduce/run.html
	@{ nice -n 15 $(PYTHON) tools/install.py $(VENV) docs && nice -n 15 $(BIN)/python tools/docs.py out/docs; } >out/docs.log 2>&1 & \
	$(BIN)/cobandit study serve burger casino --demo --robot simulated --report out/reproduce --docs out/docs --database sqlite:///out/studies.sqlite

docs: $(READY)  ## the documentation as a site, at 127.0.0.1:8010, rebuilt while you write
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve --strict

site: $(READY)  ## the documentation for a web server: out/site, with the notebooks in JupyterLite
	@$(PYTHON) tools/install.py $(VENV) docs
	$(BIN)/python tools/docs.py out/site --lite

# Workers and their servers share the cores: threads of OpenBLAS would only wait for each other.
test long quick coverage mutations: export OPENBLAS_NUM_THREADS = 1

# Two workers more than the cores of a small machine: some tests wait, for a page or a server, while others compute.
WORKERS ?= 4

test:  ## every check and every test but the longest (`make long`)
	@$(MAKE) --no-print-directory --jobs=2 $(READY) machine
	@$(MAKE) --no-print-directory style
	@said=$$(mktemp); $(MAKE) --no-print-directory types >$$said 2>&1 & types=$$!; \
	$(BIN)/pytest -m "not long" -n $(WORKERS) --dist loadfile --no-loadscope-reorder; tests=$$?; \
	wait $$types || { cat $$said; tests=1; }; rm -f $$said; exit $$tests

quick: $(READY)  ## the tests without those marked slow
	$(BIN)/pytest -m "not slow and not long"

long: $(READY) machine  ## the tests that take longest, which `make test` leaves out
	$(BIN)/pytest -m long -n $(WORKERS) --dist loadfile --no-loadscope-reorder

mutations: $(READY) machine  ## 34 seeded faults, each tried on a copy of the tree: the tests must catch all of them
	$(BIN)/python -m tests.mutations $(FAULTS)

lint: style types  ## style, types, sizes and the directions of imports

style: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python tools/sizes.py
	$(BIN)/python tools/words.py

types: $(READY) scripts
	$(BIN)/mypy

bench: $(READY)  ## speed and memory beside the version before, measured in one run
	$(BIN)/python -m benchmarks

bench-robot: $(READY)  ## a thousand simulated burgers under each of three conditions: half an hour of two cores
	$(BIN)/python -m benchmarks robot

clips: $(READY)  ## the four burgers as films, for browsers that cannot draw them
	$(BIN)/python -m tools.clips

pictures: $(READY)  ## the pictures of the README and the first page, in light and dark
	$(BIN)/python -m tools.pictures

faults: $(READY)  ## four studies under 10,000 random faults in all: nothing acknowledged may be lost, doubled or reordered
	COBANDIT_FAULTS=3400 COBANDIT_FAULT_BOTS=120 $(BIN)/pytest tests/faults -s --timeout 0

floors: $(READY)  ## the lower bounds of the dependencies, installed and tested in an environment of their own
	$(BIN)/nox --session floors -- $(TESTS)

matrix: $(READY)  ## the quick tests on every Python that the package is for, each in an environment of its own
	$(BIN)/nox --session matrix -- $(TESTS)

examples: $(READY)  ## the example that brings PyTorch, which `make test` leaves out
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[examples]'
	$(BIN)/pytest tests/docs/test_examples.py -k train_a_leader

coverage: $(READY) database  ## which lines of the package the quick tests reach, processes of their own included
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -m "not slow and not long" -n 2 --dist loadfile --no-loadscope-reorder --ignore=tests/browser --ignore=tests/faults
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -n 2 tests/equivalence/uncompiled
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

BASE ?= python:3.13-slim-bookworm
BUILDER ?= $(shell command -v docker || command -v buildah)
# Images in the OCI format, buildah's default, have no health check.
container:  ## the image of the server, with Docker or buildah; `make container BASE=...` takes another base
	BUILDAH_FORMAT=docker $(BUILDER) build --build-arg BASE=$(BASE) --tag cobandit:local .

release:  ## build the wheel and the sdist, install each in a fresh environment and try it; nothing is uploaded
	$(PYTHON) tools/release.py $(if $(DRAFT),--draft)

setup: $(READY)

# What the tests want beside Python. One after another: only one may install at a time.
machine:
	@for part in browser database proxies; do $(MAKE) --no-print-directory $$part || exit 1; done

# The tests of pages drive a real Chromium, best its headless shell, which computes least. Where it is missing and may
# be installed, it is; else any other Chromium will do, and without one the tests say so.
browser:
	@if command -v chromium-headless-shell >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && echo "Installing chromium-headless-shell for the tests of pages ..." \
		&& apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium-headless-shell >/dev/null; then :; \
	elif command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing chromium for the tests of pages ..."; \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	else echo "No chromium here, and no right to install it: the tests of pages will say so."; fi

# The tests of the edge put three real proxies in front of the server.
proxies:
	@if command -v nginx >/dev/null && command -v caddy >/dev/null && command -v haproxy >/dev/null && command -v openssl >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing nginx, caddy and haproxy for the tests behind proxies ..."; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nginx-light caddy haproxy openssl >/dev/null; \
	else echo "Not all of nginx, caddy, haproxy and openssl are here, and no right to install them: the tests behind proxies will say so."; fi

# TypeScript checks the types of the pages' own scripts.
scripts: $(READY)
	@$(BIN)/python tools/third_party.py types

# The tests of storage want a real PostgreSQL: Debian's where it may be installed, else the one among the test packages.
database:
	@if [ -n "$$COBANDIT_TEST_POSTGRESQL" ] || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing PostgreSQL for the tests of storage ..."; \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null; } \
		|| echo "It could not be installed: the tests use the one that came with the test packages."; \
	else echo "No PostgreSQL server here: the tests use the one that came with the test packages."; fi

# Nothing is compiled beforehand: most modules of most packages are never imported, and the others need it once.
$(READY): $(PINS) $(SCRIPTS)
	@$(PYTHON) tools/install.py $(VENV) dev
	@$(BIN)/python tools/third_party.py
	@touch $@ $(RUNS)

# What `make run` needs is half of what the tests need.
$(RUNS): $(PINS)
	@$(PYTHON) tools/install.py $(VENV) run
	@touch $@

clean:
	rm -rf $(VENV) .nox out dist node_modules docs/assets/vendor src/cobandit/report/static/vendor/*/ .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis
