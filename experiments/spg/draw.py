"""Pictures of what run.py found: objective against time, seconds against kernels and samples, and the parts of the method."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import paper  # noqa: E402


def saved(folder, part):
    path = folder / f"{part}.json"
    return json.loads(path.read_text()) if path.exists() else []


def draw_objectives(axis, rows, name):
    shown = [r for r in rows if r["data"] == name]
    best = min((h["primal"] for r in shown for h in r["history"]), default=1)
    for row in shown:
        axis.plot([h["seconds"] for h in row["history"]], [max(h["primal"] / best - 1, 1e-6) for h in row["history"]],
                  label=row["method"])
    axis.set(xscale="log", yscale="log", xlabel="seconds", ylabel="objective above the best, relative")
    axis.set_title(f"{name}, p = 1.1", loc="left")


def draw_growth(axis, rows, key, label, title):
    groups = {}
    for row in rows:
        groups.setdefault(f"{row['data']}, p = {row['norm']}, {row['method']}", []).append((row[key], row["processor"]))
    for name, points in groups.items():
        axis.plot(*zip(*points), marker="o", markersize=3.5, label=name)
    axis.set(xscale="log", yscale="log", xlabel=label, ylabel="processor seconds")
    axis.set_title(title, loc="left")


def draw_parts(axis, rows):
    """Machines trained with every part of the method by itself, ours beside the paper's."""
    methods = ["pgd", "pgd+n", "pgd+s", "pgd+n+s", "spg"]
    for name in sorted({r["data"] for r in rows}):
        ours = {r["method"]: r["solves"] for r in rows if r["data"] == name}
        line, = axis.plot(methods, [ours.get(m) for m in methods], marker="o", markersize=3.5, label=name)
        theirs = paper.ABLATION.get(name, {})
        if theirs:
            axis.plot(list(theirs), [v[1] for v in theirs.values()], linestyle=":", linewidth=1, color=line.get_color())
    axis.set(yscale="log", ylabel="machines trained (dotted: paper)")
    axis.set_title("parts of the method, p = 1.1", loc="left")


def draw(pyplot, folder, path):
    figure, axes = pyplot.subplots(2, 2, figsize=(10, 7.2), layout="constrained")
    ablation = saved(folder, "ablation")
    draw_objectives(axes[0][0], ablation, "sonar")
    draw_parts(axes[0][1], ablation)
    draw_growth(axes[1][0], saved(folder, "million"), "total", "kernels", "Sonar: kernels")
    draw_growth(axes[1][1], saved(folder, "growth"), "count", "samples", "Adult and Web: samples")
    for axis in axes.flat:
        if axis.get_legend_handles_labels()[0]:
            axis.legend(fontsize=8)
    common.save(figure, path)
