#!/usr/bin/env python3
"""Novelties: what a one-class machine promises, and what learned weights do for it.

    experiments/novelties/run.py KWEAVE [--quick] [--folder FOLDER] [--images FOLDER]

README.md beside this file says what is shown. KWEAVE_DATA names the folder with real data.
"""
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common  # noqa: E402

NUS = [0.02, 0.05, 0.1, 0.2, 0.5]
SHOWN_NU, NORM = 0.1, "2"
SPREADS = [0.25, 0.25, 1, 1, 1, 1]  # of the made sources around their centres: two that are alike, four that are not
FEATURES = 3                        # of every made source
SHIFT = 0.5                         # of a novelty, in one of the first two sources
VIEWS = {"fac": 216, "fou": 76, "kar": 64, "mor": 6, "pix": 240, "zer": 47}


class Sizes:
    """How much is run: the whole experiment, or enough of it to see that it still works."""

    def __init__(self, is_quick):
        self.repetitions = 2 if is_quick else 10
        self.train = 150 if is_quick else 400
        self.test = 400 if is_quick else 2000
        self.digits = range(1) if is_quick else range(10)


class MadeSources:
    """Six sources; the normal samples lie close together in the first two, and a novelty lies elsewhere in one of them."""

    name, title = "made", "six made sources"
    sources = [str(m + 1) for m in range(len(SPREADS))]
    kernels = [f"rbf(gamma=0.5)@data[{FEATURES * m + 1}..{FEATURES * (m + 1)}]" for m in range(len(SPREADS))]

    def __init__(self, sizes):
        self.sizes, self.runs = sizes, range(sizes.repetitions)

    def split(self, run):
        generator = random.Random(f"novelties {run}")
        train = [self._sample(None, generator) for _ in range(self.sizes.train)]
        test = [self._sample(None if i % 2 else i // 2 % 2, generator) for i in range(self.sizes.test)]
        return train, test

    @staticmethod
    def _sample(shifted, generator):
        features = [generator.gauss(SHIFT if m == shifted else 0, spread)
                    for m, spread in enumerate(SPREADS) for _ in range(FEATURES)]
        return "1" if shifted is None else "-1", features


class Digits:
    """Handwritten digits in six views: half the samples of one digit to train, the other half among all others to test."""

    name, title = "digits", "handwritten digits in six views"
    sources = list(VIEWS)

    def __init__(self, sizes, folder):
        self.runs, self.samples, begin, self.kernels = sizes.digits, None, 1, []
        for view, count in VIEWS.items():
            rows = read_libsvm(folder / f"mfeat.{view}.zst", count)
            old = self.samples or [(label, []) for label, _ in rows]
            self.samples = [(label, features + more) for (label, features), (_, more) in zip(old, rows)]
            self.kernels.append(f"rbf(gamma=median)@data[{begin}..{begin + count - 1}]")
            begin += count

    def split(self, digit):
        """Features are scaled by their spread over the training samples."""
        digits = sorted({label for label, _ in self.samples})
        normal = [features for label, features in self.samples if label == digits[digit]]
        others = [features for label, features in self.samples if label != digits[digit]]
        train, rest = normal[::2], normal[1::2]
        scales = [1 / (statistics.pstdev(column) or 1) for column in zip(*train)]

        def scaled(label, rows):
            return [(label, [x * scale for x, scale in zip(row, scales)]) for row in rows]
        return scaled("1", train), scaled("1", rest) + scaled("-1", others)


def read_libsvm(path, count):
    text = subprocess.run(["zstd", "-dc", str(path)], capture_output=True, text=True, check=True).stdout
    samples = []
    for line in text.splitlines():
        label, *entries = line.split()
        features = [0.0] * count
        for entry in entries:
            index, value = entry.split(":")
            features[int(index) - 1] = float(value)
        samples.append((label, features))
    return samples


def train_and_test(kweave, kernels, nu, norm):
    """One machine on the samples written before; the scores of new samples and of those it was trained on."""
    options = [word for kernel in kernels for word in ("--kernel", kernel)]
    summary = kweave.train("train.csv", "novelties.kweave", "--task", "oneclass", "--nu", nu, "--norm", norm, "--gap",
                           "1e-4", *options)
    return summary, kweave.predict("novelties.kweave", "test.csv"), kweave.predict("novelties.kweave", "train.csv")


def run_one(kweave, problem, run):
    """The areas under the curve of learned weights, of equal ones and of every source alone; the promise of every nu."""
    train, test = problem.split(run)
    common.write_samples(kweave.folder / "train.csv", train)
    common.write_samples(kweave.folder / "test.csv", test)
    promises = []
    for nu in NUS:
        summary, scores, own = train_and_test(kweave, problem.kernels, nu, NORM)
        promises.append({"nu": nu, "outliers": own["outlier_fraction"], "support": summary["n_support"] / len(train),
                         "gap": summary["relative_gap"], "samples": len(train)})
        if nu == SHOWN_NU:
            weights, learned = [kernel["weight"] for kernel in summary["kernels"]], scores["auc"]
    equal = train_and_test(kweave, problem.kernels, SHOWN_NU, "inf")[1]["auc"]
    alone = [train_and_test(kweave, [kernel], SHOWN_NU, NORM)[1]["auc"] for kernel in problem.kernels]
    return {"weights": [w / sum(weights) for w in weights], "learned": learned, "equal": equal, "alone": alone,
            "promises": promises}


def check_claims(results):
    """What nu promises holds for every machine; what the weights do, on the made sources, where the truth is known."""
    promises = [promise for runs in results.values() for run in runs for promise in run["promises"]]
    # A sample on the boundary lies on either side of it by rounding and by the gap that is left.
    most = max(p["outliers"] - p["nu"] - 1 / p["samples"] for p in promises)
    least = min(p["support"] - p["nu"] for p in promises)
    made = results["made"]
    weakest = min(min(run["weights"][:2]) / max(run["weights"][2:]) for run in made)
    gains = [run["learned"] - run["equal"] for run in made]
    over_best = [run["learned"] - max(run["alone"]) for run in made]

    claims = common.Claims()
    claims.check("at most nu of the training samples are outliers", most <= 0.01, f"largest excess {max(most, 0):.3f}")
    claims.check("at least nu of them are support vectors", least >= -1e-9, f"smallest excess {least:+.4f}")
    claims.check("made: the weight goes to the sources in which the samples are alike", weakest > 1.5,
                 f"at least {weakest:.1f} times that of any other source")
    claims.check("made: learned weights find more novelties than equal ones", min(gains) > 0,
                 f"area under the curve larger by {min(gains):.3f} to {max(gains):.3f}")
    claims.check("made: and more than the best source alone", min(over_best) > 0,
                 f"by {min(over_best):.3f} to {max(over_best):.3f}")
    if "digits" in results:
        digits = results["digits"]
        learned, alone = (common.mean(run["learned"] for run in digits), common.mean(max(run["alone"]) for run in digits))
        claims.check("digits: on average learned weights do as well as the view that is best in hindsight",
                     learned >= alone - 0.001, f"mean area {learned:.3f} against {alone:.3f}")
    claims.check("every gap is certified", max(p["gap"] for p in promises) <= 1e-4,
                 f"largest {max(p['gap'] for p in promises):.1e}")
    return claims


def print_results(results, problems, folder):
    for problem in problems:
        runs = results[problem.name]
        rows = [[source, f"{common.mean(run['weights'][m] for run in runs):.3f}", auc(run["alone"][m] for run in runs)]
                for m, source in enumerate(problem.sources)]
        rows += [["learned weights", "", auc(run["learned"] for run in runs)],
                 ["equal weights", "", auc(run["equal"] for run in runs)],
                 ["best alone, in hindsight", "", auc(max(run["alone"]) for run in runs)]]
        print(f"\n{problem.title}")
        common.print_table(["source", "weight", "area under the curve"], rows)
    rows = [[nu, *(f"{common.mean(values):.3f}" for values in nu_values(results, nu))] for nu in NUS]
    common.print_table(["nu", "training outliers", "support vectors"], rows)
    common.write_csv(folder / "novelties.csv", ["problem", "run", "learned", "equal",
                     *(f"{what}_{m + 1}" for what in ("alone", "weight") for m in range(6))],
                     [[name, k, run["learned"], run["equal"], *run["alone"], *run["weights"]]
                      for name, runs in results.items() for k, run in enumerate(runs)])


def nu_values(results, nu):
    """The shares of training outliers and of support vectors, of all machines with this nu."""
    promises = [p for runs in results.values() for run in runs for p in run["promises"] if p["nu"] == nu]
    return [p["outliers"] for p in promises], [p["support"] for p in promises]


def auc(values):
    values = list(values)
    return f"{common.mean(values):.3f} ± {common.standard_error(values):.3f}"


def draw(pyplot, results, problems, path):
    """For every problem the areas by source with the weights at the foot, and the promise of nu."""
    figure, axes = pyplot.subplots(1, len(problems) + 1, figsize=(4 * (len(problems) + 1), 3.6), layout="constrained")
    for panel, problem in zip(axes, problems):
        runs = results[problem.name]
        names = [*problem.sources, "lear-\nned", "equal"]
        values = [[run["alone"][m] for run in runs] for m in range(len(problem.sources))]
        values += [[run["learned"] for run in runs], [run["equal"] for run in runs]]
        colors = len(problem.sources) * [common.FAINT] + [common.ORANGE, common.BLUE]
        panel.bar(names, [common.mean(v) for v in values], yerr=[common.standard_error(v) for v in values],
                  color=colors)
        for m in range(len(problem.sources)):
            panel.text(m, 0.515, f"{common.mean(run['weights'][m] for run in runs):.2f}", ha="center", fontsize=8)
        panel.set(ylim=(0.5, 1), ylabel="area under the curve")
        panel.set_title(problem.title, loc="left")
        panel.set_xlabel("each source alone, its weight at the foot; all together")
    promise = axes[-1]
    outliers, support = zip(*(map(common.mean, nu_values(results, nu)) for nu in NUS))
    promise.plot(NUS, NUS, color=common.INK, linewidth=0.8, linestyle=":", label="nu")
    promise.plot(NUS, support, marker="o", color=common.BLUE, label="support vectors")
    promise.plot(NUS, outliers, marker="o", color=common.ORANGE, label="outliers")
    promise.set(xlabel="nu", ylabel="share of the training samples")
    promise.set_title("what nu promises", loc="left")
    promise.legend()
    common.save(figure, path)


def main():
    chosen = common.arguments(__doc__, "novelties")
    sizes = Sizes(chosen.quick)
    kweave = common.Kweave(chosen.kweave, chosen.folder)
    problems = [MadeSources(sizes)]
    data = Path(os.environ.get("KWEAVE_DATA", ""))
    if "KWEAVE_DATA" in os.environ and (data / "mfeat.fac.zst").exists():
        problems.append(Digits(sizes, data))
    else:
        print("no digits: KWEAVE_DATA does not name a folder with mfeat.fac.zst")
    results = {problem.name: [run_one(kweave, problem, run) for run in problem.runs] for problem in problems}
    print_results(results, problems, chosen.folder)
    claims = check_claims(results)
    pyplot = None if chosen.quick else common.plotting()
    if pyplot:
        draw(pyplot, results, problems, chosen.images / "novelties.png")
    claims.exit()


if __name__ == "__main__":
    main()
