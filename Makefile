# Every goal makes its own .venv. Another interpreter: make test PYTHON=python3.13
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
SOURCES := pyproject.toml setup.py $(shell find src/memtree -type f -not -name '*.so' -not -path '*/__pycache__/*')

.PHONY: demo before-after test lint bench docs clean

demo: .venv/.installed
	$(BIN)/memtree recall "가치관이 뭐야?" --bank examples/bank

before-after: .venv/.installed
	$(BIN)/python examples/before_after.py

test: .venv/.test
	$(BIN)/python -m pytest

lint: .venv/.dev
	$(BIN)/ruff check .
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint src  # it calls pycodestyle
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/.bench
	$(BIN)/python -m pytest bench -p benchmark --benchmark-autosave --benchmark-group-by=group

docs: .venv/.installed
	$(BIN)/python docs/show.py

clean:
	rm -rf .venv build dist src/memtree.egg-info

# Must be readable by any Python, so that an old one gets the message and no syntax error.
define CHECK
import os, sys, sysconfig
if sys.version_info < (3, 10):
    sys.exit("memtree needs Python 3.10 or newer; this is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12")
import importlib.util, shutil
compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
if not shutil.which(compiler):
    sys.exit("memtree is compiled when installed and found no C compiler (" + compiler + "). Install gcc or clang, or set CC.")
if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
    sys.exit("memtree is compiled when installed and found no Python.h. Install your Python's headers (python3-dev).")
if not importlib.util.find_spec("ensurepip"):
    sys.exit("This Python can't make a virtual environment. Install python3-venv.")
endef
export CHECK

.venv/bin/python:
	@command -v $(PYTHON) > /dev/null || { echo "memtree needs Python 3.10 or newer and found no $(PYTHON)." >&2; exit 1; }
	@$(PYTHON) -c "$$CHECK"
	$(PYTHON) -m venv .venv

.venv/.installed: .venv/bin/python $(SOURCES)
	@$(PYTHON) -c "$$CHECK"
	$(PIP) install --force-reinstall --no-deps .
	$(PIP) install memtree
	@touch $@

# The package is installed by now: only what the extra names is fetched.
.venv/.test .venv/.dev .venv/.bench: .venv/.%: .venv/.installed
	$(PIP) install "memtree[$*]"
	@touch $@
