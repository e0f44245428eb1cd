#!/usr/bin/env python3
"""Trains random problems by `kweave train` and confirms every answer by `kweave verify`.

    run.py KWEAVE --count 200 --seed 1 --also known.txt

trains the problems 0 to 199 of seed 1 (problems.py), and those that known.txt names by seed and number: they failed once. Each ends as one of

    confirmed   `train` converged, and `verify` found its bounds true
    unconfirmed the same, but rounding of `verify` itself, which it bounds, may be more than the gap
    refused     exit status 2, 3 or 4, and one sentence that says why
    digits      `train` gave up above the gap asked for, and said that double precision is what lacks; what it claims of the model
                it left is true
    stalled     the same for other reasons
    false       `verify` found a claim that does not hold, or what it says is not what was asked for
    crashed     any other exit status, or a refusal without its sentence
    slow        more than --most-seconds of processor time

The exit status is 0 where there are none of the last three, where stalled ones are at most --most-stalled of all and refused ones
and those without digits at most --most-refused, and unconfirmed ones at most --most-unconfirmed. `--only NUMBER --keep FOLDER` trains one problem and leaves its
files there.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from problems import make_problem

# What has not ended after so many times --most-seconds is killed.
MOST_TIMES_SLOW = 6
REFUSALS = (2, 3, 4)  # wrong use, bad data, out of resources: docs/summary.md
MISSED_GAP, CLAIM_FAILS = 5, 6
# How `train` says that digits are missing (src/weights/run/driver.cc).
WANT_OF_DIGITS = ("rounding keeps the bounds apart", "double precision is not enough")
BAD = ("false", "crashed", "slow")


def run(program, arguments, folder, most_seconds):
    """Exit status, standard error, seconds of processor time."""
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        process = subprocess.Popen([program, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=errors, preexec_fn=lambda: limit_time(most_seconds))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        return process.returncode, errors.read(), usage.ru_utime + usage.ru_stime


def limit_time(most_seconds):
    limit = math.ceil(MOST_TIMES_SLOW * most_seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def attempt(program, seed, number, most_seconds, keep=None):
    """Trains one problem; the record that --json writes."""
    with tempfile.TemporaryDirectory(prefix="kweave-stress-") as temporary:
        folder = Path(keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        problem = make_problem(seed, number)
        for name, content in problem.files.items():
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        train = ["train", *problem.data, *problem.options, "--threads", "1", "-q", "-o", "m.kweave", "--summary", "train.json"]
        record = {"seed": seed, "number": number, "command": shlex.join(["kweave", *train])}
        status, errors, seconds = run(program, train, folder, most_seconds)
        record.update(status=status, seconds=round(seconds, 3), message=errors.strip())
        record["outcome"] = judge_training(record, most_seconds)
        if status in (0, MISSED_GAP):
            confirm(program, problem, folder, record, most_seconds)
        return record


def judge_training(record, most_seconds):
    if record["seconds"] > most_seconds:
        return "slow"
    if record["status"] in REFUSALS:
        last = record["message"].splitlines()[-1:]
        return "refused" if last and last[0].startswith("kweave: ") else "crashed"
    if record["status"] == MISSED_GAP:
        return "digits" if any(sentence in record["message"] for sentence in WANT_OF_DIGITS) else "stalled"
    return "confirmed" if record["status"] == 0 else "crashed"


def confirm(program, problem, folder, record, most_seconds):
    """Verifies the model, complete or partial, and that what was found is within the gap that was asked for."""
    model = "m.kweave" if record["status"] == 0 else "m.kweave.partial"
    verify = ["verify", model, *problem.data, "-q", "--summary", "verify.json"]
    status, errors, seconds = run(program, verify, folder, most_seconds)
    record.update(verify_status=status, verify_seconds=round(seconds, 3))
    if status not in (0, CLAIM_FAILS):
        record.update(outcome="crashed", message=errors.strip())
        return
    trained = json.loads((folder / "train.json").read_text())
    found = json.loads((folder / "verify.json").read_text())
    record.update(gap=trained["relative_gap"], verify_gap=found["relative_gap"], unchecked=found["unchecked"])
    if status == CLAIM_FAILS:
        record.update(outcome="false", message="; ".join(found["failures"]))
    elif record["status"] == 0 and trained["status"] != "converged":
        record.update(outcome="false", message=f"exit status 0 and {trained['status']}")
    elif record["outcome"] == "confirmed" and any("rounding" in sentence for sentence in found["unchecked"]):
        record["outcome"] = "unconfirmed"


def show(record):
    if record["outcome"] in (*BAD, "stalled"):
        gap = f", gap {record['gap']:.2g}" if "gap" in record else ""
        print(f"{record['seed']}/{record['number']}: {record['outcome']} (status {record['status']}, {record['seconds']} s{gap}): {record['message']}\n"
              f"    {record['command']}", flush=True)


def read_names(path):
    """(seed, number) of every line that holds one."""
    lines = (line.split("#")[0].strip() for line in Path(path).read_text().splitlines())
    return [tuple(int(part) for part in line.split("/")) for line in lines if line]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--also", help="file that names more problems, one SEED/NUMBER in a line; # starts a comment")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", help="file for a record of every problem")
    parser.add_argument("--most-stalled", type=float, default=0.002, help="share of all problems")
    parser.add_argument("--most-refused", type=float, default=0.1, help="share of all problems, those without digits included")
    parser.add_argument("--most-unconfirmed", type=float, default=0.1, help="share of all problems")
    parser.add_argument("--most-seconds", type=float, default=10, help="of processor time, for one problem; more on a loaded machine")
    parser.add_argument("--only", type=int, help="number of the one problem to train")
    parser.add_argument("--keep", help="folder for the files of --only")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    if arguments.only is not None:
        print(json.dumps(attempt(program, arguments.seed, arguments.only, arguments.most_seconds, arguments.keep), indent=1))
        return 0
    records = []
    problems = [(arguments.seed, number) for number in range(arguments.first, arguments.first + arguments.count)]
    problems += read_names(arguments.also) if arguments.also else []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for record in pool.map(lambda problem: attempt(program, *problem, arguments.most_seconds), problems):
            show(record)
            records.append(record)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(records, indent=1) + "\n")
    counts = collections.Counter(record["outcome"] for record in records)
    print(f"{len(records)} problems from seed {arguments.seed} on:", ", ".join(f"{n} {name}" for name, n in counts.most_common()))
    print(f"{sum(r['seconds'] for r in records):.0f} s of processor time for training, at most "
          f"{max(r['seconds'] for r in records)} s for one")
    is_fine = (not any(counts[name] for name in BAD) and counts["stalled"] <= arguments.most_stalled * len(records)
               and counts["refused"] + counts["digits"] <= arguments.most_refused * len(records)
               and counts["unconfirmed"] <= arguments.most_unconfirmed * len(records))
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
