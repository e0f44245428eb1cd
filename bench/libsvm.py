#!/usr/bin/env python3
"""One Gaussian kernel, one thread: Kweave beside LIBSVM on the same files.

Both programs read the same text file, train and write their model; the whole process is measured, certificate
included. Kweave reaches a certified relative gap of 1e-4, LIBSVM its tolerance of 1e-3. Then both predict new
samples. The table shows CPU seconds (user and system), their ratio, the objectives, and on how many new samples
with |f| > 1e-3 the two disagree.

    bench/libsvm.py KWEAVE [--repeat N] [--json FILE] [--only NAME]

Real data come from the folder that KWEAVE_DATA names (zstd-compressed LIBSVM text); without it only made data run.
"""
import argparse
import json
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile


def cpu_seconds(command, stdout=subprocess.DEVNULL):
    """Runs a command to its end; returns its CPU seconds and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def read_real(name):
    """The lines of a real data set as (label, features) pairs, or nothing."""
    folder = os.environ.get("KWEAVE_DATA")
    path = pathlib.Path(folder or ".") / f"{name}.zst"
    if not folder or not path.exists():
        return None
    text = subprocess.run(["zstd", "-dc", path], capture_output=True, text=True, check=True).stdout
    samples = []
    for line in text.splitlines():
        label, *features = line.split()
        samples.append((float(label), [(int(i), float(v)) for i, v in (f.split(":") for f in features)]))
    return samples


def scaled(samples):
    """Every feature to [-1, 1]."""
    low, high = {}, {}
    for _, features in samples:
        for i, v in features:
            low[i], high[i] = min(low.get(i, v), v), max(high.get(i, v), v)
    scale = lambda i, v: 2 * (v - low[i]) / (high[i] - low[i]) - 1 if high[i] > low[i] else 0.0
    return [(label, [(i, scale(i, v)) for i, v in features]) for label, features in samples]


def made(count, features, seed):
    """Two classes on both sides of a noisy sphere."""
    rng = random.Random(seed)
    samples = []
    for _ in range(count):
        x = [rng.gauss(0, 1) for _ in range(features)]
        radius = sum(v * v for v in x) + rng.gauss(0, 2)
        samples.append((1.0 if radius > features else -1.0, list(enumerate(x, 1))))
    return samples


def binary(samples, positive):
    return [(1.0 if positive(label) else -1.0, features) for label, features in samples]


def mnist(count):
    samples = read_real("mnist")
    if samples is None:
        return None
    pixels = [(label, [(i, v / 255) for i, v in features]) for label, features in samples[: count + 2000]]
    return binary(pixels, lambda label: label % 2 == 1)


def prepared(name, transform=lambda samples: samples):
    samples = read_real(name)
    return None if samples is None else transform(samples)


# name: (samples or nothing, how many train, C, gamma)
PROBLEMS = {
    "made-5k": (lambda: made(7000, 20, 1), 5000, 1, 0.05),
    "made-10k": (lambda: made(12000, 50, 2), 10000, 1, 0.02),
    "mnist-5k": (lambda: mnist(5000), 5000, 1, 0.02),
    "mnist-10k": (lambda: mnist(10000), 10000, 1, 0.02),
    "letter-13k": (lambda: prepared("letter", lambda s: binary(s, lambda label: label <= 13)), 13000, 10, 0.5),
    "cod-rna-20k": (lambda: prepared("cod-rna", lambda s: scaled(s)[:22000]), 20000, 1, 1.0),
    "mnist-20k": (lambda: mnist(20000), 20000, 1, 0.02),
    "a9a-30k": (lambda: prepared("a9a"), 30000, 1, 1 / 123),
    "w8a-30k": (lambda: prepared("w8a", lambda s: s[:32000]), 30000, 1, 1 / 300),
}


def write(path, samples):
    with open(path, "w") as file:
        for label, features in samples:
            file.write(f"{label:g} " + " ".join(f"{i}:{v:.9g}" for i, v in features if v != 0) + "\n")


def compare(kweave, name, folder, repeat):
    make, count, c, gamma = PROBLEMS[name]
    samples = make()
    if samples is None:
        print(f"{name:12} skipped: KWEAVE_DATA names no folder with it")
        return None
    random.Random(0).shuffle(samples)
    train, new = samples[:count], samples[count: count + 2000]
    paths = {part: str(folder / f"{name}.{part}") for part in ("train", "new", "svm", "svm.out", "model", "json", "out")}
    write(paths["train"], train)
    write(paths["new"], new)
    libsvm = ["svm-train", "-t", "2", "-g", repr(gamma), "-c", str(c), "-e", "0.001", "-m", "4000",
              paths["train"], paths["svm"]]
    ours = [kweave, "train", paths["train"], "--kernel", f"rbf(gamma={gamma!r})", "-C", str(c), "--normalize", "none",
            "--gap", "1e-4", "--threads", "1", "--summary", paths["json"], "-q", "-o", paths["model"]]
    theirs_seconds, ours_seconds = [], []
    for _ in range(repeat):
        seconds, output = cpu_seconds(libsvm)
        theirs_seconds.append(seconds)
        ours_seconds.append(cpu_seconds(ours)[0])
    summary = json.loads(pathlib.Path(paths["json"]).read_text())
    objective = -float(re.findall(r"obj = ([-0-9.e+]+)", output)[-1])
    cpu_seconds(["svm-predict", paths["new"], paths["svm"], paths["svm.out"]])
    cpu_seconds([kweave, "predict", paths["model"], paths["new"], "-o", paths["out"], "-q"])
    pairs = zip(pathlib.Path(paths["svm.out"]).read_text().split("\n"), pathlib.Path(paths["out"]).read_text().split("\n"))
    differ = sum(1 for theirs, mine in pairs if mine and abs(float(mine.split("\t")[1])) > 1e-3
                 and float(theirs) != float(mine.split("\t")[0]))
    row = {"problem": name, "n": count, "libsvm_seconds": min(theirs_seconds), "kweave_seconds": min(ours_seconds),
           "ratio": min(ours_seconds) / min(theirs_seconds), "libsvm_objective": objective, "primal": summary["primal"],
           "dual": summary["dual"], "gap": summary["relative_gap"], "differing_predictions": differ}
    print(f"{name:12} {count:6} {row['libsvm_seconds']:9.2f} {row['kweave_seconds']:9.2f} {row['ratio']:7.3f} "
          f"{objective:14.4f} {summary['dual']:14.4f} {summary['relative_gap']:9.1e} {differ:6}", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kweave")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--json")
    parser.add_argument("--only")
    arguments = parser.parse_args()
    print(f"{'problem':12} {'n':>6} {'libsvm s':>9} {'kweave s':>9} {'ratio':>7} {'libsvm obj':>14} {'kweave dual':>14} "
          f"{'gap':>9} {'differ':>6}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in PROBLEMS:
            if arguments.only and arguments.only not in name:
                continue
            row = compare(arguments.kweave, name, pathlib.Path(folder), arguments.repeat)
            rows += [row] if row else []
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
