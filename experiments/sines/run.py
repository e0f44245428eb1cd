#!/usr/bin/env python3
"""Sine waves: does the weight of a sparse combination go to the kernel width that fits the frequency?

    experiments/sines/run.py KWEAVE [--quick] [--folder FOLDER] [--images FOLDER]

README.md beside this file says what is shown and where the settings come from.
"""
import itertools
import math
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common  # noqa: E402

WAVE_WIDTHS = [0.05, 0.5, 5]  # k = exp(-(x-z)^2 / width)
MIXTURE_WIDTHS = [0.001, 0.005, 0.01, 0.05, 0.1, 1, 10, 50, 100, 1000]
SLOPE, SLOW = 1.0, 2.0  # of the mixture c x + sin(a x) + sin(b x)
LENGTH = 10.0  # samples lie at equal distances on [0, LENGTH]
OPTIONS = ["--task", "regress", "--normalize", "none", "-C", "1", "--epsilon", "0.1", "--gap",
           "1e-4"]


class Sizes:
    """How much is run: the whole experiment, or enough of it to see that it still works."""

    def __init__(self, is_quick):
        self.samples = 150 if is_quick else 300
        self.wave_frequencies = [0.2, 2, 6] if is_quick else [round(0.2 * 1.2**k, 3) for k in range(21)]
        self.fast_frequencies = [6, 14, 28] if is_quick else [4, 6, 8, 10, 12, 14, 17, 20, 24, 28, 34, 40]


def train(kweave, sizes, function, widths, norm="1"):
    """Learns the function from samples of it; returns the summary."""
    positions = [LENGTH * i / (sizes.samples - 1) for i in range(sizes.samples)]
    common.write_samples(kweave.folder / "train.csv", [(f"{function(x):.8g}", [x]) for x in positions])
    gammas = ",".join(f"{1 / width:g}" for width in widths)
    return kweave.train("train.csv", "sines.kweave", *OPTIONS, "--norm", norm, "--kernel",
                        f"rbf(gamma=[{gammas}])")


def weights_of(summary):
    weights = [kernel["weight"] for kernel in summary["kernels"]]
    return [weight / sum(weights) for weight in weights]


def run_wave(kweave, sizes, frequency):
    """The weights of all widths together, and the objective of each width alone."""
    def wave(x):
        return math.sin(frequency * x)
    summary = train(kweave, sizes, wave, WAVE_WIDTHS)
    alone = [train(kweave, sizes, wave, [width])["primal"] for width in WAVE_WIDTHS]
    return {"weights": weights_of(summary), "alone": alone, "gap": summary["relative_gap"]}


def run_mixture(kweave, sizes, frequency):
    summary = train(kweave, sizes, lambda x: SLOPE * x + math.sin(SLOW * x) + math.sin(frequency * x), MIXTURE_WIDTHS)
    return {"weights": weights_of(summary), "gap": summary["relative_gap"], "seconds": summary["seconds"]["total"]}


def search_seconds(kweave, sizes, frequency):
    """What it takes instead to try every choice of three widths, as the paper counts: 120 machines, without any folds."""
    def mixture(x):
        return SLOPE * x + math.sin(SLOW * x) + math.sin(frequency * x)
    return sum(train(kweave, sizes, mixture, widths, norm="inf")["seconds"]["total"]
               for widths in itertools.combinations(MIXTURE_WIDTHS, 3))


def largest(weights):
    return max(range(len(weights)), key=weights.__getitem__)


def fast_width(weights):
    """The decimal logarithm of the width of the kernels below width 1, averaged by their weights."""
    narrow = [(w, math.log10(width)) for w, width in zip(weights, MIXTURE_WIDTHS) if width < 1]
    total = sum(w for w, _ in narrow)
    return sum(w * log for w, log in narrow) / total


def check_claims(waves, mixtures):
    """What the paper says of its figures 2 and 3, and that every number rests on a certified solution."""
    claims = common.Claims()
    fitting = [largest(run["weights"]) == run["alone"].index(min(run["alone"])) for run in waves.values()]
    chosen = [WAVE_WIDTHS[largest(run["weights"])] for run in waves.values()]
    claims.check("the largest weight is on the width that fits best alone", all(fitting),
                 f"{sum(fitting)} of {len(fitting)} frequencies")
    claims.check("the width falls as the frequency grows, and all three are used",
                 chosen == sorted(chosen, reverse=True) and len(set(chosen)) == 3,
                 " ".join(f"{width:g}" for width in dict.fromkeys(chosen)))
    wide = [sum(w for w, width in zip(run["weights"], MIXTURE_WIDTHS) if width > 1) for run in mixtures.values()]
    widest = {MIXTURE_WIDTHS[max(m for m, w in enumerate(run["weights"]) if w > 0.01)] for run in mixtures.values()}
    claims.check("the linear part stays on one wide kernel", len(widest) == 1 and min(widest) >= 10 and min(wide) > 0.1,
                 f"width {', '.join(f'{width:g}' for width in widest)}, weight {min(wide):.2f} to {max(wide):.2f}")
    medium = {b: run["weights"][MIXTURE_WIDTHS.index(1)] for b, run in mixtures.items()}
    late = [weight for b, weight in medium.items() if b >= 6 * SLOW]
    claims.check("a medium kernel carries the slow sine once the fast one is far from it", min(late) > 0.05,
                 f"width 1, weight {min(late):.2f} to {max(late):.2f} from {6 * SLOW:g} on")
    logs = [fast_width(run["weights"]) for run in mixtures.values()]
    step = max(after - before for before, after in zip(logs, logs[1:]))
    claims.check("a third group moves to smaller widths", step < 0.1 and logs[0] - logs[-1] > 0.8,
                 f"mean log10 width {logs[0]:.2f} to {logs[-1]:.2f}, largest step up {step:+.2f}")
    gap = max(run["gap"] for run in [*waves.values(), *mixtures.values()])
    claims.check("every gap is certified", gap <= 1e-4, f"largest {gap:.1e}")
    return claims


