# Two commands are enough: `make demo` shows Thalweg at work, `make test` proves it. Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= auto
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -rs

.PHONY: setup demo check test test-all lint types layers unit class-archive bench-test fuzz spark-scenarios faults kill-test cluster-test soak report docs lock clean coverage wheel oldest

setup: $(STAMP)

$(STAMP): pyproject.toml benchmarks/pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit("Thalweg needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	@echo "installing Thalweg, its benchmarks and its tools into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock --editable . --editable benchmarks --group dev
	@touch $(STAMP)

demo: setup
	@$(BIN)/thalweg demo
	@$(BIN)/thalweg demo --spark

# What to run before each commit, under a minute; `make test` is what CI runs; `make test-all` is for the night.
check: lint types layers
	THALWEG_PROFILE=fast $(PYTEST) -m "not slow"

test: setup
	@$(MAKE) --no-print-directory -j2 lint types layers class-archive
	@$(MAKE) --no-print-directory unit

test-all: lint types layers bench-test
	THALWEG_PROFILE=nightly THALWEG_SPARK_SCENARIOS=all THALWEG_SPARK_PLANS=50 $(PYTEST)

lint: setup
	$(BIN)/ruff check src tests examples benchmarks
	$(BIN)/ruff format --check src tests examples benchmarks

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports

unit: class-archive
	$(PYTEST)

# Java's classes, archived once, so that every Spark of the tests starts in half the time.
class-archive: setup
	@PYTHONPATH=tests $(BIN)/python -m runtime.spark.class_archive

# The benchmarks' own tests: every experiment of the papers in a quick run, the peers' programs that can run here.
bench-test: setup
	$(PYTEST) benchmarks/tests

# How much of the package the fast tests reach: shown, not enforced.
coverage: setup
	THALWEG_PROFILE=fast $(PYTEST) -m "not slow" --cov --cov-report=term

# The wheel and the source archive, in dist/; a wheel that holds anything but the package is refused.
wheel: setup
	rm -rf dist
	$(BIN)/python -m hatchling build
	PYTHONPATH=tests $(BIN)/python -m release.wheel dist/*.whl

# The fast tests, and a few on Spark, with the oldest versions of others that pyproject.toml allows.
OLDEST := .venv-oldest
oldest:
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint requirements-oldest.txt --editable . --editable benchmarks --group test
	THALWEG_PROFILE=fast $(OLDEST)/bin/python -m pytest -n $(WORKERS) -m "not slow"
	$(OLDEST)/bin/python -m pytest tests/runtime/spark/sinks/test_sinks.py tests/runtime/spark/sinks/test_table_sink.py tests/runtime/spark/api/test_flows_on_spark.py

# Long property runs, by hand: make fuzz EXAMPLES=20000
EXAMPLES ?= 5000
fuzz: setup
	THALWEG_EXAMPLES=$(EXAMPLES) $(PYTEST) tests/kernel tests/reference/oracle tests/algebra/expressions tests/runtime/distributed tests/optimizer tests/flows

# Every scenario on Spark, in one, two and five shards: about half an hour.
spark-scenarios: setup
	THALWEG_SPARK_SCENARIOS=all $(BIN)/python -m pytest tests/runtime/spark/test_scenarios_on_spark.py

# Thousands of faults drawn from a seed, in simulated processes: make faults SEED=7 FAULTS=500
SEED ?= 1
FAULTS ?= 10000
faults: setup
	PYTHONPATH=tests $(BIN)/python -m faults.campaign --seed $(SEED) --faults $(FAULTS)

# Real processes that are killed at random, by hand (a quarter of an hour): on a local Spark, then on a cluster.
RUNS ?= 10
kill-test: setup
	PYTHONPATH=tests $(BIN)/python -m faults.killing --runs $(RUNS)

cluster-test: setup
	PYTHONPATH=tests $(BIN)/python -m faults.cluster

# An hour of event time, by hand: does anything grow? make soak MINUTES=10 RATE=5000
MINUTES ?= 60
RATE ?= 50000
soak: setup
	PYTHONPATH=tests $(BIN)/python -m faults.soak --minutes $(MINUTES) --rate $(RATE) --new-keys

# The papers' experiments and the pages of docs/report, ten minutes. Over recorded connections: make report DATA=folder
PLOTS := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock --editable 'benchmarks[report]'
report: setup
	@$(PLOTS)
	$(BIN)/thalweg bench paper --out docs/report/results $(if $(DATA),--data $(DATA))
	$(BIN)/thalweg bench report docs/report

# The documentation as a site in docs/_site, with an API reference made from the docstrings; a broken link is an error.
SITE := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock --group docs
docs: setup
	@$(SITE)
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -b html docs docs/_site
	@echo "open docs/_site/index.html"

# Write down the versions that were just tested.
lock: setup
	@$(PLOTS)
	@$(SITE)
	$(BIN)/python -m pip freeze --exclude-editable --exclude pip > requirements.lock

clean:
	rm -rf $(VENV) $(OLDEST) dist .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
