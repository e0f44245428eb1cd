"""Other programs that solve the same or a similar problem, each run in a process of its own."""
import json
import math
import pathlib
import re

from measure import CACHE, PYTHON, ROOT, Row, run, scratch, shortest

SCRIPTS = ROOT / "bench" / "rivals"
MKLPY_PYTHON = CACHE / "mklpy" / "bin" / "python"
_libsvm_runs = {}


def libsvm(data, gamma, c, test=None, most_runs=3):
    """svm-train with one Gaussian kernel, tolerance 1e-3, and a cache of 4 GB, which helps it; remembered, since
    several points compare with the same run. The whole process is measured, as for Kweave."""
    key = (str(data), gamma, c)
    if key not in _libsvm_runs:
        done = shortest(lambda: run(["svm-train", "-t", "2", "-g", repr(gamma), "-c", c, "-e", "0.001", "-m", "4000",
                                     data, scratch() / "libsvm.model"]), most=most_runs, enough_seconds=5)
        objective = -float(re.findall(r"obj = ([-0-9.e+]+)", done.output)[-1])
        done.summary = {"objective": objective, "accuracy": None}
        if test is not None:
            text = run(["svm-predict", test, scratch() / "libsvm.model", scratch() / "libsvm.out"]).output
            done.summary["accuracy"] = float(re.search(r"Accuracy = ([0-9.]+)%", text).group(1)) / 100
        _libsvm_runs[key] = done
    return _libsvm_runs[key]


def libsvm_task(data, gamma, options):
    """svm-train as above for other tasks, which `options` say."""
    return shortest(lambda: run(["svm-train", *options, "-t", "2", "-g", repr(gamma), "-e", "0.001", "-m", "4000", data,
                                 scratch() / "libsvm.model"]), most=3, enough_seconds=5)


def cholesky(size, threads=2):
    """One factorisation of a matrix of this size, without the start of Python; the shortest of three."""
    def once():
        done = run([PYTHON, SCRIPTS / "cholesky.py", size], threads=threads)
        counted = json.loads(done.output)
        done.seconds, done.cpu_seconds = counted["seconds"], counted["cpu_seconds"]
        return done
    return shortest(once, most=3)


def libsvm_labels(data):
    """What the last model that LIBSVM trained says about samples, as text."""
    run(["svm-predict", data, scratch() / "libsvm.model", scratch() / "libsvm.out"])
    return (scratch() / "libsvm.out").read_text().split()


def python_rival(name, data, kernels, c, norm, gap=1e-3, normalize="trace", test=None, cap=60, threads=2):
    """One of the scripts beside this file. `seconds` becomes what the script counts: from the samples in memory to the
    trained machine, kernels included, but neither the start of Python nor reading. None where it cannot run."""
    python = MKLPY_PYTHON if name.startswith("mklpy") else PYTHON
    if not pathlib.Path(python).exists():
        return None
    problem = scratch() / "problem.json"
    problem.write_text(json.dumps({"data": str(data), "test": test and str(test), "kernels": kernels.members, "C": c,
                                   "norm": norm, "gap": gap, "normalize": normalize}))
    script, *variant = name.split("-")
    # Starting Python and reading is not held against it: a few seconds more until it is stopped.
    done = run([python, SCRIPTS / f"{script}.py", problem, *variant], cap=cap + 5, threads=threads)
    if done.was_stopped:
        done.seconds = cap
    else:
        done.summary = json.loads(done.output.splitlines()[-1])
        done.seconds, done.cpu_seconds = done.summary["seconds"], done.summary["cpu_seconds"]
    return done


def rival_row(point, case, name, done, **more):
    """The row of a rival; one that was stopped has no result, and its time is a lower bound."""
    if done.was_stopped:
        more["details"] = {**more.get("details", {}), "stopped": True}
        return Row(point, case, name, done.seconds, done.cpu_seconds, done.peak_mb, **more)
    summary = {name: value for name, value in done.summary.items() if value is not None}
    more["details"] = {**more.get("details", {}), "solves": summary.get("solves")}
    return Row(point, case, name, done.seconds, done.cpu_seconds, done.peak_mb, summary.get("objective", math.nan),
               summary.get("gap", math.nan), summary.get("accuracy", math.nan), **more)
