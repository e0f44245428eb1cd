"""The verbs on good input: every format, option and output, and that predictions are what training computed."""
import gzip
import json
import os
import pty
import signal
import subprocess
import time
import unittest
from pathlib import Path

import support
from support import FolderTest, csv_text, dot, libsvm_text, npy_bytes, read_npy, run, two_classes

SUMMARY_KEYS = ["status", "task", "primal", "dual", "gap", "relative_gap", "iterations", "fallbacks", "solves", "bias", "n_support",
                "kernels", "kernels_total", "kernels_active", "seconds", "kernel_rows", "base_values",
                "peak_memory_bytes", "threads", "options",
                "certificate", "history", "samples", "sources", "share_error"]
KERNELS = ["linear", "poly(degree=2, gamma=0.5, coef0=1)", "rbf(gamma=[0.05,0.5])", "laplacian(gamma=0.3)",
           "chi2(gamma=0.4)", "intersection", "tanimoto", "rbf(gamma=0.3)*linear@data[1..2]",
           "mean(intersection,linear)", "each(rbf(gamma=1))"]
NORMALIZERS = ["none", "trace", "multiplicative", "spherical", "center", "spherical,center", "center,trace",
               "spherical,multiplicative", "center,spherical"]


class Formats(FolderTest):
    def setUp(self):
        super().setUp()
        self.labels, self.rows = two_classes(80)

    def check(self, *data):
        summary = self.train(*data)
        self.assertEqual(summary["status"], "converged")
        self.assertLessEqual(summary["relative_gap"], 1e-3)
        predicted, _ = self.predict(*data)
        correct = sum(float(p) == y for p, y in zip(predicted, self.labels))
        self.assertGreater(correct, 60)
        return summary

    def test_all_formats_give_the_same_model(self):
        self.write("d.csv", csv_text(self.labels, self.rows))
        self.write("d.libsvm", libsvm_text(self.labels, self.rows))
        self.write("d.npy", npy_bytes(self.rows))
        self.write("y.txt", "".join(f"{y}\n" for y in self.labels))
        self.write("d.csv.gz", gzip.compress(csv_text(self.labels, self.rows).encode()))
        reference = self.check("d.csv")
        for data in (["d.libsvm"], ["d.npy", "--labels", "y.txt"], ["d.csv.gz"]):
            self.assertAlmostEqual(self.check(*data)["dual"], reference["dual"], delta=1e-3 * reference["dual"])

    def test_views_are_joined_by_id(self):
        ids = [f"s{i}" for i in range(80)]
        self.write("a.csv", csv_text(self.labels, [row[:2] for row in self.rows], ["a", "b"], ids))
        order = sorted(range(80), key=lambda i: (i * 37) % 80)
        self.write("b.csv", csv_text(None, [self.rows[i][2:] for i in order], ["c", "d"], [ids[i] for i in order]))
        summary = self.check("--view", "mrna=a.csv", "--view", "image=b.csv")
        self.assertEqual(summary["kernels_total"], 12)
        described = self.succeed("inspect", "m.kweave")
        self.assertIn("mrna", described)
        self.assertIn("image", described)
        swapped, _ = self.predict("--view", "image=b.csv", "--view", "mrna=a.csv")
        self.assertEqual(len(swapped), 80)

    def test_a_sparse_file_may_end_before_the_last_feature(self):
        self.write("d.libsvm", libsvm_text(self.labels, self.rows))
        self.train("d.libsvm", "--kernel", "linear", "--kernel", "rbf(gamma=1)")
        self.write("new.libsvm", "1 1:0.5\n-1 2:1\n")
        self.assertEqual(len(self.predict("new.libsvm")[0]), 2)

    def test_features_unseen_in_training_are_ignored(self):
        self.write("d.libsvm", libsvm_text(self.labels, self.rows))
        self.train("d.libsvm")
        expected = self.predict("d.libsvm")
        self.write("new.libsvm", libsvm_text(self.labels, [row + [0.0, 3.5, 1.0] for row in self.rows]))
        self.assertEqual(self.predict("new.libsvm"), expected)
        result = run("predict", "m.kweave", "new.libsvm", cwd=self.folder)
        self.assertEqual(result.stderr.splitlines(keepends=True)[0], "kweave: new.libsvm: 160 values with an index above 4, the largest in training, "
                                        "are ignored\n")
        self.assertEqual(run("predict", "-q", "m.kweave", "new.libsvm", cwd=self.folder).stderr, "")

    def test_columns_are_matched_by_name(self):
        self.write("d.csv", csv_text(self.labels, self.rows))
        self.train("d.csv")
        expected = self.predict("d.csv")
        lines = csv_text(None, [row[::-1] for row in self.rows], ["x4", "x3", "x2", "x1"]).splitlines()
        self.write("new.csv", "".join(f"{'note' if i == 0 else 'good'},{line}\n" for i, line in enumerate(lines)))
        self.assertEqual(self.predict("new.csv"), expected)

    def test_features_may_be_called_like_labels(self):
        self.write("a.csv", csv_text(self.labels, [row[:2] for row in self.rows]))
        self.write("b.csv", csv_text(None, [row[2:] for row in self.rows], ["x", "y"]))
        self.write("y.txt", "".join(f"{y}\n" for y in self.labels))
        result = run("train", "a.csv", "--view", "b=b.csv", "-o", "m.kweave", cwd=self.folder)
        self.assertIn('b.csv: column "y" is a feature', result.stderr)
        self.assertIn("b: 2 features", self.succeed("inspect", "m.kweave"))
        self.assertEqual(len(self.predict("a.csv", "--view", "b=b.csv")[0]), 80)
        self.train("b.csv", "--labels", "y.txt")
        self.assertIn("data: 2 features", self.succeed("inspect", "m.kweave"))
        self.assertEqual(len(self.predict("b.csv")[0]), 80)

    def test_ids_can_be_ignored(self):
        ids = [f"s{i}" for i in range(80)]
        self.write("a.csv", csv_text(self.labels, [row[:2] for row in self.rows], ["a", "b"], ids))
        self.write("b.npy", npy_bytes([row[2:] for row in self.rows]))
        self.check("a.csv", "--view", "b=b.npy", "--id-column", "none")

    def test_only_views_with_a_weight_are_needed(self):
        self.write("a.csv", csv_text(self.labels, [row[:2] for row in self.rows]))
        self.write("flat.csv", csv_text(None, [[1.0, 2.0] for _ in self.rows]))
        good, flat = ["--view", "good=a.csv"], ["--view", "flat=flat.csv"]
        summary = self.train(*good, *flat, "--kernel", "rbf(gamma=[0.1,1])")
        weights = {kernel["name"]: kernel["weight"] for kernel in summary["kernels"]}
        self.assertEqual([weights[f"rbf(gamma={g})@flat"] for g in ("0.1", "1")], [0, 0])
        self.write("i.json", self.succeed("inspect", "m.kweave", "--json"))
        model = self.read_json("i.json")
        self.assertEqual([view["name"] for view in model["views"]], ["good"])
        self.assertEqual({kernel["name"] for kernel in model["kernels"]}, {n for n, w in weights.items() if w > 0})
        self.assertEqual(self.predict(*good), self.predict(*flat, *good))
        result = run("predict", "m.kweave", *flat, cwd=self.folder)
        self.assertEqual(result.returncode, 3)
        self.assertIn("needs view 'good'", result.stderr)

    def test_text_labels(self):
        self.write("d.csv", csv_text(["sick" if y > 0 else "healthy" for y in self.labels], self.rows))
        self.train("d.csv")
        labels, values = self.predict("d.csv")
        self.assertTrue(all(l == ("sick" if v > 0 else "healthy") for l, v in zip(labels, values)))


