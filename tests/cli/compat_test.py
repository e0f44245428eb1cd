"""Models that earlier versions wrote load and predict what they predicted then (tests/compat)."""
import unittest
from pathlib import Path

from support import FolderTest

COMPAT = Path(__file__).parent.parent / "compat"


class Compatibility(FolderTest):
    def test_every_stored_model(self):
        models = sorted(COMPAT.glob("*/*.kweave"))
        self.assertGreaterEqual(len(models), 2)
        for model in models:
            with self.subTest(model.relative_to(COMPAT)):
                self.assertIn("support vectors", self.succeed("inspect", model))
                labels, values = self.predict(model.parent / "data.csv", model=model)
                expected = [line.split("\t") for line in model.with_suffix(".txt").read_text().splitlines()]
                self.assertEqual(labels, [label for label, _ in expected])
                for value, (_, wanted) in zip(values, expected):
                    self.assertAlmostEqual(value, float(wanted), delta=1e-9)


if __name__ == "__main__":
    unittest.main()
