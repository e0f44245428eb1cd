#!/usr/bin/env python3
"""The star problem: which of five Gaussian widths does a sparse combination choose?

    experiments/stars/run.py KWEAVE [--quick] [--folder FOLDER] [--images FOLDER]

README.md beside this file says what is shown and where the settings come from.
"""
import math
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common  # noqa: E402

LIGHT_RADIUS, LEAVES, NOISE = 4.0, 10, 0.3
WIDTHS = [0.01, 0.1, 1, 10, 100]  # k = exp(-||x-z||^2 / width)
OPTIONS = ["--kernel", f"rbf(gamma=[{','.join(f'{1 / width:g}' for width in WIDTHS)}])", "--normalize", "none",
           "--norm", "1", "-C", "0.5", "--gap", "1e-4"]


class Sizes:
    """How much is run: the whole experiment, or enough of it to see that it still works."""

    def __init__(self, is_quick):
        self.distances = [0.1, 1.3, 3.7, 5.7] if is_quick else [round(0.1 + 0.2 * k, 1) for k in range(30)]
        self.repetitions = 1 if is_quick else 5
        self.train = 400 if is_quick else 2000
        self.test = 500 if is_quick else 2000


def make_star(count, distance, generator):
    """Half of the points on the light star, half on the dark one whose outline is `distance` further out."""
    samples = []
    for i in range(count):
        label = "dark" if i % 2 else "light"
        angle = generator.uniform(0, 2 * math.pi)
        outline = LIGHT_RADIUS + math.sin(LEAVES * angle) + (distance if label == "dark" else 0)
        radius = outline + generator.gauss(0, NOISE)
        samples.append((label, [radius * math.sin(angle), radius * math.cos(angle)]))
    return samples


def run_one(kweave, sizes, distance, repetition):
    """Trains and tests once; returns weights, test error and certified gap."""
    generator = random.Random(f"{distance} {repetition}")
    common.write_samples(kweave.folder / "train.csv", make_star(sizes.train, distance, generator))
    common.write_samples(kweave.folder / "test.csv", make_star(sizes.test, distance, generator))
    summary = kweave.train("train.csv", "stars.kweave", *OPTIONS)
    scores = kweave.predict("stars.kweave", "test.csv")
    weights = [kernel["weight"] for kernel in summary["kernels"]]
    return {"weights": weights, "log_width": mean_log_width(weights), "error": 1 - scores["accuracy"],
            "gap": summary["relative_gap"]}


def mean_log_width(weights):
    """The decimal logarithm of the width, averaged over the kernels by their weights."""
    return sum(w * math.log10(width) for w, width in zip(weights, WIDTHS)) / sum(weights)


def check_claims(results):
    """The paper's three claims, and that every number rests on a certified solution."""
    runs = [run for runs in results.values() for run in runs]
    widest = max(run["weights"][-1] / sum(run["weights"]) for run in runs)
    log_widths = [common.mean(run["log_width"] for run in runs) for runs in results.values()]
    step = min(after - before for before, after in zip(log_widths, log_widths[1:]))
    errors = {distance: max(run["error"] for run in runs) for distance, runs in results.items()}
    last_with_error = max((distance for distance, error in errors.items() if error > 0), default=0)
    zero_from = min((distance for distance in errors if distance > last_with_error), default=math.inf)
    gap = max(run["gap"] for run in runs)

    claims = common.Claims()
    claims.check("the widest kernel is not chosen", widest < 0.01, f"largest weight {widest:.1e}")
    claims.check("the width grows with the distance", step > -0.01 and log_widths[-1] - log_widths[0] > 2,
                 f"mean log10 width {log_widths[0]:.2f} to {log_widths[-1]:.2f}, smallest step {step:+.3f}")
    claims.check("the test error drops to zero", zero_from < 5,
                 f"no mistake in any repetition from distance {zero_from:g} on")
    claims.check("every gap is certified", gap <= 1e-3, f"largest {gap:.1e}")
    return claims


