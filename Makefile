# Every target makes the virtual environment that it needs. Start with `make help`.

SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST_ARGS ?=
WORKERS ?= 2
MINUTES ?= 10
FUZZ_ARGS ?=
MUTANT_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help venv java demo demo-live test test-fast test-electric fuzz mutants lint bench docs clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: $(STAMP) ## Make the virtual environment in .venv

demo: java $(STAMP) ## Show six views kept current on Spark, beside recomputing them
	$(BIN)/python -m examples.spark_demo

demo-live: $(STAMP) ## Show live views over a stream of orders, inside the process
	$(BIN)/python -m examples.orders_demo

test: java lint ## Check the style and the types, then run all tests: those without Spark side by side, then those with it
	$(BIN)/python -m pytest -n $(WORKERS) -m "not spark" $(PYTEST_ARGS)
	$(BIN)/python -m pytest -m spark $(PYTEST_ARGS)

test-fast: $(STAMP) ## Run the tests that are quick and need no Spark
	$(BIN)/python -m pytest -n $(WORKERS) -m "not spark and not slow" $(PYTEST_ARGS)

fuzz: java $(STAMP) ## Compare random scenarios with independent oracles for some time: make fuzz MINUTES=10
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) $(FUZZ_ARGS)

mutants: java $(STAMP) ## Put deliberate bugs into copies of the package, and see the fixed budget catch each
	$(BIN)/python -m tests.fuzz.mutate $(MUTANT_ARGS)

test-electric: $(STAMP) ## Follow served views with Electric's own client (needs node and npm)
	cd tests/electric && npm install --no-audit --no-fund --no-package-lock
	$(BIN)/python -m pytest tests/electric $(PYTEST_ARGS)

lint: $(STAMP) ## Check style, format, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP) ## Run the benchmarks
	$(BIN)/python -m bench.run

docs: $(STAMP) ## Check the examples in the documentation
	$(BIN)/python -m pytest tests/docs $(PYTEST_ARGS)

clean: ## Remove caches and build output (the environment stays; remove .venv by hand)
	rm -rf build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -rf derby.log metastore_db spark-warehouse
	find . -name __pycache__ -type d -not -path './.venv*' -prune -exec rm -rf {} +

$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { \
	    echo "evercurrent needs Python 3.11 or newer, and there is no $(PYTHON) here. Install it first." >&2; \
	    exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "evercurrent needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." >&2; \
	    echo "Install a newer one and name it: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; \
	    exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    -c constraints.txt -e '.[spark,pandas,serve,test,lint]'
	@touch $@

# Spark 4 runs on Java 17 or newer. Looks where PySpark looks: in JAVA_HOME, then on the path.
java:
	@new_enough() { \
	    local version; \
	    version=$$("$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version 2>&1 \
	        | sed -n 's/.*version "\([0-9][0-9]*\).*/\1/p' | head -n 1); \
	    [ "$${version:-0}" -ge 17 ]; \
	}; \
	as_root() { if [ "$$(id -u)" = 0 ]; then "$$@"; else sudo -n "$$@"; fi; }; \
	new_enough && exit 0; \
	echo "Spark needs Java 17 or newer; trying to install it."; \
	if command -v apt-get >/dev/null; then \
	    as_root apt-get update -qq; \
	    as_root apt-get install -y -qq openjdk-17-jre-headless \
	        || as_root apt-get install -y -qq openjdk-21-jre-headless; \
	elif command -v brew >/dev/null; then \
	    brew install openjdk@17; \
	fi; \
	new_enough && exit 0; \
	{ \
	    echo "Java 17 or newer was not found. Do one of these, then run make again:"; \
	    echo "  Debian, Ubuntu:  sudo apt-get install openjdk-17-jre-headless"; \
	    echo "  Mac:             brew install openjdk@17"; \
	    echo '                   export JAVA_HOME="$$(brew --prefix openjdk@17)/libexec/openjdk.jdk/Contents/Home"'; \
	    echo "  Java elsewhere:  export JAVA_HOME=/the/folder/that/holds/bin/java"; \
	    echo "Without Spark, 'make test-fast' runs the tests that do not need Java."; \
	} >&2; \
	exit 1
