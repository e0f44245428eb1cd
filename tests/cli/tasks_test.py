"""Regression and one-class machines as users run them: labels, weights, output, scores and what inspect says."""
import math
import random
import unittest

from support import FolderTest, csv_text, run


def waves(count, seed):
    """Targets and rows: a slow sine of the first feature and the second one, the third is noise."""
    generator = random.Random(seed)
    rows = [[generator.uniform(-2, 2) for _ in range(3)] for _ in range(count)]
    return [round(math.sin(2 * a) + 0.5 * b + generator.gauss(0, 0.05), 4) for a, b, _ in rows], rows


def cloud(count, seed, far=0):
    """Samples around the origin, the last `far` of them on a circle around it; labels 1 and -1."""
    generator = random.Random(seed)
    rows = [[generator.gauss(0, 1), generator.gauss(0, 1)] for _ in range(count)]
    rows += [[8 * math.cos(k), 8 * math.sin(k)] for k in range(far)]
    return [1] * count + [-1] * far, rows


class Regression(FolderTest):
    def setUp(self):
        super().setUp()
        self.targets, rows = waves(200, 1)
        self.write("d.csv", csv_text(self.targets, rows))
        targets, rows = waves(100, 2)
        self.write("new.csv", csv_text(targets, rows))

    def scores(self, data="new.csv"):
        self.succeed("predict", "m.kweave", data, "-o", "p.txt", "--summary", "scores.json")
        return self.read_json("scores.json")

    def test_values_and_scores(self):
        summary = self.train("d.csv", "--task", "regress", "-C", 10, "--epsilon", 0.05)
        self.assertEqual((summary["status"], summary["task"]), ("converged", "regress"))
        self.assertEqual(summary["options"]["loss"], "epsilon-insensitive")
        self.assertEqual(summary["options"]["epsilon"], 0.05)
        scores = self.scores()
        self.assertEqual(set(scores), {"samples", "rmse", "mae", "r2", "correlation", "seconds"})
        self.assertLess(scores["rmse"], 0.15)
        self.assertGreater(scores["r2"], 0.95)
        lines = (self.folder / "p.txt").read_text().splitlines()
        self.assertEqual(len([float(line) for line in lines]), 100)
        self.assertIn("regress: f is the value", self.succeed("inspect", "m.kweave"))
        self.assertIn("epsilon = 0.05", self.succeed("inspect", "m.kweave"))

    def test_a_wide_tube_needs_no_support_vectors(self):
        summary = self.train("d.csv", "--task", "regress", "--epsilon", 10)
        self.assertEqual(summary["n_support"], 0)
        self.assertEqual(summary["relative_gap"], 0)

    def test_every_norm_and_no_bias(self):
        for norm in ("1", "1.3333", "2", "inf"):
            for bias in ("on", "off"):
                summary = self.train("d.csv", "--task", "regress", "--norm", norm, "--bias", bias, "--gap", "1e-5")
                self.assertLessEqual(summary["relative_gap"], 1e-5, (norm, bias))
                if bias == "off":
                    self.assertEqual(summary["bias"], 0)

    def test_weights_of_samples(self):
        self.write("w.txt", "".join("0\n" if i < 50 else "1\n" for i in range(200)))
        weighted = self.train("d.csv", "--task", "regress", "--weights", "w.txt", "--kernel", "rbf(gamma=0.5)")
        lines = (self.folder / "d.csv").read_text().splitlines()
        self.write("rest.csv", "\n".join(lines[:1] + lines[51:]) + "\n")
        rest = self.train("rest.csv", "--task", "regress", "--kernel", "rbf(gamma=0.5)")
        self.assertAlmostEqual(weighted["dual"], rest["dual"], delta=2e-3 * rest["dual"])

    def test_constant_features_give_a_constant(self):
        self.write("flat.csv", csv_text([1, 2, 6], [[1.0], [1.0], [1.0]]))
        summary = self.train("flat.csv", "--task", "regress", "--epsilon", 0)
        self.assertEqual(summary["gap"], 0)
        self.assertAlmostEqual(summary["bias"], 2)  # the median
        self.assertEqual(self.succeed("predict", "m.kweave", "flat.csv").split(), ["2"] * 3)

    def test_no_scores_against_text(self):
        self.train("d.csv", "--task", "regress")
        self.write("named.csv", csv_text(["a", "b"], [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]))
        self.assertEqual(set(self.scores("named.csv")), {"samples", "seconds"})


