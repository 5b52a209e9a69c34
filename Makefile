# Commands for developers; the build itself is CMake (CMakePresets.json). `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test test-all python torch bench bench-collective papers methods format tidy nightly coverage install clean

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
BUILD = cmake --preset $(1) > build/$(1).configure.log || { cat build/$(1).configure.log; exit 1; }; \
        cmake --build --preset $(1) -j $(JOBS)

help: ## list the commands
	@echo "Thalweg. Commands:"
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'

demo: ## set up, build, and run a simulation that is killed and restarted
	@scripts/setup.sh build mpi demo
	@mkdir -p build
	@$(call BUILD,release) --target programs
	@examples/grayscott/run_demo.sh build/release

# THEN: stages of `make test-all` to add to this run of all tests.
test: ## set up, build the release preset and run all behaviour tests (20 minutes on 2 cores, 5 when nothing changed)
	@scripts/setup.sh build mpich openmpi methods test nodes lint browser demo $(if $(findstring python,$(THEN)),python) || [ $$? = 3 ]
	@scripts/run_tests.sh lint release nodes smoke $(THEN)

test-all: ## make test, and Open MPI in full, sanitizers, Clang, the Python wheel and clang-tidy (an hour on 2 cores)
	@scripts/setup.sh build mpich openmpi methods test nodes lint browser demo python || [ $$? = 3 ] # 3: the stage python is skipped
	@scripts/run_tests.sh all

python: ## set up, build the wheel of the Python package (build/python/dist) and test it, without MPI and with mpi4py
	@scripts/setup.sh build python
	@scripts/run_python_tests.sh

torch: ## test checkpoints of PyTorch with the wheel in build/python/dist (PyTorch takes 5.4 GB in build/python/torch)
	@scripts/setup.sh build python
	@scripts/run_torch_tests.sh

bench: ## run every benchmark in its quick form
	@scripts/setup.sh build mpi bench
	@mkdir -p build
	@$(call BUILD,release)
	@scripts/run_benchmarks.sh build/release

bench-collective: ## collectives between ranks with MPICH and Open MPI, the published sizes (hours; EFFORT=--quick: minutes)
	@scripts/setup.sh build mpich openmpi bench
	@mkdir -p build
	@$(call BUILD,release) --target bench_collective
	@$(call BUILD,openmpi) --target bench_collective
	@bench/collective/run.sh $(EFFORT)

papers: ## the experiments of five papers at the size of this machine and simulated; the page is docs/papers.md (15 minutes; EFFORT=--full: hours)
	@scripts/setup.sh build mpi bench methods
	@mkdir -p build
	@$(call BUILD,release)
	@bench/papers/run.py $(if $(DIR),--dir "$(DIR)") $(EFFORT)

methods: ## measure every way of writing an array, with MPICH and Open MPI; pages are build/methods-*.html (DIR=folder on the storage)
	@scripts/setup.sh build mpich openmpi methods
	@mkdir -p build
	@$(call BUILD,release) --target tool_thalweg tool_probe
	@$(call BUILD,openmpi) --target tool_probe
	@for mpi in release openmpi; do \
	  build/release/bin/thalweg methods --dir "$(or $(DIR),build)" --program build/$$mpi/bin/thalweg-probe $(EFFORT) \
	    --html build/methods-$$mpi.html --save build/methods-$$mpi.jsonl || exit; \
	done

format: ## format the C and C++ sources
	@scripts/setup.sh lint
	@git ls-files -z '*.c' '*.h' '*.cpp' '*.hpp' | xargs -0 clang-format-16 -i

tidy: ## run clang-tidy over src/ and frontends/ (scripts/run_tidy.sh takes others)
	@scripts/setup.sh build mpi test lint
	@scripts/run_tidy.sh

nightly: ## the long checks: a million seeds, other projects' tests of MPI-IO, all damages, benchmarks, fuzzing (FUZZ_SECONDS=3600 per target), tidy, Clang, sanitizers, valgrind, coverage
	@scripts/setup.sh build mpich openmpi methods test nodes mounts lint browser demo coverage nightly suites
	@scripts/run_nightly.sh

coverage: ## run the tests instrumented; the report is build/coverage/coverage.html
	@scripts/setup.sh build mpich openmpi methods test browser coverage
	@mkdir -p build
	@$(call BUILD,coverage) && cmake --build --preset coverage --target coverage

install: ## build the release preset and install it: make install PREFIX=/where
	@scripts/setup.sh build mpi
	@mkdir -p build
	@$(call BUILD,release) && cmake --install build/release --prefix $(PREFIX)

clean: ## remove everything that was built
	rm -rf build
