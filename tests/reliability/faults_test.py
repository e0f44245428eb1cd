"""Calls of the system that fail, one after the other, while models are trained and applied.

A preloaded library (faults.cc) lets the K-th allocation, write, fsync, rename, open, close, read or start of a thread fail, halves
reads and writes, interrupts calls, lets clocks jump. Whatever fails: the program ends soon, with an exit status that the
documentation lists and at most one sentence on standard error, every output is the old file or a whole new one, and no
temporary file is left.

Usage: KWEAVE=build/release/kweave KWEAVE_FAULTS=build/release/libkweave_faults.so faults_test.py [--count N]
N: calls of each kind to let fail (0: every one of them); they are spread evenly over the run.
"""
import json
import os
import signal
import subprocess
import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "cli"))
from support import PROGRAM, FolderTest, csv_text, two_classes  # noqa: E402

LIBRARY = os.environ["KWEAVE_FAULTS"]
USAGE, DATA, RESOURCE, ENDED_EARLY = 2, 3, 4, 5
SECONDS = 60
COUNT = 25
OLD = "old\n"
LABELS, ROWS = two_classes(24)

COMMANDS = {
    "train": (["train", "d.csv", "-q", "--threads", "2", "-o", "m.kweave", "--summary", "s.json"], ["m.kweave", "s.json"]),
    "train from a pipe": (["train", "-", "-q", "--norm", "1", "-o", "m.kweave", "--config", "c.toml"], ["m.kweave"]),
    "train several classes": (["train", "c.csv", "-q", "--threads", "1", "--multiclass", "joint", "-o", "m.kweave"], ["m.kweave"]),
    "predict": (["predict", "old.kweave", "d.csv", "-q", "-o", "p.tsv", "--summary", "s.json"], ["p.tsv", "s.json"]),
}
# What may come of a call that fails, beside success: some can be done without.
# The C library ends a process that has no memory for the destructor of a thread's first variable of a kind; nobody can hear of it.
GLIBC = "Fatal glibc error: failed to register TLS destructor: out of memory\n"
STATUSES = {"memory": {RESOURCE}, "thread": set(), "full": {RESOURCE}, "sync": {RESOURCE}, "rename": {RESOURCE},
            "close": {RESOURCE}, "open": {USAGE, DATA, RESOURCE}, "read": {USAGE, DATA, RESOURCE}}


