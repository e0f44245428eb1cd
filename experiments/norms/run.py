#!/usr/bin/env python3
"""From sparse to uniform: what the norm p does to the weights of the kernels.

    experiments/norms/run.py KWEAVE [--quick] [--folder FOLDER] [--images FOLDER]

README.md beside this file says what is shown. KWEAVE_DATA names the folder with real data.
"""
import math
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common  # noqa: E402

NORMS = {"1": "1", "4/3": repr(4 / 3), "2": "2", "4": "4", "∞": "inf"}
STRENGTHS = [1.0, 0.75, 0.5] + 7 * [0.0]  # of the made sources: three that say something, seven that do not
FEATURES = 5                              # of every made source
COUNTS = {"train": 300, "validation": 1000, "test": 5000}


class MadeSources:
    """Ten sources of five features; the label shifts the first feature of the informative ones."""

    name, title, kernel_label = "made", "ten made sources", "source"
    costs, shown_cost = [0.001, 0.01, 0.1, 1], 0.1
    kernels = [f"linear@data[{FEATURES * m + 1}..{FEATURES * (m + 1)}]" for m in range(len(STRENGTHS))]
    informative = [strength > 0 for strength in STRENGTHS]
    # Of the best possible rule: the classes lie twice the length of all strengths apart, with unit noise.
    best_accuracy = statistics.NormalDist().cdf(math.hypot(*STRENGTHS))

    def split(self, repetition):
        generator = random.Random(f"made {repetition}")
        return {part: [self._sample(i, generator) for i in range(count)] for part, count in COUNTS.items()}

    @staticmethod
    def _sample(i, generator):
        sign = 1 if i % 2 else -1
        features = [generator.gauss(sign * strength if feature == 0 else 0, 1)
                    for strength in STRENGTHS for feature in range(FEATURES)]
        return f"{sign:+d}", features


class Sonar:
    """Echoes of mines and rocks in 60 frequency bands; one Gaussian kernel per band."""

    name, title, kernel_label = "sonar", "sonar: 60 frequency bands", "band"
    costs, shown_cost = [0.01, 0.1, 1, 10], 1
    kernels = ["each(rbf)"]
    informative = None
    best_accuracy = None

    def __init__(self, samples):
        self.samples = samples

    def split(self, repetition):
        """A half to train, a quarter to choose C, a quarter to test."""
        samples = self.samples[:]
        random.Random(f"sonar {repetition}").shuffle(samples)
        half, quarter = len(samples) // 2, len(samples) // 4
        return {"train": samples[:half], "validation": samples[half:half + quarter], "test": samples[half + quarter:]}


def read_sonar():
    """The samples of the real data set, or None with a note."""
    folder = os.environ.get("KWEAVE_DATA")
    path = Path(folder or ".") / "sonar.zst"
    if not folder or not path.exists():
        print("\nnot run on real data: set KWEAVE_DATA to a folder that holds sonar.zst")
        return None
    text = subprocess.run(["zstd", "-dcq", path], capture_output=True, text=True, check=True).stdout
    samples = []
    for line in text.splitlines():
        label, *pairs = line.split()
        values = dict(pair.split(":") for pair in pairs)
        samples.append((label, [float(values.get(str(band), 0)) for band in range(1, 61)]))
    return samples


def run_one(kweave, problem, norm, parts):
    """Weights and gap at the shown C; test accuracy at the C that is best on the validation part."""
    models = {}
    for cost in problem.costs:
        options = [word for spec in problem.kernels for word in ("--kernel", spec)]
        summary = kweave.train(parts["train"], f"{cost}.kweave", *options, "--norm", norm, "-C", cost, "--gap", "1e-4")
        accuracy = kweave.predict(f"{cost}.kweave", parts["validation"])["accuracy"] if len(problem.costs) > 1 else 0
        models[cost] = (accuracy, summary)
    chosen = max(models, key=lambda cost: models[cost][0])
    summary = models[problem.shown_cost][1]
    return {"weights": [kernel["weight"] for kernel in summary["kernels"]], "cost": chosen,
            "accuracy": kweave.predict(f"{chosen}.kweave", parts["test"])["accuracy"],
            "gap": max(summary["relative_gap"] for _, summary in models.values())}


def run_all(kweave, problem, repetitions):
    """{p: one result per repetition}"""
    results = {label: [] for label in NORMS}
    for repetition in range(repetitions):
        parts = {}
        for part, samples in problem.split(repetition).items():
            parts[part] = f"{problem.name}-{part}.csv"
            common.write_samples(kweave.folder / parts[part], samples)
        for label, norm in NORMS.items():
            results[label].append(run_one(kweave, problem, norm, parts))
    return results


def relative_weights(weights):
    """Weights as parts of the largest, which makes them comparable between norms."""
    return [weight / max(weights) for weight in weights]


def count_heavy(weights):
    """How many kernels carry more than 1 % of the largest weight."""
    return sum(weight > 0.01 for weight in relative_weights(weights))


def check_claims(problem, results):
    runs = {label: [run["weights"] for run in runs] for label, runs in results.items()}
    heavy = [common.mean(map(count_heavy, weights)) for weights in runs.values()]
    uneven = max(1 - min(relative_weights(weights)) for weights in runs["∞"])
    gap = max(run["gap"] for runs in results.values() for run in runs)

    claims = common.Claims()
    claims.check("the larger p, the more kernels count", heavy == sorted(heavy) and heavy[0] < heavy[-1],
                 " ≤ ".join(f"{count:g}" for count in heavy) + f" of {len(runs['1'][0])}")
    claims.check("p = ∞ is the uniform sum", uneven < 1e-9, f"weights differ by {uneven:.0e}")
    claims.check("every gap is certified", gap <= 1e-3, f"largest {gap:.1e}")
    if problem.informative:
        noise = max(value for weights in runs["1"] for value, informative
                    in zip(relative_weights(weights), problem.informative) if not informative)
        claims.check("p = 1 gives noise nothing", noise < 0.01, f"largest relative weight {noise:.1e}")
    return claims


