#!/usr/bin/env python3
"""Spectral projected gradients: how much faster than projected gradients, for sums and products, up to a million kernels?

    experiments/spg/run.py KWEAVE [--quick] [--parts small,ablation,million,large,genes,growth] [--folds N] [--limit SECONDS]

README.md beside this file says what is shown and where the settings come from. Real data are read from KWEAVE_DATA.
"""
import json
import math
import os
import random
import resource
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common  # noqa: E402
import paper  # noqa: E402
from draw import draw  # noqa: E402

PARTS = ["small", "ablation", "million", "large", "genes", "growth"]
SETS = ["wpbc194", "sonar", "liver-disorders", "ionosphere", "breast-cancer", "australian", "diabetes"]
NORMS = ["1", "1.1", "1.33", "2"]
METHODS = ["spg", "projected-quasi-newton", "pgd", "analytic", "silp", "reduced-gradient"]
# Ten widths and three degrees for every feature and for all of them, traces alike: 13 (d + 1) kernels.
SUM = ["--kernel", "rbf(gamma=logspace(1e-2,10,10))", "--kernel", "each(rbf(gamma=logspace(1e-2,1e2,10)))", "--kernel",
       "poly(degree=1..3)", "--kernel", "each(poly(degree=1..3))", "--normalize", "trace", "-C", "10"]
PRODUCT = ["--combine", "product", "--kernel", "each(rbf(gamma=10))", "-C", "10"]
MAX_GAP = 1e-3
GENE_GRADIENT = 0.01  # of an objective of about 2: half the 0.04 of the paper, at which some runs end on a plateau


def read(path):
    """(label, {feature: value}) of a compressed LIBSVM file."""
    text = subprocess.run(["zstd", "-dcq", str(path)], capture_output=True, text=True, check=True).stdout
    samples = []
    for line in text.splitlines():
        words = line.split()
        samples.append((float(words[0]), {int(f): float(v) for f, v in (w.split(":") for w in words[1:])}))
    return samples


def write(path, samples):
    path.write_text("".join(f"{label:g} " + " ".join(f"{f}:{v:.9g}" for f, v in sorted(x.items())) + "\n"
                            for label, x in samples))


def scaled(samples):
    """Every feature to [-1, 1]."""
    features = sorted({f for _, x in samples for f in x})
    low = {f: min(x.get(f, 0) for _, x in samples) for f in features}
    high = {f: max(x.get(f, 0) for _, x in samples) for f in features}
    def scale(f, v):
        return 2 * (v - low[f]) / (high[f] - low[f]) - 1 if high[f] > low[f] else 0.0
    return [(label, {f: scale(f, x.get(f, 0)) for f in features}) for label, x in samples]


def synthetic(count, features, seed):
    """Two classes that a circle in the first two features tells apart."""
    source = random.Random(seed)
    samples = []
    for _ in range(count):
        x = {f: source.uniform(-1, 1) for f in range(1, features + 1)}
        samples.append((1 if x[1]**2 + x[2]**2 < 0.6 else -1, x))
    return samples


def folds_of(samples, folds):
    """(training, test) pairs, the split fixed."""
    order = list(range(len(samples)))
    random.Random(0).shuffle(order)
    for k in range(folds):
        held = set(order[k::5])
        yield [samples[i] for i in order if i not in held], [samples[i] for i in order if i in held]


