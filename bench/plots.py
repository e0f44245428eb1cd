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
    """Colours are norms and lines what Kweave did; rivals are grey, with their names."""
    pyplot = plotting()
    if pyplot is None:
        return
    figure, axes = pyplot.subplots(figsize=(7.2, 4.6), constrained_layout=True)
    found = curves(rows, x)
    for (norm, curve), points in found.items():
        is_kweave = curve in LINES
        colour = COLOURS[norm] if is_kweave else RIVAL
        axes.plot(*zip(*sorted(points)), color=colour, linestyle=LINES.get(curve, "-"), markersize=3.5,
                  marker="o" if is_kweave else "s")
        if not is_kweave:
            axes.annotate(curve, max(points), textcoords="offset points", xytext=(5, -3), fontsize=7, color=colour)
    norms = [norm for norm in COLOURS if any(key[0] == norm and key[1] in LINES for key in found)]
    lines = [curve for curve in LINES if any(key[1] == curve for key in found)]
    for norm in norms:
        axes.plot([], [], color=COLOURS[norm], label=f"p = {norm}")
    for curve in lines if len(lines) > 1 else []:
        axes.plot([], [], color=RIVAL, linestyle=LINES[curve], label=curve)
    axes.legend(fontsize=7, frameon=False, loc="lower right")
    axes.set(xscale="log", yscale="log", xlabel=label, ylabel="seconds, whole process", title=title)
    axes.grid(True, which="major", linewidth=0.4, color="#d9d9d9")
    axes.margins(x=0.1)
    save(figure, path)
    pyplot.close(figure)


def draw_all(results, folder):
    """Draws what the results hold."""
    if "1" in results:
        draw(results["1"]["rows"], "n", "samples", "50 Gaussian kernels, gap 1e-3", folder / "time-samples.png")
    if "2" in results:
        draw(results["2"]["rows"], "kernels", "kernels", "1,000 samples, gap 1e-3", folder / "time-kernels.png")
