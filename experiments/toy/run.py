#!/usr/bin/env python3
"""Which norm suits which truth: from one informative kernel of fifty to all of them.

    experiments/toy/run.py KWEAVE [--quick] [--folder FOLDER] [--images FOLDER]

README.md beside this file says what is shown. The machines, some 200,000 of a few milliseconds each, are trained by the
program toy_experiment beside KWEAVE, in one process per core (`cmake --build build/release --target toy_experiment`).
"""
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common  # noqa: E402

FEATURES = 50
INFORMATIVE = [1, 4, 9, 18, 28, 50]
BAYES = statistics.NormalDist().cdf(-1.75)
COSTS = [10 ** (k / 2) for k in range(-8, 1)]
# On the weights, and the block norm P = 2 p / (p + 1) that is the same.
NORMS = {"1": "1", "4/3": repr(4 / 3), "2": "2", "4": "4", "∞": "inf"}
BLOCK_NORMS = {"1": "1", "4/3": "2", "2": "inf", "4": "block:4", "∞": "block:inf"}
FINE = [1.04, 1.09, 1.19, 1.26, 1.45, 1.8, 2.5]
SOFT_SPARSITY = {2: 1.2, 1: 1.4, 0.5: 2.0}  # exponent of the parts m^-b, and the best P of figure 4.2
COLORS = ["#2a6f97", "#61a5c2", "#8a9a5b", "#e07a1f", "#a4133c"]


def block_norm(name):
    """P of a norm as the program has it."""
    if name.startswith("block:"):
        return float(name[6:])
    p = float(name)
    return 2.0 if math.isinf(p) else 2 * p / (p + 1)


class Results:
    """What toy_experiment wrote, by scenario and norm."""

    def __init__(self, lines):
        self.runs, self.alignments = {}, {}
        for line in lines:
            kind, informative, repetition, *words = line.split(",")
            if kind == "alignment":
                self.alignments.setdefault(int(informative), []).append([float(w) if w else None for w in words])
                continue
            values = list(map(float, words[1:]))
            run = {"repetition": int(repetition), "large": dict(zip(("C", "error", "theta", "w"), values[:4])),
                   "small": dict(zip(("C", "error", "theta", "w"), values[4:8])), "gap": values[8], "parts": values[9:]}
            self.runs.setdefault((int(informative), words[0]), []).append(run)

    def values(self, informative, norm, choice, what):
        return [run[choice][what] for run in self.runs[informative, norm]]

    def mean(self, informative, norm, choice="large", what="error"):
        return common.mean(self.values(informative, norm, choice, what))

    def error(self, informative, norm, choice="large", what="error"):
        return common.standard_error(self.values(informative, norm, choice, what))

    def largest_gap(self, norms):
        return max(run["gap"] for (_, norm), runs in self.runs.items() for run in runs if norm in norms)


def run_all(program, folder, samples, norms, costs, repetitions):
    """Repetitions dealt out to one process per core; a file that is already complete is read again."""
    path = folder / f"n{samples}-{repetitions}.csv"
    if not path.exists():
        cores = len(os.sched_getaffinity(0))
        words = [str(program), str(samples), ",".join(norms), ",".join(f"{c:.10g}" for c in costs)]
        parts = [folder / f"{path.stem}.part{k}" for k in range(cores)]
        processes = [subprocess.Popen([*words, str(k), str(cores), str(repetitions)], stdout=part.open("w"))
                     for k, part in enumerate(parts)]
        if any([process.wait() for process in processes]):
            sys.exit("toy_experiment failed")
        path.write_text("".join(part.read_text() for part in parts))
        for part in parts:
            part.unlink()
    return Results(path.read_text().splitlines())


def bound_curves(program, kind, vectors):
    """The bound factor at P = 1, 1.01, ... for each vector of norms of parts."""
    text = "".join(" ".join([kind, *(f"{v:.8g}" for v in vector)]) + "\n" for vector in vectors)
    done = subprocess.run([str(program), "bounds"], input=text, capture_output=True, text=True, check=True)
    return [list(map(float, line.split(","))) for line in done.stdout.splitlines()]


def best(curve):
    """All P within a ten-thousandth of the smallest factor: the curve may be flat there."""
    least = min(curve)
    flat = [1 + k / 100 for k, value in enumerate(curve) if value <= least * (1 + 1e-4)]
    return flat[0], flat[-1]


def true_parts(informative):
    return [1.0] * informative + [0.0] * (FEATURES - informative)


def noise(informative):
    return f"{1 - informative / FEATURES:.0%}"


