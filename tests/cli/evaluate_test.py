"""evaluate and report: scores agree with those of predict and with plain loops, every task is served, and bad input gets one sentence."""
import json
import random
import unittest

from support import FolderTest, csv_text, run, two_classes


class Evaluate(FolderTest):
    def setUp(self):
        super().setUp()
        self.labels, self.rows = two_classes(120)
        self.write("a.csv", csv_text(self.labels[:70], self.rows[:70]))
        self.write("b.csv", csv_text(self.labels[70:], self.rows[70:]))

    def evaluate(self, *arguments):
        self.succeed("evaluate", "m.kweave", *arguments, "-q", "--summary", "e.json")
        return json.loads((self.folder / "e.json").read_text())

    def test_scores_are_those_of_predict(self):
        self.train("a.csv")
        found = self.evaluate("b.csv", "--replicates", "200")
        self.succeed("predict", "m.kweave", "b.csv", "-q", "-o", "p.tsv", "--summary", "p.json")
        plain = json.loads((self.folder / "p.json").read_text())
        for name in ("accuracy", "balanced_accuracy", "auc", "average_precision", "mcc", "f1"):
            score = found["scores"][name]
            self.assertAlmostEqual(score["value"], plain[name], places=12)
            self.assertLessEqual(score["interval"][0], score["value"])
            self.assertGreaterEqual(score["interval"][1], score["value"])
        self.assertEqual(found["samples"], 50)
        self.assertEqual(sum(map(sum, found["confusion"])), 50)
        recall = [one["scores"]["recall"]["value"] for one in found["classes"]]
        self.assertAlmostEqual(sum(recall) / 2, plain["balanced_accuracy"], places=12)
        self.assertEqual(found, self.evaluate("b.csv", "--replicates", "200", "--threads", "1"))

    def test_more_confidence_is_wider(self):
        self.train("a.csv")
        width = []
        for confidence in ("0.5", "0.95", "0.999"):
            lower, upper = self.evaluate("b.csv", "--confidence", confidence)["scores"]["accuracy"]["interval"]
            width.append(upper - lower)
        self.assertEqual(width, sorted(width))

    def test_every_task(self):
        generator = random.Random(4)
        target = [row[0] + generator.gauss(0, 0.1) for row in self.rows]
        self.write("r.csv", csv_text(target, self.rows))
        self.train("r.csv", "--task", "regress")
        found = self.evaluate("r.csv")["scores"]
        self.assertEqual(found["correlation"]["method"], "fisher")
        self.assertEqual(found["rmse"]["method"], "bootstrap")
        several = [str(int(abs(row[0]) * 2) % 3) for row in self.rows]
        self.write("s.csv", csv_text(several, self.rows))
        self.train("s.csv")
        found = self.evaluate("s.csv")
        self.assertEqual([one["class"] for one in found["classes"]], ["0", "1", "2"])
        self.assertEqual(found["scores"]["top_2"]["method"], "wilson")
        self.train("a.csv", "--task", "oneclass")
        self.assertIn("outlier_fraction", self.evaluate("b.csv"))
        for page in ("m.kweave", "m.kweave b.csv"):
            self.succeed("report", *page.split(), "-o", "page.html")

    def test_bad_input_gets_one_sentence(self):
        self.train("a.csv")
        self.write("u.csv", csv_text(None, self.rows))
        self.write("o.csv", csv_text(["x"] * 120, self.rows))
        for status, words, arguments in (
            (3, "label", ("evaluate", "m.kweave", "u.csv")),
            (3, "class of the model", ("evaluate", "m.kweave", "o.csv")),
            (2, "confidence", ("evaluate", "m.kweave", "b.csv", "--confidence", "1")),
            (2, "replicates", ("evaluate", "m.kweave", "b.csv", "--replicates", "-1")),
            (2, "MODEL", ("evaluate",)),
            (2, "DATA", ("evaluate", "m.kweave")),
            (2, "-o", ("report", "m.kweave")),
            (2, "overwrite", ("report", "m.kweave", "-o", "m.kweave")),
            (3, "cannot open", ("report", "none.kweave", "-o", "page.html")),
        ):
            result = run(*arguments, cwd=self.folder)
            self.assertEqual(result.returncode, status, arguments)
            self.assertIn(words, result.stderr)
            self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)


if __name__ == "__main__":
    unittest.main()
