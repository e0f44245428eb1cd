#!/usr/bin/env python3
"""Several views of many classes: do learned weights beat the sum of all views and the best view alone?

    experiments/views/run.py KWEAVE [--quick] [--folder FOLDER] [--images FOLDER]

README.md beside this file says what is shown and where the settings come from. Real data are read from the folder that
KWEAVE_DATA names; without it, and with --quick, samples are drawn: three views, one of them noise. Splits run side by side,
each on one thread.
"""
import concurrent.futures
import itertools
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common  # noqa: E402

COSTS = [1 / 27, 1 / 9, 1 / 3, 1, 3, 9, 27]
FOLDS = 3
SPLITS = 10
TRAIN_SHARE = 0.8
GAP, GAP_TO_CHOOSE = 1e-3, 1e-2
COST_ALONE = 3
# Of the accuracy: less than a point matters to nobody who looks at these sets, and ten splits can tell a point.
MOST_BEHIND = 0.01
# Rows of the folds are already the components of kernels.
KERNELS = {"folds": "linear"}
SETS = {
    "digits": [f"mfeat.{view}.zst" for view in ("fac", "fou", "kar", "mor", "pix", "zer")],
    "folds": [f"protein-fold.v{k:02d}.zst" for k in range(1, 13)],
}
PROTEINS = "seq/chou-gram-negative.txt.zst"
RESIDUES = "ACDEFGHIKLMNPQRSTVWY"
# Where proteins are sorted by: all of a sequence, its beginning and its end.
PARTS = [slice(None), slice(60), slice(15), slice(-15, None)]


class Data:
    """The files of all views, and the class of each sample."""

    def __init__(self, name, files, labels):
        self.name, self.files, self.labels = name, files, labels

    def views(self, chosen=None):
        return [word for k, file in enumerate(self.files) if chosen in (None, k)
                for word in ("--view", f"v{k + 1:02d}={file}")]


def read_lines(path):
    """Of a compressed file, in words."""
    text = subprocess.run(["zstd", "-dc", path], capture_output=True, text=True, check=True).stdout
    return [line.split() for line in text.splitlines() if line.strip()]


def real_sets(folder, written):
    for name, files in SETS.items():
        paths = [(folder / file).resolve() for file in files]
        if all(path.exists() for path in paths):
            yield Data(name, paths, [words[0] for words in read_lines(paths[0])])
    if (folder / PROTEINS).exists():
        yield protein_set(read_lines((folder / PROTEINS).resolve()), written)


def protein_set(lines, folder):
    """Proteins by their place in the cell: for each part of the sequence, roots of the shares of residues, and of pairs."""
    labels, files = [words[0] for words in lines], []
    for part, length in itertools.product(PARTS, (1, 2)):
        index = {"".join(word): k + 1 for k, word in enumerate(itertools.product(RESIDUES, repeat=length))}
        files.append((folder / f"proteins{len(files) + 1}.libsvm").resolve())
        with files[-1].open("w") as file:
            for label, _, sequence in lines:
                counts, own = {}, sequence[part]
                for i in range(len(own) - length + 1):
                    if k := index.get(own[i:i + length]):
                        counts[k] = counts.get(k, 0) + 1
                total = sum(counts.values())
                values = (f"{k}:{(counts[k] / total) ** 0.5:.6g}" for k in sorted(counts))
                file.write(" ".join([label, *values]) + "\n")
    return Data("proteins", files, labels)


def drawn_set(folder, count=400, classes=4):
    """Two views that tell some of the classes apart each, and one of noise."""
    draw = random.Random(7)
    labels = [f"{i % classes}" for i in range(count)]
    centres = {v: {str(c): [2.5 * draw.gauss(0, 1) for _ in range(3)] for c in range(classes)} for v in range(2)}
    centres[0]["1"], centres[1]["3"] = centres[0]["0"], centres[1]["2"]
    files = []
    for v in range(3):
        files.append((folder / f"view{v}.libsvm").resolve())
        with files[-1].open("w") as file:
            for label in labels:
                middle = centres[v][label] if v < 2 else [0, 0, 0]
                values = " ".join(f"{j + 1}:{x + draw.gauss(0, 1):.5g}" for j, x in enumerate(middle))
                file.write(f"{label} {values}\n")
    return Data("drawn", files, labels)


def split_by_class(labels, indices, share, seed):
    """Two parts of `indices`, the first with this share of every class."""
    draw, first, second = random.Random(seed), [], []
    for label in sorted(set(labels[i] for i in indices)):
        own = [i for i in indices if labels[i] == label]
        draw.shuffle(own)
        cut = max(1, round(share * len(own)))
        first += own[:cut]
        second += own[cut:]
    return sorted(first), sorted(second)


def folds_by_class(labels, indices, seed):
    draw, parts = random.Random(seed), [[] for _ in range(FOLDS)]
    for label in sorted(set(labels[i] for i in indices)):
        own = [i for i in indices if labels[i] == label]
        draw.shuffle(own)
        for k, i in enumerate(own):
            parts[k % FOLDS].append(i)
    return parts


def accuracy(kweave, data, options, cost, train, test, gap=GAP, chosen=None):
    """Trains on some samples, by weights of 0 for all others, and looks at the labels predicted for others."""
    trained = set(train)
    weights = "\n".join("1" if i in trained else "0" for i in range(len(data.labels)))
    (kweave.folder / "weights.txt").write_text(weights + "\n")
    kweave.train(*data.views(chosen), "views.kweave", *options, "-C", f"{cost:.8g}", "--weights", "weights.txt",
                 "--gap", f"{gap:g}", "--threads", "1")
    kweave.predict("views.kweave", *data.views(chosen))
    lines = (kweave.folder / "predictions.tsv").read_text().splitlines()
    predicted = [line.split("\t")[0] for line in lines if line and not line.startswith("#")]
    predicted = predicted[-len(data.labels):]
    return common.mean(predicted[i] == data.labels[i] for i in test)


