"""Samples that lack views, features that are scaled or cleared of confounds, groups of features and probabilities, from files to predictions. The
support verifies every model that is trained."""
import json
import math
import random
import unittest

from support import FolderTest, csv_text, npy_bytes, run


def three_views(count, seed=1):
    """Labels, ids and the rows of three views that each tell something of the labels."""
    draw = random.Random(seed)
    labels = [draw.choice(("ill", "well")) for _ in range(count)]
    views = {name: [[draw.gauss(1.2 if label == "ill" else 0, 1) + 3 * j for j in range(3)] for label in labels] for name in "abc"}
    return labels, [f"s{i}" for i in range(count)], views


def centred(matrix, has):
    """The kernel of samples where those without the view are at the mean of the others."""
    n, own = len(matrix), [i for i, one in enumerate(has) if one]
    row = [sum(matrix[i][j] for j in own) / len(own) for i in range(n)]
    whole = sum(row[i] for i in own) / len(own)
    return [[(matrix[i][j] - row[i] - row[j] + whole) if has[i] and has[j] else 0.0 for j in range(n)] for i in range(n)]


class MissingViews(FolderTest):
    def setUp(self):
        super().setUp()
        self.labels, self.ids, self.views = three_views(90)
        draw = random.Random(5)
        self.has = {name: [draw.random() < 0.7 for _ in self.ids] for name in "abc"}
        for i in range(90):
            if not any(self.has[name][i] for name in "abc"):
                self.has["a"][i] = True
        self.write_part("", range(60))
        self.write_part("t", range(60, 90))

    def write_part(self, prefix, samples):
        for name in "abc":
            kept = [i for i in samples if self.has[name][i]]
            self.write(f"{prefix}{name}.csv", csv_text(None, [self.views[name][i] for i in kept], ids=[self.ids[i] for i in kept]))
        self.write(f"{prefix}y.csv", "id,label\n" + "".join(f"{self.ids[i]},{self.labels[i]}\n" for i in samples))

    @staticmethod
    def files(prefix="", views="abc"):
        return [word for name in views for word in ("--view", f"{name}={prefix}{name}.csv")] + ["--labels", f"{prefix}y.csv", "--join", "outer"]

    def test_counts_are_told(self):
        out = self.succeed("train", *self.files(), "-o", "m.kweave", "--summary", "s.json")
        summary = self.read_json("s.json")
        order = [i for name in "abc" for i in range(60) if self.has[name][i]]
        self.assertEqual(summary["samples"], len(set(order)))
        missing = {one["view"]: one["missing"] for one in summary["missing_views"]}
        self.assertEqual(missing, {name: 60 - sum(self.has[name][:60]) for name in "abc"})
        for name, count in missing.items():
            self.assertIn(f"{count} lack view '{name}'", out)
            self.assertIn(f"{count} of 60 samples are not in {name}.csv", out)
            self.assertIn(f"missing in {count} training samples", self.succeed("inspect", "m.kweave"))

    def test_kernel_is_centred_and_zero(self):
        """The model of kernels that a plain loop centred and set to zero is the same."""
        order = list(dict.fromkeys(i for name in "abc" for i in range(60) if self.has[name][i]))
        summary = self.train(*self.files(), "--kernel", "linear", "--kernel", "rbf(gamma=0.1)", "--normalize", "none", "--gap", "1e-6")
        specs = []
        for kind, value in (("linear", lambda x, z: sum(map(lambda a, b: a * b, x, z))), ("rbf", lambda x, z: math.exp(-0.1 * math.dist(x, z) ** 2))):
            for name in "abc":
                rows = [self.views[name][i] for i in order]
                matrix = centred([[value(x, z) for z in rows] for x in rows], [self.has[name][i] for i in order])
                self.write(f"{kind}{name}.npy", npy_bytes(matrix))
                specs += ["--kernel", f"precomputed(file={kind}{name}.npy)"]
        self.write("labels.txt", "\n".join(self.labels[i] for i in order) + "\n")
        plain = self.train("--labels", "labels.txt", *specs, "--normalize", "none", "--gap", "1e-6", model="p.kweave")
        self.assertAlmostEqual(summary["primal"], plain["primal"], delta=2e-5 * plain["primal"])
        for one, other in zip(summary["kernels"], plain["kernels"]):
            self.assertAlmostEqual(one["weight"], other["weight"], delta=2e-3)

    def test_predicts_samples_without_views(self):
        for options in ([], ["--missing-views", "rescale"], ["--normalize", "spherical,multiplicative"], ["--multiclass", "joint"], ["--kernel", "rbf", "--kernel", "(rbf@a*rbf@b)"]):
            self.train(*self.files(), *options)
            self.succeed("predict", "m.kweave", *self.files("t"), "-q", "-o", "p.tsv", "--summary", "p.json")
            self.assertGreater(self.read_json("p.json")["accuracy"], 0.75, options)

    def test_new_samples_alone_lack_a_view(self):
        """A view that all training samples had adds what it adds on average."""
        kept = [i for i in range(60)]
        for name in "abc":
            self.write(f"w{name}.csv", csv_text(None, [self.views[name][i] for i in kept], ids=[self.ids[i] for i in kept]))
        self.write("wy.csv", "id,label\n" + "".join(f"{self.ids[i]},{self.labels[i]}\n" for i in kept))
        self.train(*self.files("w"), "--kernel", "linear")
        whole = [float(line.split("\t")[1]) for line in self.succeed("predict", "m.kweave", *self.files("w"), "-q").splitlines()]
        mean = [[sum(row[j] for row in self.views["c"][:60]) / 60 for j in range(3)]]
        # A linear kernel is at its mean where the features are.
        self.write("mc.csv", csv_text(None, mean * 60, ids=[self.ids[i] for i in kept]))
        at_mean = self.succeed("predict", "m.kweave", "--view", "a=wa.csv", "--view", "b=wb.csv", "--view", "c=mc.csv", "-q").splitlines()
        self.write("nc.csv", "id,x1,x2,x3\n" + "".join(f"{self.ids[i]},NA,,nan\n" for i in kept))
        lacking = self.succeed("predict", "m.kweave", "--view", "a=wa.csv", "--view", "b=wb.csv", "--view", "c=nc.csv", "--join", "outer", "-q").splitlines()
        for one, other, full in zip(at_mean, lacking, whole):
            self.assertAlmostEqual(float(one.split("\t")[1]), float(other.split("\t")[1]), places=6)
        self.assertNotAlmostEqual(float(lacking[0].split("\t")[1]), whole[0], places=3)

    def test_inner_join_leaves_out(self):
        files = self.files()
        files[-1] = "inner"
        out = self.succeed("train", *files, "-o", "m.kweave", "--summary", "s.json")
        self.assertEqual(self.read_json("s.json")["samples"], sum(all(self.has[name][i] for name in "abc") for i in range(60)))
        self.assertIn("are not used, as other files do not have their ids", out)

    def test_bad_input_gets_one_sentence(self):
        self.write("part.csv", "id,x1,x2,x3\ns0,1,NA,2\ns1,1,2,3\n")
        self.write("twice.csv", "id,x1,x2,x3\ns0,1,2,2\ns0,1,2,3\n")
        self.write("first.csv", "id,label,x1,x2,x3\n" + "".join(f"{self.ids[i]},{self.labels[i]},1,2,{i}\n" for i in range(60)))
        self.train(*self.files())
        self.train("first.csv", model="one.kweave")
        self.write("none.csv", "id,x1,x2,x3\ns0,,,\n")
        for status, words, arguments in (
            (3, 'line 2, column 3 ("x2"): a value is missing in a row that has others', ("train", *self.files(), "--view", "d=part.csv", "-o", "x")),
            (3, "expected every id once", ("train", *self.files(), "--view", "d=twice.csv", "-o", "x")),
            (3, "--join outer takes samples without some view", ("train", "first.csv", "--view", "a=a.csv", "-o", "x")),
            (3, "does not know what the kernel adds", ("predict", "one.kweave", "none.csv", "--join", "outer")),
            (2, "--join", ("train", *self.files()[:-1], "other", "-o", "x")),
            (2, "samples that have all views", ("train", *self.files(), "--combine", "product", "-o", "x")),
        ):
            result = run(*arguments, cwd=self.folder)
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertIn(words, result.stderr)


