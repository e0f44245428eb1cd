#!/usr/bin/env python3
"""Where in the cell is a protein? 64 motif kernels, one machine for all classes: learned weights against their uniform sum.

    experiments/motifs/run.py KWEAVE [--quick] [--folder FOLDER]

README.md beside this file says what is shown and where the settings come from. Real data are read from the folder that
KWEAVE_DATA names; without it, and with --quick, sequences are made. KWEAVE_SETS (plant,gram-negative,multiloc) and KWEAVE_SPLITS
choose less of them. Answers already in FOLDER/answers.json are not computed again.
"""
import json
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common  # noqa: E402

PATTERNS = [1, 11, 101, 111, 1001, 1011, 1101, 1111, 10001, 10011, 10101, 10111, 11001, 11011, 11101, 11111]
REGIONS = ["", "@data[1..15]", "@data[1..60]", "@data[-15..]"]
NORMS = {"1": "1", "4/3": repr(4 / 3), "2": "2", "uniform": "inf"}
COSTS = [0.3, 1, 3, 10]
COST_ALONE = 3
FOLDS, SPLITS, TRAIN_SHARE = 3, 10, 0.8
GAP, GAP_TO_CHOOSE = 1e-3, 1e-2
SETS = {"plant": "seq/chou-plant.txt.zst", "gram-negative": "seq/chou-gram-negative.txt.zst", "multiloc": "seq/multiloc.txt.zst"}
LEAST_OF_CLASS = 10  # samples; three folds of four fifths of fewer would lack a class


def made_lines(count=90):
    """Three classes: one has MKK at its beginning, one KDEL at its end, one neither."""
    generator = random.Random("motifs")
    lines = []
    for i in range(count):
        text = "".join(generator.choice("ACDEFGHIKLMNPQRSTVWY") for _ in range(generator.randint(70, 120)))
        text = "MKK" + text[3:] if i % 3 == 0 else text[:-4] + "KDEL" if i % 3 == 1 else text
        lines.append([("first", "last", "none")[i % 3], f"s{i}", text])
    return lines


def read_lines(path):
    text = subprocess.run(["zstd", "-dc", path], capture_output=True, text=True, check=True).stdout
    lines = [line.split() for line in text.splitlines() if line.strip()]
    counts = {label: sum(line[0] == label for line in lines) for label in {line[0] for line in lines}}
    return [line for line in lines if counts[line[0]] >= LEAST_OF_CLASS]


def kernels(patterns):
    listed = ",".join(map(str, patterns))
    return [word for region in REGIONS for word in ("--kernel", f"motif(pattern=[{listed}]){region}")]


def split(lines, share, seed):
    """Two lists, class by class."""
    generator = random.Random(seed)
    first, second = [], []
    for label in sorted({line[0] for line in lines}):
        of_class = [line for line in lines if line[0] == label]
        generator.shuffle(of_class)
        count = min(len(of_class) - 1, max(1, round(share * len(of_class))))
        first += of_class[:count]
        second += of_class[count:]
    return first, second


