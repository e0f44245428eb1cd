"""What the benchmarks share: running programs, what the machine is, tables and files of results.

A run is one process: its wall-clock and CPU seconds and the high-water mark of its memory, as the kernel counts them.
"""
import atexit
import dataclasses
import functools
import json
import math
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = ROOT / "build" / "bench"
# Debian's own interpreter sees Debian's NumPy; another one first in the path may not.
PYTHON = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable

# On a machine that does other work, the clock on the wall says how busy it was. Processor seconds of all threads together
# do not, and are the stricter measure for a program with two threads beside one with one.
judges_by_cpu = False


@functools.cache
def scratch():
    """A folder for models and problems of this process alone, removed at its end."""
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = tempfile.TemporaryDirectory(dir=CACHE, prefix="run-")
    atexit.register(folder.cleanup)
    return pathlib.Path(folder.name)


@dataclasses.dataclass
class Run:
    """One finished process; `summary` is what the program said about its work, if anything."""
    seconds: float
    cpu_seconds: float
    peak_mb: float
    status: int
    output: str
    was_stopped: bool = False
    summary: dict = dataclasses.field(default_factory=dict)


def run(command, cap=None, threads=None):
    """Runs a command to its end, or stops it after `cap` seconds; fails loudly when it does not exit with 0."""
    environment = dict(os.environ)
    if threads is not None:
        environment |= {name: str(threads) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    with tempfile.TemporaryDirectory() as folder:
        costs = pathlib.Path(folder) / "costs"
        launcher = [PYTHON, "-I", "-S", ROOT / "bench" / "launch.py", costs, str(cap or 0)]
        done = subprocess.run([*launcher, *map(str, command)], capture_output=True, text=True, env=environment)
        if not costs.exists():
            sys.exit(f"{command[0]}: {done.stderr}")
        result = Run(**json.loads(costs.read_text()), output=done.stdout)
    result.was_stopped = bool(cap) and result.seconds >= cap
    if result.status != 0 and not result.was_stopped:
        sys.exit(f"{' '.join(map(str, command))}: exit {result.status}\n{done.stderr}")
    return result


def judged_seconds(done):
    """The seconds of a run that bounds are about."""
    return done.cpu_seconds if judges_by_cpu else done.seconds


def shortest(make_run, most=5, enough_seconds=10):
    """The shortest of up to `most` runs, as many as fit into the seconds. Memory is the largest seen.

    Other work on the machine only ever adds time, so the shortest run says most about the program.
    """
    best, spent, peak = None, 0, 0
    for _ in range(most):
        done = make_run()
        spent, peak = spent + done.seconds, max(peak, done.peak_mb)
        if best is None or judged_seconds(done) < judged_seconds(best):
            best = done
        if spent >= enough_seconds:
            break
    best.peak_mb = peak
    return best


class Kweave:
    """The program under test, with a folder for its files."""

    def __init__(self, program, threads=2, most_runs=5):
        self.program, self.threads, self.most_runs = pathlib.Path(program).resolve(), threads, most_runs
        self.folder = scratch()
        self._option_text = run([self.program, "train", "--help"]).output
        # Runs that miss their gap are measured, too; programs of before the option took them as they were.
        self._accept = ["--accept-partial"] if "--accept-partial" in self._option_text else []

    def offers(self, option, value):
        """Whether the help of `train` lists a value of an option, such as a method that came later."""
        lines = [line for line in self._option_text.splitlines() if line.strip().startswith(option + " ")]
        return any(value in line for line in lines)

    def train(self, data, *options, cap=600, repeat=None, threads=None):
        """Trains with the options; the shortest run, with its summary. Stopped runs have an empty summary.

        Short runs are repeated, or `repeat` times any.
        """
        def once():
            summary = self.folder / "summary.json"
            summary.unlink(missing_ok=True)
            (self.folder / "model").unlink(missing_ok=True)
            done = run([self.program, "train", *([data] if data else []), *options, *self._accept, "-q", "--summary", summary,
                        "--threads", threads or self.threads, "-o", self.folder / "model"], cap=cap)
            done.summary = json.loads(summary.read_text()) if summary.exists() else {}
            return done
        return shortest(once, repeat, math.inf) if repeat else shortest(once, self.most_runs)

    @functools.cached_property
    def start(self):
        """What the program takes to be loaded."""
        return shortest(lambda: run([self.program, "--version"]), most=10)

    def without_start(self, done):
        """A run less loading the program and reading the data: what rivals inside a running interpreter are held against."""
        before = self.start.seconds + done.summary["seconds"]["read"]
        cpu_before = self.start.cpu_seconds + done.summary["seconds"]["read"]
        return dataclasses.replace(done, seconds=done.seconds - before, cpu_seconds=done.cpu_seconds - cpu_before)

    def accuracy(self, data, *views):
        """Share of the samples in `data` that the last model trained labels rightly; NaN when none was written."""
        if not (self.folder / "model").exists():
            return math.nan
        scores = self.folder / "scores.json"
        run([self.program, "predict", self.folder / "model", *([data] if data else []), *views,
             "-o", self.folder / "predictions", "--summary", scores, "-q"])
        return json.loads(scores.read_text())["accuracy"]

    def data_mb(self, data, *options):
        """What the samples take in memory, as the program forecasts it."""
        forecast = run([self.program, "train", data, *options, "--dry-run", "-o", self.folder / "model"]).output
        for words in map(str.split, forecast.splitlines()):
            if words[:1] == ["data"]:
                return float(words[1]) * {"kB": 1e-3, "MB": 1, "GB": 1e3}[words[2]]
        sys.exit(f"{self.program}: --dry-run does not say how much memory the data take")


@dataclasses.dataclass
class Row:
    """One line of the table. `seconds` are those of the clock on the wall; `is_met` says whether the bound holds."""
    point: str
    case: str
    program: str
    seconds: float
    cpu_seconds: float = math.nan
    peak_mb: float = math.nan
    objective: float = math.nan
    gap: float = math.nan
    accuracy: float = math.nan
    ratio: float = math.nan
    cpu_ratio: float = math.nan
    bound: str = ""
    is_met: bool | None = None
    details: dict = dataclasses.field(default_factory=dict)


def kweave_row(point, case, done, program="kweave", **more):
    """A row of a run of the program; what its summary says about the work goes to the details."""
    summary = done.summary
    if not summary:
        more["details"] = {**more.get("details", {}), "stopped": True}
        more["is_met"] = False if "is_met" in more else None
        return Row(point, case, program, done.seconds, done.cpu_seconds, done.peak_mb, **more)
    details = {"status": summary["status"], "phases": summary["seconds"]}
    for name in ("solves", "iterations", "n_support", "rows_computed", "kernels_active", "certificate"):
        if name in summary:
            details[name] = summary[name]
    details |= {name: summary["options"].get(name) for name in ("method", "driver")} | more.pop("details", {})
    return Row(point, case, program, done.seconds, done.cpu_seconds, done.peak_mb, summary["primal"],
               summary["relative_gap"], details=details, **more)


def times_of(done, other):
    """How many times as long as another run, on the wall and on the processors."""
    return {"ratio": done.seconds / other.seconds, "cpu_ratio": done.cpu_seconds / other.cpu_seconds}


def judged(times):
    """The ratio that bounds are about."""
    return times["cpu_ratio" if judges_by_cpu else "ratio"]


def at_most(value, most):
    """The text of an upper bound on a value, and whether it holds."""
    return {"bound": f"<= {most:g}", "is_met": bool(value <= most)}


def at_least(value, least):
    return {"bound": f">= {least:g}", "is_met": bool(value >= least)}


HEADER = ("point", "case", "program", "seconds", "cpu s", "peak MB", "objective", "gap", "accuracy", "ratio",
          "cpu ratio", "bound", "")


def cells(row):
    """The texts of a row; what was not measured stays empty."""
    def text(value, form):
        return "" if value is None or math.isnan(value) else format(value, form)
    seconds = ("> " if row.details.get("stopped") else "") + text(row.seconds, ".3g" if row.seconds < 100 else ".0f")
    return (row.point, row.case, row.program, seconds, text(row.cpu_seconds, ".3g"), text(row.peak_mb, ".0f"),
            text(row.objective, ".7g"), text(row.gap, ".1e"), text(row.accuracy, ".4f"), text(row.ratio, ".3g"),
            text(row.cpu_ratio, ".3g"), row.bound,
            {True: "ok", False: "MISSED", None: ""}[row.is_met])


def print_row(row):
    print(f"{row.point:5} {row.case:34} {row.program:18} " +
          " ".join(f"{cell:>10}" for cell in cells(row)[3:]), flush=True)


def print_header():
    print(f"{HEADER[0]:5} {HEADER[1]:34} {HEADER[2]:18} " + " ".join(f"{name:>10}" for name in HEADER[3:]), flush=True)


def first_line(command):
    """The first line a command prints, or nothing where it does not run."""
    try:
        lines = subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.splitlines()
    except OSError:
        return ""
    return lines[0].strip() if lines else ""


def record(program):
    """Machine, commit and versions, to be stored beside every measurement."""
    models = [line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
              if line.startswith("model name")]
    memory = int(pathlib.Path("/proc/meminfo").read_text().split()[1]) * 1024
    versions = {"kweave": first_line([program, "--version"]), "python": platform.python_version(),
                "libsvm": first_line(["dpkg-query", "-W", "-f=${Version}", "libsvm-tools"])}
    for name in ("numpy", "scipy", "sklearn"):
        versions[name] = first_line([PYTHON, "-c", f"import {name}; print({name}.__version__)"])
    return {"date": time.strftime("%Y-%m-%d %H:%M"), "commit": first_line(["git", "describe", "--always", "--dirty"]),
            "processor": models[0] if models else platform.processor(), "cores": os.cpu_count(),
            "memory_gb": round(memory / 1e9, 1), "load": os.getloadavg()[0], "system": platform.platform(),
            "versions": versions}


def plain(value):
    """A value as JSON can hold it: no NaN."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_json(path, value):
    pathlib.Path(path).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(path).write_text(json.dumps(plain(value), indent=1) + "\n")