def print_errors(results, norms, choice):
    rows = []
    for what, title in (("error", "test error %"), ("theta", "model error of theta"), ("w", "model error of w")):
        factor, digits = (100, 1) if what == "error" else (1, 2)
        for label, name in norms.items():
            rows.append([title, label, *(f"{factor * results.mean(k, name, choice, what):.{digits}f} ± "
                                         f"{factor * results.error(k, name, choice, what):.{digits}f}"
                                         for k in INFORMATIVE)])
    common.print_table(["", "norm", *(f"noise {noise(k)}" for k in INFORMATIVE)], rows)


def correlation(results, norms, choice, what):
    """Of mean test error and mean model error, over all scenarios and norms."""
    pairs = [(results.mean(k, name, choice), results.mean(k, name, choice, what))
             for k in INFORMATIVE for name in norms.values()]
    return statistics.correlation(*zip(*pairs))


def ranking(results, informative, norms, choice):
    """Labels from best to worst."""
    return sorted(norms, key=lambda label: results.mean(informative, norms[label], choice))


def largest_errors(results, norms, choice):
    return {label: max(results.mean(k, name, choice) for k in INFORMATIVE) for label, name in norms.items()}


def check_weights(claims, few, many):
    """Claims of the experiment with norms on the weights; `many` has 800 samples."""
    sparse = few.mean(1, NORMS["1"])
    claims.check("n = 50: p = 1 is best in the sparsest scenario", ranking(few, 1, NORMS, "large")[0] == "1",
                 " < ".join(ranking(few, 1, NORMS, "large")))
    claims.check("and near the Bayes error there", sparse < BAYES + 0.015, f"{sparse:.1%}, Bayes {BAYES:.1%}")
    dense = [ranking(few, k, NORMS, "large")[-1] for k in (18, 28, 50)]
    claims.check("p = 1 is worst with 64 % noise and less", set(dense) == {"1"}, ", ".join(dense))
    claims.check("p = ∞ is best when all kernels inform", ranking(few, 50, NORMS, "large")[0] == "∞",
                 " < ".join(ranking(few, 50, NORMS, "large")))
    claims.check("p = ∞ is worst in the sparsest scenario", ranking(few, 1, NORMS, "large")[-1] == "∞",
                 " < ".join(ranking(few, 1, NORMS, "large")))
    worst = largest_errors(few, NORMS, "large")
    claims.check("p = 4 is the most robust: its largest error is the smallest", min(worst, key=worst.get) == "4",
                 ", ".join(f"{label}: {value:.1%}" for label, value in worst.items()))
    found = correlation(few, NORMS, "large", "theta")
    claims.report("the model error of the weights follows the test error", found > 0.8, f"correlation {found:.2f}")
    found = correlation(few, NORMS, "large", "w")
    claims.check("that of the function does", found > 0.85, f"correlation {found:.2f}")
    if many:
        for k in (28, 50):
            order = ranking(many, k, NORMS, "large")
            spread = many.mean(k, NORMS[order[-1]]) - many.mean(k, NORMS[order[0]])
            claims.check(f"n = 800, noise {noise(k)}: p = 1 is worst, by at most about 1 point",
                         order[-1] == "1" and spread < 0.015, f"{spread:.2%} from {order[0]} to {order[-1]}")
        spread = max(many.mean(1, name) for name in NORMS.values()) - min(many.mean(1, name) for name in NORMS.values())
        claims.check("n = 800: all norms do well in the sparsest scenario", spread < 0.01, f"within {spread:.2%}")
    claims.check("every gap is certified", few.largest_gap(NORMS.values()) <= 1e-3,
                 f"largest {few.largest_gap(NORMS.values()):.1e}")