def solve(rows, targets):
    """Least squares by elimination on the normal equations."""
    n = len(rows[0])
    a = [[sum(row[i] * row[j] for row in rows) for j in range(n)] + [sum(row[i] * t for row, t in zip(rows, targets))] for i in range(n)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[pivot] = a[pivot], a[k]
        for i in range(n):
            if i != k:
                factor = a[i][k] / a[k][k]
                a[i] = [x - factor * y for x, y in zip(a[i], a[k])]
    return [a[k][n] / a[k][k] for k in range(n)]


def changed(train, new, scale, confounds=None, new_confounds=None):
    """Features of training and new samples after a plain loop over both steps."""
    train, new = [list(row) for row in train], [list(row) for row in new]
    for j in range(len(train[0])):
        if confounds:
            ones, new_ones = [[1, *c] for c in confounds], [[1, *c] for c in new_confounds]
            b = solve(ones, [row[j] for row in train])
            for rows, own in ((train, ones), (new, new_ones)):
                for row, c in zip(rows, own):
                    row[j] -= sum(x * y for x, y in zip(b, c))
        column = [row[j] for row in train]
        mean = sum(column) / len(column)
        shift, width = {"none": (0, 1), "minmax": (min(column), max(column) - min(column)),
                        "standard": (mean, (sum((x - mean) ** 2 for x in column) / len(column)) ** 0.5)}[scale]
        for row in train + new:
            row[j] = (row[j] - shift) / (width if width > 1e-9 else 1)
    return train, new


class Features(FolderTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(3)
        self.labels = [draw.choice(("a", "b")) for _ in range(80)]
        self.confounds = [[draw.gauss(40, 10), draw.choice((0, 1))] for _ in range(80)]
        self.rows = [[draw.gauss(label == "a", 1) + 0.1 * c[0], 100 * draw.gauss(label == "b", 1) - 50 * c[1], 7.0] for label, c in zip(self.labels, self.confounds)]
        self.cut = 50
        self.write_rows("t.csv", "n.csv", self.rows)
        for name, own in (("ct.csv", self.confounds[:50]), ("cn.csv", self.confounds[50:])):
            self.write(name, csv_text(None, own, names=["age", "site"]))

    def write_rows(self, train, new, rows):
        self.write(train, csv_text(self.labels[:50], rows[:50]))
        self.write(new, csv_text(self.labels[50:], rows[50:]))

    def test_equals_a_plain_loop(self):
        kernels = ("--kernel", "linear", "--kernel", "rbf", "--gap", "1e-5")
        for scale in ("none", "standard", "minmax"):
            for use in (False, True):
                if scale == "none" and not use:
                    continue
                own = (["--confounds", "ct.csv"], ["--confounds", "cn.csv"]) if use else ([], [])
                self.train("t.csv", "--scale", scale, *own[0], *kernels)
                found = self.predict("n.csv", *own[1], "-q")[1]
                train, new = changed(self.rows[:50], self.rows[50:], scale, *((self.confounds[:50], self.confounds[50:]) if use else ()))
                self.write_rows("pt.csv", "pn.csv", train + new)
                self.train("pt.csv", *kernels, model="p.kweave")
                for one, other in zip(found, self.predict("pn.csv", "-q", model="p.kweave")[1]):
                    self.assertAlmostEqual(one, other, delta=0.02, msg=(scale, use))

    def test_left_out_samples_say_nothing(self):
        """Statistics are those of samples with a weight."""
        self.write("weights.txt", "1\n" * 50 + "0\n" * 30)
        self.write("all.csv", csv_text(self.labels, self.rows[:50] + [[1e6, -1e6, 1e6]] * 30))
        self.write("call.csv", csv_text(None, self.confounds, names=["age", "site"]))
        self.train("all.csv", "--scale", "standard", "--confounds", "call.csv", "--weights", "weights.txt")
        self.train("t.csv", "--scale", "standard", "--confounds", "ct.csv", model="p.kweave")
        for one, other in zip(self.predict("n.csv", "--confounds", "cn.csv", "-q")[1], self.predict("n.csv", "--confounds", "cn.csv", "-q", model="p.kweave")[1]):
            self.assertAlmostEqual(one, other, places=9)

    def test_confounds_that_others_explain(self):
        self.write("cc.csv", csv_text(None, [[*c, 2 * c[0] - c[1], 1.0] for c in self.confounds[:50]], names=["age", "site", "sum", "one"]))
        self.train("t.csv", "--confounds", "cc.csv")

    def test_bad_input_gets_one_sentence(self):
        self.train("t.csv", "--confounds", "ct.csv")
        self.write("short.csv", csv_text(None, self.confounds[:9], names=["age", "site"]))
        self.write("gap.csv", "age,site\n1,\n")
        self.write("s.libsvm", "".join(f"{label} 1:{row[0]} 5000:1\n" for label, row in zip(self.labels[:50], self.rows)))
        for status, words, arguments in (
            (3, "needs them of the new samples too: --confounds", ("predict", "m.kweave", "n.csv")),
            (3, "50 rows", ("train", "t.csv", "--confounds", "short.csv", "-o", "x")),
            (3, "a value is missing", ("train", "t.csv", "--confounds", "gap.csv", "-o", "x")),
            (3, "no column called", ("predict", "m.kweave", "n.csv", "--confounds", "n.csv")),
            (2, "is sparse", ("train", "s.libsvm", "--confounds", "ct.csv", "-o", "x")),
            (2, "--scale", ("train", "t.csv", "--scale", "robust", "-o", "x")),
            (3, "trained with 2 confounds", ("verify", "m.kweave", "t.csv")),
        ):
            result = run(*arguments, cwd=self.folder)
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertIn(words, result.stderr)

    def test_verify_sees_other_statistics(self):
        self.train("t.csv", "--scale", "standard")
        self.write("o.csv", csv_text(self.labels[:50], [[row[0], 1.001 * row[1], row[2]] for row in self.rows[:50]]))
        result = run("verify", "m.kweave", "o.csv", cwd=self.folder)
        self.assertEqual(result.returncode, 6, result.stdout + result.stderr)
        self.assertIn("is not scaled", result.stdout + result.stderr)


class FeatureGroups(FolderTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(4)
        self.labels = [draw.choice(("a", "b")) for _ in range(60)]
        self.rows = [[draw.gauss(j < 2 and label == "a", 1) for j in range(5)] for label in self.labels]
        self.write("d.csv", csv_text(self.labels, self.rows))

    def test_same_as_subsets(self):
        self.write("g.gmt", "one\tfirst\tx1\tx2\ntwo\t\tx3\tx4\tx2\n")
        self.write("g.csv", "feature,group\nx1,one\nx2,one\nx3,two\nx4,two\nx2,two\n")
        plain = self.train("d.csv", "--kernel", "rbf@data[1,2]", "--kernel", "rbf@data[2,3,4]", "--gap", "1e-5")
        for file in ("g.gmt", "g.csv"):
            found = self.train("d.csv", "--kernel", "rbf", "--feature-groups", file, "--gap", "1e-5")
            self.assertEqual([kernel["name"] for kernel in found["kernels"]], ["one", "two"])
            for one, other in zip(found["kernels"], plain["kernels"]):
                self.assertAlmostEqual(one["weight"], other["weight"], places=6)

    def test_every_specification_and_view(self):
        self.write("v.csv", csv_text(None, self.rows))
        self.write("g.gmt", "one\tfirst\tx1\tx2\ntwo(b)\t\tx3\tnone\nthree\t\tunknown\n")
        result = run("train", "d.csv", "--view", "v=v.csv", "--kernel", "linear", "--kernel", "rbf(gamma=[0.1,1])", "--kernel", "poly@v", "--feature-groups", "g.gmt", "-o", "m.kweave",
                     "--summary", "s.json", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 of 5 features are in no view (none, unknown); 1 of 3 groups have none", result.stderr)
        names = [kernel["name"] for kernel in self.read_json("s.json")["kernels"]]
        self.assertEqual(len(names), 2 * 2 * 3 + 1)
        self.assertIn("one:data:linear", names)
        self.assertIn("two_b_:v:rbf_gamma__0.1_1__.2", names)

    def test_bad_input_gets_one_sentence(self):
        self.write("none.csv", "feature,group\ny1,one\n")
        self.write("odd.csv", "feature,group\nx1,one,two\n")
        self.write("empty.gmt", "")
        self.write("x.libsvm", "1 1:1\n-1 1:2\n")
        for status, words, arguments in (
            (3, "no feature of --feature-groups is in a view: its first is 'y1', the first of view 'data' is 'x1'", ("d.csv", "--feature-groups", "none.csv")),
            (3, "odd.csv, line 2", ("d.csv", "--feature-groups", "odd.csv")),
            (3, "empty", ("d.csv", "--feature-groups", "empty.gmt")),
            (3, "have no names", ("x.libsvm", "--feature-groups", "none.csv")),
            (3, "absent.gmt", ("d.csv", "--feature-groups", "absent.gmt")),
            (2, "has a name", ("d.csv", "--feature-groups", "none.csv", "--kernel", "rbf(name=own)")),
        ):
            result = run("train", *arguments, "-o", "x", cwd=self.folder)
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertIn(words, result.stderr)


class Probabilities(FolderTest):
    def write_classes(self, classes, count=150, overlap=1.2):
        draw = random.Random(classes)
        names = "abcd"[:classes]
        for file in ("t.csv", "n.csv"):
            labels = [names[i % classes] for i in range(count)]
            rows = [[draw.gauss(2 * (names.index(label) == j), overlap) for j in range(classes)] for label in labels]
            self.write(file, csv_text(labels, rows))
        return labels

    def test_probabilities_are_calibrated(self):
        for classes, multiclass in ((2, "auto"), (3, "ovr"), (3, "ovo"), (3, "joint")):
            labels = self.write_classes(classes)
            self.train("t.csv", "--probabilities", "on", "--multiclass", multiclass)
            lines = self.succeed("predict", "m.kweave", "n.csv", "--probabilities", "--header", "--summary", "p.json").splitlines()
            scores, names = self.read_json("p.json"), "abcd"[:classes]
            loss, bins = 0, {}
            for line, label in zip(lines[1:], labels):
                predicted, *values = line.split("\t")
                own = list(map(float, values[len(values) // 2:]))
                p = [1 - own[0], own[0]] if classes == 2 else own
                self.assertAlmostEqual(sum(p), 1, places=9)
                self.assertEqual(names[max(range(classes), key=p.__getitem__)], predicted)
                loss -= math.log(p[names.index(label)]) / len(labels)
                bins.setdefault(round(4 * max(p)), []).append((max(p), predicted == label))
            self.assertAlmostEqual(scores["log_loss"], loss, places=6)
            self.assertLess(loss, 0.75 * math.log(classes))
            for own in bins.values():  # as often right as said, within three standard deviations
                said, right = (sum(one[k] for one in own) / len(own) for k in (0, 1))
                self.assertLess(abs(said - right), 3 * 0.5 / len(own) ** 0.5, (classes, multiclass))

    def test_model_is_otherwise_the_same(self):
        self.write_classes(2)
        self.train("t.csv", "--probabilities", "on")
        self.train("t.csv", model="p.kweave")
        self.assertEqual(*(self.succeed("predict", model, "n.csv", "-q", "-o", "-").splitlines()[0].split("\t")[:2] for model in ("m.kweave", "p.kweave")))

    def test_matrices_and_missing_views(self):
        self.write_classes(2, count=40)
        self.succeed("kernels", "t.csv", "--kernel", "rbf", "--export", "matrices")
        self.train("--labels", "t.csv", "--kernel", "precomputed(file=matrices/0001.npy)", "--probabilities", "on")
        found = self.succeed("predict", "m.kweave", "--gram", "matrices/0001.npy=matrices/0001.npy", "--probabilities", "-q").splitlines()
        self.assertEqual(len(found[0].split("\t")), 3)

    def test_bad_input_gets_one_sentence(self):
        self.write_classes(2)
        self.train("t.csv")
        self.write("r.csv", csv_text(range(20), [[float(i)] for i in range(20)]))
        self.write("several.libsvm", "a,b 1:1\nb 1:2\na 1:3\nb 1:1\n")
        for status, words, arguments in (
            (2, "--probabilities: the model has none", ("predict", "m.kweave", "n.csv", "--probabilities")),
            (2, "are those of classes", ("train", "r.csv", "--task", "regress", "--probabilities", "on", "-o", "x")),
            (2, "one label", ("train", "several.libsvm", "--label-separator", ",", "--probabilities", "on", "-o", "x")),
        ):
            result = run(*arguments, cwd=self.folder)
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertIn(words, result.stderr)


if __name__ == "__main__":
    unittest.main()
