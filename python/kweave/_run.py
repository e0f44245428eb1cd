"""The surroundings of a run of the core: threads, memory, seed, limits, messages."""
import numbers
import os
import re
import sys
import warnings
from typing import NamedTuple

from sklearn.utils import check_random_state

_WARNING, _NOTE, _DETAIL = range(3)  # LogLevel of the core
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def thread_count(n_jobs):
    """Threads of the core (0: all cores) for scikit-learn's `n_jobs`.

    None means what OMP_NUM_THREADS says, which joblib sets in its worker processes so that they share the cores,
    and all cores where nothing is said.
    """
    if n_jobs is None:
        said = os.environ.get("OMP_NUM_THREADS", "")
        return int(said) if said.isdigit() else 0
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs is {n_jobs!r}, expected a number of threads, or -1 for all cores")
    if n_jobs > 0:
        return int(n_jobs)
    return max(1, len(os.sched_getaffinity(0)) + 1 + int(n_jobs))


def memory_bytes(memory):
    """Bytes for a number of bytes or a text such as '2G'."""
    if isinstance(memory, numbers.Real) and memory >= 0:
        return int(memory)
    match = re.fullmatch(r"(\d+(?:\.\d*)?)\s*([KMGT]?)(?:i?B)?", str(memory).strip(), re.IGNORECASE)
    if not match:
        raise ValueError(f"memory is {memory!r}, expected a size such as '2G' or '512M'")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def seed(random_state):
    """The core's seed: 0 for None, so that results repeat."""
    if random_state is None:
        return 0
    if isinstance(random_state, int) and random_state >= 0:
        return random_state
    return int(check_random_state(random_state).randint(2**31 - 1))


class Stage(NamedTuple):
    """A training that is part of another."""

    name: str
    #: Of the model that the whole gives if it stops here.
    gap: float

    def label(self, info):
        """What the core says of the part, as what is said of the whole."""
        name = f"{self.name}, {info['stage']}" if info["stage"] else self.name
        return {**info, "relative_gap": self.gap, "stage": name}


class ProgressPrinter:
    """Prints a line of progress about every second, and at once when the phase changes."""

    def __init__(self):
        self._phase, self._printed = None, -1.0

    def __call__(self, info):
        phase = info["phase"], info["stage"]
        if phase == self._phase and info["seconds"] - self._printed < 1:
            return
        self._phase, self._printed = phase, info["seconds"]
        gap = f"relative gap {info['relative_gap']:.2e} of {info['target_gap']:.0e}"
        if info["stage"]:
            gap = f"{info['stage']}: relative gap {info['stage_gap']:.2e}"
        print(
            f"[kweave] {info['seconds']:7.1f} s  {info['phase']:<11}  {gap}, {info['iterations']} moves of the "
            f"weights, {info['solves']} solves",
            file=sys.stdout,
            flush=True,
        )


def make_run(estimator, callback=None):
    """What `_core` takes as `run`."""
    if not isinstance(estimator.time_limit, numbers.Real) or not estimator.time_limit >= 0:
        raise ValueError(f"time_limit is {estimator.time_limit!r}, expected seconds, or 0 for none")
    if not (callback is None or callable(callback)):
        raise ValueError(f"callback is {callback!r}, expected a function of one dictionary")
    verbose = int(estimator.verbose)
    printer = ProgressPrinter() if verbose else None

    stage = getattr(estimator, "_stage", None)

    def progress(info):
        info = info if stage is None else stage.label(info)
        if printer:
            printer(info)
        return bool(callback and callback(info))

    def log(level, message):
        if level == _WARNING:
            warnings.warn(message, UserWarning, stacklevel=2)
        elif verbose and (level == _NOTE or verbose > 1):
            print(f"[kweave] {message}", file=sys.stdout, flush=True)

    return {
        "threads": thread_count(estimator.n_jobs),
        "memory_bytes": memory_bytes(estimator.memory),
        "seed": seed(estimator.random_state),
        "time_limit": float(estimator.time_limit),
        "progress": progress if callback or verbose else None,
        "log": log,
    }
