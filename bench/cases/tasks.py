"""Regression and one-class machines: ten Gaussian kernels with learned weights (p = 2) beside one LIBSVM machine with one
of them, both on one thread, at most five times as long; and the squared loss with fifty, within ten Cholesky factorisations."""
import numpy

import datasets
import kernels
import rivals
from measure import Row, at_most, judged, kweave_row, times_of

MIDDLE, NU, EPSILON = 0.05, 0.1, 0.1


def made_waves(count):
    """Ten features and a smooth function of four of them, with noise."""
    def make():
        random = numpy.random.default_rng(3)
        x = random.standard_normal((count, 10))
        y = numpy.sin(2 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.3 * x[:, 3] + 0.2 * random.standard_normal(count)
        return x, y
    return datasets.kept(f"waves-{count}", make)


def tasks(kweave, quick):
    count = 3000 if quick else 10000
    data = made_waves(count)
    ten = kernels.around(MIDDLE, count=10, factor=2)
    cases = {"regress": (["-s", 3, "-c", 1, "-p", EPSILON], ["-C", 1, "--epsilon", EPSILON]),
             "oneclass": (["-s", 2, "-n", NU], ["--nu", NU])}
    for task, (theirs, ours) in cases.items():
        one = rivals.libsvm_task(data, MIDDLE, theirs)
        yield Row("tasks", f"{task}, one kernel", "libsvm", one.seconds, one.cpu_seconds, one.peak_mb)
        done = kweave.train(data, "--task", task, *ours, *ten.options, "--norm", 2, threads=1)
        times = times_of(done, one)
        yield kweave_row("tasks", f"{task}, ten kernels", done, **times, **at_most(judged(times), 5))
    yield from squared(kweave, 1500 if quick else 5000)


def squared(kweave, count):
    """Kernel ridge regression with fifty widths by every method that serves it; only the default has a bound."""
    fifty = kernels.around(MIDDLE, count=50)
    factor = rivals.cholesky(count)
    yield Row("tasks", f"one factor of {count} x {count}", "lapack", factor.seconds, factor.cpu_seconds, factor.peak_mb)
    for method in ("auto", "lbfgs"):
        done = kweave.train(made_waves(count), "--task", "regress", "--loss", "squared", "-C", 1, *fifty.options, "--norm", 2,
                            "--method", method)
        times = times_of(done, factor)
        bound = at_most(judged(times), 10) if method == "auto" else {}
        yield kweave_row("tasks", "squared loss, fifty kernels", done, f"kweave {method}", **times, **bound)
