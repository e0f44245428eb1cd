"""More than two classes and several labels per sample as users run them: labels, output, scores and what is said."""
import json
import math
import random
import unittest

from support import FolderTest, csv_text, dot, libsvm_text, npy_bytes, run

NAMES = ["ash", "beech", "cedar", "elm"]


def trees(count, seed):
    """Names and rows: four clouds in the plane, and a feature that says nothing."""
    generator = random.Random(seed)
    labels, rows = [], []
    for i in range(count):
        kind = i % 4
        labels.append(NAMES[kind])
        rows.append([generator.gauss(3 * (kind % 2), 1), generator.gauss(3 * (kind // 2), 1), generator.gauss(0, 1)])
    return labels, rows


class Classes(FolderTest):
    def setUp(self):
        super().setUp()
        self.labels, self.rows = trees(120, 1)
        self.write("d.csv", csv_text(self.labels, self.rows))
        self.new_labels, self.new_rows = trees(60, 2)
        self.write("new.csv", csv_text(self.new_labels, self.new_rows))

    def predicted(self, *arguments):
        self.succeed("predict", "m.kweave", *arguments, "-o", "p.tsv", "--summary", "scores.json")
        lines = [line.split("\t") for line in (self.folder / "p.tsv").read_text().splitlines()]
        return [line[0] for line in lines], [[float(value) for value in line[1:]] for line in lines]

    def test_says_how_many_machines_converged_where_there_are_several(self):
        for multiclass, said in (("ovr", ", 0 of 4 machines converged"), ("joint", "")):
            ended = run("train", "d.csv", "--kernel", "each(rbf(gamma=[0.1,1]))", "--multiclass", multiclass, "--norm", "1",
                        "--method", "silp", "--gap", "1e-9", "--max-iterations", "1", "-q", "--accept-partial", "-o", "m.kweave", cwd=self.folder)
            self.assertRegex(ended.stderr, rf"^kweave: warning: \w+: relative duality gap \S+ after \S+ s{said}\n$")

    def test_alignments_are_told_of_some_classes_only(self):
        for count, is_told in ((100, True), (101, False)):
            self.write("many.csv", csv_text([f"c{i % count}" for i in range(300)], trees(300, 1)[1]))
            result = run("kernels", "many.csv", "--kernel", "rbf", "--json", cwd=self.folder)
            self.assertEqual("centered_label_alignment" in json.loads(result.stdout)["kernels"][0], is_told)
            self.assertEqual("101 classes" in result.stderr, not is_told)

    def test_text_behind_a_quoted_file_is_refused(self):
        self.write("kinds.txt", "".join(f"{name} tree\n" for name in NAMES))
        for behind, status in (("", 0), ("zzz", 2)):
            result = run("train", "d.csv", "--multiclass", "joint", "--class-kernel",
                         f'taxonomy(file="kinds.txt"{behind})', "-q", "-o", "m.kweave", cwd=self.folder)
            self.assertEqual(result.returncode, status, result.stderr)

    def test_classes_among_several_labels_are_not_said_to_be_absent(self):
        self.train("d.csv", "--multiclass", "ovr")
        labels = [f"{label}|{NAMES[(NAMES.index(label) + 1) % 4]}" for label in self.new_labels if label != "elm"]
        rows = [row for label, row in zip(self.new_labels, self.new_rows) if label != "elm"]
        self.write("new.csv", csv_text(labels, rows))
        result = run("predict", "m.kweave", "new.csv", "--label-separator", "|", "-o", "p.tsv", cwd=self.folder)
        self.assertIn("several labels", result.stderr)
        self.assertNotIn("no sample here", result.stderr)

    def test_one_label_and_a_value_of_every_class(self):
        for multiclass, machines in (("ovr", 4), ("ovo", 6), ("auto", 6)):
            summary = self.train("d.csv", "--multiclass", multiclass)
            self.assertEqual(summary["status"], "converged")
            self.assertEqual(len(summary["machines"]), machines)
            self.assertAlmostEqual(summary["primal"], sum(m["primal"] for m in summary["machines"]), places=9)
            self.assertEqual(summary["relative_gap"], max(m["relative_gap"] for m in summary["machines"]))
            self.assertEqual({len(m["weights"]) for m in summary["machines"]}, {len(summary["kernels"])})
            self.assertIn("\nclasses    'ash', 'beech', 'cedar', 'elm'\n", self.succeed("inspect", "m.kweave"))
            labels, values = self.predicted("new.csv")
            for label, row in zip(labels, values):
                self.assertEqual(len(row), 4)
                self.assertEqual(label, NAMES[row.index(max(row))])
            scores = self.read_json("scores.json")
            right = sum(a == b for a, b in zip(labels, self.new_labels))
            self.assertAlmostEqual(scores["accuracy"], right / 60)
            self.assertGreater(scores["accuracy"], 0.8)
            self.assertEqual(sum(map(sum, scores["confusion"])), 60)
            self.assertEqual([entry["class"] for entry in scores["classes"]], NAMES)

    def test_training_says_which_machines_there_are(self):
        for options, said in ((["ovo"], ", 6 machines (ovo), "), (["ovr"], ", 4 machines (ovr), "), (["joint"], None),
                              (["ovr", "--machine-weights", "common"], None)):
            result = run("train", "d.csv", "-o", "m.kweave", "--multiclass", *options, cwd=self.folder)
            text = result.stdout + result.stderr
            self.assertIn("kernels with a weight", text)
            self.assertEqual("kernels with a weight (means over the machines)" in text, said is not None, options)
            self.assertIn(said or "", text)

    def test_names_of_any_length_line_up(self):
        long = {"ash": "a tree with a long name", "beech": "b, too"}
        self.write("d.csv", csv_text([f'"{long.get(label, label)}"' for label in self.labels], self.rows))
        self.train("d.csv")
        text = self.succeed("inspect", "m.kweave")
        self.assertIn("\nclasses    'a tree with a long name', 'b, too', 'cedar', 'elm'\n", text)
        table = text[text.index("heaviest kernel"):].splitlines()[1:]
        header = next(line for line in text.splitlines() if line.endswith("heaviest kernel"))
        self.assertEqual(len(table), 6)
        for line in table:
            self.assertIn(line[header.index("heaviest kernel"):].split("(")[0], ("rbf", "linear"))

    def test_numbers_in_libsvm_text(self):
        numbers = [str(10 - NAMES.index(label)) for label in self.labels]
        self.write("d", libsvm_text(numbers, self.rows))
        self.train("d", "--multiclass", "ovr")
        _, values = self.predicted("d")
        self.assertEqual([entry["class"] for entry in self.read_json("scores.json")["classes"]], ["7", "8", "9", "10"])

    def test_matrices(self):
        gram = [[1 + dot(a, b) for b in self.rows] for a in self.rows]
        self.write("k.npy", npy_bytes(gram))
        self.write("labels.txt", "\n".join(self.labels) + "\n")
        for multiclass in ("ovr", "ovo"):
            self.train("--labels", "labels.txt", "--kernel", "precomputed(file=k.npy)", "--multiclass", multiclass)
            labels, _ = self.predicted("--gram", "k.npy=k.npy", "--labels", "labels.txt")
            self.assertGreater(sum(a == b for a, b in zip(labels, self.labels)), 90)

    def test_kernels_on_pairs(self):
        def joint(left, right, weights):  # of pairs of sample and class, those of one sample together
            return [[(1 + dot(a, b)) * weights[u][v] for b in right for v in range(4)] for a in left for u in range(4)]

        same = [[float(u == v) for v in range(4)] for u in range(4)]
        alike = [[1.0 if u == v else 0.5 * (u // 2 == v // 2) for v in range(4)] for u in range(4)]
        train = ["--multiclass", "joint", "--normalize", "none", "--gap", "1e-8"]
        plain = self.train("d.csv", "--kernel", "poly(degree=1)", *train)
        plain_values = self.predicted("new.csv")[1]
        self.write("pairs.npy", npy_bytes(joint(self.rows, self.rows, same)))
        self.write("new.npy", npy_bytes(joint(self.new_rows, self.rows, same)))
        self.write("labels.txt", "\n".join(self.labels) + "\n")
        # Without other data, by name or by file, and the model says what it needs.
        given = self.train("--labels", "labels.txt", "--kernel", "joint(file=pairs.npy, name=pairs)", *train)
        self.assertAlmostEqual(given["primal"], plain["primal"], delta=1e-6 * plain["primal"])
        stored = json.loads(self.succeed("inspect", "m.kweave", "--json"))["sample_indices"]
        self.write("few.npy", npy_bytes(joint(self.new_rows, [self.rows[i] for i in stored], same)))
        for gram in ("pairs=new.npy", "pairs.npy=new.npy", "pairs=few.npy"):
            values = self.predicted("--gram", gram)[1]
            for row, plain_row in zip(values, plain_values):
                for value, plain_value in zip(row, plain_row):
                    self.assertAlmostEqual(value, plain_value, delta=1e-3)
        for arguments, status, sentence in (
            (["new.csv"], 3, "one row per new sample and class"),
            (["--gram", "pairs=pairs.npy", "new.csv"], 3, "480 rows, expected 240, one for each class"),
            (["--gram", "pairs=labels.npy"], 3, "labels.npy"),
            (["--gram", "other=new.npy"], 2, "needs pairs.npy"),
        ):
            result = run("predict", "m.kweave", *arguments, cwd=self.folder)
            self.assertEqual(result.returncode, status, arguments)
            self.assertIn(sentence, result.stderr)
        # Beside other kernels, as text.
        rows = joint(self.rows, self.rows, alike)
        self.write("alike.txt", "".join(" ".join(map(repr, row)) + "\n" for row in rows))
        summary = self.train("d.csv", "--kernel", "rbf", "--kernel", "joint(file=alike.txt)", "--multiclass", "joint")
        self.assertEqual([k["name"] for k in summary["kernels"]][1], "joint(file=alike.txt)")
        self.assertTrue(all(kernel["weight"] > 0 for kernel in summary["kernels"]))

    def test_unknown_and_missing_classes_are_said(self):
        self.train("d.csv")
        labels = ["oak" if label == "ash" else label for label in self.new_labels]
        self.write("odd.csv", csv_text(labels, self.new_rows))
        result = run("predict", "m.kweave", "odd.csv", "-o", "p.tsv", cwd=self.folder)
        self.assertEqual(result.returncode, 0)
        self.assertIn("1 label the model was not trained on ('oak')", result.stderr)
        self.assertIn("1 of the model's 4 classes has no sample here ('ash')", result.stderr)
        self.assertIn("samples with it count as mistakes", result.stderr)
        self.assertRegex(result.stderr, "accuracy .* over 4 classes")  # oak, not ash

    def test_absent_classes_are_left_out_of_the_means(self):
        self.train("d.csv")
        kept = [i for i, label in enumerate(self.new_labels) if label in ("beech", "elm")]
        self.write("few.csv", csv_text([self.new_labels[i] for i in kept], [self.new_rows[i] for i in kept]))
        result = run("predict", "m.kweave", "few.csv", "-o", "p.tsv", "--summary", "s.json", cwd=self.folder)
        self.assertIn("2 of the model's 4 classes have no sample here ('ash', 'cedar'): left out", result.stderr)
        self.assertRegex(result.stderr, "accuracy .* over 2 classes")
        scores = self.read_json("s.json")
        self.assertGreater(scores["accuracy"], 0.5)
        self.assertLess(scores["accuracy"], 1)  # so absent classes are predicted
        occurring = [entry for entry in scores["classes"] if entry["samples"]]
        for mean, name in (
            ("balanced_accuracy", "recall"),
            ("f1", "f1"),
            ("mean_mcc", "mcc"),
            ("average_precision", "average_precision"),
        ):
            self.assertAlmostEqual(scores[mean], sum(entry[name] for entry in occurring) / 2)

    def test_samples_with_several_labels_where_one_is_predicted(self):
        self.write("d", libsvm_text(self.labels, self.rows))
        self.train("d", "--loss", "logistic")
        found, _ = self.predicted("d")
        other = dict(zip(NAMES, NAMES[1:] + NAMES[:1]))
        # Right and wrong ones; the first of the labels is never the one predicted.
        wide = [f"{other[label]},{label}" if i % 2 else other[label] for i, label in enumerate(found)]
        self.write("wide", libsvm_text(wide, self.rows))
        result = run("predict", "m.kweave", "wide", "-o", "p.tsv", "--summary", "s.json", cwd=self.folder)
        self.assertIn("60 samples have several labels and the model predicts one: right where that is among them",
                      result.stderr)
        scores = self.read_json("s.json")
        self.assertAlmostEqual(scores["accuracy"], 0.5)
        confusion = scores["confusion"]
        self.assertEqual(sum(confusion[u][u] for u in range(4)), 60)
        self.assertEqual([entry["samples"] for entry in scores["classes"]], [sum(row) for row in confusion])
        self.assertGreater(scores["top"]["2"], 0.5)
        self.assertNotIn("log_loss", scores)

    def test_probabilities_of_all_classes(self):
        self.train("d.csv", "--loss", "logistic")
        labels, rows = self.predicted("new.csv")
        loss = 0
        for label, true, row in zip(labels, self.new_labels, rows):
            values, probabilities = row[:4], row[4:]
            self.assertEqual(len(probabilities), 4)
            shares = [1 / (1 + math.exp(-value)) for value in values]
            for probability, share in zip(probabilities, shares):
                self.assertAlmostEqual(probability, share / sum(shares), places=12)
            loss -= math.log(probabilities[NAMES.index(true)]) / 60
        self.assertAlmostEqual(self.read_json("scores.json")["log_loss"], loss)

    def test_a_class_with_one_sample(self):
        self.write("one.csv", csv_text(self.labels + ["yew"], self.rows + [[9.0, 9.0, 0.0]]))
        for multiclass in ("ovr", "ovo", "joint"):
            self.assertEqual(self.train("one.csv", "--multiclass", multiclass)["status"], "converged")
            self.assertEqual(len(self.predicted("new.csv")[1][0]), 5)
        result = run("train", "one.csv", "-o", "m.kweave", cwd=self.folder)
        self.assertIn("a class with a single sample: 'yew'", result.stderr)

    def test_a_part_that_lacks_classes(self):
        part = [i for i, label in enumerate(self.labels) if label in ("ash", "elm")]
        self.write("part.csv", csv_text([self.labels[i] for i in part], [self.rows[i] for i in part]))
        for multiclass in ("ovr", "ovo", "joint"):
            self.train("part.csv", "--multiclass", multiclass)
            result = run("predict", "m.kweave", "new.csv", "-o", "p.tsv", "--summary", "s.json", cwd=self.folder)
            self.assertIn(
                "2 labels the model was not trained on ('beech', 'cedar'): samples with them count as mistakes",
                result.stderr,
            )
            found = [line.split("\t")[0] for line in (self.folder / "p.tsv").read_text().splitlines()]
            right = sum(a == b for a, b in zip(found, self.new_labels))
            scores = self.read_json("s.json")
            self.assertAlmostEqual(scores["accuracy"], right / 60)
            self.assertEqual([sum(row) for row in scores["confusion"]], [15, 15, 15, 15])
            self.assertEqual(scores["confusion_rows"], ["ash", "elm", "beech", "cedar"])
            self.assertEqual(scores["classes_occurring"], 4)
            recalls = sum(entry["recall"] for entry in scores["classes"])
            self.assertAlmostEqual(scores["balanced_accuracy"], recalls / 4)
            self.write("none.csv", csv_text(["oak", "yew"] * 30, self.new_rows))
            result = run("predict", "m.kweave", "none.csv", "-o", "p.tsv", "--summary", "s.json", cwd=self.folder)
            self.assertIn(
                "no scores: no label is a class of the model; 'oak', 'yew' are none of 'ash', 'elm'", result.stderr
            )
            self.assertNotIn("accuracy", self.read_json("s.json"))

    def test_wrong_use(self):
        for arguments, sentence in (
            (["--class-C", "oak=1", "--multiclass", "ovr"], "C for 'oak', but the classes are 'ash', 'beech'"),
            (["--class-C", "ash=1,elm=3,ash=2"], "C for class 'ash' is given twice, expected once"),
            (["--class-norm", "elm=1", "--class-norm", "elm=2"], "norm for class 'elm' is given twice"),
            (["--class-C", "ash=1", "--multiclass", "ovo"], "needs --multiclass ovr, not ovo"),
            (["--class-norm", "ash=0.5"], "--class-norm of 'ash' is 0.5, expected 1 to inf"),
            (["--class-C", "ash"], "--class-C 'ash', expected NAME=VALUE"),
            (["--class-C", "ash=1,elm"], "--class-C 'elm', expected NAME=VALUE"),
            (["--class-weight", "ash=1,or elm=2"], "--class-weight for 'or elm', but the classes are"),
            (["--class-weight", "ash,or=1,elm=2"], "--class-weight for 'ash,or', but the classes are"),
            (["--multiclass", "tree"], "available: auto, joint, ovr, ovo"),
            (["--kernel", "joint(file=d.csv)", "--multiclass", "ovr"], "train with --multiclass joint"),
        ):
            result = run("train", "d.csv", *arguments, "-o", "m.kweave", cwd=self.folder)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(sentence, result.stderr)


class SeveralLabels(FolderTest):
    def test_each_label_against_the_rest(self):
        labels, rows = trees(160, 1)
        sets = {"ash": "1,2", "beech": "2", "cedar": "3", "elm": ""}
        self.write("d", libsvm_text([sets[label] for label in labels], rows))
        summary = self.train("d", "-C", 3)
        self.assertEqual([machine["class"] for machine in summary["machines"]], ["1", "2", "3"])
        self.succeed("predict", "m.kweave", "d", "-o", "p.tsv", "--summary", "scores.json")
        scores = self.read_json("scores.json")
        self.assertLess(scores["hamming_loss"], 0.1)
        for entry in scores["classes"]:
            self.assertGreater(entry["average_precision"], 0.8)
        found = [line.split("\t")[0] for line in (self.folder / "p.tsv").read_text().splitlines()]
        self.assertGreater(sum(f == sets[label] for f, label in zip(found, labels)), 120)
        # Labels that the model does not know change nothing.
        self.write("odd", libsvm_text([sets[label] + ",9" if label == "cedar" else sets[label] for label in labels], rows))
        result = run("predict", "m.kweave", "odd", "-o", "p.tsv", "--summary", "odd.json", cwd=self.folder)
        self.assertIn("1 label the model was not trained on ('9'): left out of the scores", result.stderr)
        odd = self.read_json("odd.json")
        self.assertEqual({**odd, "seconds": 0}, {**scores, "seconds": 0})


if __name__ == "__main__":
    unittest.main()
