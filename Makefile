# Topoloom. Needs Python 3.11 or newer with venv, and make; everything else is
# installed into .venv.

PYTHON ?= python3
BIN := .venv/bin
export NUMBA_NUM_THREADS ?= 2
# Tests start hundreds of processes: none of them compiles its modules again.
unexport PYTHONDONTWRITEBYTECODE
# What the tests run schedules with. A build without CUDA: the other one brings gigabytes
# that are not used. Where no such build is offered these tests are skipped;
# `make test TORCH=torch` takes what there is.
TORCH ?= torch==2.13.0+cpu

# What is compiled, and again when it has changed.
KERNELS := $(shell grep -rl --include=*.py njit synth schedules)

.PHONY: help run serve test test-slow test-exhaustive test-lowest lint bench atlas docs plots reference clean

help:
	@echo "make run        design, schedule and wire two example clusters through the service"
	@echo "make serve      run the service on http://127.0.0.1:8765"
	@echo "make test       run the tests; test-slow runs those that take longer"
	@echo "make test-exhaustive  every frontier up to 256 hosts, scheduled and simulated: two hours"
	@echo "make test-lowest  the tests with the lowest versions of all dependencies"
	@echo "make lint       ruff, pyright and the import contracts"
	@echo "make bench      measure"
	@echo "make docs       build the documentation into out/site"
	@echo "make plots      draw the pictures of docs/how-to/plots.md"
	@echo "make reference  write the examples of the API, the types of the client, the schema of SQLite, the tables of docs/reference/"
	@echo "make atlas      search many sizes, write docs/reference/atlas.md with its plots"

.venv/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@find app schedules synth -name '*.nb[ic]' -delete  # compiled for other versions
	@touch $@

.venv/installed-test: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,lint,docs,plots,audit]'
	$(BIN)/python -c "import torch" 2>/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check '$(TORCH)' \
	  || echo "$(TORCH) is not offered here: tests that run schedules are skipped"
	@touch $@

.venv/installed-docs: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

.venv/installed-plots: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[plots]'
	@touch $@

# Without it whoever asks first, or three processes of tests at once, would wait for it.
.venv/warm: .venv/installed $(KERNELS)
	@echo "compiling the kernels (once: two to four minutes)"
	@$(BIN)/python -m topoloom cache warm
	@touch $@

run: .venv/warm
	$(BIN)/python examples/tour.py --out out

serve: .venv/warm
	$(BIN)/topoloom serve

# More processes than cores: many tests wait for other processes.  Each process takes a stretch
# of neighboring tests, which share fixtures and cached graphs, and then steals from the others.
TEST := $(BIN)/python -m pytest -q -rs --dist worksteal

test: .venv/installed-test .venv/warm
	$(TEST) -n 3 -m "not slow and not exhaustive"

test-slow: .venv/installed-test .venv/warm
	$(TEST) -n 3 -m "slow and not exhaustive"

test-exhaustive: .venv/installed-test
	$(BIN)/python -m pytest -q -rs -m exhaustive

# With the lowest version of every dependency that pyproject.toml allows.
test-lowest: UV := .venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python
test-lowest:
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(UV) --resolution lowest-direct --editable '.[plots,tune]'
	$(UV) --editable '.[test]'
	export NUMBA_CACHE_DIR=$(CURDIR)/.venv-lowest/kernels; \
	  .venv-lowest/bin/python -m topoloom cache warm && \
	  .venv-lowest/bin/python -m pytest -q -rs --dist worksteal -n 3 -m "not slow and not exhaustive" \
	    -W ignore::DeprecationWarning  # of old versions, about newer ones of others

lint: .venv/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/pyright

bench: .venv/installed-test
	$(BIN)/python -m benchmarks

atlas: .venv/installed-plots
	$(BIN)/python -m benchmarks.atlas --processes 2

# Strict: a dead link fails. Pages need no server: open out/site/index.html.
docs: .venv/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "written to out/site; $(BIN)/mkdocs serve shows changes while you write"

reference: .venv/installed-test .venv/warm
	$(BIN)/python -m topoloom.app.codegen.openapi_examples
	$(BIN)/python -m topoloom.app.codegen.client_types
	$(BIN)/python -m topoloom.app.codegen.database_schema
	$(BIN)/python -m topoloom.app.codegen.reference_tables

plots: .venv/installed-plots
	mkdir -p out
	$(BIN)/topoloom plot frontier --nodes 1000 --degree 3 --links bidirectional --out docs/images/plot-frontier.svg
	$(BIN)/topoloom plot sizes --nodes 1024 --degree 4 --collective allreduce --out docs/images/plot-sizes.svg
	$(BIN)/topoloom schedule mi250-2 --collective allgather --out out/mi250.json
	$(BIN)/topoloom plot load out/mi250.json --topology mi250-2 --out docs/images/plot-load.svg
	$(BIN)/topoloom faults dgx-a100-4 --collective allreduce --picture docs/images/plot-survey.svg
	$(BIN)/topoloom plot tree out/mi250.json --topology mi250-2 --root 0.gpu3 --out docs/images/plot-tree.svg
	$(BIN)/topoloom schedule 'Torus(4, 4)' --collective allgather --out out/torus.json
	$(BIN)/topoloom plot tree out/torus.json --topology 'Torus(4, 4)' --root 0 --out docs/images/plot-steps.svg

clean:
	rm -rf out build dist
