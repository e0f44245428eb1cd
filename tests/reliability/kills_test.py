"""SIGKILL at random moments of training: the model is the old one or the new one, and both load.

Training runs over an existing model, once more and with another C each time, and is killed at a moment drawn evenly from what
a whole run takes. Writing takes a moment that hardly any of these would meet, so every other run has its writes, fsync and rename
made slow (faults.cc), and is killed while a temporary file is there. What kills leave behind is removed by the next run once it
is a minute old.

Usage: KWEAVE=build/release/kweave KWEAVE_FAULTS=build/release/libkweave_faults.so kills_test.py [--count N] [--seed S]
"""
import json
import os
import random
import subprocess
import sys
import time
import unittest
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "cli"))
from support import PROGRAM, FolderTest, csv_text, two_classes  # noqa: E402

LIBRARY = os.environ["KWEAVE_FAULTS"]
COUNT = 60
SEED = 1
SLOW_MICROSECONDS = 20_000  # per write, fsync and rename
STALE_SECONDS = 120  # twice the age from which on files count as left behind


class Kills(FolderTest):
    def setUp(self):
        super().setUp()
        self.write("d.csv", csv_text(*two_classes(60)))
        self.outcomes = Counter()

    def start(self, cost, fault=""):
        environment = {**os.environ, "LD_PRELOAD": LIBRARY, "KWEAVE_FAULT": fault}
        return subprocess.Popen([PROGRAM, "train", "d.csv", "-q", "--threads", "1", "-C", str(cost), "-o", "m.kweave"],
                                cwd=self.folder, env=environment, stderr=subprocess.PIPE)

    def seconds(self, fault):
        """Of a whole run, the median of some."""
        taken = []
        for _ in range(5):
            begin = time.monotonic()
            process = self.start(1, fault)
            process.communicate()
            self.assertEqual(process.returncode, 0)
            taken.append(time.monotonic() - begin)
        return sorted(taken)[2]

    def temporaries(self):
        return list(self.folder.glob(".kweave-*.part"))

    def wait_for_temporary(self, process):
        """Returns once a temporary file of the process is there that holds the model's first bytes, or it has ended."""
        while process.poll() is None:
            if any(path.stat().st_size > 0 for path in self.temporaries() if path.exists()):
                return
            time.sleep(0.0005)

    def cost_of_model(self):
        return json.loads(self.succeed("inspect", "--json", "m.kweave"))["summary"]["options"]["C"]

    def kill_one(self, k, generator, seconds):
        is_slow = k % 2 == 1
        cost = 2 + k
        before = self.cost_of_model()
        process = self.start(cost, f"slow:{SLOW_MICROSECONDS}" if is_slow else "")
        if is_slow:
            self.wait_for_temporary(process)
            time.sleep(generator.uniform(0, 3e-6 * SLOW_MICROSECONDS))
        else:
            time.sleep(generator.uniform(0, seconds))
        process.kill()
        process.communicate()
        after = self.cost_of_model()
        self.assertIn(after, (before, cost))
        kind = "while writing" if is_slow else "at any time"
        self.outcomes[f"{kind}: {'new' if after == cost else 'old'} model"] += 1
        left = self.temporaries()
        self.outcomes[f"{kind}: temporary file left"] += len(left)
        for path in left:  # so that they are not counted again
            path.rename(path.with_name(path.name.replace("-", "+")))

    def test_the_model_is_always_whole(self):
        seconds = self.seconds("")
        generator = random.Random(SEED)
        for k in range(COUNT):
            with self.subTest(k=k):
                self.kill_one(k, generator, seconds)
        print(f"{COUNT} kills, seed {SEED}:", dict(sorted(self.outcomes.items())), file=sys.stderr)
        # Else the moments were not those that matter.
        self.assertGreater(self.outcomes["while writing: temporary file left"], COUNT // 10)
        self.remove_what_is_left()

    def remove_what_is_left(self):
        for path in self.folder.glob(".kweave+*.part"):
            path.rename(path.with_name(path.name.replace("+", "-")))
        young = self.temporaries()[0]  # as if its run had begun just now
        os.utime(young)
        for path in self.temporaries():
            if path != young:
                os.utime(path, (time.time() - STALE_SECONDS,) * 2)
        self.succeed("train", "d.csv", "-q", "-o", "m.kweave")
        self.assertEqual(self.temporaries(), [young])
        os.utime(young, (time.time() - STALE_SECONDS,) * 2)
        self.succeed("predict", "m.kweave", "d.csv", "-q", "-o", "p.tsv")
        self.assertEqual(self.temporaries(), [])


if __name__ == "__main__":
    for option in ("--count", "--seed"):
        if option in sys.argv:
            place = sys.argv.index(option)
            globals()[option[2:].upper()] = int(sys.argv[place + 1])
            del sys.argv[place:place + 2]
    unittest.main()
