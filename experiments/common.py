"""What the experiments share: running the program, checking claims, writing tables, drawing.

Only the standard library is needed, and Matplotlib to draw; without it the experiments run and say what they skip.
"""
import argparse
import csv
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

INK, PAPER, FAINT = "#222222", "#ffffff", "#d9d9d9"
ORANGE, BLUE = "#e07a1f", "#2a6f97"


def arguments(description, folder):
    """The command line of an experiment: program, sizes, where files and pictures go."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kweave", type=Path, help="the program, usually build/release/kweave")
    parser.add_argument("--folder", type=Path, default=Path("build/experiments") / folder,
                        help="where data, models and tables go (default: %(default)s)")
    parser.add_argument("--images", type=Path, help="where pictures go (default: the same folder)")
    parser.add_argument("--quick", action="store_true", help="a small version that takes seconds, and no picture")
    chosen = parser.parse_args()
    chosen.kweave = chosen.kweave.resolve()
    chosen.images = chosen.images or chosen.folder
    chosen.folder.mkdir(parents=True, exist_ok=True)
    return chosen


class Kweave:
    """The program, with one folder for its files."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def train(self, data, model, *options):
        """Trains MODEL on DATA (names in the folder); returns the summary."""
        return self._run("train", data, *options, "--accept-partial", "-o", model, "--summary", "train.json", summary="train.json")

    def predict(self, model, data):
        """Applies MODEL to labelled DATA; returns the scores."""
        return self._run("predict", model, data, "-o", "predictions.tsv", "--summary", "scores.json",
                         summary="scores.json")

    def _run(self, *words, summary):
        command = [str(self.program), *map(str, words), "-q"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
        return json.loads((self.folder / summary).read_text())


class Claims:
    """Statements checked in numbers, printed as they are checked."""

    def __init__(self):
        self.failures = 0
        print("\nClaims")

    def check(self, statement, holds, measured):
        self.failures += not holds
        print(f"  {'holds ' if holds else 'FAILS '} {statement}: {measured}")

    def report(self, statement, holds, measured):
        """For what is known to differ from the paper, with its reason in the README: told, but no failure."""
        print(f"  {'holds  ' if holds else 'differs'} {statement}: {measured}")

    def exit(self):
        """Ends the experiment: status 1 when a claim failed."""
        sys.exit(1 if self.failures else 0)


def mean(values):
    return statistics.fmean(values)


def standard_error(values):
    values = list(values)
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


# Student's t at 95 % on one side, by degrees of freedom; beyond the table the normal value is near enough.
T95 = [6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753, 1.746, 1.740,
       1.734, 1.729]


def least_gain(ours, theirs):
    """What `ours` is ahead of `theirs` at least, at 95 % on one side, by their differences on the same splits."""
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    quantile = T95[len(differences) - 2] if len(differences) - 2 < len(T95) else 1.7
    return mean(differences) - quantile * standard_error(differences)


def mean_by_position(vectors):
    """The mean of several vectors of equal length."""
    return [mean(column) for column in zip(*vectors)]


def write_samples(path, samples):
    """Writes (label, features) pairs as CSV with a header."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["label", *(f"x{i}" for i in range(1, len(samples[0][1]) + 1))])
        writer.writerows([label, *(f"{value:.6g}" for value in features)] for label, features in samples)


def write_csv(path, header, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def print_table(header, rows):
    """A table that reads well on a terminal and in Markdown."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells)]
    lines = ["| " + " | ".join(cell.rjust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|")
    print("\n" + "\n".join(lines))


def plotting():
    """Matplotlib's pyplot in the style of the project, or None with a note where it is not installed."""
    try:
        import matplotlib
    except ImportError:
        print("\nno picture: Matplotlib is not installed (Debian: python3-matplotlib)")
        return None
    matplotlib.use("Agg")
    from matplotlib import pyplot
    pyplot.rcParams.update({
        "figure.facecolor": PAPER, "figure.dpi": 110, "savefig.dpi": 110, "font.size": 10,
        "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK, "xtick.color": INK, "ytick.color": INK,
        "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 10, "axes.titleweight": "bold",
        "legend.frameon": False, "lines.linewidth": 1.8, "errorbar.capsize": 2.5,
    })
    return pyplot


def save(figure, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})
    print(f"\npicture: {path}")
