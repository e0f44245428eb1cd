#!/usr/bin/env python3
"""Protein folds from twelve views: the uniform sum of kernels against learned weights, from sparse to dense.

    experiments/folds/run.py KWEAVE [--quick] [--folder FOLDER] [--images FOLDER]

README.md beside this file says what is shown and where the settings come from. Real data are read from the folder that
KWEAVE_DATA names; without it, and with --quick, samples are drawn: three views of four classes, one of them noise.
"""
import concurrent.futures
import json
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common  # noqa: E402

# Block norm: the same norm on the weights, and the accuracy of the paper where it tells.
NORMS = {"1": ("1", 0.684), "16/15": (repr(8 / 7), None), "8/7": (repr(4 / 3), 0.744), "4/3": ("2", None),
         "2 (uniform sum)": ("inf", 0.689)}
COSTS = [10 ** (k / 2) for k in range(-8, 9)]
NORMALIZATIONS = ["multiplicative", "spherical"]
FOLDS = 5
HALVES = 20
GAP, GAP_TO_CHOOSE = 1e-3, 1e-2
TRAINED = 311  # the first samples; all others are the test part


class Data:
    """Views as lines without their labels, and the class of each sample."""

    def __init__(self, views, labels, train, test):
        self.views, self.labels, self.train, self.test = views, labels, train, test

    def write(self, folder, name, samples):
        """The files of some samples; returns the words that name them."""
        words = []
        for k, lines in enumerate(self.views):
            path = folder / f"{name}.v{k + 1:02d}.libsvm"
            path.write_text("".join(f"{self.labels[i]} {lines[i]}\n" for i in samples))
            words += ["--view", f"v{k + 1:02d}={path.name}"]
        return words


def read_real():
    """The protein folds, or None with a note."""
    folder = os.environ.get("KWEAVE_DATA")
    paths = [Path(folder or ".") / f"protein-fold.v{k:02d}.zst" for k in range(1, 13)]
    if not folder or not all(path.exists() for path in paths):
        print("\nnot run on real data: set KWEAVE_DATA to a folder that holds protein-fold.v01.zst to v12.zst")
        return None
    texts = [subprocess.run(["zstd", "-dcq", path], capture_output=True, text=True, check=True).stdout for path in paths]
    lines = [[line.split(" ", 1) for line in text.splitlines()] for text in texts]
    labels = [label for label, _ in lines[0]]
    return Data([[rest for _, rest in view] for view in lines], labels, range(TRAINED), range(TRAINED, len(labels)))


