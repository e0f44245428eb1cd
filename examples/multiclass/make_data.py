#!/usr/bin/env python3
"""Writes leaves.csv: four kinds of leaves in five features, new-leaves.csv: more of them, kinds.txt, which says what kind
belongs where, and guide.txt and new-guide.txt: how well each leaf fits what a guide says about each kind, as a kernel on
pairs of leaf and kind.

    python3 examples/multiclass/make_data.py FOLDER
"""
import math
import random
import sys
from pathlib import Path

CENTRES = {"oak": (0, 0), "beech": (1.2, 0.2), "pine": (5, 4), "fir": (5.6, 5.1)}  # width and length
PLACES = {"oak": "broad", "beech": "broad", "pine": "needle", "fir": "needle"}
KINDS = sorted(CENTRES)  # the order of the classes in a model


def leaves(draw, count):
    """Kinds, and what was measured."""
    kinds, rows = [], []
    for i in range(count):
        kinds.append(list(CENTRES)[i % 4])
        measured = [centre + draw.gauss(0, 0.7) for centre in CENTRES[kinds[-1]]]
        rows.append(measured + [draw.gauss(0, 1) for _ in range(3)])
    return kinds, rows


def csv(kinds, rows):
    lines = ["label,width,length,age,wind,rain"]
    lines += [",".join([kind, *(f"{x:.4f}" for x in row)]) for kind, row in zip(kinds, rows)]
    return "\n".join(lines) + "\n"


def fits(rows):
    """For every pair of leaf and kind, those of one leaf together, how close the leaf is to what the guide says."""
    return [math.exp(-sum((x - c) ** 2 for x, c in zip(row, CENTRES[kind]))) for row in rows for kind in KINDS]


def products(left, right):
    return "".join(" ".join(f"{a * b:.6g}" for b in right) + "\n" for a in left)


def main():
    folder = Path(sys.argv[1])
    draw = random.Random(1)
    kinds, rows = leaves(draw, 160)
    new_kinds, new_rows = leaves(draw, 40)
    (folder / "leaves.csv").write_text(csv(kinds, rows))
    (folder / "new-leaves.csv").write_text(csv(new_kinds, new_rows))
    (folder / "kinds.txt").write_text("".join(f"{kind} {place}\n" for kind, place in PLACES.items()))
    (folder / "guide.txt").write_text(products(fits(rows), fits(rows)))
    (folder / "new-guide.txt").write_text(products(fits(new_rows), fits(rows)))


if __name__ == "__main__":
    main()
