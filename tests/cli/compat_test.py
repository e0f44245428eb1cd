"""Models that earlier versions wrote load and predict what they predicted then (tests/compat)."""
import unittest
from pathlib import Path

from support import FolderTest

COMPAT = Path(__file__).parent.parent / "compat"


class Compatibility(FolderTest):
    def test_every_stored_model(self):
        models = sorted(COMPAT.glob("*/*.kweave"))
        self.assertGreaterEqual(len(models), 8)
        for model in models:
            with self.subTest(model.relative_to(COMPAT)):
                self.assertIn("support vectors", self.succeed("inspect", model))
                matrix = model.with_suffix(".npy")
                grams = ["--gram", f"{matrix.name}={matrix}"] if matrix.exists() else []
                printed = self.succeed("predict", model, model.parent / "data.csv", *grams).splitlines()
                expected = model.with_suffix(".txt").read_text().splitlines()
                self.assertEqual(len(printed), len(expected))
                for line, wanted in zip(printed, expected):
                    self.compare(line.split("\t"), wanted.split("\t"))

    def compare(self, fields, wanted):
        """The values closely; the label, where there is one, exactly, unless a single value of zero decides it."""
        self.assertEqual(len(fields), len(wanted))
        if len(wanted) > 2 or (len(wanted) == 2 and abs(float(wanted[1])) > 1e-9):
            self.assertEqual(fields[0], wanted[0])
        for value, wanted_value in zip(fields[1:] or fields, wanted[1:] or wanted):
            self.assertAlmostEqual(float(value), float(wanted_value), delta=1e-9)


if __name__ == "__main__":
    unittest.main()
