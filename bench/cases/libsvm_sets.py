"""One Gaussian kernel on one thread beside LIBSVM, on many sets; do the two label new samples alike?

Both programs read the same file, train and write their model; Kweave to a certified relative gap of 1e-4, LIBSVM to its
tolerance of 1e-3.
"""
import numpy

import datasets
import rivals
from measure import Row, kweave_row, run, times_of

# name: (samples and labels, how many train, C, gamma); the 2,000 after them are the new samples.
PROBLEMS = {
    "made-5k": (lambda: datasets.sphere(7000, 20, 1), 5000, 1, 0.05),
    "made-10k": (lambda: datasets.sphere(12000, 50, 2), 10000, 1, 0.02),
    "mnist-5k": (lambda: datasets.odd_digits("mnist", 7000), 5000, 1, 0.02),
    "mnist-10k": (lambda: datasets.odd_digits("mnist", 12000), 10000, 1, 0.02),
    "letter-13k": (lambda: halves_of_letters(), 13000, 10, 0.5),
    "cod-rna-20k": (lambda: datasets.scaled_rna("cod-rna"), 20000, 1, 1.0),
    "mnist-20k": (lambda: datasets.odd_digits("mnist", 22000), 20000, 1, 0.02),
    "a9a-30k": (lambda: datasets.real("a9a"), 30000, 1, 1 / 123),
    "w8a-30k": (lambda: datasets.real("w8a", 32000), 30000, 1, 1 / 300),
}
MOST_NEW = 2000


def halves_of_letters():
    samples, letters = datasets.real("letter")
    return samples, numpy.where(letters <= 13, 1, -1)


def parts(name):
    """The files of a problem: training and new samples, in an order drawn once."""
    make, count, *_ = PROBLEMS[name]

    def part(begin, end):
        samples, labels = make()
        order = numpy.random.default_rng(0).permutation(samples.shape[0])[begin:end]
        return samples[order], labels[order]
    return (datasets.kept(f"{name}.train", lambda: part(0, count)),
            datasets.kept(f"{name}.new", lambda: part(count, count + MOST_NEW)))


def differing(kweave, new):
    """On how many new samples with |f| > 1e-3 the last models of the two programs disagree."""
    theirs = [float(line) for line in rivals.libsvm_labels(new)]
    run([kweave.program, "predict", kweave.folder / "model", new, "-o", kweave.folder / "predictions", "-q"])
    mine = [tuple(map(float, line.split("\t"))) for line in (kweave.folder / "predictions").read_text().splitlines()]
    return sum(abs(value) > 1e-3 and label != other for (label, value), other in zip(mine, theirs, strict=True))


def sets(kweave, quick):
    for name, (_, _, c, gamma) in PROBLEMS.items():
        if quick and not name.startswith("made"):
            continue
        try:
            train, new = parts(name)
        except datasets.Missing as missing:
            print(f"sets  {name} {missing}")
            continue
        one = rivals.libsvm(train, gamma, c)
        yield Row("sets", name, "libsvm", one.seconds, one.cpu_seconds, one.peak_mb, one.summary["objective"])
        done = kweave.train(train, "--kernel", f"rbf(gamma={gamma!r})", "-C", c, "--normalize", "none", "--gap", 1e-4,
                            threads=1, repeat=2)
        count = differing(kweave, new)
        row = kweave_row("sets", name, done, **times_of(done, one), bound="none differ", is_met=count == 0,
                         details={"differing": count})
        row.objective = done.summary["dual"]
        yield row
