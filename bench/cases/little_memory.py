"""Point 7: points 1, 4 and 6 with --memory 256M: the same gap, little more memory, at most four times the time."""
from cases import NORMS, a9a, mnist, price_of_one
from measure import judged, kweave_row, times_of

MOST_MB, MOST_RATIO = 256, 4


def runs(quick):
    """Name, problem, and how to train it with further options."""
    for norm in ("4/3",) if quick else NORMS:
        for count in (2000,) if quick else (5000, 10000, 20000):
            yield (f"point 1, n = {count}, p = {norm}", mnist(count),
                   lambda kweave, problem, *options, norm=norm: price_of_one.learned(kweave, problem, norm, *options))
    for norm in () if quick else ("4/3", "1"):
        yield (f"point 4, a9a, p = {norm}", a9a(),
               lambda kweave, problem, *options, norm=norm: price_of_one.learned(kweave, problem, norm, *options))
    for problem in (mnist(2000),) if quick else (a9a(), mnist(20000)):
        yield f"point 6, {problem.name}", problem, price_of_one.one_kernel_run


def little_memory(kweave, quick):
    for name, problem, train in runs(quick):
        free = train(kweave, problem)
        yield kweave_row("7", name, free, program="kweave, free")
        done = train(kweave, problem, "--memory", "256M")
        row = kweave_row("7", name, done, program="kweave, 256M", **times_of(done, free))
        most_mb = MOST_MB + kweave.data_mb(problem.data)
        row.bound = f"<= {MOST_RATIO}, {most_mb:.0f} MB"
        row.is_met = (judged(vars(row)) <= MOST_RATIO and row.peak_mb <= most_mb
                      and done.summary.get("status") == "converged")
        yield row
