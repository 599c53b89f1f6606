# Two commands do everything on a fresh machine: `make demo` and `make test`.
# Python 3.11 or newer; Java 17 or newer and Maven for Spark and for a real Kafka (optional).

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.installed
PACKAGES := wire storage emulator fixtures compat
# What is installed as the package above them.
ROOT := fixtures/root
# Of bench-spark.
ROWS ?= 1000000
# Many images set it: each process of a run, and each worker of pytest, would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE
# Of test and slow: processes, for two cores. Some wait for a client, a JVM or a clock at any time.
WORKERS ?= 4
# Of weigh: a commit.
BASE ?= 58a42da

# Of applications: which, all if none is named, and REAL=1 for a real Kafka.
NAME ?=
REAL ?=

.PHONY: help demo test slow test-real both check explore mutants differential lint simulated-bugs types package weigh bench bench-spark bugs situations applications suites table site clean

help:  ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY)  ## A broker, the stock clients and Spark against it, and a table of what was seen
	$(BIN)/python -m odradek.compat.demo

# What varies in a hundred ways is tried in parts, another one each day: tests/support/parts.py.
test: $(READY)  ## Everything: style, types and tests; of what has parts, that of the day
	$(BIN)/python -m tests.prepare
	$(BIN)/python -m tests.whole -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder --part $$(date +%j) \
		--durations 40 --session-timeout 4500

slow: $(READY)  ## What is too long for `make test`, which tries a sample of it: all parts, and more
	$(BIN)/python -m tests.prepare
	$(BIN)/python -m tests.whole -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder \
		$$($(BIN)/python -m tests.support.parts)
	ODRADEK_CHAOS_S=30 $(BIN)/python -m pytest -q -o timeout=3600 -m long tests
	ODRADEK_CHAOS_S=30 $(BIN)/python -m pytest -q tests/clients/test_group_chaos.py tests/cluster_chaos \
		tests/share_chaos

test-real: $(READY)  ## The client tests also against a real Apache Kafka
	ODRADEK_REAL=1 $(BIN)/python -m pytest -q tests/clients

both: $(READY)  ## The tests that use the kit as users do, against a real Apache Kafka
	$(BIN)/python -m tests.kit_both

check: $(READY)  ## The quick tests, of wire, storage and emulator: a minute or two
	$(BIN)/python -m pytest -q -n 2 --dist loadfile tests/tape tests/wire tests/storage tests/emulator \
		-m "not real and not slow and not long" --hypothesis-profile quick

explore: $(READY)  ## Reruns the property tests with fresh examples (make check draws the same ones)
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --hypothesis-profile explore \
		tests/wire tests/storage tests/emulator

mutants: $(READY)  ## 300 small changes of the source: which do the tests notice? (half an hour)
	$(BIN)/python -m tests.mutants all now

differential: $(READY)  ## A real Kafka and the emulator are asked the same, and compared; the tape is made anew
	$(BIN)/python -m tests.tape record
	$(BIN)/python -m tests.differential

lint: $(READY)  ## Style: ruff, its rules and its formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# A type checker does not see packages that are mapped under another name: give it a tree of links.
simulated-bugs: $(READY)  ## In how many seeds a simulation finds each of some bugs that people ship
	$(BIN)/python -m tests.fixtures.simulation --seeds 1000

types: $(READY)  ## Types: mypy, of the packages and the tests
	@mkdir -p build/types/odradek
	@for package in $(PACKAGES); do ln -sfn ../../../$$package build/types/odradek/$$package; done
	@for file in __init__ __main__; do ln -sfn ../../../$(ROOT)/$$file.py build/types/odradek/$$file.py; done
	@ln -sfn ../../tests build/types/tests
	cd build/types && MYPYPATH=. $(abspath $(BIN))/mypy --config-file ../../pyproject.toml -p odradek -p tests

package: $(READY)  ## sdist and wheel in build/dist, installed and tried in empty environments
	$(BIN)/python -m tests.package

weigh: $(READY)  ## Modules, start, memory, CPU of a request and lines, beside a commit: BASE=58a42da
	$(BIN)/python -m tests.bench.weigh --base $(BASE)

bench: $(READY)  ## Measures Odradek, Apache Kafka and kfake side by side, and draws docs/bench.svg
	$(BIN)/python -m pip install --quiet --editable '.[chart]'
	$(BIN)/python -m tests.bench --chart docs/bench.svg

bench-spark: $(READY)  ## Measures segments as Arrow, format("odradek") and the pipeline: ROWS=1000000
	$(BIN)/python -m tests.bench.bench_decoder --spark --rows $(ROWS)
	$(BIN)/python -m tests.bench.bench_source --sink --rows $(ROWS)
	$(BIN)/python -m tests.bench.bench_pipeline --rows $(ROWS)

bugs: $(READY)  ## Twenty-six bugs of services, and how soon a promise finds each: the table of docs/applications.md
	$(BIN)/python -m tests.bugs --write

situations: $(READY)  ## What stock clients do in each situation: the table of docs/situations.md
	$(BIN)/python -m tests.situations

applications: $(READY)  ## Applications of other projects on Odradek, or with REAL=1 on Apache Kafka: NAME="kafkajs sarama"
	$(BIN)/python -m odradek.compat.applications $(NAME) $(if $(REAL),--real) --write .

suites: $(READY)  ## Another project's own tests, from a checkout: SUITE=franz-go CHECKOUT=path, REAL=1
	$(BIN)/python -m odradek.compat.applications.suites $(SUITE) $(CHECKOUT) $(if $(REAL),--real)

table: $(READY)  ## The table of docs/clients.md, and README's short form, from a run of the client tests; needs Go, Node and Rust
	ODRADEK_RESULTS=build/results.json $(BIN)/python -m pytest -q tests/clients
	ODRADEK_RESULTS=build/long.json $(BIN)/python -m pytest -q -o timeout=3600 -m long tests/clients/test_logins.py \
		tests/clients/test_other_languages.py tests/clients/share/test_franz_go.py
	$(BIN)/python -m odradek.compat.table build/results.json build/long.json .

site: $(READY)  ## The documentation as a site, in build/site: search included, nothing fetched when it is read
	$(BIN)/python -m tests.docs.site

clean:  ## Remove what was made, the virtual environment too
	rm -rf $(VENV) build *.egg-info

$(READY): pyproject.toml setup.py wire/_scan.c
	rm -rf wire/_scan.*.so odradek.egg-info  # of another name, or version: they would go before the new
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[speed,spark,docs,dev]'
	touch $(READY)