class Faults(FolderTest):
    def setUp(self):
        super().setUp()
        self.write("d.csv", csv_text(LABELS, ROWS))
        self.write("c.toml", "C = 2\n")
        self.write("c.csv", csv_text([i % 3 for i in range(len(ROWS))], ROWS))
        self.succeed("train", "d.csv", "-q", "-C", "3", "-o", "old.kweave")
        self.old_model = (self.folder / "old.kweave").read_bytes()
        self.runs = Counter()

    def reset(self, outputs):
        for name in outputs:
            if name.endswith(".kweave"):
                (self.folder / name).write_bytes(self.old_model)
            else:
                (self.folder / name).write_text(OLD)

    def run_with(self, fault, command, extra=()):
        words, outputs = COMMANDS[command]
        self.reset(outputs)
        environment = {**os.environ, "LD_PRELOAD": LIBRARY, "KWEAVE_FAULT": fault,
                       "KWEAVE_FAULT_COUNTS": str(self.folder / "counts")}
        with open(self.folder / "d.csv", "rb") as samples:
            result = subprocess.run([PROGRAM, *words, *extra], cwd=self.folder, env=environment, stdin=samples,
                                    capture_output=True, text=True, timeout=SECONDS)
        self.runs[fault.split(":")[0]] += 1
        return result

    def counts(self, command):
        self.assertEqual(self.run_with("", command).returncode, 0)
        lines = (self.folder / "counts").read_text().splitlines()
        return {kind: int(count) for kind, count in map(str.split, lines)}

    def check_output(self, name, is_new):
        path = self.folder / name
        if name.endswith(".kweave"):
            if is_new or path.read_bytes() != self.old_model:
                summary = json.loads(self.succeed("inspect", "--json", name))["summary"]
                self.assertEqual(summary["status"], "converged")
                self.assertNotEqual(summary["options"]["C"], 3.0)
        elif is_new or path.read_text() != OLD:
            text = path.read_text()
            self.assertNotEqual(text, OLD)
            if name.endswith(".json"):
                json.loads(text)
            else:
                self.assertEqual(len(text.splitlines()), len(LABELS))

    def check(self, result, command, statuses):
        if result.returncode == -signal.SIGABRT and result.stderr == GLIBC:
            result.returncode, result.stderr = RESOURCE, f"kweave: {GLIBC}"
        self.assertIn(result.returncode, statuses, result.stderr)
        is_new = result.returncode == 0
        self.assertEqual(result.stdout, "")
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 0 if is_new else 1, result.stderr)
        self.assertTrue(is_new or lines[0].startswith("kweave: "), result.stderr)
        for name in COMMANDS[command][1]:
            self.check_output(name, is_new)
        left = [path.name for path in self.folder.iterdir() if path.name.endswith((".part", ".partial"))]
        self.assertEqual(left, [])

    def walk(self, kind, fault="{}:{}"):
        for command in COMMANDS:
            count = self.counts(command)[kind]
            chosen = range(1, count + 1)
            if COUNT and count > COUNT:
                # The first ones stand before anything is read, the last ones where outputs are written.
                chosen = sorted({1 + k * (count - 1) // (COUNT - 1) for k in range(COUNT)})
            for k in chosen:
                with self.subTest(command=command, fault=fault.format(kind, k)):
                    result = self.run_with(fault.format(kind, k), command)
                    self.check(result, command, {0} | STATUSES[kind])

    def test_an_allocation_that_fails(self):
        self.walk("memory")

    def test_other_files_in_the_folder_take_no_memory(self):
        before = self.counts("train")["memory"]
        for k in range(500):
            self.write(f"other-{k}", "")
        self.assertLess(self.counts("train")["memory"], before + 500)

    def test_all_allocations_fail_from_one_on(self):
        self.walk("memory", "{}:{}+")

    def test_threads_that_do_not_start(self):
        self.walk("thread")
        self.walk("thread", "{}:{}+")

    def test_full_disks(self):
        self.walk("full")
        self.walk("full", "{}:{}+")

    def test_fsync_rename_and_close_that_fail(self):
        for kind in ("sync", "rename", "close"):
            self.walk(kind)

    def test_files_that_cannot_be_opened_or_read(self):
        for kind in ("open", "read"):
            self.walk(kind)
            self.walk(kind, "{}:{}+")

    def test_short_and_interrupted_calls_change_nothing(self):
        for command in COMMANDS:
            for fault in ("short", "interrupt"):
                with self.subTest(command=command, fault=fault):
                    self.check(self.run_with(fault, command), command, {0})

    def test_clocks_that_jump(self):
        year = 365 * 24 * 3600
        for command in COMMANDS:
            count = self.counts(command)["clock"]
            for seconds in (-year, -3600, 3600, year):
                for k in sorted({1, 2, count // 2, count}):
                    with self.subTest(command=command, seconds=seconds, k=k):
                        self.check(self.run_with(f"clock:{k}:{seconds}", command), command, {0})

    def test_a_time_limit_when_clocks_jump(self):
        count = self.counts("train")["clock"]
        for seconds in (-3600, 3600):
            for k in range(1, count + 1, max(1, count // 10)):
                with self.subTest(seconds=seconds, k=k):
                    result = self.run_with(f"clock:{k}:{seconds}", "train", ["--time-limit", "1000"])
                    self.assertIn(result.returncode, {0, ENDED_EARLY, RESOURCE}, result.stderr)
                    self.assertLessEqual(len(result.stderr.splitlines()), 1)
                    for name in self.folder.glob("*.partial"):
                        self.succeed("inspect", name)
                        name.unlink()
                    self.assertEqual(list(self.folder.glob(".*.part")), [])

    def tearDown(self):
        print(f"{self._testMethodName}: {sum(self.runs.values())} runs", file=sys.stderr)


if __name__ == "__main__":
    if "--count" in sys.argv:
        place = sys.argv.index("--count")
        COUNT = int(sys.argv[place + 1])
        del sys.argv[place:place + 2]
    unittest.main()
