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
KILLS ?= 300
PIPELINE_ARGS ?=
DBT_ARGS ?=
PEERS_ARGS ?=
SPARKS ?= 4.0.5 4.1.4 4.2.1 4.3.0
HADOOP ?= 3.5.0
AZURITE ?= 3.35.0
ICEBERG := iceberg-spark-runtime-4.1_2.13:1.11.0
# The budget of random scenarios is fixed: also the order of sets, on which the lines between two faults depend.
# `make fuzz` draws another one each time.
FIXED := PYTHONHASHSEED=0
PAGE := src/evercurrent/serve/studio/files/index.html

.DEFAULT_GOAL := help
.PHONY: help venv java demo demo-live demo-studio studio wheel test test-fast kills kills-stores kills-executors test-postgres test-electric test-browser test-pipelines test-sparks test-stores test-hdfs hdfs-jar test-kafka test-dbt test-delta test-iceberg fuzz mutants lint bench bench-peers docs reference site clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

venv: $(STAMP) ## Make the virtual environment in .venv

demo: java $(STAMP) ## Show six views kept current on Spark, beside recomputing them
	$(BIN)/python -m examples.spark_demo

demo-live: $(STAMP) ## Show live views over a stream of orders, inside the process
	$(BIN)/python -m examples.orders_demo

demo-studio: $(STAMP) ## Show a shop with live views in a browser: the studio
	@test -f $(PAGE) || $(MAKE) studio
	$(BIN)/python -m examples.shop

studio: ## Build the page of the studio (needs node and npm)
	@command -v npm >/dev/null || { \
	    echo "The page is built by node 18 or newer and npm, and there is no npm here. Install them first." >&2; \
	    exit 1; }
	cd studio && npm install --no-audit --no-fund --no-package-lock && npm run check && npm run build

wheel: studio $(STAMP) ## Build the package, with the page of the studio in it
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist .

test: java lint ## Check the style and the types, then run all tests: those without Spark side by side, then those with it
	$(FIXED) $(BIN)/python -m pytest -n $(WORKERS) -m "not spark" $(PYTEST_ARGS)
	$(FIXED) $(BIN)/python -m pytest -m spark $(PYTEST_ARGS)

test-fast: $(STAMP) ## Run the tests that are quick and need no Spark
	$(BIN)/python -m pytest -n $(WORKERS) -m "not spark and not slow" $(PYTEST_ARGS)

fuzz: java $(STAMP) ## Compare random scenarios with independent oracles for some time: make fuzz MINUTES=10
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) $(FUZZ_ARGS)

mutants: java $(STAMP) ## Put deliberate bugs into copies of the package, and see the fixed budget catch each
	$(BIN)/python -m tests.fuzz.mutate $(MUTANT_ARGS)

kills: $(STAMP) ## Kill writers of a database file at random instants, and look at what they have left: make kills KILLS=300
	$(BIN)/python -m tests.kills --kills $(KILLS)

test-postgres: $(STAMP) ## Follow a PostgreSQL that is killed now and then (Debian: installs the server; needs the right to)
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || \
	    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y postgresql; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[postgres]'
	$(BIN)/python -m pytest tests/postgres $(PYTEST_ARGS)
	$(BIN)/python -m tests.postgres --kills $(KILLS) --server-kills 50

test-pipelines: java $(STAMP) ## Run pipelines by Spark's own runner and by ours over batches of changes, and compare rows and times
	$(BIN)/python -m tests.pipelines.campaign.compare $(PIPELINE_ARGS)
	$(BIN)/python -m tests.pipelines.campaign.scale

kills-stores: $(STAMP) ## Kill drivers of a warehouse on S3 and on a disk, and let twelve race: make kills-stores KILLS=200
	$(BIN)/python -m tests.spark.stores.killing --kills $(KILLS) --place s3
	$(BIN)/python -m tests.spark.stores.killing --kills $(KILLS) --place disk
	$(BIN)/python -m tests.spark.reference_kills --kills $(KILLS)
	$(BIN)/python -m tests.spark.stores.racing --place s3
	$(BIN)/python -m tests.spark.stores.racing --place disk

test-sparks: java ## Run a small warehouse in each release of PySpark 4, each in a virtual environment of its own
	@for version in $(SPARKS); do \
	    test -d .venv-spark-$$version || $(PYTHON) -m venv .venv-spark-$$version; \
	    .venv-spark-$$version/bin/python -m pip install --quiet --disable-pip-version-check \
	        -e '.[spark]' pyspark==$$version pandas || exit 1; \
	    .venv-spark-$$version/bin/python -m tests.spark.versions || exit 1; \
	done

test-stores: java $(STAMP) ## Run warehouses in S3, Google's and Azure's stores on loopback (Azurite by npm; skips Azure where there is none)
	@command -v npm >/dev/null && npm install --no-audit --no-fund --silent --prefix $(CURDIR)/.data/azurite azurite@$(AZURITE) || \
	    echo "There is no npm here, or it cannot install Azurite: Azure is left out." >&2
	EVERCURRENT_AZURITE=$$(ls $(CURDIR)/.data/azurite/node_modules/.bin/azurite-blob 2>/dev/null) \
	    $(BIN)/python -m pytest -ra tests/spark/stores $(PYTEST_ARGS)

hdfs-jar: ## Fetch Hadoop's small cluster for tests (needs Maven)
	mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get -Dtransitive=false \
	    -Dartifact=org.apache.hadoop:hadoop-client-minicluster:$(HADOOP)

