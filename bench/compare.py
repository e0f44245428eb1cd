#!/usr/bin/env python3
"""Two builds of Kweave side by side: processor seconds and peak memory of the second beside the first.

    bench/compare.py BEFORE AFTER [--only NAME ...] [--runs 3] [--threads 1] [--folder FOLDER]

Made data only, and nothing beyond Python itself. The runs of a problem alternate between the programs; the smallest of each counts. Exits with 1
where the second takes more than 5 % and a fiftieth of a second more processor time, or 5 % and 4 MB more memory.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

MORE = 1.05
LEAST_SECONDS, LEAST_MB = 0.02, 4  # differences below are those of two runs of the same program


def write(path, samples, features, label, spread=1.0):
    """Normal features; label(values) is in front of them."""
    generator = random.Random(path.name)
    with path.open("w") as out:
        out.write("label," + ",".join(f"f{j}" for j in range(features)) + "\n")
        for _ in range(samples):
            values = [generator.gauss(0, spread) for _ in range(features)]
            out.write(label(values, generator) + "," + ",".join(f"{value:.5g}" for value in values) + "\n")


def noisy_sign(values, generator):
    return "+1" if values[0] * values[1] + values[2] + generator.gauss(0, 0.5) > 0 else "-1"


def one_of_eight(values, generator):
    return "abcdefgh"[sum((values[k] + generator.gauss(0, 0.2) > 0) << k for k in range(3))]


def curve(values, generator):
    return f"{values[0] * values[1] + values[2] + generator.gauss(0, 0.1):.5g}"


DATA = {
    "small": (300, 30, noisy_sign),
    "features": (2000, 100, noisy_sign),
    "samples": (20000, 10, noisy_sign),
    "wide": (4000, 400, noisy_sign),
    "classes": (4000, 10, one_of_eight),
    "targets": (3000, 10, curve),
}

WIDTHS = "rbf(gamma=logspace(0.001,1,{}))"
PROBLEMS = {
    "many samples, p = 4/3": ("samples", "--kernel", WIDTHS.format(10), "--norm", "1.3333"),
    "many samples, p = 1": ("samples", "--kernel", WIDTHS.format(10), "--norm", "1"),
    "one kernel": ("samples", "--kernel", "rbf(gamma=0.05)"),
    "little memory": ("samples", "--kernel", WIDTHS.format(10), "--norm", "2", "--memory", "256MB"),
    "10,000 kernels": ("wide", "--kernel", WIDTHS.format(10000), "--norm", "1.3333"),
    "many features": ("wide", "--kernel", WIDTHS.format(50), "--kernel", "linear", "--norm", "2"),
    "laplacian": ("wide", "--kernel", "laplacian(gamma=logspace(0.0001,0.1,20))", "--norm", "1"),
    "single features, p = 1": ("features", "--kernel", "each(rbf(gamma=[0.1,1,10]))", "--norm", "1"),
    "single features, p = 2, gap 1e-6": ("features", "--kernel", "each(rbf(gamma=[0.1,1,10]))", "--norm", "2", "--gap", "1e-6"),
    "single features, linear": ("features", "--kernel", "each(linear)", "--norm", "1"),
    "linear": ("samples", "--kernel", "linear"),
    "small, p = 1, gap 1e-6": ("small", "--kernel", "each(rbf(gamma=[0.1,1,10]))", "--norm", "1", "--gap", "1e-6"),
    "centred": ("features", "--kernel", WIDTHS.format(10), "--normalize", "center,trace", "--norm", "2"),
    "logistic": ("features", "--kernel", WIDTHS.format(10), "--loss", "logistic", "--norm", "1.3333"),
    "one against rest": ("classes", "--kernel", WIDTHS.format(9), "--multiclass", "ovr", "--norm", "2"),
    "joint": ("classes", "--kernel", WIDTHS.format(5), "--multiclass", "joint", "--norm", "2"),
    "regression": ("targets", "--task", "regress", "--kernel", WIDTHS.format(10), "--norm", "2"),
    "squared loss": ("targets", "--task", "regress", "--loss", "squared", "--kernel", WIDTHS.format(10), "--norm", "1"),
    "one class": ("features", "--task", "oneclass", "--kernel", WIDTHS.format(10), "--norm", "2"),
}


def run(program, folder, problem, threads):
    """Processor seconds, peak megabytes and what the summary says."""
    data, *options = PROBLEMS[problem]
    summary = folder / "summary.json"
    command = [program, "train", folder / f"{data}.csv", *options, "--threads", str(threads), "-q",
               "-o", folder / "model", "--summary", summary]
    with subprocess.Popen(list(map(str, command))) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {process.returncode}")
    said = json.loads(summary.read_text())
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, said


def compare(programs, folder, problem, runs, threads):
    """One row: for every program the least seconds, least megabytes and the last summary."""
    done = [[], []]
    for _ in range(runs):
        for which, program in enumerate(programs):
            done[which].append(run(program, folder, problem, threads))
    return [(min(d[0] for d in of_one), min(d[1] for d in of_one), of_one[-1][2]) for of_one in done]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs=2, metavar="PROGRAM")
    parser.add_argument("--only", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--folder", type=pathlib.Path, help="for the data; kept")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in {PROBLEMS[problem][0] for problem in arguments.only}:
            if not (folder / f"{name}.csv").exists():
                write(folder / f"{name}.csv", *DATA[name])
        more = 0
        print(f"{'problem':34}{'CPU s':>9}{'':>9}{'ratio':>7}{'MB':>8}{'':>8}{'ratio':>7}  primal, rows", flush=True)
        for problem in arguments.only:
            (s0, m0, a), (s1, m1, b) = compare(arguments.programs, folder, problem, arguments.runs, arguments.threads)
            is_more = s1 > max(MORE * s0, s0 + LEAST_SECONDS) or m1 > max(MORE * m0, m0 + LEAST_MB)
            more += is_more
            print(f"{problem:34}{s0:9.2f}{s1:9.2f}{s1 / s0:7.2f}{m0:8.0f}{m1:8.0f}{m1 / m0:7.2f}  {a['primal']:.6g} {b['primal']:.6g}, "
                  f"{a['kernel_rows']} {b['kernel_rows']}{'  MORE' if is_more else ''}", flush=True)
    print(f"{more} of {len(arguments.only)} take more")
    sys.exit(1 if more else 0)


if __name__ == "__main__":
    main()
