"""The plots of the benchmarks, in the style of the experiments: time against samples, time against kernels."""
import sys

from measure import ROOT

sys.path.append(str(ROOT / "experiments"))
from common import BLUE, INK, ORANGE, plotting, save  # noqa: E402

COLOURS = {"1": ORANGE, "4/3": BLUE, "2": "#5b8c5a", "inf": INK}
RIVAL = "#888888"
LINES = {"wrapper": "-", "interleaved": "--", "matrices": ":"}


def curves(rows, x):
    """(norm, curve) to the points (x, seconds) of the rows that carry x."""
    found = {}
    for row in rows:
        details = row["details"]
        if x in details and not details.get("stopped"):
            key = details["norm"], details.get("curve", "wrapper")
            found.setdefault(key, []).append((details[x], row["seconds"]))
    return found


def draw(rows, x, label, title, path):
    pyplot = plotting()
    if pyplot is None:
        return
    figure, axes = pyplot.subplots(figsize=(7.2, 4.6), constrained_layout=True)
    for (norm, curve), points in curves(rows, x).items():
        is_kweave = curve in LINES
        colour = COLOURS[norm] if is_kweave else RIVAL
        axes.plot(*zip(*sorted(points)), color=colour, linestyle=LINES.get(curve, "-"), markersize=3.5,
                  marker="o" if is_kweave else "s")
        name = f"p = {norm}, {curve}" if is_kweave else curve
        axes.annotate(name, max(points), textcoords="offset points", xytext=(5, -3), fontsize=7, color=colour)
    axes.set(xscale="log", yscale="log", xlabel=label, ylabel="seconds, whole process", title=title)
    axes.grid(True, which="major", linewidth=0.4, color="#d9d9d9")
    axes.margins(x=0.25)
    save(figure, path)
    pyplot.close(figure)


def draw_all(results, folder):
    """Draws what the results hold."""
    if "1" in results:
        draw(results["1"]["rows"], "n", "samples", "50 Gaussian kernels, gap 1e-3", folder / "time-samples.png")
    if "2" in results:
        draw(results["2"]["rows"], "kernels", "kernels", "1,000 samples, gap 1e-3", folder / "time-kernels.png")
