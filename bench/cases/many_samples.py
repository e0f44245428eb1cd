"""Point 1: the time against the number of samples, 50 Gaussians on odd and even digits, norms 1, 4/3, 2 and inf."""
import math

import numpy
from sklearn.datasets import load_svmlight_file
from sklearn.metrics.pairwise import euclidean_distances

import kernels
import rivals
from cases import NORMS, mnist
from measure import Row, judged_seconds, kweave_row, scratch

SIZES = (1000, 2000, 5000, 10000, 20000)
MATRIX_SIZES = (1000, 2000, 4000, 8000)
RIVALS = (("simplemkl", "1"), ("analytic", "4/3"), ("sum", "inf"), ("mklpy-easy", ""), ("mklpy-average", ""))
MOST_SLOPE, SLOPE_FROM, SLOPE_TO = 2.1, 5000, 20000
MOST_MB = {10000: 1500, 20000: 6000}


def learned(kweave, problem, norm, driver, *options, **more):
    return kweave.train(problem.data, *problem.kernels.options, "-C", 1, "--norm", NORMS[norm], "--gap", 1e-3,
                        "--driver", driver, *options, repeat=kweave.most_runs, **more)


def drivers(kweave, norm):
    """The sum has no weights to move, so there is one driver for it; others as far as the program has them."""
    return [driver for driver in ("wrapper", "interleaved")
            if kweave.offers("--driver", driver) and (norm != "inf" or driver == "wrapper")]


def on_the_fly(kweave, sizes):
    """All norms and drivers, with the bounds on memory, and on the slope between the sizes it is meant for."""
    for norm in NORMS:
        for driver in drivers(kweave, norm):
            seconds = {}
            for count in sizes:
                done = learned(kweave, mnist(count), norm, driver)
                seconds[count] = judged_seconds(done)
                row = kweave_row("1", f"n = {count}, p = {norm}, {driver}", done,
                                 accuracy=kweave.accuracy(mnist(count).test),
                                 details={"n": count, "norm": norm, "curve": driver})
                if count in MOST_MB:
                    row.bound, row.is_met = f"<= {MOST_MB[count]} MB", row.peak_mb <= MOST_MB[count]
                yield row
            if SLOPE_FROM in seconds and SLOPE_TO in seconds:
                slope = math.log(seconds[SLOPE_TO] / seconds[SLOPE_FROM]) / math.log(SLOPE_TO / SLOPE_FROM)
                yield Row("1", f"slope, p = {norm}, {driver}", "kweave", math.nan, ratio=slope,
                          bound=f"<= {MOST_SLOPE}", is_met=slope <= MOST_SLOPE)


def write_matrices(problem, count):
    """The 50 kernel matrices as NumPy files in single precision, written once; removed by the caller."""
    folder = scratch() / "matrices"
    folder.mkdir(exist_ok=True)
    samples = load_svmlight_file(str(problem.data))[0].toarray().astype(numpy.float32)
    squared = euclidean_distances(samples, squared=True)
    names = []
    for _, gamma, _ in problem.kernels.members:
        names.append(folder / f"{count}-{len(names)}.npy")
        numpy.save(names[-1], numpy.exp(-gamma * squared))
    return names


def from_matrices(kweave, sizes):
    """The same from files, streamed; the samples' file gives the labels."""
    for count in sizes:
        problem = mnist(count)
        names = write_matrices(problem, count)
        config = kweave.folder / "matrices.toml"
        config.write_text(f'kernel = "precomputed(file=[{",".join(map(str, names))}])"\n')
        for norm in NORMS:
            done = kweave.train(problem.data, "--config", config, "-C", 1, "--norm", NORMS[norm], "--gap", 1e-3,
                                repeat=kweave.most_runs)
            yield kweave_row("1", f"n = {count}, p = {norm}, matrices", done,
                             details={"n": count, "norm": norm, "curve": "matrices"})
        for name in names:
            name.unlink()


def beside_rivals(sizes, cap):
    """The straightforward programs, as long as they finish."""
    for name, norm in RIVALS:
        for count in sizes:
            problem = mnist(count)
            done = rivals.python_rival(name, problem.data, problem.kernels, 1, NORMS.get(norm, 1),
                                       normalize="multiplicative", test=problem.test, cap=cap)
            if done is None:
                print(f"1     {name} skipped: run bench/rivals/install-mklpy first")
                break
            yield rivals.rival_row("1", f"n = {count}" + (f", p = {norm}" if norm else ""), name, done,
                                   details={"n": count, "norm": norm, "curve": name})
            if done.was_stopped:
                break


def growth(kweave, quick):
    yield from on_the_fly(kweave, SIZES[:2] if quick else SIZES)
    yield from from_matrices(kweave, MATRIX_SIZES[:1] if quick else MATRIX_SIZES)
    yield from beside_rivals(SIZES[:1] if quick else SIZES[:2], cap=20 if quick else 60)
