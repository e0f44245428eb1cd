"""Point 9: the loops inside, as fractions of what the hardware does at best with the same kind of work.

Two questions. How fast is each loop by itself, beside multiply-adds in registers, a library's vector exponential and a
pass over memory (loops_bench, on one core)? And how fast is it inside a whole run: the time that the computed rows would
take at the speed of the micro benchmark, over the time the run spent on them?
"""
import json
import math
import pathlib

from cases import a9a, mnist
from measure import Row, at_least, run

LEAST_FRACTION = 0.5
# Loop, the peak it is held against, what is counted, how many of that a pair of samples takes, and what comes before.
FRACTIONS = (
    ("PackedRows/64/784", "MultiplyAddPeak<float>", "GFLOP/s", None, None),
    ("PackedRows/64/123", "MultiplyAddPeak<float>", "GFLOP/s", None, None),
    ("PackedRows/16/123", "MultiplyAddPeak<float>", "GFLOP/s", None, None),
    # One row uses every feature once: it goes as fast as they can be read.
    ("PackedRows/1/123", "StreamRead/200000", "GB/s", 4 * 123, None),
    ("Exponentials<float>/1", "HighwayExponentials", "exp/ns", 1, None),
    ("Exponentials<float>/50", "HighwayExponentials", "exp/ns", 50, None),
    ("ExponentialMoments<float>/50", "HighwayExponentials", "exp/ns", 50, None),
    # A logarithm, then one multiply-add for every term.
    ("Chebyshev<float>/17", "MultiplyAddPeak<float>", "GFLOP/s", 2 * 17, "HighwayLogarithms<float>"),
    ("Chebyshev<float>/33", "MultiplyAddPeak<float>", "GFLOP/s", 2 * 33, "HighwayLogarithms<float>"),
    ("Chebyshev<double>/33", "MultiplyAddPeak<double>", "GFLOP/s", 2 * 33, "HighwayLogarithms<double>"),
    # The adjoint takes two: the recurrence, and the sum.
    ("ChebyshevMoments<float>/17", "MultiplyAddPeak<float>", "GFLOP/s", 4 * 17, "HighwayLogarithms<float>"),
    ("ChebyshevMoments<float>/33", "MultiplyAddPeak<float>", "GFLOP/s", 4 * 33, "HighwayLogarithms<float>"),
    ("ChebyshevMoments<double>/33", "MultiplyAddPeak<double>", "GFLOP/s", 4 * 33, "HighwayLogarithms<double>"),
    ("SmoUpdateGradient/10000", "StreamTriad/10000", "GB/s", None, None),
    ("SmoUpdateGradient/200000", "StreamTriad/200000", "GB/s", None, None),
    ("SmoUpdateGradient/20000000", "StreamTriad/20000000", "GB/s", None, None),
    ("SmoFindPartner/10000", "StreamTriad/10000", "GB/s", None, None),
    ("SmoFindPartner/200000", "StreamTriad/200000", "GB/s", None, None),
)


def micro(kweave):
    """The counters of every micro benchmark: {name: {counter: value}}, by CPU time, the best of three."""
    program = pathlib.Path(kweave.program).with_name("loops_bench")
    if not program.exists():
        return None
    text = run([program, "--benchmark_format=json", "--benchmark_min_time=0.1", "--benchmark_repetitions=3"]).output
    best = {}
    for entry in json.loads(text)["benchmarks"]:
        if entry["run_type"] != "iteration":
            continue
        counters = best.setdefault(entry["name"].removesuffix("/repeats:3"), {})
        for counter in ("GFLOP/s", "GB/s"):
            if counter in entry:
                counters[counter] = max(counters.get(counter, 0), entry[counter])
        if "ns/pair" in entry:
            counters["ns/pair"] = min(counters.get("ns/pair", math.inf), entry["ns/pair"])
    return best


def fraction(counters, name, peak, unit, per_pair, before):
    """The time that a loop's work takes at the speed of the peaks, over the time it takes."""
    mine = counters[name]
    if per_pair is None:
        return mine[unit] / counters[peak][unit]
    best = 1 / counters[peak]["ns/pair"] if unit == "exp/ns" else counters[peak][unit]
    ideal = per_pair / best + (counters[before]["ns/pair"] if before else 0)
    return ideal / mine["ns/pair"]


def rate(counters):
    """The rate of a benchmark, for people."""
    for unit in ("GFLOP/s", "GB/s"):
        if unit in counters:
            return f"{counters[unit]:.3g} {unit}"
    return f"{counters['ns/pair']:.3g} ns per pair"


def inside(kweave, problem, counters, product):
    """One kernel, one thread, no base kept: every row is a product and an exponential for each pair. The ratio is the
    share of the time of solver and certificate that these would take by themselves, so the rest of the solver counts against
    it. The rows of the certificate, those of the support vectors, are in double precision: products at half the speed."""
    done = kweave.train(problem.data, "--kernel", f"rbf(gamma={problem.gamma!r})", "--normalize", "none", "-C", 1,
                        threads=1, repeat=1)
    rows = done.summary["kernel_rows"]
    exact_rows = done.summary["n_support"]
    of_row = counters[product]["ns/pair"] + counters["Exponentials<float>/1"]["ns/pair"]
    of_exact_row = 2 * counters[product]["ns/pair"] + counters["Exponentials<double>/1"]["ns/pair"]
    ideal = 1e-9 * problem.samples * ((rows - exact_rows) * of_row + exact_rows * of_exact_row)
    # A busy machine shows in the wall clock only: scale the seconds by what the process got of its core.
    spent = done.summary["seconds"]["solve"] + done.summary["seconds"]["certificate"]
    spent *= done.cpu_seconds / done.seconds
    yield Row("9", f"rows inside {problem.name}", "kweave", spent, ratio=ideal / spent,
              **at_least(ideal / spent, LEAST_FRACTION), details={"kernel_rows": rows, "ideal_seconds": ideal})


def loops(kweave, quick):
    counters = micro(kweave)
    if counters is None:
        print("9     skipped: no loops_bench beside the program (make bench builds it)")
        return
    for name, peak, unit, per_pair, before in FRACTIONS:
        share = fraction(counters, name, peak, unit, per_pair, before)
        yield Row("9", name, "loops_bench", math.nan, ratio=share, **at_least(share, LEAST_FRACTION),
                  details={"measured": rate(counters[name]), "beside": " + ".join(
                      f"{part} {rate(counters[part])}" for part in (before, peak) if part)})
    if not quick:
        yield from inside(kweave, mnist(10000), counters, "PackedRows/64/784")
        yield from inside(kweave, a9a(), counters, "PackedRows/64/123")
