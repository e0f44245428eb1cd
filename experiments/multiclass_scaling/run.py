#!/usr/bin/env python3
"""Many classes: how does the time of one machine for all classes grow with samples, classes and kernels?

    experiments/multiclass_scaling/run.py KWEAVE [--quick] [--folder FOLDER] [--images FOLDER]

README.md beside this file says what is shown and where the settings come from.
"""
import math
import random
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common  # noqa: E402

NOISE = 0.3
BASE = {"samples": 300, "classes": 3, "kernels": 3}
PAPER = {"samples": 2.4, "classes": 1.7, "kernels": 1.1}  # slopes of its SILP, unfolded
GAP = 1e-2
WHOLE_GRID_SECONDS = 1200


class Sizes:
    """The values of each axis, the others at the base; and runs of each, of which the fastest counts."""

    def __init__(self, is_quick):
        self.repetitions = 3
        self.axes = {
            "samples": [100, 300, 600] if is_quick else [100, 200, 300, 500, 1000, 2000, 5000],
            "classes": [3, 6, 12] if is_quick else [3, 5, 10, 20, 50, 100],
            "kernels": [2, 3, 6] if is_quick else [2, 3, 5, 10, 20],
        }


def simplex(classes):
    """The corners of a regular simplex with edges of length 1, in one dimension less than it has corners."""
    corners = [[0.0] * (classes - 1)]
    for k in range(1, classes):
        # Above the centre of the corners so far, at distance 1 from all of them.
        corner = [sum(other[j] for other in corners) / k for j in range(classes - 1)]
        corner[k - 1] = math.sqrt(1 - sum((a - b) ** 2 for a, b in zip(corner, corners[0])))
        corners.append(corner)
    return corners


def make_samples(count, classes, seed):
    draw = random.Random(seed)
    corners = simplex(classes)
    return [(f"c{i % classes}", [x + draw.gauss(0, NOISE) for x in corners[i % classes]]) for i in range(count)]


def factors(kernels):
    """1, 2^-0.5, 2^0.5, 2^-1, 2^1, ...: the widths around the rule, in the paper's order."""
    powers = [0.0]
    step = 0.5
    while len(powers) < kernels:
        powers += [-step, step]
        step += 0.5
    return [2**power for power in powers[:kernels]]


def run(kweave, samples, classes, kernels, seed):
    common.write_samples(kweave.folder / "train.csv", make_samples(samples, classes, seed))
    # A width factor acts on distances, so its square on gamma, which multiplies squared distances.
    gammas = ",".join(f"quantile({1 / classes:.6g})*{1 / factor**2:.6g}" for factor in factors(kernels))
    return kweave.train("train.csv", "scaling.kweave", "--multiclass", "joint", "--kernel", f"rbf(gamma=[{gammas}])",
                        "--norm", "1", "-C", "1", "--gap", f"{GAP:g}", "--threads", "2")


def processor_seconds(kweave, **setting):
    """Of all threads: other work on the machine does not count. And the summary."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    summary = run(kweave, **setting)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, summary


def measure(kweave, sizes):
    """For each axis, (value, processor seconds, relative gap) of the fastest run; and the seconds of all runs."""
    measured, start = {}, time.monotonic()
    for axis, values in sizes.axes.items():
        rows = []
        for value in values:
            setting = {**BASE, axis: value}
            setting["samples"] = max(setting["samples"], setting["classes"] * 3)
            runs = [processor_seconds(kweave, **setting, seed=seed) for seed in range(sizes.repetitions)]
            rows.append((value, min(seconds for seconds, _ in runs), max(r["relative_gap"] for _, r in runs)))
            print(f"{axis} {value}: {rows[-1][1]:.3f} s", flush=True)
        measured[axis] = rows
    return measured, time.monotonic() - start


def slope(rows):
    """Of a line through the logarithms, by least squares."""
    points = [(math.log(value), math.log(max(seconds, 1e-3))) for value, seconds, _ in rows]
    x, y = common.mean(p[0] for p in points), common.mean(p[1] for p in points)
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def draw(pyplot, measured, path):
    figure, axes = pyplot.subplots(1, 3, figsize=(9, 3), layout="constrained", sharey=True)
    for plot, (axis, rows) in zip(axes, measured.items()):
        plot.loglog([r[0] for r in rows], [r[1] for r in rows], marker="o", markersize=4, color=common.BLUE)
        first, last = rows[0], rows[-1]
        paper = [first[1], first[1] * (last[0] / first[0]) ** PAPER[axis]]
        plot.loglog([first[0], last[0]], paper, color=common.FAINT, linestyle="--", label=f"slope {PAPER[axis]} (paper)")
        plot.set(xlabel=axis)
        plot.set_title(f"slope {slope(rows):.2f}", loc="left")
        plot.legend()
    axes[0].set_ylabel("processor seconds")
    common.save(figure, path)


def main():
    chosen = common.arguments(__doc__, "multiclass_scaling")
    sizes = Sizes(chosen.quick)
    kweave = common.Kweave(chosen.kweave, chosen.folder)
    print("One machine for all classes: time by samples, classes and kernels")
    measured, total = measure(kweave, sizes)
    rows = [[axis, value, f"{seconds:.3f}", f"{gap:.1e}"] for axis, found in measured.items()
            for value, seconds, gap in found]
    common.print_table(["axis", "value", "processor seconds", "gap"], rows)
    common.write_csv(chosen.folder / "scaling.csv", ["axis", "value", "seconds", "relative_gap"],
                     [[axis, *row] for axis, found in measured.items() for row in found])
    claims = common.Claims()
    for axis, found in measured.items():
        steep = slope(found)
        claims.check(f"time grows with {axis} no faster than the paper's SILP", steep <= PAPER[axis],
                     f"slope {steep:.2f}, paper {PAPER[axis]}")
    gap = max(row[2] for found in measured.values() for row in found)
    claims.check("every gap is certified", gap <= GAP, f"largest {gap:.1e}")
    claims.check("the whole grid takes less than 20 minutes", total < WHOLE_GRID_SECONDS, f"{total:.0f} s")
    pyplot = None if chosen.quick else common.plotting()
    if pyplot:
        draw(pyplot, measured, chosen.images / "multiclass_scaling.png")
    claims.exit()


if __name__ == "__main__":
    main()
