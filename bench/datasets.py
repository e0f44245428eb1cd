"""The samples of the benchmarks: real ones from the folder that KWEAVE_DATA names, and made ones.

Every data set is prepared once and kept as LIBSVM text under build/bench/data, so that all programs read the same file.
"""
import io
import os
import pathlib
import subprocess

import numpy
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from measure import CACHE

FOLDER = CACHE / "data"


class Missing(Exception):
    """A real data set that is not there; the sentence says what is skipped."""


def real(name, most=None):
    """Samples (sparse) and labels of a real data set, at most the first `most` rows."""
    folder = os.environ.get("KWEAVE_DATA")
    path = pathlib.Path(folder or ".") / f"{name}.zst"
    if not folder or not path.exists():
        raise Missing(f"skipped: KWEAVE_DATA names no folder with {name}.zst")
    text = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout
    if most is not None:
        text = b"\n".join(text.split(b"\n", most)[:most]) + b"\n"
    return load_svmlight_file(io.BytesIO(text))


def kept(name, make):
    """The path of a prepared file; `make` gives samples and labels when it is not there yet."""
    path = FOLDER / name
    if not path.exists():
        samples, labels = make()
        FOLDER.mkdir(parents=True, exist_ok=True)
        part = path.with_name(name + ".part")
        dump_svmlight_file(samples, labels, str(part), zero_based=False)
        part.rename(path)
    return path


def odd_digits(name, most):
    """Odd digits against even ones, pixels / 255."""
    samples, digits = real(name, most)
    return samples / 255, numpy.where(digits % 2 == 1, 1, -1)


def mnist(count):
    return kept(f"mnist-{count}", lambda: odd_digits("mnist", count))


def mnist_test():
    return kept("mnist.t", lambda: odd_digits("mnist.t", 2000))


def letters(count, against_rest=None):
    """The first letters; one class against the rest where it is given."""
    def make():
        samples, classes = real("letter", count)
        return samples, classes if against_rest is None else numpy.where(classes == against_rest, 1, -1)
    return kept(f"letter-{count}" + ("" if against_rest is None else f"-{against_rest:g}"), make)


def mnist_halves(count):
    """The upper and the lower half of the pixels, as two views."""
    def half(columns):
        samples, labels = odd_digits("mnist", count)
        return samples[:, columns], labels
    return (kept(f"mnist-{count}-upper", lambda: half(slice(0, 392))),
            kept(f"mnist-{count}-lower", lambda: half(slice(392, None))))


def as_they_are(name, most=None):
    return kept(name if most is None else f"{name}-{most}", lambda: real(name, most))


def scaled_rna(part, most=None):
    """Cod-RNA, every feature to [-1, 1] by the range of the training rows."""
    training = real("cod-rna")[0].toarray()
    low, high = training.min(axis=0), training.max(axis=0)
    samples, labels = real(part, most)
    return 2 * (samples.toarray() - low) / (high - low) - 1, labels


def cod_rna():
    """Training file, and 10,000 rows of the test part."""
    return kept("cod-rna", lambda: scaled_rna("cod-rna")), kept("cod-rna.t", lambda: scaled_rna("cod-rna.t", 10000))


def sphere(count, features, seed):
    """Two classes on both sides of a noisy sphere."""
    random = numpy.random.default_rng(seed)
    samples = random.standard_normal((count, features))
    radius = (samples ** 2).sum(axis=1) + 2 * random.standard_normal(count)
    return samples, numpy.where(radius > features, 1, -1)


def made_sphere(count, features, seed):
    return kept(f"sphere-{count}-{features}-{seed}", lambda: sphere(count, features, seed))


def made_products(count, features, seed):
    """Two classes by the sign of a noisy function of three features."""
    def make():
        random = numpy.random.default_rng(seed)
        samples = random.standard_normal((count, features))
        margin = numpy.sin(2 * samples[:, 0]) + samples[:, 1] * samples[:, 2] + 0.3 * random.standard_normal(count)
        return samples, numpy.where(margin > 0, 1, -1)
    return kept(f"products-{count}-{features}-{seed}", make)
