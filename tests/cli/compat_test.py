"""Models that earlier versions wrote load and predict what they predicted then (tests/compat)."""
import unittest
from pathlib import Path

from support import FolderTest

COMPAT = Path(__file__).parent.parent / "compat"


class Compatibility(FolderTest):
    def test_every_stored_model(self):
        models = sorted(COMPAT.glob("*/*.kweave"))
        self.assertGreaterEqual(len(models), 4)
        for model in models:
            with self.subTest(model.relative_to(COMPAT)):
                self.assertIn("support vectors", self.succeed("inspect", model))
                printed = self.succeed("predict", model, model.parent / "data.csv").splitlines()
                expected = model.with_suffix(".txt").read_text().splitlines()
                self.assertEqual(len(printed), len(expected))
                for line, wanted in zip(printed, expected):
                    (*label, value), (*wanted_label, wanted_value) = line.split("\t"), wanted.split("\t")
                    self.assertEqual(label, wanted_label)
                    self.assertAlmostEqual(float(value), float(wanted_value), delta=1e-9)


if __name__ == "__main__":
    unittest.main()
