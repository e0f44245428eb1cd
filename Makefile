# The commands people type; CMakePresets.json holds how things are built.
#
# Every target installs what it needs first (tools/install-dependencies) and can be repeated.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help build demo wheel test test-all python-newest cuda sanitizers threads fuzz bench experiments docs format lint clean

JOBS ?= $(shell nproc)
# Seconds for every fuzz target.
FUZZ_SECONDS ?= $(if $(filter true,$(CI)),30,10)
# Where their search begins; 0: by the clock.
FUZZ_SEED ?= 1
# ccache finds objects that began from a precompiled header only when told that these two may differ, and those of another
# clone when paths are taken from the root of the clone.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1
LAUNCHER := $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)

# The program alone needs none of the test libraries; a tree that has tests keeps them.
WITHOUT_TESTS := $(if $(wildcard build/release/CMakeCache.txt),,-DKWEAVE_BUILD_TESTS=OFF)

# $(call configure-and-build,PRESET,CONFIGURE FLAGS,BUILD FLAGS)
define configure-and-build
cmake --preset $(1) $(LAUNCHER) $(2) --log-level=WARNING
cmake --build --preset $(1) -j $(JOBS) $(3)
endef

help:  ## what can be made (this list)
	@sed -n 's/^\([a-z-]*\):.*  ## /  make \1\t/p' Makefile | expand -t 20

build:  ## the program, at build/release/kweave
	@tools/install-dependencies
	$(call configure-and-build,release,$(WITHOUT_TESTS),--target kweave)

demo: build  ## a small data set from three sources: train, predict, and see which source mattered
	@examples/demo/run build/release/kweave build/demo

wheel:  ## the Python package as a wheel that needs no library of the system, in dist/
	@tools/install-dependencies --python
	@tools/make-wheel

test:  ## the optimised tests: C++, Python, command line, documented commands (about 15 minutes on two cores)
	@tools/install-dependencies --test
	$(call configure-and-build,release,-DKWEAVE_BUILD_TESTS=ON -DKWEAVE_BUILD_PYTHON=ON)
	ctest --preset quick -j $(JOBS)

test-all: test  ## that, and then experiments in full, clang-tidy on what changed, sanitizers and fuzz targets (about an hour)
	ctest --preset slow -j $(JOBS)
	$(MAKE) python-newest
	$(MAKE) cuda CUDA_TARGET=kweave_cuda_objects
	LINT_SECONDS=300 $(MAKE) lint LINT_BASE=$(or $(LINT_BASE),auto)
	$(MAKE) sanitizers
	$(MAKE) threads
	$(MAKE) fuzz

# Without PyPI there is nothing to test, which the script says.
python-newest:  ## the Python tests with the newest scikit-learn, NumPy and pandas of PyPI
	@tools/install-dependencies --test --python
	$(call configure-and-build,release,-DKWEAVE_BUILD_TESTS=ON -DKWEAVE_BUILD_PYTHON=ON,--target kweave_app kweave_python)
	@tools/test-newest-python build/release || { status=$$?; [[ $$status == 77 ]] || exit $$status; }

# With CUDA_TARGET=kweave_cuda_objects only what nvcc compiles, which is what a machine without a device can check.
CUDA_TARGET ?= kweave
NVCC := $(or $(shell command -v nvcc),$(wildcard /usr/local/cuda/bin/nvcc))
cuda:  ## the program with code for CUDA devices, at build/cuda/kweave; needs nvcc, and says so
	@tools/install-dependencies
	@if [[ -z "$(NVCC)" ]]; then echo "make cuda: there is no nvcc here, so nothing was built"; else \
	  set -x; cmake --preset cuda $(LAUNCHER) -DCMAKE_CUDA_COMPILER=$(NVCC) -DKWEAVE_BUILD_TESTS=$(or $(CUDA_TESTS),OFF) \
	    --log-level=WARNING && cmake --build --preset cuda -j $(JOBS) --target $(CUDA_TARGET); fi

sanitizers:  ## the tests under address and undefined-behaviour sanitizers
	@tools/install-dependencies --test
	$(call configure-and-build,debug)
	ctest --preset debug -j $(JOBS)

threads:  ## what runs on several threads, under ThreadSanitizer
	@tools/install-dependencies --test
	$(call configure-and-build,thread,,--target thread_tests)
	ctest --preset thread -j $(JOBS)

fuzz:  ## the fuzz targets, for FUZZ_SECONDS each from FUZZ_SEED
	@tools/install-dependencies --test
	$(call configure-and-build,fuzz,-DKWEAVE_FUZZ_SECONDS=$(FUZZ_SECONDS) -DKWEAVE_FUZZ_SEED=$(FUZZ_SEED),--target fuzzers)
	ctest --preset fuzz -j $(JOBS)

bench:  ## benchmarks and comparisons; KWEAVE_DATA names the folder with real data, FULL=1 adds the slow ones
	@tools/install-dependencies --bench
	$(call configure-and-build,release,$(WITHOUT_TESTS) -DKWEAVE_BUILD_BENCH=ON -DKWEAVE_BUILD_PYTHON=ON)
	FULL=$(FULL) bench/run build/release

experiments:  ## the papers' claims, checked and drawn; KWEAVE_DATA names the folder with real data
	@tools/install-dependencies --test --bench
	$(call configure-and-build,release,-DKWEAVE_BUILD_TESTS=ON,--target kweave toy_experiment)
	experiments/run build/release/kweave

docs: build  ## the generated parts of the documentation
	@docs/generate build/release/kweave

format:  ## formats every source
	@tools/install-dependencies --lint
	@tools/check-format --fix

lint:  ## formatting and clang-tidy; LINT_BASE=main looks at what changed since then only (auto: since origin/main or main)
	@tools/install-dependencies --test --lint
	@cmake --preset lint --log-level=WARNING
	@tools/lint build/lint $(LINT_BASE)

clean:  ## removes everything built
	rm -rf build
