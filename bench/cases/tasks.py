"""Regression and one-class machines: ten Gaussian kernels with learned weights (p = 2) beside one LIBSVM machine with one
of them, both on one thread. At most five times as long."""
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