class Runs:
    """Trains and remembers what each run was."""

    def __init__(self, chosen):
        self.kweave, self.limit, self.rows = common.Kweave(chosen.kweave, chosen.folder), chosen.limit, []
        self.folder = chosen.folder
        self.help = subprocess.run([str(chosen.kweave), "train", "--help"], capture_output=True, text=True).stdout

    def knows(self, method):
        return method in self.help

    def save(self, part):
        """What was run, so that parts can be run one by one and drawn together."""
        (self.folder / f"{part}.json").write_text(json.dumps(self.rows))
        keys = [k for k in self.rows[0] if k not in ("history", "kernels")]
        common.write_csv(self.folder / f"{part}.csv", keys, [[row[k] for k in keys] for row in self.rows])

    def train(self, part, name, data, options, norm, method, test=None, limit=None, threads=1):
        gap = [] if "--gap" in options else ["--gap", f"{MAX_GAP:g}"]
        words = [*options, "--norm", norm, "--method", method, *gap, "--threads", str(threads), "--time-limit",
                 str(limit or self.limit)]
        before = processor_seconds()
        summary = self.kweave.train(data, "spg.kweave", *words)
        used = processor_seconds() - before
        accuracy = self.kweave.predict("spg.kweave", test)["accuracy"] if test else float("nan")
        row = {"part": part, "data": name, "norm": norm, "method": method, "status": summary["status"],
               "seconds": summary["seconds"]["total"], "processor": used, "solves": summary["solves"], "objective": summary["primal"],
               "measure": summary.get("projected_gradient", summary["relative_gap"]),
               "active": summary["kernels_active"], "total": summary["kernels_total"],
               "memory": summary["peak_memory_bytes"], "accuracy": accuracy, "history": summary["history"], "kernels": [
                   k["name"] for k in summary["kernels"] if k["weight"] > 0][:10000] if part == "genes" else []}
        self.rows.append(row)
        return row