def draw_samples(count=160, classes=4):
    """Two views that tell some of the classes apart each, and one of noise."""
    draw = random.Random(5)
    labels = [str(i % classes) for i in range(count)]
    centres = [[[2 * draw.gauss(0, 1) for _ in range(3)] for _ in range(classes)] for _ in range(2)]
    centres[0][1], centres[1][3] = centres[0][0], centres[1][2]
    views = []
    for v in range(3):
        middles = centres[v] if v < 2 else classes * [[0, 0, 0]]
        views.append([" ".join(f"{j + 1}:{x + draw.gauss(0, 1):.5g}" for j, x in enumerate(middles[int(label)]))
                      for label in labels])
    return Data(views, labels, range(count // 2), range(count // 2, count))


def split_into_folds(labels, samples):
    draw, parts = random.Random(1), [[] for _ in range(FOLDS)]
    for label in sorted(set(labels[i] for i in samples)):
        own = [i for i in samples if labels[i] == label]
        draw.shuffle(own)
        for k, i in enumerate(own):
            parts[k % FOLDS].append(i)
    return [sorted(part) for part in parts]


def run_once(program, folder, train, test, norm, normalize, cost, gap, name):
    """The lines of the predictions, and the summary."""
    def call(*words):
        done = subprocess.run([str(program), *map(str, words), "--threads", "1", "-q"], cwd=folder, capture_output=True,
                              text=True)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")

    call("train", *train, "--kernel", "linear", "--normalize", normalize, "--multiclass", "ovr", "--norm", norm,
         "-C", f"{cost:.8g}", "--gap", gap, "--accept-partial", "-o", f"{name}.kweave", "--summary", f"{name}.json")
    call("predict", f"{name}.kweave", *test, "-o", f"{name}.tsv")
    lines = [line.split("\t") for line in (folder / f"{name}.tsv").read_text().splitlines()]
    return lines, json.loads((folder / f"{name}.json").read_text())


def right(lines, labels):
    """Of predictions as written, with or without a header."""
    predicted = [words[0] for words in lines][-len(labels):]
    return [a == b for a, b in zip(predicted, labels)]


def choose_cost(program, folder, data, norm, normalize, name, costs, folds):
    """The C with the most right answers over all folds, the smallest of equals; and its accuracy."""
    counts = []
    for cost in costs:
        counts.append(0)
        for (train, test, samples) in folds:
            lines, _ = run_once(program, folder, train, test, norm, normalize, cost, GAP_TO_CHOOSE, name)
            counts[-1] += sum(right(lines, [data.labels[i] for i in samples]))
    best = max(counts)
    return costs[counts.index(best)], best / len(data.train)


def run_norm(program, folder, data, label, normalize, costs, folds, whole):
    norm, _ = NORMS[label]
    name = label.split()[0].replace("/", "-")
    cost, inside = choose_cost(program, folder, data, norm, normalize, name, costs, folds)
    lines, summary = run_once(program, folder, *whole, norm, normalize, cost, GAP, name)
    answers = right(lines, [data.labels[i] for i in data.test])
    draw, halves = random.Random(2), []
    for _ in range(HALVES):
        half = draw.sample(answers, len(answers) // 2)
        halves.append(common.mean(half))
    weights = common.mean_by_position([machine["weights"] for machine in summary["machines"]])
    bound = subprocess.run([str(program), "inspect", f"{name}.kweave", "--bound", "--json"], cwd=folder,
                           capture_output=True, text=True, check=True).stdout
    print(f"{normalize}, P = {label}: {common.mean(answers):.1%}", flush=True)
    return {"accuracy": common.mean(answers), "deviation": statistics.stdev(halves), "C": cost, "inside": inside,
            "gap": summary["relative_gap"], "weights": weights, "bound": json.loads(bound)["best_block_norm"]}


def run_all(chosen, data, costs):
    """{normalisation: {norm: what was found}}"""
    folds = []
    for k, part in enumerate(split_into_folds(data.labels, data.train)):
        others = sorted(set(data.train) - set(part))
        folds.append((data.write(chosen.folder, f"train{k}", others), data.write(chosen.folder, f"test{k}", part), part))
    whole = data.write(chosen.folder, "train", data.train), data.write(chosen.folder, "test", data.test)
    results = {}
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for normalize in NORMALIZATIONS:
            found = pool.map(
                lambda label: run_norm(chosen.kweave, chosen.folder, data, label, normalize, costs, folds, whole), NORMS)
            results[normalize] = dict(zip(NORMS, found))
    return results


def print_results(results, folder, is_real):
    rows = [[normalize, label, NORMS[label][0][:6], f"{100 * run['accuracy']:.1f} ± {100 * run['deviation']:.1f}",
             f"{100 * NORMS[label][1]:.1f}" if is_real and NORMS[label][1] else "", f"{run['C']:.3g}",
             f"{run['inside']:.1%}", f"{run['gap']:.1e}", f"{run['bound']:.2f}"]
            for normalize, found in results.items() for label, run in found.items()]
    common.print_table(["normalisation", "P", "p", "test accuracy %", "paper", "C", "accuracy in folds", "largest gap",
                        "P of the bound"], rows)
    common.write_csv(folder / "folds.csv", ["normalize", "block_norm", "accuracy", "deviation", "C", "relative_gap", "weights"],
                     [[normalize, label, run["accuracy"], run["deviation"], run["C"], run["gap"], *run["weights"]]
                      for normalize, found in results.items() for label, run in found.items()])


def best_normalization(results):
    """With the highest accuracy inside the training part."""
    return max(results, key=lambda normalize: max(run["inside"] for run in results[normalize].values()))


def check_claims(results, is_real):
    claims = common.Claims()
    gap = max(run["gap"] for found in results.values() for run in found.values())
    claims.check("every gap is certified", gap <= GAP, f"largest {gap:.1e}")
    normalize = best_normalization(results)
    accuracy = {label: run["accuracy"] for label, run in results[normalize].items()}
    uniform, sparse = accuracy["2 (uniform sum)"], accuracy["1"]
    between = max(accuracy[label] for label in ("16/15", "8/7", "4/3"))
    claims.check(f"a norm between is at least as good as sparse weights and the uniform sum ({normalize})",
                 between >= max(uniform, sparse), f"{between:.1%}, sparse {sparse:.1%}, uniform {uniform:.1%}")
    if is_real:
        away = {label: accuracy[label] - NORMS[label][1] for label in NORMS if NORMS[label][1]}
        claims.report("within 5 points of the paper", max(map(abs, away.values())) < 0.05,
                      ", ".join(f"P = {label}: {100 * value:+.1f}" for label, value in away.items()))
    return claims


def draw(pyplot, results, path):
    figure, (left, other) = pyplot.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
    labels = [label.split()[0] for label in results]
    left.errorbar(range(len(labels)), [100 * run["accuracy"] for run in results.values()],
                  [100 * run["deviation"] for run in results.values()], marker="o", color=common.BLUE, label="measured")
    told = [(k, 100 * accuracy) for k, (_, accuracy) in enumerate(NORMS.values()) if accuracy]
    left.plot(*zip(*told), marker="s", linestyle="none", color=common.ORANGE, label="paper")
    left.set(xticks=range(len(labels)), xticklabels=labels, xlabel="P (2: uniform sum)")
    left.set_title("test accuracy, %", loc="left")
    left.legend()
    for color, label in ((common.ORANGE, "1"), (common.BLUE, "8/7")):
        weights = results[label]["weights"]
        other.plot(range(1, len(weights) + 1), [w / sum(weights) for w in weights], marker="o", color=color,
                   label=f"P = {label}")
    other.set(xticks=range(1, len(weights) + 1), xlabel="view")
    other.set_title("share of the weight, mean over the classes", loc="left")
    other.legend()
    common.save(figure, path)


def main():
    chosen = common.arguments(__doc__, "folds")
    real = None if chosen.quick else read_real()
    results = run_all(chosen, real or draw_samples(), COSTS if real else [0.1, 1])
    print_results(results, chosen.folder, real is not None)
    claims = check_claims(results, real is not None)
    if real and (pyplot := common.plotting()):
        draw(pyplot, results[best_normalization(results)], chosen.images / "folds.png")
    claims.exit()


if __name__ == "__main__":
    main()
