#!/usr/bin/env python3
"""A thousand kernels for the price of a few: learned weights beside one SVM on the plain sum.

1,000 Gaussian kernels with log-spaced widths on 1,000 made samples. The plain sum (`--norm inf`) computes the same
kernels, their sum, and one SVM. Times are those of the whole process. With --precomputed the same kernels come from
1,000 NumPy files (4 GB in a temporary folder), streamed within --memory 2G. Exits with 1 when a bound is missed:
learned weights take at most 30 times as long as the sum, in at most 1 GB, or 2 GB from files.

    bench/many_kernels.py KWEAVE [--precomputed] [--repeat N] [--json FILE]
"""
import argparse
import json
import math
import os
import pathlib
import random
import subprocess
import tempfile
import time

SAMPLES, FEATURES, KERNELS = 1000, 20, 1000
LOW, HIGH = 1e-4, 10.0
MOST_RATIO, MOST_MB, MOST_MB_FROM_FILES = 30, 1000, 2000


def write_samples(path):
    rng = random.Random(4)
    rows = []
    for _ in range(SAMPLES):
        x = [rng.gauss(0, 1) for _ in range(FEATURES)]
        margin = math.sin(2 * x[0]) + x[1] * x[2] + rng.gauss(0, 0.3)
        rows.append((x, 1 if margin > 0 else -1))
    path.write_text("".join(f"{y} " + " ".join(f"{f}:{v:.6f}" for f, v in enumerate(x, 1)) + "\n" for x, y in rows))
    return [[round(v, 6) for v in x] for x, _ in rows]


def write_matrices(folder, samples):
    import numpy
    x = numpy.array(samples)
    squared = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
    names = []
    for m in range(KERNELS):
        gamma = LOW * (HIGH / LOW) ** (m / (KERNELS - 1))
        names.append(folder / f"k{m}.npy")
        numpy.save(names[-1], numpy.exp(-gamma * squared).astype(numpy.float32))
    return names


def run(command, repeat):
    """The shortest of `repeat` runs, in seconds, and the largest resident memory of the process."""
    best, peak = math.inf, 0
    for _ in range(repeat):
        start = time.monotonic()
        process = subprocess.Popen(command)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            raise SystemExit(f"{' '.join(command)}: status {status}")
        best, peak = min(best, time.monotonic() - start), max(peak, usage.ru_maxrss * 1024)
    return best, peak


def measure(kweave, source, kernel_options, folder, repeat):
    rows = {}
    for norm in ("inf", "2", "1"):
        summary = folder / "summary.json"
        seconds, peak = run([kweave, "train", str(source), *kernel_options, "--norm", norm, "--summary", str(summary),
                             "-q", "-o", str(folder / "model")], repeat)
        result = json.loads(summary.read_text())
        rows[norm] = {"seconds": seconds, "peak_mb": peak / 1e6, "gap": result["relative_gap"], "solves": result["solves"],
                      "ratio": seconds / rows["inf"]["seconds"] if rows else 1.0, "certificate": result["certificate"]}
        print(f"  p = {norm:4} {seconds:8.2f} s   {rows[norm]['ratio']:6.1f} x   {peak / 1e6:7.0f} MB   "
              f"gap {result['relative_gap']:.1e}   {result['solves']} solves   {result['certificate']}", flush=True)
    return rows


def missed(part, rows, most_mb):
    """One sentence for every bound that the measured rows miss."""
    for norm, row in rows.items():
        if row["ratio"] > MOST_RATIO:
            yield f"{part}, p = {norm}: {row['ratio']:.1f} times the sum, at most {MOST_RATIO} allowed"
        if row["peak_mb"] > most_mb:
            yield f"{part}, p = {norm}: {row['peak_mb']:.0f} MB, at most {most_mb} allowed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kweave")
    parser.add_argument("--precomputed", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = folder / "samples"
        samples = write_samples(source)
        print(f"{KERNELS} Gaussians on {SAMPLES} samples, computed on the fly")
        spec = f"rbf(gamma=logspace({LOW},{HIGH},{KERNELS}))"
        results = {"computed": measure(arguments.kweave, source, ["--kernel", spec], folder, arguments.repeat)}
        print("the same with every certificate evaluated directly")
        results["direct"] = measure(arguments.kweave, source, ["--kernel", spec, "--certificate", "direct"], folder,
                                    arguments.repeat)
        if arguments.precomputed:
            print("the same from files, --memory 2G")
            names = write_matrices(folder, samples)
            config = folder / "kernels.toml"
            config.write_text(f"kernel = \"precomputed(file=[{','.join(str(n) for n in names)}])\"\n")
            results["precomputed"] = measure(arguments.kweave, source, ["--config", str(config), "--memory", "2G"], folder, 1)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1))
    misses = [miss for part, rows in results.items()
              for miss in missed(part, rows, MOST_MB_FROM_FILES if part == "precomputed" else MOST_MB)]
    if misses:
        raise SystemExit("\n".join(misses))


if __name__ == "__main__":
    main()