def print_results(problem, results, folder):
    rows = []
    for label, runs in results.items():
        accuracies = [100 * run["accuracy"] for run in runs]
        ahead = [accuracy - 100 * uniform["accuracy"] for accuracy, uniform in zip(accuracies, results["∞"])]
        row = [label, f"{common.mean(count_heavy(run['weights']) for run in runs):g}"]
        if problem.informative:
            row.append(f"{common.mean(noise_share(problem, run['weights']) for run in runs):.1%}")
        rows.append([*row, f"{common.mean(accuracies):.1f} ± {common.standard_error(accuracies):.1f}",
                     f"{common.mean(ahead):+.1f} ± {common.standard_error(ahead):.1f}",
                     ", ".join(sorted({f"{run['cost']:g}" for run in runs})),
                     f"{max(run['gap'] for run in runs):.1e}"])
    common.print_table(["p", "kernels above 1 %", *(["weight on noise"] if problem.informative else []),
                        "test accuracy %", "against p = ∞", "C chosen", "largest gap"], rows)
    common.write_csv(folder / f"{problem.name}.csv",
                     ["p", "repetition", *(f"weight_{m + 1}" for m in range(len(results["1"][0]["weights"]))),
                      "accuracy", "cost", "relative_gap"],
                     [[NORMS[label], repetition, *run["weights"], run["accuracy"], run["cost"], run["gap"]]
                      for label, runs in results.items() for repetition, run in enumerate(runs)])


def noise_share(problem, weights):
    return sum(w for w, informative in zip(weights, problem.informative) if not informative) / sum(weights)


def draw(pyplot, problem, results, path):
    """One row of bars per norm, the test accuracy beside them."""
    figure, axes = pyplot.subplot_mosaic(
        [[label, "accuracy"] for label in NORMS], figsize=(8.4, 5.6),
        gridspec_kw={"width_ratios": [2, 1], "hspace": 0.28, "wspace": 0.22, "left": 0.105, "right": 0.985,
                     "top": 0.945, "bottom": 0.09})
    for label, runs in results.items():
        draw_weights(axes[label], problem, label, [relative_weights(run["weights"]) for run in runs])
    axes["∞"].set_xlabel(problem.kernel_label)
    axes["∞"].tick_params(labelbottom=True)

    accuracies = [[100 * run["accuracy"] for run in runs] for runs in results.values()]
    accuracy = axes["accuracy"]
    accuracy.errorbar(range(len(NORMS)), [common.mean(a) for a in accuracies],
                      [common.standard_error(a) for a in accuracies], marker="o", color=common.BLUE)
    accuracy.set(xticks=range(len(NORMS)), xticklabels=NORMS, xlabel="p", xlim=(-0.4, len(NORMS) - 0.6))
    accuracy.set_title("test accuracy, %", loc="left")
    accuracy.grid(axis="y", color=common.FAINT, linewidth=0.6)
    if problem.best_accuracy:
        accuracy.axhline(100 * problem.best_accuracy, color=common.INK, linewidth=1, linestyle="--")
        accuracy.text(len(NORMS) - 0.65, 100 * problem.best_accuracy, "best possible", ha="right", va="bottom",
                      fontsize=9)
    common.save(figure, path)


def draw_weights(axes, problem, label, weights):
    count = len(weights[0])
    informative = problem.informative or count * [True]
    colors = [common.BLUE if flag else common.ORANGE for flag in informative]
    axes.bar(range(1, count + 1), common.mean_by_position(weights), color=colors, width=0.75,
             yerr=[common.standard_error(column) for column in zip(*weights)],
             error_kw={"elinewidth": 0.8, "capsize": 0 if count > 20 else 2.5})
    axes.set(ylim=(0, 1.12), yticks=[0, 1], xlim=(0.3, count + 0.7))
    axes.set_ylabel(f"p = {label}", rotation=0, ha="right", va="center")
    axes.set_xticks([1, *range(10, count + 1, 10)] if count > 20 else range(1, count + 1))
    axes.tick_params(labelbottom=False)
    if label == "1":
        axes.set_title(f"weight of each {problem.kernel_label}, as part of the largest", loc="left")
        if problem.informative:
            for flag, text in ((True, "informative"), (False, "noise")):
                axes.bar([0], [0], color=common.BLUE if flag else common.ORANGE, label=text)
            axes.legend(loc="upper right", ncol=2, borderaxespad=0)


def main():
    chosen = common.arguments(__doc__, "norms")
    kweave = common.Kweave(chosen.kweave, chosen.folder)
    problems = [MadeSources()]
    if chosen.quick:
        problems[0].costs = [problems[0].shown_cost]
    elif samples := read_sonar():
        problems.append(Sonar(samples))
    failures = 0
    pyplot = None if chosen.quick else common.plotting()
    for problem in problems:
        print(f"\n{problem.title[0].upper()}{problem.title[1:]}")
        results = run_all(kweave, problem, 1 if chosen.quick else 10)
        print_results(problem, results, chosen.folder)
        failures += check_claims(problem, results).failures
        if pyplot:
            draw(pyplot, problem, results, chosen.images / f"norms-{problem.name}.png")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