def print_results(waves, mixtures, folder):
    wave_rows = [[b, *(f"{w:.3f}" for w in run["weights"]), *(f"{p:.3g}" for p in run["alone"])]
                 for b, run in waves.items()]
    common.print_table(["frequency", *(f"width {w:g}" for w in WAVE_WIDTHS), *(f"{w:g} alone" for w in WAVE_WIDTHS)],
                       wave_rows)
    mixture_rows = [[b, *(f"{w:.3f}" for w in run["weights"])] for b, run in mixtures.items()]
    common.print_table(["fast", *(f"{w:g}" for w in MIXTURE_WIDTHS)], mixture_rows)
    common.write_csv(folder / "waves.csv", ["frequency", *(f"weight_{w:g}" for w in WAVE_WIDTHS),
                                            *(f"objective_{w:g}" for w in WAVE_WIDTHS), "relative_gap"],
                     [[b, *run["weights"], *run["alone"], run["gap"]] for b, run in waves.items()])
    common.write_csv(folder / "mixtures.csv", ["fast", *(f"weight_{w:g}" for w in MIXTURE_WIDTHS), "relative_gap"],
                     [[b, *run["weights"], run["gap"]] for b, run in mixtures.items()])


def draw(pyplot, waves, mixtures, path):
    """The weights of three widths by frequency, and those of ten widths as a map."""
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8.6, 3.6), gridspec_kw={"width_ratios": [1, 1.25]},
                                            layout="constrained")
    for m, width in enumerate(WAVE_WIDTHS):
        color = pyplot.get_cmap("viridis")(0.1 + 0.38 * m)
        left.plot(list(waves), [run["weights"][m] for run in waves.values()], marker="o", markersize=3.5, color=color,
                  label=f"{width:g}")
    left.set(xscale="log", xlabel="frequency of the sine", ylabel="weight", ylim=(-0.03, 1.05))
    left.set_title("one sine: weights of the widths", loc="left")
    left.legend(loc="center left")
    columns = [run["weights"] for run in mixtures.values()]
    shade = right.imshow([list(row) for row in zip(*columns)], aspect="auto", origin="lower", cmap="magma_r", vmin=0,
                         vmax=1)
    right.set_xticks(range(len(mixtures)), [f"{b:g}" for b in mixtures])
    right.set_yticks(range(len(MIXTURE_WIDTHS)), [f"{width:g}" for width in MIXTURE_WIDTHS])
    right.set(xlabel="frequency of the fast sine", ylabel="width")
    right.set_title("line and two sines: weights", loc="left")
    figure.colorbar(shade, ax=right)
    common.save(figure, path)


def main():
    chosen = common.arguments(__doc__, "sines")
    sizes = Sizes(chosen.quick)
    kweave = common.Kweave(chosen.kweave, chosen.folder)
    print(f"Sine waves: {len(sizes.wave_frequencies)} frequencies of one, {len(sizes.fast_frequencies)} of a mixture, "
          f"{sizes.samples} samples each")
    waves = {b: run_wave(kweave, sizes, b) for b in sizes.wave_frequencies}
    mixtures = {b: run_mixture(kweave, sizes, b) for b in sizes.fast_frequencies}
    print_results(waves, mixtures, chosen.folder)
    claims = check_claims(waves, mixtures)
    if not chosen.quick:
        frequency = sizes.fast_frequencies[len(sizes.fast_frequencies) // 2]
        alone = statistics.median(run_mixture(kweave, sizes, frequency)["seconds"] for _ in range(9))
        search = search_seconds(kweave, sizes, frequency)
        claims.check("learning the weights is faster than trying 120 choices of widths (the paper: 14 times)",
                     search > 14 * alone, f"{search / alone:.0f} times, {alone:.3f} s against {search:.2f} s")
    pyplot = None if chosen.quick else common.plotting()
    if pyplot:
        draw(pyplot, waves, mixtures, chosen.images / "sines.png")
    claims.exit()


if __name__ == "__main__":
    main()
