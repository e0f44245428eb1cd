"""Models that earlier versions wrote load and predict what they predicted then (tests/compat)."""
import struct
import unittest
from pathlib import Path

from support import FolderTest, csv_text, two_classes

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

    def test_every_version_of_the_format_has_models(self):
        self.write("d.csv", csv_text(*two_classes(12)))
        self.succeed("train", "d.csv", "-q", "-o", "m.kweave")
        newest = struct.unpack("<I", (self.folder / "m.kweave").read_bytes()[8:12])[0]
        stored = {}
        for model in COMPAT.glob("*/*.kweave"):
            stored.setdefault(struct.unpack("<I", model.read_bytes()[8:12])[0], set()).add(model.parent.name)
        self.assertEqual(stored, {version: {f"v{version}"} for version in range(1, newest + 1)})

    def compare(self, fields, wanted):
        """The values closely; the label, where there is one, exactly, unless a single value of zero decides it."""
        self.assertEqual(len(fields), len(wanted))
        if len(wanted) > 2 or (len(wanted) == 2 and abs(float(wanted[1])) > 1e-9):
            self.assertEqual(fields[0], wanted[0])
        for value, wanted_value in zip(fields[1:] or fields, wanted[1:] or wanted):
            self.assertAlmostEqual(float(value), float(wanted_value), delta=1e-9)


if __name__ == "__main__":
    unittest.main()
