#!/bin/sh
# Builds every fuzz target, runs each for SECONDS under a memory limit and exits non-zero on a finding.
# Usage: tests/fuzz/run.sh SECONDS
set -eu

seconds=${1:?usage: run.sh SECONDS}
cd "$(dirname "$0")/../.."
cmake --preset fuzz -DKWEAVE_FUZZ_SECONDS="$seconds"
cmake --build --preset fuzz --target fuzzers
ctest --preset fuzz
