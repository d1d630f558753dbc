# `make run`, `make test` and `make check` each work alone on a fresh machine with Python >= 3.11.

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin

CUDA_GPUS := gtx-480 gtx-660 gtx-960 gtx-1060-6gb tesla-m2050 tesla-k20c
ALL_GPUS := $(CUDA_GPUS) r9-nano
on = $(foreach gpu,$(1),--device $(gpu))

# The first interpreter that is new enough; `make PYTHON=/path/to/python3.12 run` overrides it.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; \
	then echo "$$python"; break; fi; done)

# A process for each core, each with files of tests of its own: files share what they execute.
ALL_TESTS := --numprocesses=logical --maxprocesses=8 --dist=loadfile

# Compiled modules are kept, also where the environment says otherwise: tests start hundreds of
# processes, each of which would compile all sources again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test test-all explore validate validate-small check budgets check-budgets bench fuzz \
	docs format clean
.DELETE_ON_ERROR:

help:
	@echo 'make run     estimate the shipped examples on seven GPUs'
	@echo 'make test    run all tests, those of many cases on a drawn part of them'
	@echo 'make explore   all tests, the random ones on examples that are new each time'
	@echo 'make test-all  all tests on all of their cases, and every validation at the small sizes'
	@echo 'make validate  every validation at all sizes: hours; validate-small: minutes'
	@echo 'make check   format, lint, types, import directions, sizes and docstrings'
	@echo 'make budgets  estimate the examples whose times check-budgets, and a test, watches'
	@echo 'make bench   time the engines beside C, Oclgrind and their targets'
	@echo 'make fuzz    a million broken PTX texts, 100,000 modules of IR, 10,000 damaged cubins: each'
	@echo '             is read or refused;'
	@echo '             100,000 kernels with wild addresses: none leaves its memory'
	@echo 'make docs    build the documentation site, site/index.html'
	@echo 'make format  format the sources'
	@echo 'make clean   remove the virtual environment and caches'

run: $(VENV)/installed $(VENV)/machine-code
	$(BIN)/kernelcast estimate examples/sor/sor.toml $(call on,$(ALL_GPUS))
	$(BIN)/kernelcast estimate examples/sgemm/sgemm32.toml $(call on,$(CUDA_GPUS))
	$(BIN)/kernelcast estimate examples/sgemm/sgemm16.toml $(call on,r9-nano)

# make test TEST='tests/simcore -k barrier' for less than all, in one process.
test: $(VENV)/installed-test $(VENV)/machine-code
	$(BIN)/python -m pytest $(or $(TEST),$(ALL_TESTS)) $(REPORT)

# make explore TEST=tests/models for less than all; `make test` draws the same examples each time.
explore: $(VENV)/installed-test $(VENV)/machine-code
	$(BIN)/python -m pytest $(or $(TEST),$(ALL_TESTS)) --hypothesis-profile=explore $(REPORT)

test-all: validate-small $(VENV)/installed-test
	KERNELCAST_TESTS=all $(BIN)/python -m pytest $(ALL_TESTS)
	$(BIN)/python -m tests.ptx_frontend.sass.native_suite
	$(BIN)/python validation/captured_programs.py

# What takes longer than a test may: the suite of workloads, and the published cases at full size.
validate-small: $(VENV)/installed $(VENV)/machine-code
	$(BIN)/kernelcast validate papers
	$(BIN)/kernelcast validate thesis
	$(BIN)/kernelcast validate suite

validate: $(VENV)/installed $(VENV)/machine-code
	$(BIN)/kernelcast validate papers
	$(BIN)/kernelcast validate thesis
	$(BIN)/kernelcast validate suite --all-devices
	$(BIN)/kernelcast validate volumes
	$(BIN)/kernelcast validate suite --size full --engine jit --jobs 1 --all-devices
	if ls validation/measured/*.json > /dev/null 2>&1; then $(BIN)/kernelcast validate measured; fi
	$(BIN)/kernelcast validate measured --set lattice-boltzmann
	$(BIN)/kernelcast validate measured --set pytorch-operators

check: $(VENV)/installed-check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_architecture.py tests/test_parameters.py tests/test_docstrings.py \
		tests/test_packaging.py

# Three examples whose predicted times a change must not make longer unnoticed; budgets.json is a
# record a line.
BUDGETS := sor/sor sgemm/sgemm32 reduction/reduction
estimate_budgets = for file in $(BUDGETS); do $(BIN)/kernelcast estimate examples/$$file.toml --json \
	--code source --device h100-sxm | tr -d '\n'; echo; done

budgets: $(VENV)/installed $(VENV)/machine-code
	($(estimate_budgets)) > validation/budgets.json

check-budgets: $(VENV)/installed $(VENV)/machine-code
	($(estimate_budgets)) > $(VENV)/budgets.json
	$(BIN)/kernelcast compare validation/budgets.json $(VENV)/budgets.json --fail-above 5

# make bench BENCH='--quick --kernel saxpy' for less than all.
bench: $(VENV)/installed $(VENV)/machine-code
	$(BIN)/python benchmarks/engines.py $(BENCH)
	$(BIN)/python benchmarks/capture.py
	$(BIN)/python benchmarks/check_timing.py

# make fuzz FUZZ=10000 for fewer than a million texts; a tenth as many modules of IR are read, and as
# many kernels executed whose addresses wrap around.
fuzz: $(VENV)/installed-test $(VENV)/machine-code
	$(BIN)/python -m tests.ptx_frontend.fuzz_ptx $(or $(FUZZ),1000000)
	$(BIN)/python -m tests.ptx_frontend.fuzz_ir $$(( $(or $(FUZZ),1000000) / 10 ))
	$(BIN)/python -m tests.ptx_frontend.sass.fuzz_cubins $$(( $(or $(FUZZ),1000000) / 100 ))
	$(BIN)/python -m tests.traces.fuzz_traces $$(( $(or $(FUZZ),1000000) / 1000 ))
	$(BIN)/python -m tests.simcore.fuzz_addresses $$(( $(or $(FUZZ),1000000) / 10 ))
	$(BIN)/python -m tests.ptx_frontend.sass.fuzz_random_programs $$(( $(or $(FUZZ),1000000) / 500 ))
	$(BIN)/python -m tests.ptx_frontend.amdgcn.fuzz_random_programs $$(( $(or $(FUZZ),1000000) / 1000 ))

# Without warnings; nothing in it is fetched when it is read.
docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

format: $(VENV)/installed-check
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) simcore/machine_code site build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	@test -n '$(PYTHON)' || { echo 'error: kernelcast needs Python 3.11 or newer; none of python3,' \
		'python3.11 to python3.14 is. Give one: make PYTHON=/path/to/python3.12 ...' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Stamps: a second call is fast until the project's metadata change.
$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/installed-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@

# The code of the simulators, which the installation has made of the sources as they were then.
$(VENV)/machine-code: kernelcast/machine_code.py $(shell find simcore -name '*.py') | $(VENV)/installed
	$(BIN)/python -m kernelcast.machine_code
	@touch $@