class Outputs(FolderTest):
    def setUp(self):
        super().setUp()
        self.labels, self.rows = two_classes(60)
        self.write("d.csv", csv_text(self.labels, self.rows))

    def test_summary_has_its_members(self):
        summary = self.train("d.csv", "--seed", 3, "--threads", 1)
        self.assertEqual(list(summary), SUMMARY_KEYS)
        self.assertEqual(set(summary["kernels"][0]), {"name", "weight", "quadratic", "weight_interval", "share_interval"})
        self.assertTrue({"total", "read", "kernels", "solve", "weights"} <= set(summary["seconds"]))
        self.assertGreaterEqual(summary["primal"], summary["dual"])
        self.assertAlmostEqual(summary["gap"], summary["primal"] - summary["dual"], delta=1e-6 * summary["primal"])
        self.assertEqual(summary["kernels_total"], 6)
        self.assertEqual(summary["options"]["seed"], 3)
        self.assertEqual(summary["options"]["normalize"], "multiplicative")
        self.assertEqual(set(summary["options"]["given"].values()), {"auto"})
        self.assertEqual(summary["threads"], 1)
        self.assertGreater(summary["peak_memory_bytes"], 1 << 20)
        self.assertEqual(set(summary["history"][0]), {"seconds", "primal", "dual", "gap", "relative_gap", "solves", "inside_solve", "fallbacks"})
        for row in summary["history"] + [summary]:
            self.assertAlmostEqual(row["gap"], row["primal"] - row["dual"], places=9)
            self.assertAlmostEqual(row["relative_gap"], row["gap"] / max(abs(row["primal"]), abs(row["dual"])), places=9)

    def test_every_member_is_on_the_page_of_summaries(self):
        page = (Path(__file__).parent.parent.parent / "docs" / "summary.md").read_text()
        summary = self.train("d.csv")
        self.succeed("predict", "m.kweave", "d.csv", "-o", "p.txt", "--summary", "p.json")
        plural = {"kernels": "kernel", "class_kernels": "class-kernel", "class_weights": "class-weight"}
        options = (Path(__file__).parent.parent.parent / "docs" / "options.md").read_text()
        for key in {*summary, *summary["kernels"][0], *summary["seconds"], *summary["history"][0], *self.read_json("p.json")}:
            self.assertIn(f"`{key}`", page)
        for key in summary["options"]:
            flag = plural.get(key, key.replace("_", "-"))
            self.assertTrue(f"`{key}`" in page or f"`--{flag}`" in options or f"`-{flag}`" in options, key)

    def test_summary_to_standard_output(self):
        text = self.succeed("train", "d.csv", "-o", "m.kweave", "--summary", "-")
        self.assertTrue(text.startswith("{"))
        self.assertTrue(text.endswith("}\n"))

    def test_result_for_people(self):
        text = self.succeed("train", "d.csv", "-o", "m.kweave")
        self.assertIn("converged: relative duality gap", text)
        self.assertIn("rbf(gamma=", text)
        self.assertIn("m.kweave", text)
        self.assertEqual(self.succeed("train", "d.csv", "-o", "m.kweave", "-q"), "")

    def test_norms(self):
        duals = []
        for norm in ("1", "1.1", "1.3333", "2", "4", "inf"):
            summary = self.train("d.csv", "--norm", norm)
            self.assertEqual(summary["status"], "converged", norm)
            duals.append(summary["dual"])
        self.assertEqual(duals, sorted(duals, reverse=True))  # larger balls hold the smaller ones
        uniform = [kernel["weight"] for kernel in summary["kernels"]]
        self.assertEqual(uniform, [1.0] * 6)
        self.assertEqual(summary["options"]["norm"], "inf")

    def test_tight_gap(self):
        self.assertLessEqual(self.train("d.csv", "--gap", "1e-6")["relative_gap"], 1e-6)

    def test_config_file_and_flags_win(self):
        self.write("c.toml", '# comment\nkernel = ["rbf(gamma=[0.1,1])", "linear"]\nC = 3.5\nquiet = true\n'
                             'output = "m.kweave"\nsummary = "summary.json"\nnorm = "inf"\n')
        self.assertEqual(self.succeed("train", "d.csv", "--config", "c.toml", "-C", 2), "")
        options = self.read_json("summary.json")["options"]
        self.assertEqual(options["C"], 2)
        self.assertEqual(options["norm"], "inf")
        self.assertEqual(options["kernels"], ["rbf(gamma=[0.1,1])", "linear"])

    def test_help_of_predict_tells_the_columns(self):
        text = self.succeed("predict", "--help")
        for words in ("no header", "two classes     label, f", "more classes    label, a value for each class",
                      "several labels", "regression      value", "one class       1 or -1, f", "Probabilities follow"):
            self.assertIn(words, text)

    def test_dry_run(self):
        text = self.succeed("train", "d.csv", "--dry-run")
        for word in ("memory", "kernels", "samples"):
            self.assertIn(word, text)
        self.assertFalse((self.folder / "m.kweave").exists())
        # A matrix in a file is one base, as distances are.
        self.write("k.npy", npy_bytes([[dot(a, b) for b in self.rows] for a in self.rows]))
        for kernel in ("precomputed(file=k.npy)", "rbf(gamma=1)"):
            text = self.succeed("train", "d.csv", "--kernel", kernel, "--dry-run")
            self.assertIn("one pass, at most     3.6e+03 base values", text)

    def test_class_and_sample_weights(self):
        self.write("w.txt", "".join("0\n" if i < 10 else "1\n" for i in range(60)))
        weighted = self.train("d.csv", "--weights", "w.txt", "--kernel", "rbf(gamma=0.5)")
        self.write("rest.csv", csv_text(self.labels[10:], self.rows[10:]))
        rest = self.train("rest.csv", "--kernel", "rbf(gamma=0.5)")
        self.assertAlmostEqual(weighted["dual"], rest["dual"], delta=2e-3 * rest["dual"])
        heavy = self.train("d.csv", "--class-weight", "1=5")
        self.assertGreater(heavy["dual"], self.train("d.csv")["dual"])
        both = self.train("d.csv", "--class-weight", "1=5,-1=2")
        self.assertEqual(both["options"]["class_weights"], {"1": 5, "-1": 2})
        self.assertEqual(both["dual"], self.train("d.csv", "--class-weight", "1=5", "--class-weight=-1=2")["dual"])

    def test_a_repeated_sample_is_one_of_weight_two(self):
        self.write("twice.csv", csv_text(self.labels + self.labels[:9], self.rows + self.rows[:9]))
        twice = self.train("twice.csv")
        predicted = self.predict("d.csv")
        self.write("w.txt", "2\n" * 9 + "1\n" * (len(self.labels) - 9))
        heavy = self.train("d.csv", "--weights", "w.txt")
        self.assertEqual(predicted, self.predict("d.csv"))
        for key in ("primal", "dual", "n_support"):
            self.assertEqual(twice[key], heavy[key])

    def test_new_samples_may_lack_the_label_column(self):
        self.write("d.csv", csv_text(self.labels, self.rows).replace("label", "state", 1))
        self.train("d.csv", "--label-column", "state")
        self.succeed("predict", "m.kweave", "d.csv", "--label-column", "state", "-o", "a.txt", "--summary", "a.json")
        self.assertIn("accuracy", self.read_json("a.json"))
        self.write("new.csv", csv_text(None, self.rows))
        self.succeed("predict", "m.kweave", "new.csv", "-o", "b.txt", "--summary", "b.json")
        self.assertNotIn("accuracy", self.read_json("b.json"))
        self.assertEqual((self.folder / "a.txt").read_text(), (self.folder / "b.txt").read_text())

    def test_predict_scores(self):
        self.train("d.csv")
        self.succeed("predict", "m.kweave", "d.csv", "-o", "p.txt", "--summary", "p.json")
        summary = self.read_json("p.json")
        for key in ("accuracy", "balanced_accuracy", "auc", "average_precision", "mcc", "f1"):
            self.assertGreater(summary[key], 0.5)
        self.write("new.csv", csv_text(None, self.rows))
        self.succeed("predict", "m.kweave", "new.csv", "-o", "p.txt", "--summary", "p.json")
        self.assertNotIn("accuracy", self.read_json("p.json"))
        self.write("d.csv", csv_text(["sick" if y > 0 else "well" for y in self.labels], self.rows))
        self.train("d.csv")
        self.succeed("predict", "m.kweave", "d.csv", "-o", "p.txt", "--summary", "p.json")
        self.assertEqual(self.read_json("p.json")["positive_class"], "well")

    def test_kernels_without_variance_get_no_weight(self):
        self.write("d.csv", csv_text(self.labels, [row[:2] + [1.0] for row in self.rows]))
        result = run("train", "d.csv", "--kernel", "each(rbf(gamma=1))", "-o", "m.kweave", "--summary", "summary.json",
                     cwd=self.folder)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count("no variance"), 1)
        self.assertEqual(self.read_json("summary.json")["kernels"][2]["weight"], 0)
        result = run("train", "d.csv", "--kernel", "rbf(gamma=1)@data[3]", "-o", "m.kweave", cwd=self.folder)
        self.assertEqual(result.returncode, 0)
        labels, values = self.predict("d.csv")
        self.assertEqual(len(set(labels)), 1)
        self.assertIn("every sample gets the same prediction", result.stdout)
        self.assertIn("warning: no kernel varies", result.stderr)
        self.assertIn("every sample gets the same prediction", self.succeed("inspect", "m.kweave"))

    def test_overflow_is_said(self):
        self.write("d.csv", csv_text(self.labels, [[1e300 * v for v in row[:1]] + row[1:] for row in self.rows]))
        for normalize in ("multiplicative", "center", "spherical"):
            with self.subTest(normalize):
                result = run("train", "d.csv", "--kernel", "each(linear)", "--normalize", normalize, "-o", "m.kweave",
                             cwd=self.folder)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(result.stderr.splitlines()[0], "kweave: warning: values beyond the range of numbers, weight 0 "
                                                                "(scale the features): 'linear@data[1]'")

    def test_a_method_that_is_another_one_is_told(self):
        summary = self.train("d.csv", "--norm", "1", "--method", "cutting-plane", "--gap", "0.01")
        self.assertEqual(summary["options"]["method"], "silp")
        self.assertEqual(summary["options"]["given"]["method"], "cutting-plane")
        self.assertEqual(summary["fallbacks"], 0)

    def test_fractions_as_norms(self):
        self.assertEqual(self.train("d.csv", "--norm", "4/3")["options"]["norm"], 4 / 3)
        self.write("c.toml", 'norm = "8/7"\n')
        self.assertEqual(self.train("d.csv", "--config", "c.toml")["options"]["norm"], 8 / 7)

    def test_inspect(self):
        self.train("d.csv")
        self.assertIn("support vectors", self.succeed("inspect", "m.kweave"))
        self.write("i.json", self.succeed("inspect", "m.kweave", "--json"))
        described = self.read_json("i.json")
        self.assertEqual(described["classes"], ["-1", "1"])
        self.assertAlmostEqual(sum(kernel["share"] for kernel in described["kernels"]), 1)
        self.assertEqual(len(described["beta"]), described["summary"]["n_support"])

    def test_bound_by_norm(self):
        self.train("d.csv", "--norm", "1")
        self.assertIn("smallest at", self.succeed("inspect", "m.kweave", "--bound"))
        self.write("b.json", self.succeed("inspect", "m.kweave", "--bound", "--json"))
        bound = self.read_json("b.json")
        self.assertEqual(len(bound["block_norm"]), len(bound["factor"]))
        best = bound["block_norm"][bound["factor"].index(min(bound["factor"]))]
        self.assertEqual(best, bound["best_block_norm"])

    def test_bounds_on_single_weights(self):
        summary = self.train("d.csv", "--kernel", "linear", "--kernel", "rbf(gamma=[0.05,0.5])", "--norm", "1",
                             "--weight-bounds", "linear=0.25..0.5", "--weight-bounds", "rbf(gamma=0.5)=..0.1")
        linear, _, narrow = [kernel["weight"] for kernel in summary["kernels"]]
        self.assertTrue(0.25 - 1e-9 <= linear <= 0.5 + 1e-9)
        self.assertLessEqual(narrow, 0.1 + 1e-9)
        self.assertEqual(summary["options"]["weight_bounds"], {"linear": [0.25, 0.5], "rbf(gamma=0.5)": [0, 0.1]})

    def test_groups_are_told(self):
        summary = self.train("d.csv", "--kernel", "linear", "--kernel", "rbf(gamma=[0.05,0.5])", "--regularizer", "mixed",
                             "--groups", "spec")
        self.assertEqual([len(group["kernels"]) for group in summary["groups"]], [1, 2])
        weights = [group["weight"] * kernel["weight"] for group in summary["groups"] for kernel in group["kernels"]]
        for weight, kernel in zip(weights, summary["kernels"]):
            self.assertAlmostEqual(weight, kernel["weight"])
        self.assertIn("within", self.succeed("inspect", "m.kweave"))

    def test_help_names_every_kernel(self):
        text = self.succeed("train", "--help")
        for word in ("rbf", "tanimoto", "precomputed", "--gap", "--norm"):
            self.assertIn(word, text)
        self.assertRegex(self.succeed("--version"), r"^kweave \d+\.\d+\.\d+\n$")

    def test_the_page_of_options_is_up_to_date(self):
        page = Path(__file__).parent.parent.parent / "docs" / "options.md"
        self.assertEqual(self.succeed("train", "--options-page"), page.read_text())

    def test_a_reader_that_stops_early_is_no_error(self):
        self.train("d.csv")
        process = subprocess.Popen([support.PROGRAM, "predict", "m.kweave", "d.csv", "-q"], cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        self.assertEqual(process.wait(), 0)


class BrokenStreams(FolderTest):
    def shell(self, command):
        return subprocess.run(["bash", "-c", command], cwd=self.folder, stdout=subprocess.DEVNULL,
                              env={**os.environ, "KWEAVE": support.PROGRAM}, check=False).returncode

    def setUp(self):
        super().setUp()
        labels, rows = two_classes(40)
        self.write("d.csv", csv_text(labels, [row + [1.0] for row in rows]))

    def test_messages_nobody_can_read_change_nothing(self):
        for stream in ("2> /dev/full", "2>&-"):
            with self.subTest(stream):
                self.assertEqual(self.shell(f"$KWEAVE train none.csv -o m.kweave {stream}"), 3)
                command = "$KWEAVE train d.csv -v --kernel 'each(rbf(gamma=1))' -o m.kweave"
                self.assertEqual(self.shell(f"{command} {stream}"), 0)
                self.assertEqual(self.shell("$KWEAVE inspect m.kweave"), 0)

    def test_only_what_was_asked_for_must_reach_standard_output(self):
        for stream in ("> /dev/full", ">&-"):
            with self.subTest(stream):
                self.assertEqual(self.shell(f"$KWEAVE train d.csv -o m.kweave {stream}"), 0)
                for wanted in ("train d.csv -o m.kweave --summary -", "predict m.kweave d.csv", "inspect m.kweave",
                               "train --help"):
                    self.assertEqual(self.shell(f"$KWEAVE {wanted} {stream} 2> /dev/null"), 4, wanted)


class Kernels(FolderTest):
    def setUp(self):
        super().setUp()
        self.labels, self.rows = two_classes(40)
        self.write("d.csv", csv_text(self.labels, self.rows))

    def test_alignments(self):
        self.write("k.json", self.succeed("kernels", "d.csv", "--json"))
        analysis = self.read_json("k.json")
        self.assertEqual(len(analysis["kernels"]), 6)
        for a in range(6):
            self.assertAlmostEqual(analysis["centered_alignment"][a][a], 1)
            self.assertTrue(0 < analysis["kernels"][a]["centered_label_alignment"] < 1)
        self.assertIn("centred", self.succeed("kernels", "d.csv"))
        exported = self.succeed("kernels", "d.csv", "--json", "--export", "out")
        self.assertEqual(exported, (self.folder / "k.json").read_text())
        self.assertEqual(len(self.read_json("out/kernels.json")), 6)
        self.assertEqual(self.succeed("kernels", "d.csv", "--export", "out"), "")

    def test_alignments_follow_their_definition(self):
        kernels = ["--kernel", "linear", "--kernel", "rbf(gamma=0.5)"]
        self.write("k.json", self.succeed("kernels", "d.csv", "--json", *kernels))
        self.succeed("kernels", "d.csv", "--export", "out", *kernels)
        analysis = self.read_json("k.json")
        matrices = [read_npy(self.folder / "out" / f"000{m}.npy") for m in (1, 2)]
        flat = [[v for row in matrix for v in row] for matrix in matrices]
        centered = [[v for row in center(matrix) for v in row] for matrix in matrices]
        target = [a * b for a in self.labels for b in self.labels]
        centered_target = [v for row in center([[a * b for b in self.labels] for a in self.labels]) for v in row]
        self.assertAlmostEqual(analysis["alignment"][0][1], cosine(*flat), places=9)
        self.assertAlmostEqual(analysis["centered_alignment"][0][1], cosine(*centered), places=9)
        for m in (0, 1):
            kernel = analysis["kernels"][m]
            self.assertAlmostEqual(kernel["label_alignment"], cosine(flat[m], target), places=9)
            self.assertAlmostEqual(kernel["centered_label_alignment"], cosine(centered[m], centered_target), places=9)
        # More classes, and several labels per sample: with what says which samples share labels.
        for kind, sets in (("words", [["a", "b", "c"][i % 3] for i in range(40)]),
                           ("sets", [["1", "2,3", "", "3"][i % 4] for i in range(40)])):
            self.write(kind, libsvm_text(sets, self.rows))
            analysis = json.loads(self.succeed("kernels", kind, "--json", *kernels))
            owned = [{label for label in text.split(",") if label} for text in sets]
            target = [v for row in center([[len(a & b) for b in owned] for a in owned]) for v in row]
            for m in (0, 1):
                kernel = analysis["kernels"][m]
                self.assertAlmostEqual(kernel["centered_label_alignment"], cosine(centered[m], target), places=6)
                self.assertNotIn("label_alignment", kernel)
        result = run("kernels", "d.csv", "--labels", self.write("y.txt", "".join(f"{i}\n" for i in range(40))),
                     cwd=self.folder)
        self.assertIn("no alignments with the labels: 40 different ones of 40 samples are no classes", result.stderr)


def center(matrix):
    n = len(matrix)
    means = [sum(row) / n for row in matrix]
    mean = sum(means) / n
    return [[v - means[i] - means[j] + mean for j, v in enumerate(row)] for i, row in enumerate(matrix)]


def cosine(a, b):
    return dot(a, b) / (dot(a, a) * dot(b, b)) ** 0.5


class Predictions(FolderTest):
    """predict on the training samples equals sum_m theta_m K_m beta + b with the exported matrices."""

    def setUp(self):
        super().setUp()
        self.labels, self.rows = two_classes(40)
        self.write("d.csv", csv_text(self.labels, self.rows))

    def check(self, kernels, normalize):
        options = [word for kernel in kernels for word in ("--kernel", kernel)] + ["--normalize", normalize]
        summary = self.train("d.csv", *options, "--norm", "4")
        self.succeed("kernels", "d.csv", "--export", "out", *options)
        self.write("i.json", self.succeed("inspect", "m.kweave", "--json"))
        model = self.read_json("i.json")
        beta = [0.0] * len(self.rows)
        for i, value in zip(model["sample_indices"], model["beta"]):
            beta[i] = value
        expected = [model["bias"]] * len(beta)
        largest = 0
        for kernel, entry in zip(summary["kernels"], self.read_json("out/kernels.json")):
            self.assertEqual(kernel["name"], entry["name"])
            if kernel["weight"] == 0:
                continue
            for i, row in enumerate(read_npy(self.folder / "out" / entry["file"])):
                expected[i] += kernel["weight"] * dot(row, beta)
                largest = max(largest, max(map(abs, row)))
        tolerance = 1e-6 * sum(map(abs, beta)) * largest
        _, values = self.predict("d.csv")
        for value, wanted in zip(values, expected):
            self.assertAlmostEqual(value, wanted, delta=tolerance)

    def test_every_kernel_with_every_normaliser(self):
        for normalize in NORMALIZERS:
            with self.subTest(normalize=normalize):
                self.check(KERNELS, normalize)

    def test_samples_of_weight_zero_are_as_if_absent(self):
        weights = [0 if i in (3, 17, 39) else 1 for i in range(len(self.rows))]
        self.write("w.txt", "".join(f"{w}\n" for w in weights))
        kept = [i for i, w in enumerate(weights) if w]
        self.write("kept.csv", csv_text([self.labels[i] for i in kept], [self.rows[i] for i in kept]))
        for normalize in ("multiplicative", "center", "spherical,center"):
            with self.subTest(normalize=normalize):
                options = ["--kernel", "rbf(gamma=[0.05,0.5])", "--normalize", normalize, "--threads", 1]
                self.train("kept.csv", *options)
                _, expected = self.predict("d.csv")
                self.train("d.csv", "--weights", "w.txt", *options)
                _, values = self.predict("d.csv")
                for value, wanted in zip(values, expected):
                    self.assertAlmostEqual(value, wanted, places=9)

    def test_every_kernel_alone(self):
        for kernel in KERNELS:
            with self.subTest(kernel=kernel):
                self.check([kernel], "multiplicative")


class Precomputed(FolderTest):
    def setUp(self):
        super().setUp()
        self.labels, self.rows = two_classes(50)
        self.kernel = [[dot(a, b) for b in self.rows] for a in self.rows]
        self.write("K.npy", npy_bytes(self.kernel))
        self.write("y.txt", "".join(f"{y}\n" for y in self.labels))
        self.write("d.csv", csv_text(self.labels, self.rows))

    def test_equals_the_kernel_it_holds(self):
        direct = self.train("d.csv", "--kernel", "linear")
        _, expected = self.predict("d.csv")
        for name, content in (("K.npy", npy_bytes(self.kernel)),
                              ("K.txt", "".join(" ".join(map(repr, row)) + "\n" for row in self.kernel))):
            self.write(name, content)
            summary = self.train("--labels", "y.txt", "--kernel", f"precomputed(file={name})")
            self.assertAlmostEqual(summary["dual"], direct["dual"], delta=1e-3 * direct["dual"])
            _, values = self.predict("--gram", f"{name}={name}")
            for value, wanted in zip(values, expected):
                self.assertAlmostEqual(value, wanted, delta=0.1)

    def test_columns_may_be_stored_samples_only(self):
        self.train("--labels", "y.txt", "--kernel", "precomputed(file=K.npy, name=mine)")
        _, expected = self.predict("--gram", "mine=K.npy")
        self.write("i.json", self.succeed("inspect", "m.kweave", "--json"))
        stored = self.read_json("i.json")["sample_indices"]
        self.write("S.npy", npy_bytes([[row[i] for i in stored] for row in self.kernel]))
        _, values = self.predict("--gram", "mine=S.npy")
        for value, wanted in zip(values, expected):
            self.assertAlmostEqual(value, wanted, places=9)

    def test_data_without_a_kernel_on_it_is_not_needed(self):
        self.train("d.csv", "--kernel", "precomputed(file=K.npy)")
        self.assertEqual(self.predict("--gram", "K.npy=K.npy"), self.predict("d.csv", "--gram", "K.npy=K.npy"))

    def test_unknown_names_are_refused(self):
        self.write("Z.npy", npy_bytes([[0.0] * 50] * 50))
        self.train("d.csv", "--kernel", "precomputed(file=K.npy, name=mine)", "--kernel", "precomputed(file=Z.npy)")
        result = run("predict", "m.kweave", "--gram", "K.np=K.npy", cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--gram 'K.np' is no precomputed kernel of the model, which needs K.npy", result.stderr)
        for name in ("K.npy", "mine"):  # Z.npy has no variance, so that its values are not needed
            self.assertEqual(len(self.predict("--gram", f"{name}=K.npy", "--gram", "Z.npy=Z.npy")[0]), 50)

    def test_beside_data(self):
        self.train("d.csv", "--kernel", "precomputed(file=K.npy)", "--kernel", "rbf(gamma=1)")
        self.write("new.csv", csv_text(None, self.rows[:3]))
        self.write("new.npy", npy_bytes(self.kernel[:3]))
        self.assertEqual(len(self.predict("new.csv", "--gram", "K.npy=new.npy")[0]), 3)

    def test_indefinite_matrices_are_said_and_survive(self):
        negative = [[-v for v in row] for row in self.kernel]
        self.write("N.npy", npy_bytes(negative))
        result = run("train", "d.csv", "--kernel", "precomputed(file=N.npy)", "--kernel", "linear", "--normalize",
                     "none", "-o", "m.kweave", "--summary", "summary.json", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("indefinite"), 1)
        summary = self.read_json("summary.json")
        self.assertEqual(summary["kernels"][0]["weight"], 0)
        self.assertGreater(summary["kernels"][1]["weight"], 0)


class Interruptions(FolderTest):
    def setUp(self):
        super().setUp()
        labels, rows = two_classes(6000, features=20, distance=0.1)
        self.write("d.csv", csv_text(labels, rows))
        self.command = ["train", "d.csv", "-C", "100000", "--gap", "1e-11", "--norm", "1.5", "-o", "m.kweave",
                        "--summary", "summary.json"]

    def start(self, *arguments):
        return subprocess.Popen([support.PROGRAM, *self.command, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def stop(self, number, *arguments):
        """Sends the signal once there is a model; returns the process, the seconds until it says so, and all that it says."""
        for delay in (3, 10, 30, 90):  # on a busy machine, and with sanitizers, it takes longer until there is a model
            process = self.start(*arguments)
            time.sleep(delay)
            process.send_signal(number)
            sent = time.monotonic()
            first = process.stderr.readline()
            seconds = time.monotonic() - sent
            text = first + process.communicate(timeout=120)[1]
            if "before there was a model" not in text:
                break
        return process, seconds, text

    def test_a_model_that_misses_the_gap_leaves_the_old_one_alone(self):
        self.write("m.kweave", "an older model")
        soonest = 60
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process, seconds, text = self.stop(number)
            self.assertEqual(process.returncode, status)
            soonest = min(soonest, seconds)
            self.assertRegex(text, r"^kweave: stopping, certifying the best model so far.*\nkweave: warning: interrupted: "
                                   r"relative duality gap \S+ after \S+ s, expected at most 1e-11: the model is in "
                                   r"m\.kweave\.partial, not in m\.kweave \(see --accept-partial\)\n$")
            self.assertEqual((self.folder / "m.kweave").read_text(), "an older model")
            summary = self.read_json("summary.json")
            self.assertEqual(summary["status"], "interrupted")
            self.assertGreater(summary["relative_gap"], 1e-11)
            self.assertEqual(len(self.predict("d.csv", model="m.kweave.partial")[0]), 6000)
        self.assertLess(soonest, 1)  # others may hold up this process, but hardly twice

    def test_interrupted_training_writes_what_is_accepted(self):
        process, _, _ = self.stop(signal.SIGINT, "--accept-partial")
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.read_json("summary.json")["status"], "interrupted")
        self.assertEqual(len(self.predict("d.csv")[0]), 6000)
        self.assertFalse((self.folder / "m.kweave.partial").exists())

    def limited(self, *arguments):
        """Runs with a time limit within which there is a model, but not the one that was asked for."""
        for seconds in (2, 8, 32):  # a busy machine, and sanitizers, take longer until there is a model
            ended = run(*self.command, *arguments, "--time-limit", seconds, cwd=self.folder)
            if "before there was a model" not in ended.stderr:
                break
        return ended

    def test_a_limit_has_an_exit_status_of_its_own(self):
        for ended, words in ((self.limited(), "time_limit"),
                             (run(*self.command, "--max-iterations", "1", cwd=self.folder), "iteration_limit")):
            self.assertEqual(ended.returncode, 5)
            self.assertIn(words, ended.stderr)
            self.assertIn("model written to m.kweave.partial", ended.stdout)
            self.assertFalse((self.folder / "m.kweave").exists())

    def test_partial_models_overwrite_no_input(self):
        self.write("x.partial", (self.folder / "d.csv").read_text())
        refused = run("train", "x.partial", "--format", "csv", "-o", "x", cwd=self.folder)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("would overwrite the input DATA x.partial", refused.stderr)

    def test_interrupted_before_there_is_a_model(self):
        kernel = "each(rbf(gamma=logspace(0.1,10,200)))*rbf(gamma=1)"  # many, so that normalising them takes long
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = subprocess.Popen([support.PROGRAM, "train", "d.csv", "--normalize", "center", "--kernel", kernel, "-o",
                                        "m.kweave"], cwd=self.folder, stderr=subprocess.PIPE, text=True)
            support.wait_for_handler(process, number)
            time.sleep(1)
            process.send_signal(number)
            _, message = process.communicate(timeout=120)
            self.assertEqual(process.returncode, status)
            self.assertTrue(message.endswith("kweave: interrupted before there was a model\n"), message)
            self.assertFalse((self.folder / "m.kweave").exists())

    def test_the_certificate_has_its_share_of_the_time(self):
        """Measured by what the run says of itself; of some tries one must not have been held up by others."""
        over = []
        for limit in (6, 6, 12, 24):
            ended = run(*self.command, "--accept-partial", "--time-limit", limit, cwd=self.folder)
            if "before there was a model" in ended.stderr:  # a busy machine
                continue
            summary = self.read_json("summary.json")
            self.assertEqual(summary["status"], "time_limit")
            certificate = summary["seconds"]["total"] - summary["history"][-1]["seconds"] - summary["seconds"]["read"]
            self.assertGreater(certificate, 0)
            over.append(summary["seconds"]["total"] - limit - max(1, 0.5 * certificate))
            if over[-1] < 0:
                return
        self.fail(f"over by {over} s")

    def test_quiet_runs_say_that_they_ended_early(self):
        ended = self.limited("-q", "--accept-partial")
        self.assertEqual((ended.returncode, ended.stdout), (0, ""))
        self.assertRegex(ended.stderr, r"^kweave: warning: time_limit: relative duality gap \S+ after \S+ s\n$")

    def test_progress_is_for_terminals(self):
        leader, follower = pty.openpty()
        process = subprocess.Popen([support.PROGRAM, *self.command, "--time-limit", "8"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=follower)
        os.close(follower)
        seen = b""
        try:
            while piece := os.read(leader, 4096):
                seen += piece
        except OSError:  # the other side has closed
            pass
        os.close(leader)
        self.assertEqual(process.wait(), 5)
        self.assertIn(b"target", seen)
        self.assertNotIn("target", self.limited().stderr)


if __name__ == "__main__":
    unittest.main()
