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
# Loop, the peak it is held against, what is counted, and how many of that a pair of samples takes.
FRACTIONS = (
    ("PackedRows/64/784", "MultiplyAddPeak<float>", "GFLOP/s", None),
    ("PackedRows/64/123", "MultiplyAddPeak<float>", "GFLOP/s", None),
    ("PackedRows/16/123", "MultiplyAddPeak<float>", "GFLOP/s", None),
    ("PackedRows/1/123", "MultiplyAddPeak<float>", "GFLOP/s", None),
    ("Exponentials<float>/1", "HighwayExponentials", "exp/ns", 1),
    ("Exponentials<float>/50", "HighwayExponentials", "exp/ns", 50),
    ("ExponentialMoments<float>/50", "HighwayExponentials", "exp/ns", 50),
    # One multiply-add for every term; the logarithm before them is not counted.
    ("Chebyshev<float>/17", "MultiplyAddPeak<float>", "GFLOP/s", 2 * 17),
    ("Chebyshev<float>/33", "MultiplyAddPeak<float>", "GFLOP/s", 2 * 33),
    ("Chebyshev<double>/33", "MultiplyAddPeak<double>", "GFLOP/s", 2 * 33),
    # The adjoint takes two: the recurrence, and the sum.
    ("ChebyshevMoments<float>/17", "MultiplyAddPeak<float>", "GFLOP/s", 4 * 17),
    ("ChebyshevMoments<float>/33", "MultiplyAddPeak<float>", "GFLOP/s", 4 * 33),
    ("ChebyshevMoments<double>/33", "MultiplyAddPeak<double>", "GFLOP/s", 4 * 33),
    ("SmoUpdateGradient/10000", "StreamTriad/10000", "GB/s", None),
    ("SmoUpdateGradient/200000", "StreamTriad/200000", "GB/s", None),
    ("SmoUpdateGradient/20000000", "StreamTriad/20000000", "GB/s", None),
    ("SmoFindPartner/10000", "StreamTriad/10000", "GB/s", None),
    ("SmoFindPartner/200000", "StreamTriad/200000", "GB/s", None),
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


def rate(counters, unit, per_pair):
    return per_pair / counters["ns/pair"] if per_pair else counters[unit]


def inside(kweave, problem, counters, product):
    """One kernel, one thread, no base kept: every row is a product and an exponential for each pair. The ratio is the
    share of the solver's time that these would take by themselves, so the rest of the solver counts against it."""
    done = kweave.train(problem.data, "--kernel", f"rbf(gamma={problem.gamma!r})", "--normalize", "none", "-C", 1,
                        threads=1, repeat=1)
    rows = done.summary.get("rows_computed")
    if rows is None:
        print("9     inside a run: skipped, the summary does not count the computed rows")
        return
    pairs = rows * problem.samples
    ideal = 1e-9 * pairs * (counters[product]["ns/pair"] + counters["Exponentials<float>/1"]["ns/pair"])
    # A busy machine shows in the wall clock only: scale the solver's seconds by what the process got of its core.
    solve = done.summary["seconds"]["solve"] * done.cpu_seconds / done.seconds
    yield Row("9", f"rows inside {problem.name}", "kweave", solve, ratio=ideal / solve,
              **at_least(ideal / solve, LEAST_FRACTION), details={"rows_computed": rows, "ideal_seconds": ideal})


def loops(kweave, quick):
    counters = micro(kweave)
    if counters is None:
        print("9     skipped: no loops_bench beside the program (make bench builds it)")
        return
    for name, peak, unit, per_pair in FRACTIONS:
        value = rate(counters[name], unit, per_pair)
        best = rate(counters[peak], unit, 1 if unit == "exp/ns" else None)
        yield Row("9", name, "loops_bench", math.nan, ratio=value / best, **at_least(value / best, LEAST_FRACTION),
                  details={"value": value, "unit": unit, "peak": best, "peak_name": peak,
                           "ns_per_pair": counters[name].get("ns/pair")})
    if not quick:
        yield from inside(kweave, mnist(10000), counters, "PackedRows/64/784")
        yield from inside(kweave, a9a(), counters, "PackedRows/64/123")
