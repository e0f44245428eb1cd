"""Point 3: small UCI sets with kernels on single features, beside straightforward rivals on scikit-learn's SVC."""
import datasets
import kernels
import rivals
from measure import at_least, judged, kweave_row, shortest, times_of
from sklearn.datasets import load_svmlight_file

SETS = ("sonar", "ionosphere", "wpbc194", "liver-disorders", "breast-cancer", "australian", "diabetes")
NORMS = {"1": 1, "1.1": 1.1, "1.33": 1.33, "2": 2}
LEAST_RATIO = 20
# A rival is stopped when it has shown more than this many times Kweave's time; its ratio is then a lower bound.
ENOUGH_RATIO, LEAST_CAP = 40, 10
# Runs of a few milliseconds differ by a third from one to the next: the shortest of many counts, on both sides.
MOST_RUNS, MOST_RIVAL_RUNS, ENOUGH_SECONDS = 25, 3, 2


def beside_rivals(kweave, quick):
    """At least 20 times faster than SimpleMKL (p = 1) and the analytic wrapper (p > 1), at the same gap."""
    for name in SETS[3:5] if quick else SETS:
        data = datasets.as_they_are(name)
        chosen = kernels.single_features_and_all(load_svmlight_file(str(data))[0].shape[1])
        for c in (10,) if quick else (1, 10, 100):
            for norm, p in NORMS.items():
                case = f"{name}, C = {c}, p = {norm}"
                options = (*chosen.options, "-C", c, "--norm", p, "--gap", 1e-3, "--normalize", "trace")
                done = kweave.without_start(
                    shortest(lambda: kweave.train(data, *options, repeat=1), MOST_RUNS, ENOUGH_SECONDS))
                rival = "simplemkl" if p == 1 else "analytic"
                cap = max(LEAST_CAP, ENOUGH_RATIO * done.seconds)
                theirs = shortest(lambda: rivals.python_rival(rival, data, chosen, c, p, cap=cap), MOST_RIVAL_RUNS,
                                  ENOUGH_SECONDS)
                yield rivals.rival_row("3", case, rival, theirs)
                times = times_of(theirs, done)
                yield kweave_row("3", case, done, **times, **at_least(judged(times), LEAST_RATIO),
                                 details={"is_lower_bound": theirs.was_stopped, "kernels": len(chosen.members)})
