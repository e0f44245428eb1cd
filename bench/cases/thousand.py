"""A thousand kernels for the price of a few: learned weights beside one SVM on the plain sum of the same kernels.

1,000 Gaussian kernels on 1,000 made samples, computed and (not with --quick) from 1,000 NumPy files of 4 MB, streamed
within --memory 2G. Learned weights take at most 30 times as long as the sum, in at most 1 GB, or 2 GB from files.
"""
import pathlib
import tempfile

import numpy
from sklearn.datasets import load_svmlight_file
from sklearn.metrics.pairwise import euclidean_distances

import datasets
from measure import judged, kweave_row, scratch, times_of

SAMPLES, FEATURES, KERNELS = 1000, 20, 1000
LOW, HIGH = 1e-4, 10.0
MOST_RATIO, MOST_MB, MOST_MB_FROM_FILES = 30, 1000, 2000


def write_matrices(data, folder):
    samples = load_svmlight_file(str(data))[0].toarray()
    squared = euclidean_distances(samples, squared=True)
    names = []
    for gamma in numpy.geomspace(LOW, HIGH, KERNELS):
        names.append(folder / f"k{len(names)}.npy")
        numpy.save(names[-1], numpy.exp(-gamma * squared).astype(numpy.float32))
    config = folder / "kernels.toml"
    config.write_text(f'kernel = "precomputed(file=[{",".join(map(str, names))}])"\n')
    return config


def norms(kweave, name, data, options, most_mb):
    of_sum = None
    for norm in ("inf", "2", "1"):
        done = kweave.train(data, *options, "--norm", norm)
        of_sum = of_sum or done
        row = kweave_row("thousand", f"{name}, p = {norm}", done, **times_of(done, of_sum))
        row.bound = f"<= {MOST_RATIO}, {most_mb} MB"
        row.is_met = judged(vars(row)) <= MOST_RATIO and row.peak_mb <= most_mb
        yield row


def thousand(kweave, quick):
    data = datasets.made_products(SAMPLES, FEATURES, 4)
    spec = ("--kernel", f"rbf(gamma=logspace({LOW},{HIGH},{KERNELS}))")
    yield from norms(kweave, "computed", data, spec, MOST_MB)
    yield from norms(kweave, "computed, direct", data, (*spec, "--certificate", "direct"), MOST_MB)
    if not quick:
        with tempfile.TemporaryDirectory(dir=scratch()) as folder:
            config = write_matrices(data, pathlib.Path(folder))
            yield from norms(kweave, "from files", data, ("--config", config, "--memory", "2G"), MOST_MB_FROM_FILES)
