"""Signals and limits of the system end the program in one sentence, whatever it waits for."""
import os
import resource
import signal
import subprocess
import time
import unittest
from pathlib import Path

from support import PROGRAM, SANITIZERS, FolderTest, csv_text, two_classes, wait_for_handler

DATA, RESOURCE = 3, 4
CSV = csv_text(*two_classes(12))


class Signals(FolderTest):
    def waiting(self, *arguments, stdin=None):
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, stdin=stdin, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        wait_for_handler(process, signal.SIGHUP)
        time.sleep(0.3)  # time to come to the input
        self.assertIsNone(process.poll())
        return process

    def test_signals_end_a_run_that_waits_for_a_pipe(self):
        os.mkfifo(self.folder / "fifo.csv")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.waiting("train", "fifo.csv", "-o", "m.kweave")
            process.send_signal(number)
            self.assertEqual(process.communicate(timeout=30)[1], "kweave: interrupted before there was a model\n")
            self.assertEqual(process.returncode, 128 + number)
        self.assertEqual(os.listdir(self.folder), ["fifo.csv"])

    def test_signals_end_a_run_that_waits_for_standard_input(self):
        process = self.waiting("train", "-", "-o", "m.kweave", stdin=subprocess.PIPE)
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(timeout=30), 128 + signal.SIGHUP)
        process.communicate()

    def test_nohup_is_respected(self):
        os.mkfifo(self.folder / "fifo.csv")
        process = subprocess.Popen([PROGRAM, "train", "fifo.csv", "-o", "m.kweave"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.addCleanup(process.kill)
        wait_for_handler(process, signal.SIGTERM)  # that of SIGHUP would be in place, too
        process.send_signal(signal.SIGHUP)
        with open(self.folder / "fifo.csv", "w") as fifo:
            fifo.write(CSV)
        self.assertEqual(process.wait(timeout=120), 0)

    def limited(self, limit, amount, *arguments):
        result = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120,
                                preexec_fn=lambda: resource.setrlimit(limit, (amount, amount)))
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        return result

    @unittest.skipIf(SANITIZERS, "a program with sanitizers cannot start in so little address space")
    def test_little_address_space_is_said(self):
        self.write("d.csv", CSV)
        for megabytes in (80, 150, 220):
            result = self.limited(resource.RLIMIT_AS, megabytes << 20, "train", "d.csv", "-o", "m.kweave")
            self.assertEqual(result.returncode, RESOURCE)
            self.assertIn("the limit on address space", result.stderr)

    def test_files_that_may_not_grow_are_said(self):
        self.write("d.csv", CSV)
        result = self.limited(resource.RLIMIT_FSIZE, 64, "train", "d.csv", "-o", "m.kweave")
        self.assertEqual(result.returncode, RESOURCE)
        self.assertIn("m.kweave: cannot be written: File too large", result.stderr)

    def test_a_mapped_file_that_shrinks_is_said(self):
        rows = "".join(f"{i % 2},{i},{i * i % 97}\n" for i in range(400_000))
        path = self.folder / "d.csv"
        for _ in range(60):
            path.write_text("label,a,b\n" + rows)
            process = subprocess.Popen([PROGRAM, "kernels", "d.csv", "--kernel", "linear"], cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            maps = Path(f"/proc/{process.pid}/maps")
            while process.poll() is None and "d.csv" not in maps.read_text():
                pass
            os.truncate(path, 100)
            said = process.communicate(timeout=120)[1]
            self.assertGreaterEqual(process.returncode, 0, said)
            if "became shorter" in said:
                self.assertEqual(process.returncode, DATA)
                return
        self.fail("the file was never caught while it was read")


if __name__ == "__main__":
    unittest.main()
