"""The points of the benchmark, one module per question; a point generates rows, with its data, kernels and bounds.

Kweave's time is that of the whole process: start, reading, training, certificate, writing the model. So is LIBSVM's.
Of rivals in Python only computing the kernels and training counts.
"""
import dataclasses
import pathlib

import datasets
import kernels
import rivals
from measure import Row

NORMS = {"1": 1, "4/3": 4 / 3, "2": 2, "inf": "inf"}


@dataclasses.dataclass(frozen=True)
class Problem:
    """Samples to train on and to test with, one Gaussian kernel that suits them, and fifty around it."""
    name: str
    data: pathlib.Path
    test: pathlib.Path
    gamma: float
    kernels: kernels.Kernels

    @property
    def samples(self):
        with open(self.data) as file:
            return sum(1 for _ in file)


def a9a():
    return Problem("a9a", datasets.as_they_are("a9a"), datasets.as_they_are("a9a.t"), 1 / 123, kernels.around(1 / 123))


def mnist(count):
    return Problem(f"mnist {count}", datasets.mnist(count), datasets.mnist_test(), 0.02,
                   kernels.gaussians(kernels.WIDTHS))


def cod_rna():
    data, test = datasets.cod_rna()
    return Problem("cod-rna", data, test, 1 / 8, kernels.around(1 / 8))


def libsvm_row(point, problem):
    """LIBSVM with the one kernel of a problem: the run and its row."""
    done = rivals.libsvm(problem.data, problem.gamma, 1, problem.test)
    row = Row(point, problem.name, "libsvm, one kernel", done.seconds, done.cpu_seconds, done.peak_mb,
              done.summary["objective"], accuracy=done.summary["accuracy"])
    return done, row
