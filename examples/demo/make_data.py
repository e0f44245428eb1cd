#!/usr/bin/env python3
"""Makes a small data set of patients seen through three sources, as CSV files joined by id.

Usage: make_data.py FOLDER

Writes FOLDER/train and FOLDER/test, each with expression.csv, image.csv and noise.csv:

    expression  20 genes, of which 5 are shifted in the ill: a linear kernel sees it, right 5 times in 6
    image       a point on one of two noisy rings: only a nonlinear kernel sees it, right 5 times in 6
    noise       10 numbers that say nothing

Each file holds its patients in an order of its own, as files from different laboratories do.
"""
import csv
import math
import random
import sys
from pathlib import Path

COUNTS = {"train": 300, "test": 200}


def expression(is_ill, random_source):
    shift = 0.45 if is_ill else -0.45
    return [random_source.gauss(shift if gene < 5 else 0, 1) for gene in range(20)]


def image(is_ill, random_source):
    radius = (1.9 if is_ill else 1.0) + random_source.gauss(0, 0.4)
    angle = random_source.uniform(0, 2 * math.pi)
    return [radius * math.cos(angle), radius * math.sin(angle)]


def noise(_, random_source):
    return [random_source.gauss(0, 1) for _ in range(10)]


SOURCES = {
    "expression": (expression, [f"gene{i}" for i in range(1, 21)]),
    "image": (image, ["horizontal", "vertical"]),
    "noise": (noise, [f"noise{i}" for i in range(1, 11)]),
}


def write_source(path, name, patients, random_source):
    measure, columns = SOURCES[name]
    has_label = name == "expression"
    rows = [
        [patient, *(["ill" if is_ill else "healthy"] if has_label else []),
         *(f"{value:.4f}" for value in measure(is_ill, random_source))]
        for patient, is_ill in patients
    ]
    random_source.shuffle(rows)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", *(["label"] if has_label else []), *columns])
        writer.writerows(rows)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    random_source = random.Random(7)
    for part, count in COUNTS.items():
        folder = Path(sys.argv[1]) / part
        folder.mkdir(parents=True, exist_ok=True)
        patients = [(f"{part}-{i:03}", random_source.random() < 0.5) for i in range(1, count + 1)]
        for name in SOURCES:
            write_source(folder / f"{name}.csv", name, patients, random_source)


if __name__ == "__main__":
    main()