test-hdfs: java hdfs-jar $(STAMP) ## Run a warehouse on a small cluster of HDFS, with a race of twelve writers
	EVERCURRENT_HDFS=1 $(BIN)/python -m pytest tests/spark/hadoop $(PYTEST_ARGS)

kills-executors: java $(STAMP) ## Kill executors of a cluster of two workers while tasks run batches: make kills-executors EXECUTOR_KILLS=50
	EXECUTOR_KILLS=$(or $(EXECUTOR_KILLS),50) $(BIN)/python -m pytest tests/spark/test_cluster.py -q

test-kafka: java ## Follow and fill topics of a Kafka that is killed now and then, in .venv-kafka (fetches Kafka by Maven; skips where it cannot)
	@test -d .venv-kafka || $(PYTHON) -m venv .venv-kafka
	@grep -v '^pyspark==' constraints.txt > .venv-kafka/constraints.txt
	.venv-kafka/bin/python -m pip install --quiet --disable-pip-version-check -c .venv-kafka/constraints.txt \
	    pyspark==4.0.0 -e '.[kafka]' 'pytest>=8.0' 'hypothesis>=6.100' 'duckdb>=1.1' 'pandas>=2.2'
	@.venv-kafka/bin/python -m tests.kafka.jars; code=$$?; [ $$code = 0 ] || [ $$code = 75 ] || exit $$code
	.venv-kafka/bin/python -m pytest -ra tests/kafka $(PYTEST_ARGS)

test-dbt: java ## Run dbt's own tests of adapters, and a project of ours, over the adapter for dbt, in .venv-dbt
	@test -d .venv-dbt || $(PYTHON) -m venv .venv-dbt
	.venv-dbt/bin/python -m pip install --quiet --disable-pip-version-check \
	    -e '.[spark]' -e 'integrations/dbt-evercurrent[test]'
	cd integrations/dbt-evercurrent && ../../.venv-dbt/bin/python -m pytest $(DBT_ARGS)

test-delta: java ## Read tables that Delta's own engine writes, and let it read published views, in .venv-delta (jars from Maven)
	@test -d .venv-delta || $(PYTHON) -m venv .venv-delta
	.venv-delta/bin/python -m pip install --quiet --disable-pip-version-check \
	    'pyspark==4.2.0' 'delta-spark==4.4.0' -e '.[spark]' duckdb hypothesis pytest
	.venv-delta/bin/python -m pytest tests/delta_engine $(PYTEST_ARGS)

test-iceberg: java ## Read tables of Iceberg's own catalogs (a folder, REST, Hive's metastore), in .venv-iceberg (jars by Maven)
	@test -d .venv-iceberg || $(PYTHON) -m venv .venv-iceberg
	.venv-iceberg/bin/python -m pip install --quiet --disable-pip-version-check \
	    'pyspark==4.1.1' -e '.[spark,iceberg]' thrift duckdb hypothesis pytest
	mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dmdep.useBaseVersion=true \
	    -Dartifact=org.apache.iceberg:$(ICEBERG) -DoutputDirectory=$(CURDIR)/.data/iceberg
	mvn -q -B -f tests/iceberg_engine/rest_catalog.xml -Diceberg=$(lastword $(subst :, ,$(ICEBERG))) \
	    org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DincludeScope=runtime \
	    -DoutputDirectory=$(CURDIR)/.data/iceberg/rest || echo "The REST catalog is left out: no jars." >&2
	EVERCURRENT_ICEBERG_JAR=$$(ls $(CURDIR)/.data/iceberg/*.jar) EVERCURRENT_ICEBERG_REST_JARS=$(CURDIR)/.data/iceberg/rest \
	    .venv-iceberg/bin/python -m pytest tests/iceberg_engine $(PYTEST_ARGS)

test-electric: $(STAMP) ## Follow served views with Electric's own client (needs node and npm)
	cd tests/electric && npm install --no-audit --no-fund --no-package-lock
	$(BIN)/python -m pytest tests/electric $(PYTEST_ARGS)

test-browser: $(STAMP) ## Click through the studio in Chromium (installs it where apt-get can)
	@test -f $(PAGE) || $(MAKE) studio
	@command -v chromium >/dev/null || test -n "$$CHROMIUM" || \
	    { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium; } || \
	    { echo "Install Chromium, or name it: make test-browser CHROMIUM=/path/to/chromium" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[browser]'
	$(BIN)/python -m pytest tests/browser $(PYTEST_ARGS)

lint: $(STAMP) ## Check style, format, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP) ## Run the benchmarks
	$(BIN)/python -m bench.run

bench-peers: $(STAMP) ## Measure other engines on the same streams, as far as cargo, npm, pip and PostgreSQL bring them; says what is missing
	$(BIN)/python -m bench.peers $(PEERS_ARGS)

docs: $(STAMP) ## Check the examples in the documentation
	$(BIN)/python -m pytest tests/docs $(PYTEST_ARGS)

reference: $(STAMP) ## Write the reference pages in docs/reference from the code, and run their examples
	$(BIN)/python -m tools.reference

site: $(STAMP) ## Build the documentation as a site in build/site, without warnings, and check its links
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[site]'
	$(BIN)/python -m tools.site

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
	    -c constraints.txt -e '.[spark,pipelines,pandas,serve,test,lint]'
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
