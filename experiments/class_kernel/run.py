#!/usr/bin/env python3
"""A kernel on the classes: does the one that is learned show how the classes lie?

    experiments/class_kernel/run.py KWEAVE [--quick] [--folder FOLDER] [--images FOLDER]

README.md beside this file says what is shown and where the settings come from.
"""
import math
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common  # noqa: E402

# Three Gaussian classes; the paper draws its own without numbers.
ARRANGEMENTS = {
    "triangle": {"A": (0, 1), "B": (-0.87, -0.5), "C": (0.87, -0.5)},
    "line": {"A": (-1.6, 0), "B": (0, 0), "C": (1.6, 0)},
    "wedge": {"A": (-0.5, 0), "B": (0.5, 0), "C": (0, 3)},
    "obtuse": {"A": (-2, 0), "B": (0, 0.6), "C": (1, 0)},
}
NOISE = 0.3
NORM = "4/3"
COST = 1e-3  # small, so that all samples count and not only those between classes that lie close
GAP = 1e-4
SETTINGS = {"C": [1e-4, 1e-3, 1e-2, 0.1, 1], "norm": ["1", "4/3", "2"]}


def make_samples(centres, count, seed):
    draw = random.Random(seed)
    names = list(centres)
    return [(names[i % 3], [x + draw.gauss(0, NOISE) for x in centres[names[i % 3]]]) for i in range(count)]


def distances(points):
    """Of all pairs, in the order of their names, as shares of their sum."""
    names = sorted(points)
    found = [math.dist(points[a], points[b]) for k, a in enumerate(names) for b in names[k + 1:]]
    return [d / sum(found) for d in found]


def run(kweave, centres, count, seed, norm=NORM, cost=COST):
    """Learns the kernel on the classes; returns the points of its embedding."""
    common.write_samples(kweave.folder / "train.csv", make_samples(centres, count, seed))
    summary = kweave.train("train.csv", "classes.kweave", "--multiclass", "joint", "--class-kernel", "blocks",
                           "--kernel", "linear", "--norm", norm, "-C", f"{cost:g}", "--gap", f"{GAP:g}")
    report = summary["class_kernel"]
    points = dict(zip(report["classes"], map(tuple, report["embedding"])))
    return {"points": points, "gap": summary["relative_gap"]}


def keeps_order(true, learned):
    """Whether pairs of classes with different distances have learned distances in the same order."""
    pairs = [(a, b) for a in range(3) for b in range(3) if true[a] > true[b] + 0.05]
    return all(learned[a] > learned[b] for a, b in pairs)


def show_settings(kweave, count, seeds, folder):
    """In how many draws of all arrangements the order of the distances is kept, by norm and C."""
    rows = []
    for cost in SETTINGS["C"]:
        rows.append([f"{cost:g}"])
        for norm in SETTINGS["norm"]:
            kept = [keeps_order(distances(centres), distances(run(kweave, centres, count, seed, norm, cost)["points"]))
                    for name, centres in ARRANGEMENTS.items() if name != "triangle" for seed in range(seeds)]
            rows[-1].append(f"{sum(kept)} of {len(kept)}")
    header = ["C", *(f"p = {norm}" for norm in SETTINGS["norm"])]
    common.print_table(header, rows)
    common.write_csv(folder / "settings.csv", header, rows)


def draw(pyplot, centres, results, path):
    figure, axes = pyplot.subplots(2, len(centres), figsize=(9.6, 5), layout="constrained")
    for column, name in enumerate(centres):
        samples = make_samples(centres[name], 150, 0)
        for k, label in enumerate(sorted(centres[name])):
            color = pyplot.get_cmap("viridis")(0.1 + 0.38 * k)
            cloud = [x for y, x in samples if y == label]
            axes[0][column].scatter([x[0] for x in cloud], [x[1] for x in cloud], s=6, color=color)
            point = results[name]["points"][label]
            axes[1][column].scatter(*point, s=60, color=color)
            axes[1][column].annotate(label, point, xytext=(6, 4), textcoords="offset points")
        axes[0][column].set_title(name, loc="left")
        for row in axes:
            row[column].set_aspect("equal", adjustable="datalim")
            row[column].margins(0.25)
    axes[0][0].set_ylabel("samples")
    axes[1][0].set_ylabel("learned kernel on classes")
    common.save(figure, path)


def main():
    chosen = common.arguments(__doc__, "class_kernel")
    kweave = common.Kweave(chosen.kweave, chosen.folder)
    count, seeds = (90, 1) if chosen.quick else (300, 5)
    print(f"A kernel on three classes, learned from {count} samples, {seeds} draws each")
    runs = {name: [run(kweave, centres, count, seed) for seed in range(seeds)] for name, centres in ARRANGEMENTS.items()}
    claims_rows = []
    for name, found in runs.items():
        true = distances(ARRANGEMENTS[name])
        learned = common.mean_by_position(distances(r["points"]) for r in found)
        claims_rows.append([name, *(f"{d:.2f}" for d in true), *(f"{d:.2f}" for d in learned)])
    header = ["arrangement", "AB", "AC", "BC", "learned AB", "learned AC", "learned BC"]
    common.print_table(header, claims_rows)
    common.write_csv(chosen.folder / "class_kernel.csv", header, claims_rows)
    claims = common.Claims()
    for name, found in runs.items():
        true = distances(ARRANGEMENTS[name])
        learned = [distances(r["points"]) for r in found]
        if name == "triangle":
            spread = max(max(d) - min(d) for d in learned)
            claims.check("classes that are alike lie alike", spread < 0.1, f"shares differ by {spread:.2f} at most")
        else:
            kept = [keeps_order(true, d) for d in learned]
            claims.check(f"{name}: what is farther apart is farther apart in the embedding", all(kept),
                         f"{sum(kept)} of {len(kept)} draws")
    if not chosen.quick:
        show_settings(kweave, count, seeds, chosen.folder)
    gap = max(r["gap"] for found in runs.values() for r in found)
    claims.check("every gap is certified", gap <= GAP, f"largest {gap:.1e}")
    pyplot = None if chosen.quick else common.plotting()
    if pyplot:
        draw(pyplot, ARRANGEMENTS, {name: found[0] for name, found in runs.items()}, chosen.images / "class_kernel.png")
    claims.exit()


if __name__ == "__main__":
    main()
