"""Many classes: one machine for each of the letters, together against the largest of them by itself."""
import datasets
import kernels
from measure import at_most, judged, kweave_row, times_of

MOST_RATIO = 6


def letters(kweave, quick):
    """26 machines on ten kernels: at most six times the largest, every base value once for each precision."""
    count = 3000 if quick else 15000
    chosen = (*kernels.around(1, 10, 2).options, "-C", 10, "--gap", 1e-3, "--memory", "6G")
    together = kweave.train(datasets.letters(count), *chosen, "--multiclass", "ovr")
    accuracy = kweave.accuracy(datasets.as_they_are("letter.t"))
    values = together.summary["base_values"] / count ** 2
    yield kweave_row("classes", f"letter {count}, base values per pair", together, accuracy=accuracy, ratio=values,
                     **at_most(values, 2))
    largest = max(together.summary["machines"], key=lambda machine: machine["n_support"])["class"]
    alone = kweave.train(datasets.letters(count, float(largest)), *chosen)
    yield kweave_row("classes", f"letter {count}, class {largest} by itself", alone)
    times = times_of(together, alone)
    yield kweave_row("classes", f"letter {count}, 26 classes", together, accuracy=accuracy, **times,
                     **at_most(judged(times), MOST_RATIO))
