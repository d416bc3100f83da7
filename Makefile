# Every target sets up what it needs in .venv; nothing is installed elsewhere.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LAYER ?= mobilenetv2.2
OBJECTIVE ?= edp
SEARCH_ARGS ?=
# What changed since main, and tests of a few seconds each.
CHANGED = $$(git diff --name-only --diff-filter=d $$(git merge-base HEAD main 2>/dev/null || echo HEAD) -- "*.py"; git ls-files --others --exclude-standard -- "*.py")
QUICK := tests/common/test_units.py tests/common/test_reading.py tests/layers tests/terminal tests/hostile tests/runs/test_tables.py tests/runs/test_statistics.py tests/mapper/test_cli.py tests/cost_models/test_dataflow.py tests/cost_models/test_accelerator.py tests/maestro_env/test_tiling.py

CHECKED := tests/maestro_env/test_map_space.py tests/maestro_env/test_full_space.py tests/cost_models/test_maestro_model.py tests/cost_models/test_maestro_reference.py tests/cost_models/test_exact_model.py tests/cost_models/test_exact_simulator.py tests/cost_models/test_levels_agreement.py tests/baselines/test_optimal.py
BUILD = $(BIN)/python setup.py --quiet build_ext --inplace

.PHONY: help search test quick checked coverage lint build kernels format bench docs look wheel clean

help:
	@echo "make search   set up and search a mapping (LAYER=$(LAYER) OBJECTIVE=$(OBJECTIVE))"
	@echo "make test     set up, then lint, types, import rules and all tests"
	@echo "make quick    lint of the files that changed since main, and the quick tests"
	@echo "make build    compile the kernels again, after a change of theirs"
	@echo "make checked  the kernels' tests with bounds of arrays checked"
	@echo "make coverage lines and branches that the tests run, a package a line"
	@echo "make lint     lint, format check, types and import rules only"
	@echo "make bench    speed and memory of the cost models, environments and runner"
	@echo "make docs     the site, in docs/_build/html; its notebooks are executed"
	@echo "make look     touch, sort and measure pages in a headless Chromium, the site's too"
	@echo "make wheel    build the wheels, and try them in fresh environments outside of the checkout"
	@echo "make clean    remove .venv and caches"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "Python 3.11 to 3.13 is needed, this is %d.%d: make PYTHON=python3.11 ..." % v)'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[rl]"
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[all,dev]"
	@touch $@ $(VENV)/.run

search: $(VENV)/.run
	$(BIN)/mapper search --layer $(LAYER) --objective $(OBJECTIVE) $(SEARCH_ARGS)

look: $(VENV)/.dev docs
	$(BIN)/python -m tests.look.pages

$(VENV)/.docs: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[rl,rllib,mpe,mast,mst,viz,docs]"
	@touch $@

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

build: $(VENV)/.dev
	@$(BUILD)

kernels: build
	$(BIN)/python -m tests.compile_kernels

test: $(VENV)/.dev
	$(MAKE) --no-print-directory --jobs=2 lint kernels
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile $(PYTEST_ARGS)

checked: $(VENV)/.dev
	@MAPPER_CHECKED=1 $(BUILD)
	$(BIN)/python -m pytest -q $(CHECKED); status=$$?; $(BUILD) && exit $$status

coverage: kernels
	$(BIN)/python -m coverage erase
	-OMP_NUM_THREADS=1 $(BIN)/python -m coverage run -m pytest -n 2 --dist loadfile --timeout 1500 -q
	-$(BIN)/python -m coverage combine --quiet
	@rm -f .coverage.* # of processes that tests kill
	@for stub in */__init__.pyi; do package=$${stub%/*}; printf '%-16s' $$package; $(BIN)/python -m coverage report --include="$$package/*" | tail -1; done

quick: build
	@files="$(CHANGED)"; [ -z "$$files" ] || { $(BIN)/ruff check $$files && $(BIN)/ruff format --check $$files; }
	$(BIN)/python -m pytest -n 2 --dist loadfile -q $(QUICK)

bench: $(VENV)/.dev
	@for name in chain_speed env_speed exact_speed levels_speed optimal_speed; do echo "== $$name"; $(BIN)/python -m benchmarks $$name || exit 1; done

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs docs/_build/html

wheel: $(VENV)/.dev
	$(BIN)/python -m benchmarks try_wheel

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build *.egg-info