def print_results(results, folder):
    rows = []
    for distance, runs in results.items():
        weights = common.mean_by_position(run["weights"] for run in runs)
        errors = [100 * run["error"] for run in runs]
        rows.append([distance, *(f"{w:.3f}" for w in weights), f"{common.mean(run['log_width'] for run in runs):.2f}",
                     f"{common.mean(errors):.2f} ± {common.standard_error(errors):.2f}"])
    common.print_table(["distance", *(f"width {width:g}" for width in WIDTHS), "log10 width", "test error %"], rows)
    common.write_csv(folder / "stars.csv",
                     ["distance", "repetition", *(f"weight_{width:g}" for width in WIDTHS), "error", "relative_gap"],
                     [[distance, repetition, *run["weights"], run["error"], run["gap"]]
                      for distance, runs in results.items() for repetition, run in enumerate(runs)])


def draw(pyplot, results, path):
    """The stars at four distances, the weights by distance, the test error by distance."""
    figure = pyplot.figure(figsize=(8.4, 7.6))
    grid = figure.add_gridspec(3, 4, height_ratios=[1.3, 1.5, 0.95], hspace=0.36, wspace=0.02,
                               left=0.085, right=0.985, top=0.965, bottom=0.07)
    distances = list(results)
    for column, distance in enumerate(distances[index] for index in (0, 6, 14, 29)):
        draw_stars(figure.add_subplot(grid[0, column]), distance)
    weights_axes = figure.add_subplot(grid[1, :])
    colors = [pyplot.get_cmap("viridis")(0.93 - 0.215 * m) for m in range(len(WIDTHS))]
    for m, (width, color) in enumerate(zip(WIDTHS, colors)):
        values = [[run["weights"][m] for run in runs] for runs in results.values()]
        draw_means(weights_axes, distances, values, color=color, label=f"{width:g}", zorder=3 + (m == 4))
    weights_axes.set(ylabel="weight", ylim=(-0.03, 1.05))
    weights_axes.set_title("weights of the Gaussian kernels of width", loc="left")
    weights_axes.legend(ncol=5, loc="lower right", bbox_to_anchor=(1.01, 0.97), columnspacing=1.5, handlelength=1.4)

    error_axes = figure.add_subplot(grid[2, :], sharex=weights_axes)
    draw_means(error_axes, distances, [[100 * run["error"] for run in runs] for runs in results.values()],
               color=common.ORANGE)
    error_axes.set(ylabel="test error, %", xlabel="distance between the stars", ylim=(-1.5, 54))
    error_axes.set_title("test error", loc="left")
    for axes in (weights_axes, error_axes):
        axes.grid(axis="y", color=common.FAINT, linewidth=0.6)
    common.save(figure, path)


def draw_stars(axes, distance):
    samples = make_star(700, distance, random.Random(0))
    for label, color in (("dark", "#4a4a4a"), ("light", "#f2a541")):
        points = [features for name, features in samples if name == label]
        axes.scatter(*zip(*points), s=4, color=color, linewidths=0)
    axes.set(xlim=(-11.5, 11.5), ylim=(-11.5, 11.5), aspect="equal", title=f"distance {distance:g}")
    axes.axis("off")


def draw_means(axes, positions, values, **style):
    axes.errorbar(positions, [common.mean(v) for v in values], [common.standard_error(v) for v in values],
                  marker="o", markersize=4, **style)


def main():
    chosen = common.arguments(__doc__, "stars")
    sizes = Sizes(chosen.quick)
    kweave = common.Kweave(chosen.kweave, chosen.folder)
    print(f"Two stars: {len(sizes.distances)} distances x {sizes.repetitions} repetitions, {sizes.train} samples to "
          f"train and {sizes.test} to test")
    results = {distance: [run_one(kweave, sizes, distance, repetition) for repetition in range(sizes.repetitions)]
               for distance in sizes.distances}
    print_results(results, chosen.folder)
    claims = check_claims(results)
    pyplot = None if chosen.quick else common.plotting()
    if pyplot:
        draw(pyplot, results, chosen.images / "stars.png")
    claims.exit()


if __name__ == "__main__":
    main()
