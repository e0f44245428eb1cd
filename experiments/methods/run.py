#!/usr/bin/env python3
"""Every method on every regulariser it serves: do they meet, and what does each cost?

    experiments/methods/run.py KWEAVE [--quick] [--folder FOLDER] [--page docs/methods.md]

README.md beside this file says what is shown. KWEAVE_DATA names the folder with real data. Answers already in FOLDER/answers.json
are not computed again.
"""
import json
import math
import os
import random
import re
import resource
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common  # noqa: E402

GAP, BASELINE_GAP = 1e-6, 1e-3
AGREEMENT, BASELINE_AGREEMENT = 1e-5, 1e-3
# The papers' methods as the papers have them, which are not for small gaps.
BASELINES = {"analytic", "cutting-plane", "cutting-plane-taylor", "pgd", "reduced-gradient", "silp", "spg", "spg-max"}
PARTS_OF_SPG = {"pgd+n", "pgd+s", "pgd+n+s"}  # pgd with parts of spg, for the experiment of that name
SECONDS = 600  # for one answer
LARGE = 500_000  # samples times kernels of problems with a table of their own

NORMS = {"1": "1", "1.01": "1.01", "1.1": "1.1", "4/3": repr(4 / 3), "2": "2", "4": "4", "100": "100", "inf": "inf"}
OTHERS = {
    "block norm 4": ["--block-norm", "4"],
    "penalty, norm 1": ["--norm", "1", "--penalty", "1"],
    "penalty, norm 2": ["--norm", "2", "--penalty", "1"],
    "mixed": ["--regularizer", "mixed", "--groups", "groups.txt", "--norm", "1", "--inner-norm", "2"],
    "mixed, 1 within": ["--regularizer", "mixed", "--groups", "groups.txt", "--norm", "2", "--inner-norm", "1"],
    "bounds": ["--norm", "1", "--weight-bounds", "*=0..0.3"],
    "matrix": ["--regularizer", "matrix", "--matrix", "matrix.npy"],
    "elastic": ["--regularizer", "elastic", "--elastic", "0.5"],
}


class Problem:
    def __init__(self, name, samples, kernels, cost, kernel_count):
        self.name, self.samples, self.kernels, self.cost, self.kernel_count = name, samples, kernels, cost, kernel_count
        self.file = f"{name}.csv"

    def options(self):
        return [word for kernel in self.kernels for word in ("--kernel", kernel)] + ["-C", self.cost]


def made(name, count, features, informative, kernels, cost, kernel_count, spread=1.0):
    """Two classes that differ in the means of the first features, the less the later."""
    generator = random.Random(name)
    samples = []
    for i in range(count):
        sign = 1 if i % 2 else -1
        samples.append((f"{sign:+d}", [generator.gauss(sign * spread / (f + 1) if f < informative else 0, 1)
                                       for f in range(features)]))
    return Problem(name, samples, kernels, cost, kernel_count)


def made_problems(quick):
    if quick:
        return [made("sources", 60, 12, 4, [f"linear@data[{2 * m + 1}..{2 * m + 2}]" for m in range(6)], "1", 6),
                made("widths", 50, 3, 3, ["rbf(gamma=logspace(0.01,10,5))", "linear"], "1", 6)]
    return [made("sources", 300, 50, 15, [f"linear@data[{5 * m + 1}..{5 * m + 5}]" for m in range(10)], "0.1", 10),
            made("features", 200, 50, 10, ["each(linear)"], "1", 50),
            made("widths", 500, 5, 5, ["rbf(gamma=logspace(0.001,100,60))"], "1", 60),
            made("many", 2000, 100, 8, ["each(rbf(gamma=logspace(0.01,10,5)))"], "0.1", 500)]


def real_problems():
    """Of the folder that KWEAVE_DATA names; a note where it is missing."""
    folder = os.environ.get("KWEAVE_DATA")
    if not folder:
        print("no real data: KWEAVE_DATA is not set")
        return []
    chosen = [("sonar", 208, 60, ["each(rbf)"], "1", 60),
              ("ionosphere", 351, 34, ["rbf(gamma=logspace(0.001,10,20))", "poly(degree=1..3)"], "1", 23),
              ("diabetes", 768, 8, ["each(rbf(gamma=logspace(0.01,100,6)))", "rbf(gamma=logspace(0.01,100,12))"], "1", 60)]
    problems = []
    for name, count, features, kernels, cost, kernel_count in chosen:
        path = Path(folder) / f"{name}.zst"
        if not path.exists():
            print(f"skipped: there is no {path}")
            continue
        text = subprocess.run(["zstd", "-dcq", str(path)], capture_output=True, text=True, check=True).stdout
        samples = []
        for line in text.splitlines()[:count]:
            label, *entries = line.split()
            values = [0.0] * features
            for entry in entries:
                index, value = entry.split(":")
                values[int(index) - 1] = float(value)
            samples.append(("+1" if float(label) > 0 else "-1", values))
        problems.append(Problem(name, samples, kernels, cost, kernel_count))
    return problems