def check_blocks(claims, few, bounds):
    """Claims of the experiment with block norms."""
    worst = largest_errors(few, BLOCK_NORMS, "small")
    claims.check("P = 4/3 is the most robust, below 12 % everywhere",
                 min(worst, key=worst.get) == "4/3" and worst["4/3"] < 0.12,
                 ", ".join(f"{label}: {value:.1%}" for label, value in worst.items()))
    order = ranking(few, 50, BLOCK_NORMS, "small")
    margin = 2 * few.error(50, BLOCK_NORMS["∞"], "small")
    claims.check("P = ∞ is best when all kernels inform, or as good as the best within two errors",
                 few.mean(50, BLOCK_NORMS["∞"], "small") <= few.mean(50, BLOCK_NORMS[order[0]], "small") + margin,
                 " < ".join(f"{label} {few.mean(50, BLOCK_NORMS[label], 'small'):.1%}" for label in order))
    sparse = few.mean(1, BLOCK_NORMS["∞"], "small")
    claims.check("and has about 43 % error in the sparsest scenario", abs(sparse - 0.43) < 0.03, f"{sparse:.1%}")
    balanced = [ranking(few, k, BLOCK_NORMS, "small")[0] for k in (4, 9, 18)]
    claims.report("P = 4/3 is best with 64 to 92 % noise", set(balanced) == {"4/3"}, ", ".join(balanced))
    claims.check("every gap up to P = 4 is certified", few.largest_gap(set(few_norms()) - {"block:inf"}) <= 1e-3,
                 f"largest {few.largest_gap(set(few_norms()) - {'block:inf'}):.1e}; "
                 f"P = ∞: {few.largest_gap(['block:inf']):.1e}")
    check_alignments(claims, few)
    for k, curve in bounds.items():
        low, high = best(curve[:101])  # up to P = 2, as far as the paper looks
        scores = {block_norm(name): few.mean(k, name, "small") for name in few_norms()}
        empirical = min(scores, key=scores.get)
        margin = next(few.error(k, name, "small") for name in few_norms() if block_norm(name) == empirical)
        good = sorted(P for P, value in scores.items() if value <= scores[empirical] + 2 * margin)
        holds = any(low - 0.1 <= min(P, 2) <= high + 0.1 for P in good)
        claims.report(f"noise {noise(k)}: the bound's best P up to 2 is among those that do well", holds,
                      f"bound {low:.2f} to {high:.2f}; best {empirical:.2f}, as good within two errors "
                      + ", ".join(f"{P:.2f}" for P in good))


def check_alignments(claims, few):
    means = {k: [common.mean(v) if None not in v else None for v in zip(*few.alignments[k])] for k in INFORMATIVE}
    rows = [[noise(k), *("-" if v is None else f"{v:.3f}" for v in means[k])] for k in INFORMATIVE]
    common.print_table(["noise", "informative pairs", "informative and noise", "noise pairs", "informative with labels",
                        "noise with labels"], rows)
    holds = all(means[k][0] > 1.5 * means[k][1] for k in (4, 9))
    claims.check("informative kernels are aligned, slightly, and noise is not", holds,
                 ", ".join(f"noise {noise(k)}: {means[k][0]:.3f} against {means[k][1]:.3f}" for k in (4, 9)))


def check_figure(claims, curves):
    for (exponent, expected), curve in zip(SOFT_SPARSITY.items(), curves):
        low, high = best(curve)
        claims.check(f"figure 4.2: parts m^-{exponent:g} have their best P near {expected:g}",
                     low - 0.06 <= expected <= high + 0.06, f"{low:.2f} to {high:.2f}")


def few_norms():
    """All norms with 50 samples."""
    return [*NORMS.values(), "block:4", "block:inf", *(f"block:{P:g}" for P in FINE)]


def draw_errors(pyplot, panels, path):
    """Test and model error by scenario, a row of panels for each experiment: (title, results, norms, choice, what)."""
    figure, axes = pyplot.subplots(len(panels), 2, figsize=(8.4, 3.1 * len(panels)), layout="constrained", squeeze=False)
    for row, (title, results, norms, choice, what) in zip(axes, panels):
        for axis, quantity, factor in zip(row, ("error", what), (100, 1)):
            for color, (label, name) in zip(COLORS, norms.items()):
                axis.errorbar(range(len(INFORMATIVE)),
                              [factor * results.mean(k, name, choice, quantity) for k in reversed(INFORMATIVE)],
                              [factor * results.error(k, name, choice, quantity) for k in reversed(INFORMATIVE)],
                              color=color, label=label, marker="o", markersize=3)
            axis.set(xticks=range(len(INFORMATIVE)), xticklabels=[noise(k) for k in reversed(INFORMATIVE)],
                     xlabel="noise among the kernels")
            axis.grid(axis="y", color=common.FAINT, linewidth=0.6)
        row[0].axhline(100 * BAYES, color=common.INK, linewidth=1, linestyle="--")
        row[0].set_title(f"{title}: test error, %", loc="left")
        row[1].set_title(f"model error of {what}", loc="left")
        row[0].legend(title="p" if norms is NORMS else "P", fontsize=8, ncol=2)
    common.save(figure, path)


def draw_bounds(pyplot, few, bounds, learned, path):
    """The test error on the fine grid beside the bound factor, for every scenario."""
    figure, axes = pyplot.subplots(2, 3, figsize=(8.4, 5.2), layout="constrained")
    names = sorted((name for name in few_norms() if block_norm(name) <= 4), key=block_norm)
    for axis, k in zip(axes.flat, INFORMATIVE):
        axis.errorbar([block_norm(name) for name in names], [100 * few.mean(k, name, "small") for name in names],
                      [100 * few.error(k, name, "small") for name in names], color=common.BLUE, marker="o",
                      markersize=3)
        other = axis.twinx()
        for curve, style, label in ((bounds[k], "-", "bound, of the truth"), (learned[k], ":", "bound, of what was learned")):
            other.plot([1 + i / 100 for i in range(len(curve))], [v / min(curve) for v in curve], color=common.ORANGE,
                       linestyle=style, linewidth=1.2, label=label)
        other.set(yticks=[], ylim=(0.9, 4))
        axis.set_title(f"noise {noise(k)}", loc="left")
        axis.set_xlabel("P")
    axes[0][0].set_ylabel("test error, %", color=common.BLUE)
    axes[1][0].set_ylabel("test error, %", color=common.BLUE)
    other.legend(loc="upper right", fontsize=8)
    common.save(figure, path)


