#!/usr/bin/env python3
"""Writes ring.csv and new-ring.csv into FOLDER: a ring around a disc in two of eight features.

    make_data.py FOLDER
"""
import random
import sys
from pathlib import Path


def write(path, count, seed):
    source = random.Random(seed)
    lines = ["label," + ",".join(f"x{f}" for f in range(1, 9))]
    for _ in range(count):
        x = [source.uniform(-1, 1) for _ in range(8)]
        lines.append(f"{'disc' if x[0]**2 + x[1]**2 < 0.6 else 'ring'}," + ",".join(f"{v:.4f}" for v in x))
    path.write_text("\n".join(lines) + "\n")


def main():
    folder = Path(sys.argv[1])
    write(folder / "ring.csv", 200, 1)
    write(folder / "new-ring.csv", 200, 2)


if __name__ == "__main__":
    main()
