#!/usr/bin/env python3
"""Writes small data for a regression and for a one-class machine into a folder.

Usage: make_data.py FOLDER

waves.csv and new-waves.csv: `label` is a fast sine of `a` plus a line in `b`; `c` says nothing. machine.csv: readings of a
machine that runs well; new-machine.csv: some more, label 1, and readings of a broken one, label -1.
"""
import math
import random
import sys
from pathlib import Path


def write(path, names, rows):
    path.write_text("\n".join(",".join(map(str, row)) for row in [names, *rows]) + "\n")


def waves(generator, count):
    rows = []
    for _ in range(count):
        a, b, c = (generator.uniform(-2, 2) for _ in range(3))
        rows.append([f"{v:.4f}" for v in (math.sin(4 * a) + 0.5 * b + generator.gauss(0, 0.1), a, b, c)])
    return rows


def readings(generator, count, is_broken):
    """Pressure follows temperature in a machine that runs well; a broken one has lost the connection."""
    rows = []
    for _ in range(count):
        temperature = generator.uniform(-2, 2)
        pressure = generator.uniform(-2, 2) if is_broken else temperature ** 2 - 2 + generator.gauss(0, 0.15)
        rows.append([f"{temperature:.4f}", f"{pressure:.4f}"])
    return rows


def main():
    folder, generator = Path(sys.argv[1]), random.Random(5)
    for name, count in (("waves.csv", 300), ("new-waves.csv", 200)):
        write(folder / name, ["label", "a", "b", "c"], waves(generator, count))
    write(folder / "machine.csv", ["temperature", "pressure"], readings(generator, 300, False))
    labelled = [["1", *row] for row in readings(generator, 100, False)]
    labelled += [["-1", *row] for row in readings(generator, 100, True)]
    write(folder / "new-machine.csv", ["label", "temperature", "pressure"], labelled)


if __name__ == "__main__":
    main()