def draw_figure(pyplot, curves, path):
    figure, axes = pyplot.subplots(1, 3, figsize=(8.4, 2.6), layout="constrained")
    for axis, exponent, curve in zip(axes, SOFT_SPARSITY, curves):
        axis.plot([1 + i / 100 for i in range(len(curve))], curve, color=common.BLUE)
        axis.plot([best(curve)[0]], [min(curve)], marker="o", color=common.ORANGE)
        axis.set_title(f"parts m^-{exponent:g}", loc="left")
        axis.set_xlabel("P")
    axes[0].set_ylabel("bound factor")
    common.save(figure, path)


def main():
    chosen = common.arguments(__doc__, "toy")
    program = chosen.kweave.parent / "toy_experiment"
    if not program.exists():
        print(f"not run: {program} is not there; cmake --build {chosen.kweave.parent} --target toy_experiment makes it")
        return
    if chosen.quick:
        return quick(program, chosen.folder)
    few = run_all(program, chosen.folder, 50, few_norms(), COSTS, 250)
    many = run_all(program, chosen.folder, 800, NORMS.values(), COSTS, 50)
    bounds = dict(zip(INFORMATIVE, bound_curves(program, "global", map(true_parts, INFORMATIVE))))
    learned = dict(zip(INFORMATIVE, bound_curves(program, "global", [median_parts(few, k) for k in INFORMATIVE])))
    figure = bound_curves(program, "local", [[m ** -b for m in range(1, 1001)] for b in SOFT_SPARSITY])
    for title, results, norms, choice in (("Norms on the weights, n = 50", few, NORMS, "large"),
                                          ("Norms on the weights, n = 800", many, NORMS, "large"),
                                          ("Block norms, n = 50", few, BLOCK_NORMS, "small")):
        print(f"\n{title}")
        print_errors(results, norms, choice)
    claims = common.Claims()
    check_weights(claims, few, many)
    check_blocks(claims, few, bounds)
    for k, curve in learned.items():
        low, high = best(curve[:101])
        print(f"          noise {noise(k)}: the bound of what was learned is smallest at P = {low:.2f} to {high:.2f}")
    check_figure(claims, figure)
    if pyplot := common.plotting():
        draw_errors(pyplot, [("n = 50", few, NORMS, "large", "theta"), ("n = 800", many, NORMS, "large", "theta")],
                    chosen.images / "toy-weights.png")
        draw_errors(pyplot, [("n = 50", few, BLOCK_NORMS, "small", "w")], chosen.images / "toy-blocks.png")
        draw_bounds(pyplot, few, bounds, learned, chosen.images / "toy-bounds.png")
        draw_figure(pyplot, figure, chosen.images / "toy-soft-sparsity.png")
    claims.exit()


def median_parts(few, informative):
    """Norms of the parts that the norm with the smallest test error learned, medians over the repetitions."""
    name = min(few_norms(), key=lambda name: few.mean(informative, name, "small"))
    return [statistics.median(column) for column in zip(*(run["parts"] for run in few.runs[informative, name]))]


def quick(program, folder):
    """Ends of the range, few repetitions: what shows at once."""
    (folder / "n50-6.csv").unlink(missing_ok=True)
    few = run_all(program, folder, 50, ["1", "2", "inf"], [0.01, 0.1], 6)
    claims = common.Claims()
    claims.check("p = 1 beats p = ∞ with one informative kernel", few.mean(1, "1") < few.mean(1, "inf"),
                 f"{few.mean(1, '1'):.1%} against {few.mean(1, 'inf'):.1%}")
    claims.check("p = ∞ beats p = 1 with fifty", few.mean(50, "inf") < few.mean(50, "1"),
                 f"{few.mean(50, 'inf'):.1%} against {few.mean(50, '1'):.1%}")
    claims.check("every gap is certified", few.largest_gap(["1", "2", "inf"]) <= 1e-3,
                 f"largest {few.largest_gap(['1', '2', 'inf']):.1e}")
    check_figure(claims, bound_curves(program, "local", [[m ** -b for m in range(1, 1001)] for b in SOFT_SPARSITY]))
    claims.exit()


if __name__ == "__main__":
    main()
