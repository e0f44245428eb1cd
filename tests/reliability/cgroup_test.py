"""Runs under a cgroup that caps memory: the plan respects the cap, and the kernel kills nothing.

The cgroup is made below that of the test itself (version 1 or 2), which takes root or a delegated cgroup; where none can be made
the test is skipped and says why. Data is made large enough that the memory planned without a cap would be above the cap.
"""
import os
import random
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "cli"))
from support import PROGRAM, FolderTest, npy_bytes  # noqa: E402

SAMPLES = 6000
CAPS = (200, 80)  # MB; the program itself takes 50
MEGABYTE = 1 << 20


def make_cgroup():
    """The folder of a new cgroup below our own, and the file that holds its cap. Raises OSError."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            parent, cap = Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"
        elif controllers == "" and Path("/sys/fs/cgroup/cgroup.controllers").exists():
            parent, cap = Path("/sys/fs/cgroup"), "memory.max"
        else:
            continue
        own = parent / path.lstrip("/")
        folder = (own if own.exists() else parent) / f"kweave-test-{os.getpid()}"
        folder.mkdir()
        if not (folder / cap).exists():  # version 2 where memory is not delegated
            folder.rmdir()
            raise OSError(f"{folder.parent} gives no control over memory")
        return folder, folder / cap
    raise OSError("no cgroup controls memory here")


class Cgroup(FolderTest):
    @classmethod
    def setUpClass(cls):
        try:
            cls.cgroup, cls.cap = make_cgroup()
        except OSError as error:
            raise unittest.SkipTest(f"no cgroup can be made: {error}")

    @classmethod
    def tearDownClass(cls):
        cls.cgroup.rmdir()

    def setUp(self):
        super().setUp()
        generator = random.Random(1)
        rows = [[generator.gauss(0.3 * (i % 2), 1) for _ in range(8)] for i in range(SAMPLES)]
        self.write("x.npy", npy_bytes(rows))
        self.write("y.txt", "".join(f"{i % 2}\n" for i in range(SAMPLES)))

    def run_capped(self, megabytes, *arguments):
        self.cap.write_text(str(megabytes * MEGABYTE))
        enter = self.cgroup / "cgroup.procs"
        shell = ["sh", "-c", 'echo $$ > "$0" && exec "$@"', str(enter), PROGRAM, *arguments]
        return subprocess.run(shell, cwd=self.folder, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)

    def train(self, megabytes):
        result = self.run_capped(megabytes, "train", "x.npy", "--labels", "y.txt", "-q", "--gap", "0.01", "-o", "m.kweave",
                                 "--summary", "s.json")
        self.assertEqual(result.returncode, 0, f"-9: killed by the kernel\n{result.stderr}")
        summary = self.read_json("s.json")
        self.assertEqual(summary["status"], "converged")
        peak = summary["peak_memory_bytes"] // MEGABYTE
        print(f"cap {megabytes} MB: peak {peak} MB", file=sys.stderr)
        return peak

    def test_training_and_predicting_stay_within_the_cap(self):
        # Else the cap changes nothing.
        self.assertGreater(self.train(4000), CAPS[-1])
        for megabytes in CAPS:
            with self.subTest(megabytes=megabytes):
                self.train(megabytes)
                applied = self.run_capped(megabytes, "predict", "m.kweave", "x.npy", "-q", "-o", "p.tsv")
                self.assertEqual(applied.returncode, 0, applied.stderr)

    def test_the_forecast_knows_the_cap(self):
        def planned(megabytes):
            return self.run_capped(megabytes, "train", "x.npy", "--labels", "y.txt", "--dry-run", "-o", "m.kweave").stdout
        self.assertNotEqual(planned(CAPS[-1]), planned(4000))


if __name__ == "__main__":
    unittest.main()