def write_inputs(folder, problem):
    """The samples, and what the regularisers read: groups of three kernels, and a matrix that ties neighbours together."""
    common.write_samples(folder / problem.file, problem.samples)
    M = problem.kernel_count
    (folder / "groups.txt").write_text("".join(f"g{m // 3}\n" for m in range(M)))
    entries = [[2.0 if a == b else 0.5 if abs(a - b) == 1 else 0.0 for b in range(M)] for a in range(M)]
    write_matrix(folder / "matrix.npy", entries)


def write_matrix(path, rows):
    """NumPy's format, version 1, without NumPy."""
    import array
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows)}), }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    values = array.array("d", [value for row in rows for value in row])
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + values.tobytes())


def asked(program, folder, problem, options, method):
    """What the program says to a method before it trains: exit status and message."""
    command = [str(program), "train", problem.file, *problem.options(), *options, "--method", method, "--dry-run", "-q"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stderr


def serving(program, folder, problem, options):
    """The methods that serve a regulariser, as the program itself says."""
    status, message = asked(program, folder, problem, options, "?")
    names = re.search(r"available: (.*)", message)
    if status != 2 or not names:
        sys.exit(f"--method ?: exit {status}\n{message}")
    served = []
    for name in names.group(1).split(", "):
        status, message = asked(program, folder, problem, options, name)
        if status == 0:
            served.append(name)
        elif "does not serve" not in message:
            sys.exit(f"--method {name}: exit {status}\n{message}")
    served.remove("auto")
    return served


def processor_seconds():
    """Of all programs that ran so far: other work on the machine does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def gap_of(method):
    return BASELINE_GAP if method in BASELINES else GAP


def answer(program, folder, problem, options, method):
    """What one run says: objective, bounds, solves, seconds, moves that were not the method's own."""
    command = [str(program), "train", problem.file, *problem.options(), *options, "--method", method, "--gap", repr(gap_of(method)),
               "--time-limit", str(SECONDS), "--threads", "1", "--accept-partial", "-q", "-o", "model", "--summary", "train.json"]
    before = processor_seconds()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    seconds = processor_seconds() - before
    path = folder / "train.json"
    if done.returncode not in (0, 4) or not path.exists():
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    summary = json.loads(path.read_text())
    path.unlink()
    return {"primal": summary["primal"], "dual": summary["dual"], "gap": summary["relative_gap"], "solves": summary["solves"],
            "method": summary["options"]["method"], "status": summary["status"], "seconds": seconds,
            "fallbacks": max(row["fallbacks"] for row in summary["history"])}


class Answers:
    """Computed once, kept in a file."""

    def __init__(self, program, folder):
        self.program, self.folder, self.path = program, folder, folder / "answers.json"
        self.known = json.loads(self.path.read_text()) if self.path.exists() else {}

    def get(self, problem, name, options, method):
        key = f"{problem.name}; {name}; {method}"
        if key not in self.known:
            self.known[key] = answer(self.program, self.folder, problem, options, method)
            self.path.write_text(json.dumps(self.known, indent=1))
        return self.known[key]


def sweep(chosen, problems, regularizers):
    """{(problem, regulariser, method): answer} for all that is served, and what serves what."""
    answers, found, serves = Answers(chosen.kweave, chosen.folder), {}, {}
    for problem in problems:
        write_inputs(chosen.folder, problem)
        for name, options in regularizers.items():
            serves[name] = serving(chosen.kweave, chosen.folder, problem, options)
            for method in serves[name]:
                if method not in PARTS_OF_SPG:
                    found[problem.name, name, method] = answers.get(problem, name, options, method)
            found[problem.name, name, "auto"] = answers.get(problem, name, options, "auto")
    return found, serves


def disagreements(found):
    """(problem, regulariser, method, relative distance of the objective from the best one) where it is too large."""
    best = {}
    for (problem, name, _), result in found.items():
        best[problem, name] = min(best.get((problem, name), math.inf), result["primal"])
    wrong = []
    for (problem, name, method), result in found.items():
        distance = (result["primal"] - best[problem, name]) / abs(best[problem, name])
        if distance > (BASELINE_AGREEMENT if method in BASELINES else AGREEMENT):
            wrong.append((problem, name, method, distance))
    return wrong


def cost_rows(found, names, problems):
    """One row per method: solves and seconds over all problems, per regulariser; the papers' methods, to a larger gap, last."""
    rows = []
    for method in sorted({method for _, _, method in found}, key=lambda m: (m in BASELINES, m != "auto", m)):
        cells = []
        for name in names:
            results = [found[p.name, name, method] for p in problems if (p.name, name, method) in found]
            if len(results) < len(problems):
                cells.append("")
                continue
            mark = "" if all(r["gap"] <= gap_of(method) for r in results) else "*"
            cells.append(f"{sum(r['solves'] for r in results)} / {sum(r['seconds'] for r in results):.1f}{mark}")
        if any(cells):
            rows.append([f"`{method}`" + (f" to {BASELINE_GAP:g}" if method in BASELINES else ""), *cells])
    return rows


def serving_rows(serves):
    """One row per method: which regularisers it serves."""
    methods = sorted({method for names in serves.values() for method in names})
    return [[f"`{method}`", *("x" if method in names else "" for names in serves.values())] for method in methods]


def markdown(header, rows):
    lines = ["| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows]]
    return "\n".join(lines)


def write_page(page, problems, found, serves):
    """Puts the tables between the marks of the page."""
    def listing(some):
        return "; ".join(f"{p.name} ({len(p.samples):,} samples, {p.kernel_count} kernels)" for p in some)
    norms = [name for name in serves if name in NORMS]
    others = [name for name in serves if name not in NORMS]
    chosen = {name: sorted({found[p.name, name, "auto"]["method"] for p in problems if (p.name, name, "auto") in found})
              for name in serves}
    small = [p for p in problems if len(p.samples) * p.kernel_count < LARGE]
    text = "\n\n".join([
        "Which method serves which regulariser, as the program says (numbers are norms on the weights):",
        markdown(["method", *serves], serving_rows(serves) + [["`auto` takes", *(", ".join(chosen[n]) for n in serves)]]),
        f"Solves / processor seconds to a gap of {GAP:g}, the papers' methods to {BASELINE_GAP:g}, over all of: {listing(small)}. A star: not all of them got there (within "
        f"{SECONDS} seconds each, one thread).",
        markdown(["norm", *norms], cost_rows(found, norms, small)),
        markdown(["regulariser", *others], cost_rows(found, others, small)),
        *(block for p in problems if p not in small for block in (
            f"The same for {listing([p])}.", markdown(["norm", *norms], cost_rows(found, norms, [p])),
            markdown(["regulariser", *others], cost_rows(found, others, [p]))))])
    before, rest = page.read_text().split("<!-- tables: begin -->")
    after = rest.split("<!-- tables: end -->")[1]
    page.write_text(f"{before}<!-- tables: begin -->\n\n{text}\n\n<!-- tables: end -->{after}")
    print(f"\ntables: {page}")


def main():
    chosen = common.arguments(__doc__, "methods")
    if chosen.quick:
        (chosen.folder / "answers.json").unlink(missing_ok=True)  # a test is of the program as it is
    problems = made_problems(chosen.quick) + ([] if chosen.quick else real_problems())
    problems.sort(key=lambda problem: len(problem.samples) * problem.kernel_count)  # trouble shows early
    regularizers = {name: ["--norm", value] for name, value in NORMS.items()} | OTHERS
    found, serves = sweep(chosen, problems, regularizers)
    common.write_csv(chosen.folder / "methods.csv",
                     ["problem", "regulariser", "method", "primal", "gap", "solves", "seconds", "fallbacks", "status"],
                     [[*key, r["primal"], r["gap"], r["solves"], r["seconds"], r["fallbacks"], r["status"]]
                      for key, r in found.items()])
    for names in (list(NORMS), list(OTHERS)):
        common.print_table(["solves / s", *names], cost_rows(found, names, problems))
    page = Path(__file__).resolve().parents[2] / "docs" / "methods.md"
    if not chosen.quick and len(problems) >= 6:
        write_page(page, problems, found, serves)

    claims = common.Claims()
    wrong = disagreements(found)
    claims.check(f"all methods meet on every regulariser they serve, to {AGREEMENT:g}, the papers' methods "
                 f"to {BASELINE_AGREEMENT:g}", not wrong,
                 f"{len(found)} answers" + "".join(f"\n          {p}, {n}, {m}: off by {d:.1e}" for p, n, m, d in wrong))
    strayed = [key for key, result in found.items() if result["fallbacks"]]
    claims.check("no method takes the step of another", not strayed, f"{len(strayed)} answers with fallbacks {strayed or ''}")
    everywhere = ("analytic", "newton", "cutting-plane", "level", "spg", "pgd")
    missing = [(name, method) for name in NORMS for method in everywhere if method not in serves[name]]
    claims.check(f"{', '.join(everywhere)} serve every norm", not missing, f"missing: {missing or 'none'}")
    claims.exit()


if __name__ == "__main__":
    main()
