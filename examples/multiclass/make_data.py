#!/usr/bin/env python3
"""Writes leaves.csv: four kinds of leaves in five features, and kinds.txt, which says what kind belongs where.

    python3 examples/multiclass/make_data.py FOLDER
"""
import random
import sys
from pathlib import Path

CENTRES = {"oak": (0, 0), "beech": (1.2, 0.2), "pine": (5, 4), "fir": (5.6, 5.1)}  # width and length
PLACES = {"oak": "broad", "beech": "broad", "pine": "needle", "fir": "needle"}


def main():
    folder = Path(sys.argv[1])
    draw = random.Random(1)
    lines = ["label,width,length,age,wind,rain"]
    for i in range(160):
        kind = list(CENTRES)[i % 4]
        measured = [centre + draw.gauss(0, 0.7) for centre in CENTRES[kind]]
        noise = [draw.gauss(0, 1) for _ in range(3)]
        lines.append(",".join([kind, *(f"{x:.4f}" for x in measured + noise)]))
    (folder / "leaves.csv").write_text("\n".join(lines) + "\n")
    (folder / "kinds.txt").write_text("".join(f"{kind} {place}\n" for kind, place in PLACES.items()))


if __name__ == "__main__":
    main()