class Runner:
    def __init__(self, chosen, patterns):
        self.kweave, self.folder, self.patterns = common.Kweave(chosen.kweave, chosen.folder), chosen.folder, patterns

    def write(self, name, lines):
        (self.folder / name).write_text("".join(" ".join(line) + "\n" for line in lines))

    def scores(self, train, test, options, gap):
        self.write("train.txt", train)
        self.write("test.txt", test)
        self.kweave.train("train.txt", "model.kweave", *options, "--multiclass", "joint", "--gap", gap, "--format", "sequences")
        return self.kweave.predict("model.kweave", "test.txt")

    def best_cost(self, train, options, seed):
        """By three-fold cross-validation of the MCC."""
        folds, rest = [], train
        for k in range(FOLDS, 1, -1):
            fold, rest = split(rest, 1 / k, f"{seed} {k}")
            folds.append(fold)
        folds.append(rest)
        means = {}
        for cost in COSTS:
            means[cost] = common.mean(
                self.scores([line for other in folds if other is not fold for line in other], fold, [*options, "-C", cost],
                            GAP_TO_CHOOSE)["mcc"] for fold in folds)
        return max(means, key=means.get)

    def best_single(self, train, seed):
        """The kernel of the best MCC on a third of the training samples, at one cost."""
        fit, check = split(train, 2 / 3, f"{seed} single")
        found = {}
        for region in REGIONS:
            for pattern in self.patterns:
                kernel = f"motif(pattern={pattern}){region}"
                found[kernel] = self.scores(fit, check, ["--kernel", kernel, "-C", COST_ALONE], GAP_TO_CHOOSE)["mcc"]
        return max(found, key=found.get)

    def one_split(self, lines, number):
        train, test = split(lines, TRAIN_SHARE, f"split {number}")
        answers = {}
        for name, norm in NORMS.items():
            options = [*kernels(self.patterns), "--norm", norm]
            cost = self.best_cost(train, options, number)
            scores = self.scores(train, test, [*options, "-C", cost], GAP)
            answers[name] = {"cost": cost, "mcc": scores["mcc"], "f1": scores["f1"]}
        kernel = self.best_single(train, number)
        scores = self.scores(train, test, ["--kernel", kernel, "-C", COST_ALONE], GAP)
        answers["single"] = {"kernel": kernel, "mcc": scores["mcc"], "f1": scores["f1"]}
        return answers


def data_sets(chosen):
    folder = os.environ.get("KWEAVE_DATA")
    if chosen.quick or not folder:
        if not folder:
            print("no real data: KWEAVE_DATA is not set; sequences are made")
        return {"made": made_lines()}
    wanted = os.environ.get("KWEAVE_SETS", ",".join(SETS)).split(",")
    return {name: read_lines(Path(folder) / file) for name, file in SETS.items() if name in wanted}


def main():
    chosen = common.arguments(__doc__, "motifs")
    splits = 2 if chosen.quick else int(os.environ.get("KWEAVE_SPLITS", SPLITS))
    runner = Runner(chosen, PATTERNS[:3] if chosen.quick else PATTERNS)
    kept = chosen.folder / "answers.json"
    answers = json.loads(kept.read_text()) if kept.exists() else {}
    rows, tests = [], []
    for name, lines in data_sets(chosen).items():
        for number in range(splits):
            key = f"{name} {number}{' quick' if chosen.quick else ''}"
            if key not in answers:
                answers[key] = runner.one_split(lines, number)
                kept.write_text(json.dumps(answers, indent=1))
        found = [answers[f"{name} {number}{' quick' if chosen.quick else ''}"] for number in range(splits)]
        for method in [*NORMS, "single"]:
            values = [[answer[method][score] for answer in found] for score in ("mcc", "f1")]
            rows.append([name, method, *(f"{common.mean(v):.4f} +- {common.standard_error(v):.4f}" for v in values)])
        best = max((method for method in NORMS if method != "uniform"),
                   key=lambda method: statistics.fmean(answer[method]["mcc"] for answer in found))
        ours, theirs = ([answer[method]["mcc"] for answer in found] for method in (best, "uniform"))
        if splits > 1:
            tests.append((name, best, common.mean(ours) - common.mean(theirs), common.least_gain(ours, theirs)))
    common.print_table(["set", "norm", "MCC", "F1"], rows)
    common.write_csv(chosen.folder / "scores.csv", ["set", "norm", "MCC", "F1"], rows)
    claims = common.Claims()
    for name, best, gain, least in tests:
        claims.report(f"{name}: learned weights (norm {best}) have a larger MCC than the uniform sum, at 95 %", least > 0,
                      f"by {gain:+.4f}, at least {least:+.4f}")
    claims.exit()


if __name__ == "__main__":
    main()