def processor_seconds():
    """Of all programs run so far: what a busy machine changes least."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def geometric_mean(values):
    return math.exp(common.mean([math.log(v) for v in values])) if values else float("nan")


def run_fold(runs, kind, name, options, norm, methods, found, restarts):
    """All methods on what is in train.libsvm; returns how far above the best of all restarts the default ends."""
    objectives = {}
    for method in methods:
        if method == "pgd" and found["pgd"] and found["pgd"][0]["status"] != "converged":
            continue  # it did not converge on the first fold
        once = [*options, "--restarts", "1"] if restarts else options
        found[method].append(runs.train(f"small-{kind}", name, "train.libsvm", once, norm, method, "test.libsvm"))
        objectives[method] = found[method][-1]["objective"]
    if not restarts:
        return 0.0
    ours = runs.train("restarts", name, "train.libsvm", options, norm, "auto")["objective"]
    best = runs.train("restarts", name, "train.libsvm", [*options, "--restarts", "5"], norm, "auto")["objective"]
    return ours / min(ours, best, *objectives.values()) - 1


def small_row(kind, name, norm, found, known):
    """One line of the table: means over the folds."""
    def mean_of(method, key, form):
        rows = found.get(method)
        if not rows:
            return ""
        mark = "" if all(r["status"] == "converged" for r in rows) else "> "
        return mark + format(common.mean([r[key] for r in rows]), form)
    return [kind, name, norm, *(mean_of(m, "processor", ".2f") for m in METHODS), *(mean_of(m, "solves", ".0f") for m in METHODS),
            mean_of("spg", "objective", ".4g"), mean_of("spg", "active", ".0f"),
            f"{100 * common.mean([r['accuracy'] for r in found['spg']]):.1f}", *("-" if k is None else k for k in known)]


def run_small(runs, data, folds, sets, norms, claims):
    """Tables 2, 4, 5 and 9."""
    ratios, uncertified, rows, far = [], [], [], []
    for kind, options, known in (("sum", SUM, paper.SUM), ("product", PRODUCT, paper.PRODUCT)):
        for name in sets:
            for norm in norms:
                methods = ["spg", "projected-quasi-newton", "pgd"] + (["analytic"] if kind == "sum" else [])
                methods += [m for m in ("silp", "reduced-gradient") if kind == "sum" and norm == "1" and runs.knows(m)]
                found = {method: [] for method in methods}
                for train, test in folds_of(data[name], folds):
                    write(runs.folder / "train.libsvm", train)
                    write(runs.folder / "test.libsvm", test)
                    far.append((run_fold(runs, kind, name, options, norm, methods, found, kind == "product"), f"{name} p = {norm}"))
                if float(norm) <= 1.33:
                    ratios.append(found["pgd"][0]["processor"] / found["spg"][0]["processor"])
                uncertified += [f"{name} {kind} p = {norm} {r['measure']:.1e}" for r in found["spg"]
                                if not r["measure"] <= MAX_GAP]
                rows.append(small_row(kind, name, norm, found, known.get((name, norm), ("", ""))))
    common.print_table(["kind", "data", "p", *(f"{m} s" for m in METHODS), *(f"{m} solves" for m in METHODS), "objective", "active",
                        "accuracy %", "paper pgd s", "paper spg s"], rows)
    claims.append(("spg is at least 5 times faster than pgd in the geometric mean for p <= 1.33",
                   geometric_mean(ratios) >= 5, f"{geometric_mean(ratios):.1f} times over {len(ratios)} cases"))
    claims.append(("spg certifies every sum to 1e-3 and brings every product to a stationary point", not uncertified,
                   "; ".join(uncertified) or "all"))
    claims.append(("products are within 1e-2 of the best of five restarts of any method", max(far)[0] <= 1e-2,
                   f"farthest {max(far)[0]:.1e} ({max(far)[1]})"))


def run_ablation(runs, data, sets, claims):
    """Table 7, at p = 1.1."""
    rows, seconds = [], {}
    for name in sets:
        write(runs.folder / "train.libsvm", data[name])
        cells = []
        for method in ("pgd", "pgd+n", "pgd+s", "pgd+n+s", "spg"):
            row = runs.train("ablation", name, "train.libsvm", SUM, "1.1", method)
            mark = "" if row["status"] == "converged" else "> "
            cells += [f"{mark}{row['processor']:.2f}", f"{mark}{row['solves']}"]
            seconds.setdefault(method, []).append(row["processor"])
        rows.append([name, *cells])
        known = paper.ABLATION.get(name, {})
        if known:
            rows.append(["paper", *(value for m in ("pgd", "pgd+n", "pgd+s", "pgd+n+s") for value in known[m]), "", ""])
    common.print_table(["data", *(f"{m} {u}" for m in ("pgd", "+n", "+s", "+n+s", "spg") for u in ("s", "solves"))], rows)
    means = {m: geometric_mean(v) for m, v in seconds.items()}
    claims.append(("all parts together beat every one alone and none", means["spg"] == min(means.values()),
                   ", ".join(f"{m} {v:.2f} s" for m, v in means.items())))


def run_million(runs, data, counts, claims):
    """Sonar with ever more widths per feature, the certificate evaluated directly: spg for p > 1 beside the default; the default alone where weights are
    sparse and neighbouring widths all but alike, which first-order steps cannot tell apart to 1e-3."""
    write(runs.folder / "train.libsvm", data["sonar"])
    features = max(f for _, x in data["sonar"] for f in x)
    rows, slopes, last = [], [], []
    for norm in ("1.33", "1"):
        found = []
        for count in counts:
            widths = max(round(count / features), 2)
            options = ["--kernel", f"each(rbf(gamma=logspace(1e-3,1e3,{widths})))", "-C", "10", "--certificate", "direct"]
            for method in ("spg", "auto") if norm != "1" else ("auto",):
                row = runs.train("million", "sonar", "train.libsvm", options, norm, method, limit=300, threads=2)
                rows.append([norm, row["total"], method, f"{row['seconds']:.2f}", f"{row['processor']:.2f}", row["solves"],
                             f"{row['measure']:.1e}", row["active"], f"{row['memory'] / 1e6:.0f}"])
                if method == ("auto" if norm == "1" else "spg"):
                    found.append(row)
        last.append(found[-1])
        slopes += [math.log(b["processor"] / a["processor"]) / math.log(b["total"] / a["total"]) for a, b in zip(found, found[1:])]
    common.print_table(["p", "kernels", "method", "seconds", "processor s", "solves", "gap", "active", "memory MB"], rows)
    claims.append(("time never grows faster than the number of kernels", max(slopes) <= 1, f"steepest slope {max(slopes):.2f}"))
    claims.append(("every gap is certified", all(r["measure"] <= MAX_GAP for r in runs.rows if r["part"] == "million"),
                   f"largest {max(r['measure'] for r in runs.rows if r['part'] == 'million'):.1e}"))
    if counts[-1] >= 1e6:
        claims.append(("a million kernels in less than 60 s and 2 GB (the paper: 105.62 hours)",
                       all(r["seconds"] < 60 and r["memory"] < 2e9 for r in last),
                       ", ".join(f"p = {r['norm']}: {r['seconds']:.1f} s, {r['memory'] / 1e9:.2f} GB" for r in last)))


def blocks_of_three(features):
    return [option for first in range(1, features + 1, 3)
            for option in ("--kernel", f"rbf(gamma=3)@data[{first}..{min(first + 2, features)}]")]


def large_sets(folder):
    """(name, samples, kernel options), as the paper describes them."""
    letter = read(folder / "letter.zst") + read(folder / "letter.t.zst")
    yield "letter", [(1 if label <= 13 else -1, x) for label, x in letter], ["--kernel", "each(rbf(gamma=10))"]
    yield "poker", [(1 if label > 0 else -1, x) for label, x in read(folder / "poker.zst")], ["--kernel", "each(rbf(gamma=10))"]
    yield "adult-8", read(folder / "a8a.zst"), blocks_of_three(123)
    web = read(folder / "w8a.zst")
    yield "web", random.Random(0).sample(web, 24692), blocks_of_three(300)
    yield "cod-rna", scaled(read(folder / "cod-rna.zst")), ["--kernel", "each(rbf(gamma=10))"]


def run_large(runs, folder, claims):
    """Tables 8 and 10."""
    rows = []
    for name, samples, kernels in large_sets(folder):
        write(runs.folder / "large.libsvm", samples)
        for norm in ("1.33", "1"):
            options = ["--combine", "product", "--restarts", "1", *kernels, "-C", "1"]
            row = runs.train("large", name, "large.libsvm", options, norm, "auto", limit=1800, threads=2)
            rows.append([name, len(samples), norm, f"{row['seconds']:.0f}", row["solves"], row["status"], f"{row['measure']:.1e}",
                         f"{row['active']} of {row['total']}", paper.LARGE[(name, norm)]])
    common.print_table(["data", "samples", "p", "seconds", "solves", "status", "projected gradient", "active", "paper hours"], rows)
    found = [r for r in runs.rows if r["part"] == "large"]
    claims.append(("all large products converge, each in less than 30 minutes",
                   all(r["status"] == "converged" and r["seconds"] < 1800 for r in found),
                   f"slowest {max(r['seconds'] for r in found):.0f} s"))


def run_genes(runs, folder, claims, left_out):
    """Leukemia: 7,129 single-feature kernels in one product; how stable is the choice of genes?"""
    train, test = read(folder / "leukemia.zst"), read(folder / "leukemia.t.zst")
    write(runs.folder / "test.libsvm", test)
    options = ["--combine", "product", "--restarts", "1", "--kernel", "each(rbf)", "-C", "10", "--gap", f"{GENE_GRADIENT:g}"]

    def genes(samples, use_test):
        write(runs.folder / "train.libsvm", samples)
        row = runs.train("genes", "leukemia", "train.libsvm", options, "1", "auto", "test.libsvm" if use_test else None, limit=600)
        return row, {name.split("@")[-1] for name in row["kernels"]}  # widths change with the samples, genes do not

    row, chosen = genes(train, True)
    overlaps = []
    for i in range(min(left_out, len(train))):
        _, others = genes(train[:i] + train[i + 1:], False)
        overlaps.append(len(chosen & others) / len(chosen | others))
    print(f"\nLeukemia: {row['status']} in {row['seconds']:.1f} s (the paper: 850 s), {len(chosen)} genes of {row['total']}, "
          f"test accuracy {100 * row['accuracy']:.1f} %, Jaccard overlap over {len(overlaps)} leave-one-out runs "
          f"{common.mean(overlaps):.2f}, least {min(overlaps):.2f}")
    claims.append(("the product over 7,129 genes converges", row["status"] == "converged", f"{row['seconds']:.1f} s"))


def run_growth(runs, folder, counts, claims):
    """Figure 2: seconds against samples, with the kernels fixed."""
    rows, slopes = [], {}
    for name, file, theirs in (("adult", "a9a.zst", 1.98), ("web", "w8a.zst", 1.52)):
        samples = read(folder / file)
        random.Random(0).shuffle(samples)
        found = []
        for count in counts:
            write(runs.folder / "growth.libsvm", samples[:count])
            row = runs.train("growth", name, "growth.libsvm", ["--kernel", "rbf(gamma=logspace(1e-3,1,50))", "-C", "1"], "1.33",
                             "spg", limit=600, threads=2)
            row["count"] = count
            found.append((count, row["processor"]))
            rows.append([name, count, f"{row['seconds']:.2f}", f"{row['processor']:.2f}", row["solves"], row["status"]])
        (n0, s0), (n1, s1) = found[0], found[-1]
        slopes[name] = math.log(s1 / s0) / math.log(n1 / n0)
        rows.append([name, "slope", "", f"{slopes[name]:.2f}", "", f"paper {theirs}"])
    common.print_table(["data", "samples", "seconds", "processor s", "solves", "status"], rows)
    claims.append(("time grows no faster than with the square of the samples", max(slopes.values()) <= 2.05,
                   ", ".join(f"{n} {s:.2f}" for n, s in slopes.items())))
    return slopes


def run_parts(runs, folder, parts, folds, claims):
    data = {name: read(folder / f"{name}.zst") for name in SETS}
    steps = {"small": lambda: run_small(runs, data, folds, SETS, NORMS, claims),
             "ablation": lambda: run_ablation(runs, data, [s for s in SETS if s != "ionosphere"], claims),
             "million": lambda: run_million(runs, data, [1000, 10000, 100000, 1000000], claims),
             "large": lambda: run_large(runs, folder, claims),
             "genes": lambda: run_genes(runs, folder, claims, 38),
             "growth": lambda: run_growth(runs, folder, [2000, 4000, 8000, 16000, 32000], claims)}
    for part in parts:
        runs.rows = []
        steps[part]()
        runs.save(part)


def main():
    words = sys.argv[1:]
    extra = {}
    for flag, default in (("--parts", ",".join(PARTS)), ("--folds", "5"), ("--limit", "30")):
        extra[flag] = default
        if flag in words:
            at = words.index(flag)
            extra[flag] = words[at + 1]
            del words[at:at + 2]
    sys.argv[1:] = words
    chosen = common.arguments(__doc__, "spg")
    chosen.limit = float(extra["--limit"])
    runs, claims = Runs(chosen), []
    folder = Path(os.environ.get("KWEAVE_DATA", "")) if os.environ.get("KWEAVE_DATA") else None
    if chosen.quick or folder is None:
        print("Spectral projected gradients on made data" + ("" if chosen.quick else ": KWEAVE_DATA names no real data"))
        data = {"circle": synthetic(100, 6, 1), "sonar": synthetic(60, 5, 2)}
        run_small(runs, data, 1, ["circle"], ["1.33"], claims)
        run_million(runs, data, [50, 2000], claims)
        claims = [c for c in claims if "5 times" not in c[0]]  # too small to measure
    else:
        run_parts(runs, folder, extra["--parts"].split(","), int(extra["--folds"]), claims)
    checked = common.Claims()
    for claim in claims:
        checked.check(*claim)
    pyplot = None if chosen.quick else common.plotting()
    if pyplot:
        draw(pyplot, chosen.folder, chosen.images / "spg.png")
    checked.exit()


if __name__ == "__main__":
    main()