def choose_cost(kweave, data, options, costs, train, seed):
    """The C with the best mean accuracy over the folds, the smaller of equals: every third of the costs, and then its
    neighbours for as long as they are better."""
    parts, scores = folds_by_class(data.labels, train, seed), {}

    def score(k):
        if k not in scores:
            scores[k] = common.mean(accuracy(kweave, data, options, costs[k], sorted(set(train) - set(part)), part,
                                             GAP_TO_CHOOSE) for part in parts)
        return scores[k], -k

    best, last = max(range(0, len(costs), 3), key=score), None
    while best != last:
        last = best
        best = max((k for k in (best - 1, best, best + 1) if 0 <= k < len(costs)), key=score)
    return costs[best]


class Program(common.Kweave):
    """The same program with views instead of a file."""

    def train(self, *words):
        model = next(word for word in words if str(word).endswith(".kweave"))
        others = [word for word in words if word != model]
        return self._run("train", *others, "--accept-partial", "-o", model, "--summary", "train.json", summary="train.json")

    def predict(self, model, *views):
        return self._run("predict", model, *views, "-o", "predictions.tsv", "--summary", "scores.json",
                         summary="scores.json")


METHODS = {
    "joint, learned weights": ["--multiclass", "joint", "--norm", "2"],
    "joint, sparse weights": ["--multiclass", "joint", "--norm", "1"],
    "joint, uniform sum": ["--multiclass", "joint", "--norm", "inf"],
    "one against rest, learned weights": ["--multiclass", "ovr", "--norm", "2"],
}


def run_split(kweave, data, seed, costs):
    """Accuracies on the test part of one split, and the C chosen: method -> both."""
    kernel = ["--kernel", KERNELS.get(data.name, "rbf(gamma=median)")]
    train, test = split_by_class(data.labels, range(len(data.labels)), TRAIN_SHARE, seed)
    found = {}
    for name, options in METHODS.items():
        cost = choose_cost(kweave, data, [*options, *kernel], costs, train, seed) if len(costs) > 1 else costs[0]
        found[name] = accuracy(kweave, data, [*options, *kernel], cost, train, test), cost
    options = [*METHODS["joint, uniform sum"], *kernel]
    found["joint, best view alone"] = max(accuracy(kweave, data, options, COST_ALONE, train, test, chosen=k)
                                          for k in range(len(data.files))), COST_ALONE
    print(f"{data.name}, split {seed + 1}: " + ", ".join(f"{n} {a:.3f} (C {c:.3g})" for n, (a, c) in found.items()),
          flush=True)
    return found


def run(chosen, data, splits, costs):
    """Accuracies on the test parts, and the C chosen: method -> a pair for each split."""
    def one(seed):
        folder = chosen.folder / f"{data.name}-{seed + 1}"
        folder.mkdir(exist_ok=True)
        return run_split(Program(chosen.kweave, folder), data, seed, costs)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(one, range(splits)))
    return {name: [pairs[name] for pairs in found] for name in found[0]}


def compared(ours, theirs):
    return f"means {common.mean(ours):.4f} and {common.mean(theirs):.4f}"


def main():
    chosen = common.arguments(__doc__, "views")
    folder = os.environ.get("KWEAVE_DATA")
    sets = [] if chosen.quick or not folder else list(real_sets(Path(folder), chosen.folder))
    if not sets:
        print("drawn samples: real data are not asked for or not there (KWEAVE_DATA)")
        sets = [drawn_set(chosen.folder)]
    splits, costs = (8, [1]) if chosen.quick else (SPLITS, COSTS)
    rows, found = [], {}
    for data in sets:
        print(f"\n{data.name}: {len(data.labels)} samples, {len(set(data.labels))} classes, {len(data.files)} views")
        found[data.name] = {}
        for name, pairs in run(chosen, data, splits, costs).items():
            values, chosen_costs = zip(*pairs)
            found[data.name][name] = values
            rows.append([data.name, name, f"{common.mean(values):.4f}", f"{common.standard_error(values):.4f}",
                         f"{statistics.median(chosen_costs):.3g}"])
    header = ["data", "method", "accuracy", "standard error", "median C"]
    common.print_table(header, rows)
    common.write_csv(chosen.folder / "views.csv", header, rows)
    claims = common.Claims()
    for name, results in found.items():
        learned, uniform = results["joint, learned weights"], results["joint, uniform sum"]
        alone = results["joint, best view alone"]
        gain = common.least_gain(learned, uniform)
        claims.check(f"{name}: learned weights (p = 2) are at most a point behind the uniform sum, at 95 %, split by split",
                     gain >= -MOST_BEHIND, f"{gain:+.4f} at least; {compared(learned, uniform)}")
        gain = common.least_gain(learned, alone)
        claims.check(f"{name}: and ahead of the best view alone, at 95 %, split by split", gain > 0,
                     f"{gain:+.4f} at least; {compared(learned, alone)}")
        sparse = results["joint, sparse weights"]
        claims.report(f"{name}: sparse weights (p = 1) are ahead of the uniform sum, at 95 %, split by split",
                      common.least_gain(sparse, uniform) > 0, compared(sparse, uniform))
    claims.exit()


if __name__ == "__main__":
    main()