class OneClass(FolderTest):
    def setUp(self):
        super().setUp()
        _, self.rows = cloud(300, 1)
        self.write("d.csv", csv_text(None, self.rows))

    def test_outliers_and_scores(self):
        summary = self.train("d.csv", "--task", "oneclass", "--nu", 0.1)
        self.assertEqual((summary["status"], summary["task"]), ("converged", "oneclass"))
        self.assertEqual(summary["options"]["normalize"], "spherical")
        self.assertGreaterEqual(summary["n_support"], 30)  # nu is at most their share
        labels, rows = cloud(100, 2, far=20)
        self.write("new.csv", csv_text(labels, rows))
        predicted, values = self.predict("new.csv")
        self.assertTrue(all((label == "1") == (value > 0) for label, value in zip(predicted, values)))
        self.assertEqual(predicted[100:], ["-1"] * 20)
        self.succeed("predict", "m.kweave", "new.csv", "-o", "p.txt", "--summary", "s.json")
        scores = self.read_json("s.json")
        self.assertGreater(scores["auc"], 0.99)
        self.assertAlmostEqual(scores["outlier_fraction"], predicted.count("-1") / 120)
        self.assertIn("nu = 0.1", self.succeed("inspect", "m.kweave"))

    def test_a_sample_on_the_threshold_is_no_outlier(self):
        self.write("same.csv", csv_text([1, 1, 1, -1], [[1.0, 2.0]] * 4))
        self.train("same.csv", "--task", "oneclass")
        lines = self.succeed("predict", "m.kweave", "same.csv", "--summary", "scores.json").splitlines()
        self.assertEqual(lines, ["1\t0"] * 4)
        scores = self.read_json("scores.json")
        self.assertEqual(scores["outlier_fraction"], 0)
        self.assertEqual(scores["accuracy"], 0.75)

    def test_nu_bounds_the_share_of_outliers(self):
        for nu in (0.05, 0.2, 0.5):
            for norm in (1, 2):
                self.train("d.csv", "--task", "oneclass", "--nu", nu, "--norm", norm, "--gap", "1e-6")
                _, values = self.predict("d.csv")
                outliers = sum(value < -1e-6 for value in values) / 300
                support = self.read_json("summary.json")["n_support"] / 300
                self.assertLessEqual(outliers, nu)
                self.assertGreaterEqual(support, nu)

    def test_labels_are_ignored_in_training(self):
        plain = self.train("d.csv", "--task", "oneclass")
        self.write("labelled.csv", csv_text(["a", "b", "c"] * 100, self.rows))
        self.assertEqual(self.train("labelled.csv", "--task", "oneclass")["dual"], plain["dual"])

    def test_the_form_without_bias(self):
        summary = self.train("d.csv", "--task", "oneclass", "--bias", "off", "-C", 0.1, "--gap", "1e-5")
        self.assertEqual(summary["status"], "converged")
        self.assertEqual(summary["options"]["loss"], "hinge")
        self.assertGreater(summary["primal"], 0)
        labels, rows = cloud(100, 2, far=20)
        self.write("new.csv", csv_text(labels, rows))
        self.assertEqual(self.predict("new.csv")[0][100:], ["-1"] * 20)

    def test_scores_only_against_two_numbers(self):
        self.train("d.csv", "--task", "oneclass")
        self.write("named.csv", csv_text(["in", "out"], [[0.0, 0.0], [9.0, 9.0]]))
        result = run("predict", "m.kweave", "named.csv", "-o", "p.txt", "--summary", "s.json", cwd=self.folder)
        self.assertIn("no scores", result.stderr)
        self.assertEqual(self.read_json("s.json")["outlier_fraction"], 0.5)
        self.assertNotIn("auc", self.read_json("s.json"))


if __name__ == "__main__":
    unittest.main()
