"""What is read: no sample or label is lost or changed without a word, and `train` says what it read."""
import os
import unittest

from support import FolderTest, csv_text, npy_bytes, run, two_classes

USAGE, DATA = 2, 3
LABELS, ROWS = two_classes(12)
WORDS = ["y" if label > 0 else "n" for label in LABELS]


def bare(columns):
    return "".join(",".join(map(str, row)) + "\n" for row in zip(*columns))


class Reading(FolderTest):
    def account(self, *arguments):
        """What train says that it read."""
        result = run("train", *arguments, "-o", "m.kweave", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        first, *others = result.stdout.splitlines()
        self.assertTrue(first.startswith("read "), result.stdout)
        return first

    def refuse(self, *arguments, status):
        result = run("train", *arguments, "-o", "m.kweave", cwd=self.folder)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stderr

    def test_a_first_row_with_a_label_called_y_is_a_sample(self):
        features = [list(column) for column in zip(*ROWS)]
        words = ["y"] + WORDS[1:]
        self.write("d.csv", bare([words, *features]))
        self.assertIn("read 12 samples", self.account("d.csv"))
        self.write("x.csv", bare(features))
        self.write("labels.csv", bare([words]))
        self.assertIn("read 12 samples", self.account("x.csv", "--labels", "labels.csv"))

    def test_a_header_stays_a_header(self):
        self.write("d.csv", "y,0,1\n" + "".join(f"{w},{a},{b}\n" for w, (a, b, *_) in zip(["p", "q"] * 6, ROWS)))
        self.assertIn('read 12 samples; view "data" from d.csv (header, labels in "y"): 2 features', self.account("d.csv"))

    def test_rows_that_the_first_view_lacks_are_counted(self):
        labels, rows = two_classes(40)
        ids = [f"s{i}" for i in range(40)]
        self.write("a.csv", csv_text(labels[:10], rows[:10], ids=ids[:10]))
        self.write("b.csv", csv_text(None, rows, ids=ids))
        text = self.account("--view", "a=a.csv", "--view", "b=b.csv")
        self.assertIn("30 of the 40 rows of b.csv are not used, as a.csv does not have their ids", text)

    def test_says_columns_features_and_labels(self):
        self.write("d.csv", csv_text(WORDS, ROWS, ids=[f"s{i}" for i in range(12)]))
        self.assertEqual(
            self.account("d.csv"),
            'read 12 samples; view "data" from d.csv (header, labels in "label", ids in "id"): 4 features; '
            f'labels "n" ({WORDS.count("n")}), "y" ({WORDS.count("y")})')

    def test_files_of_options_that_hold_nothing_are_refused(self):
        self.write("d.csv", csv_text(LABELS, ROWS))
        self.write("empty", "\n")
        os.mkdir(self.folder / "folder")
        for option, status in (("--weights", DATA), ("--config", USAGE)):
            for file, reason in (("empty", "this file is empty"), ("folder", "Is a directory"), ("none", "No such file")):
                told = self.refuse("d.csv", option, file, status=status)
                self.assertIn(f"{file}: cannot be read: {reason}", told)

    def test_labels_with_leading_zeros_and_large_ones_stay_apart(self):
        for classes in (["007", "7"], ["9007199254740992", "9007199254740993"]):
            labels = [classes[label > 0] for label in LABELS]
            self.write("d.csv", csv_text(labels, ROWS))
            self.train("d.csv")
            self.assertLessEqual(set(self.predict("d.csv")[0]), set(classes))
            self.train("d.csv", "--class-weight", f"{classes[0]}=2")
        self.write("d.csv", csv_text([("+1", "1", "1.0", "1e0")[i % 4] if label > 0 else "-1"
                                      for i, label in enumerate(LABELS)], ROWS))
        self.train("d.csv")

    def test_large_integers_of_numpy_stay_apart(self):
        labels = [2**53 + (label > 0) for label in LABELS]
        self.write("x.npy", npy_bytes(ROWS))
        header = "{'descr': '<i8', 'fortran_order': False, 'shape': (12,), }"
        header += " " * ((-11 - len(header)) % 64) + "\n"
        body = b"".join(value.to_bytes(8, "little") for value in labels)
        self.write("y.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + body)
        self.train("x.npy", "--labels", "y.npy")
        self.assertLessEqual(set(self.predict("x.npy")[0]), {str(2**53), str(2**53 + 1)})


if __name__ == "__main__":
    unittest.main()
