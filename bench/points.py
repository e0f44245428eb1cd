#!/usr/bin/env python3
"""Whole runs of Kweave beside other programs: one table with times, memory, objectives, gaps and bounds.

    bench/points.py KWEAVE [--only POINT ...] [--quick] [--json FILE] [--images FOLDER] [--by-cpu]

The points: 1 time against the number of samples, 2 against the number of kernels, 3 small sets of single-feature
kernels beside SimpleMKL and the analytic wrapper, 4 and 5 many kernels for the price of one, 6 one kernel beside
LIBSVM, 7 the same in 256 MB, 8 other families and data, 9 the loops inside; `classes`, 26 machines beside one; `sets`, one kernel beside LIBSVM on many
sets; `tasks`, regression and one-class machines beside
LIBSVM's, and the squared loss beside factorisations; `thousand`, learned weights beside the plain sum.
Exits with 1 when a bound is missed. The bounds are meant for two cores. A file given by --json keeps the points that are not run again.
Real data come from the folder that KWEAVE_DATA names; prepared files are kept in build/bench.
"""
import argparse
import json
import pathlib
import sys

import datasets
import measure
import plots
from cases import classes, libsvm_sets, little_memory, loops, many_kernels, many_samples, price_of_one, small_sets, tasks, thousand

POINTS = {
    "1": many_samples.growth,
    "2": many_kernels.growth,
    "3": small_sets.beside_rivals,
    "4": price_of_one.price_of_one,
    "5": price_of_one.large,
    "6": price_of_one.one_kernel,
    "7": little_memory.little_memory,
    "8": many_kernels.families,
    "9": loops.loops,
    "classes": classes.letters,
    "sets": libsvm_sets.sets,
    "tasks": tasks.tasks,
    "thousand": thousand.thousand,
}


def measured(point, kweave, quick):
    """The rows of one point, printed as they come; missing data end it with a sentence."""
    rows = []
    try:
        for row in POINTS[point](kweave, quick):
            measure.print_row(row)
            rows.append(row)
    except datasets.Missing as missing:
        print(f"{point:5} {missing}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kweave", help="the program, usually build/release/kweave")
    parser.add_argument("--only", nargs="+", choices=POINTS, default=list(POINTS), help="these points")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, for a first look; bounds may not apply")
    parser.add_argument("--json", type=pathlib.Path, help="results, with machine, commit and versions")
    parser.add_argument("--images", type=pathlib.Path, help="folder for the plots")
    parser.add_argument("--by-cpu", action="store_true", help="judge by processor seconds: for a busy machine")
    arguments = parser.parse_args()
    measure.judges_by_cpu = arguments.by_cpu
    kweave = measure.Kweave(arguments.kweave, most_runs=1 if arguments.quick else 5)
    results = json.loads(arguments.json.read_text()) if arguments.json and arguments.json.exists() else {}
    misses = 0
    measure.print_header()
    for point in arguments.only:
        record = measure.record(kweave.program) | {"judged_by": "cpu" if arguments.by_cpu else "wall"}
        rows = measured(point, kweave, arguments.quick)
        misses += sum(row.is_met is False for row in rows)
        results[point] = {"record": record, "rows": [vars(row) for row in rows]}
        if arguments.json:
            measure.write_json(arguments.json, results)
    if arguments.images:
        plots.draw_all(results, arguments.images)
    print(f"\n{misses} bounds missed")
    sys.exit(1 if misses else 0)


if __name__ == "__main__":
    main()
