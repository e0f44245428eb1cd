"""Outputs never overwrite inputs, and replace what was there as a whole or not at all."""
import os
import resource
import signal
import subprocess
import unittest

from support import PROGRAM, FolderTest, csv_text, npy_bytes, run, start, two_classes

USAGE, RESOURCE = 2, 4
LABELS, ROWS = two_classes(12)
SQUARE = [[float(i == j) for j in range(12)] for i in range(12)]


class Outputs(FolderTest):
    def setUp(self):
        super().setUp()
        self.write("d.csv", csv_text(LABELS, ROWS))

    def refuse(self, *arguments, keeps, says):
        before = (self.folder / keeps).read_bytes()
        result = run(*arguments, cwd=self.folder)
        self.assertEqual(result.returncode, USAGE, result.stderr)
        self.assertIn(says, result.stderr)
        self.assertEqual((self.folder / keeps).read_bytes(), before)

    def test_files_of_kernels_are_inputs_whatever_their_names(self):
        for name in ("my gram.npy", "a+b.npy", "x*y.npy", "k@1.npy"):
            self.write(name, npy_bytes(SQUARE))
            self.refuse("train", "d.csv", "--kernel", f'precomputed(file="{name}")', "-o", name, keeps=name,
                        says=f"-o {name} would overwrite the input --kernel {name}")

    def test_groups_and_matrices_are_inputs(self):
        self.write("groups", "a\nb\n")
        self.refuse("train", "d.csv", "--regularizer", "mixed", "--kernel", "linear", "--kernel", "rbf", "--groups", "groups",
                    "-o", "groups", keeps="groups", says="would overwrite the input")
        self.write("matrix.txt", "1 0\n0 1\n")
        self.refuse("train", "d.csv", "--regularizer", "matrix", "--kernel", "linear", "--kernel", "rbf", "--matrix",
                    "matrix.txt", "-o", "m.kweave", "--summary", "matrix.txt", keeps="matrix.txt", says="would overwrite the input")
        self.write("w.txt", "1\n" * 12)
        self.refuse("train", "d.csv", "--weights", "w.txt", "-o", "w.txt", keeps="w.txt", says="would overwrite the input")

    def test_export_spares_its_inputs(self):
        (self.folder / "grams").mkdir()
        self.write("grams/0001.npy", npy_bytes([[2 * v for v in row] for row in SQUARE]))
        self.refuse("kernels", "d.csv", "--kernel", "precomputed(file=grams/0001.npy)", "--export", "grams",
                    keeps="grams/0001.npy", says="would overwrite the input")
        (self.folder / "linked").mkdir()
        os.symlink("../grams/0001.npy", self.folder / "linked/0002.npy")
        self.refuse("kernels", "d.csv", "--kernel", "precomputed(file=grams/0001.npy)", "--export", "linked",
                    keeps="grams/0001.npy", says="would overwrite the input")
        self.succeed("kernels", "d.csv", "--kernel", "precomputed(file=grams/0001.npy)", "--export", "other")

    def test_a_dangling_link_to_the_model_is_the_model(self):
        os.symlink("m.kweave", self.folder / "summary.json")
        result = run("train", "d.csv", "-o", "m.kweave", "--summary", "summary.json", cwd=self.folder)
        self.assertEqual(result.returncode, USAGE, result.stderr)
        self.assertIn("-o and --summary are the same file", result.stderr)

    def test_links_and_modes_stay(self):
        self.succeed("train", "d.csv", "-o", "m.kweave")
        outputs = {"m.kweave": ["train", "d.csv", "-o"], "s.json": ["train", "d.csv", "-o", "n.kweave", "--summary"],
                   "p.tsv": ["predict", "m.kweave", "d.csv", "-o"],
                   "t.json": ["predict", "m.kweave", "d.csv", "-o", "q.tsv", "--summary"]}
        for name, command in outputs.items():
            real = f"real-{name}"
            self.write(real, "old")
            os.chmod(self.folder / real, 0o600)
            (self.folder / name).unlink(missing_ok=True)
            os.symlink(real, self.folder / name)
            if name == "m.kweave":
                self.succeed(*command, "other.kweave")
            self.succeed(*command, name)
            self.assertTrue((self.folder / name).is_symlink(), name)
            self.assertNotEqual((self.folder / real).read_text(errors="replace"), "old")
            self.assertEqual((self.folder / real).stat().st_mode & 0o777, 0o600, name)

    def test_a_planted_link_is_not_followed(self):
        self.write("victim", "precious")
        for pid in range(os.getpid(), os.getpid() + 300):
            os.symlink("victim", self.folder / f"m.kweave.part-{pid}")
        self.succeed("train", "d.csv", "-o", "m.kweave")
        self.assertEqual((self.folder / "victim").read_text(), "precious")

    def test_a_failed_write_leaves_the_old_files_and_no_others(self):
        self.succeed("train", "d.csv", "-o", "m.kweave", "--summary", "s.json")
        self.succeed("predict", "m.kweave", "d.csv", "-o", "p.tsv")
        before = {path.name: path.read_bytes() for path in self.folder.iterdir()}

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
        for command in (["train", "d.csv", "-o", "m.kweave"], ["predict", "m.kweave", "d.csv", "-o", "p.tsv"]):
            result = subprocess.run([PROGRAM, *command], cwd=self.folder, preexec_fn=limit, capture_output=True, text=True,
                                    timeout=60)
            self.assertEqual(result.returncode, RESOURCE, result.stderr)
            self.assertIn("cannot be written: File too large", result.stderr)
            self.assertEqual({path.name: path.read_bytes() for path in self.folder.iterdir()}, before)

    def test_names_as_long_as_they_may_be(self):
        name = "m" * 255
        self.assertEqual(start("train", "d.csv", "-q", "-o", name, cwd=self.folder).returncode, 0)
        self.assertTrue((self.folder / name).exists())


if __name__ == "__main__":
    unittest.main()
