"""select: scores are those of a plain loop, a run that was killed goes on, folds are as asked for, and bad input gets one sentence."""
import json
import os
import random
import signal
import subprocess
import time
import unittest

from support import PROGRAM, FolderTest, csv_text, run, two_classes

GRID = ("-C", "0.1,1,10", "--norm", "1,2,inf")


class Select(FolderTest):
    def setUp(self):
        super().setUp()
        self.labels, self.rows = two_classes(120)
        self.write("a.csv", csv_text(self.labels, self.rows))

    def select(self, *arguments, folder="s"):
        self.succeed("select", "a.csv", *arguments, "-o", folder, "-q")
        return json.loads((self.folder / folder / "selection.json").read_text())

    def lines(self, name="points.jsonl", folder="s"):
        return [json.loads(line) for line in (self.folder / folder / name).read_text().splitlines()]

    def refuse(self, sentence, *arguments, status=2):
        result = run("select", "a.csv", "-o", "s", *arguments, cwd=self.folder)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(sentence, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def test_scores_are_those_of_a_plain_loop(self):
        folds = [i % 3 for i in range(len(self.labels))]
        self.write("folds.txt", "".join(f"{fold}\n" for fold in folds))
        found = self.select(*GRID, "--folds-file", "folds.txt")
        self.assertEqual(len(found["points"]), 9)
        self.assertEqual(found["points"][3]["values"], {"C": 1.0, "norm": 1.0})
        for point in found["points"]:
            self.assertEqual(len(point["fold_scores"]), 3)
            for fold, score in enumerate(point["fold_scores"]):
                train = [i for i, own in enumerate(folds) if own != fold]
                test = [i for i, own in enumerate(folds) if own == fold]
                for name, part in (("train.csv", train), ("test.csv", test)):
                    self.write(name, csv_text([self.labels[i] for i in part], [self.rows[i] for i in part]))
                self.succeed("train", "train.csv", "-C", point["values"]["C"], "--norm", point["values"]["norm"], "-o", "m", "-q")
                self.succeed("predict", "m", "test.csv", "-q", "-o", "p.tsv", "--summary", "p.json")
                plain = json.loads((self.folder / "p.json").read_text())["accuracy"]
                self.assertLessEqual(abs(score - plain), 1 / len(test) + 1e-9, point)  # a sample on the threshold
            mean = sum(point["fold_scores"]) / 3
            self.assertAlmostEqual(point["score"], mean, places=12)
            error = (sum((s - mean) ** 2 for s in point["fold_scores"]) / 2 / 3) ** 0.5
            self.assertAlmostEqual(point["standard_error"], error, places=12)
        best = max(point["score"] for point in found["points"])
        self.assertEqual(found["points"][found["chosen"]]["score"], best)
        self.succeed("verify", "s/model.kweave", "a.csv")

    def test_a_run_that_was_killed_goes_on(self):
        """Killed at random moments until it comes to its end: the table of a run that was left alone, and no point twice."""
        options = ["a.csv", *GRID, "--folds", "3", "--threads", "1", "--baselines", "none", "-q"]
        self.succeed("select", *options, "-o", "whole")
        randomly = random.Random(1)
        kills = 0
        while True:
            process = subprocess.Popen([PROGRAM, "select", *options, "-o", "s"], cwd=self.folder)
            try:
                process.wait(randomly.uniform(0.01, 0.15) * (1 + kills / 20))
                self.assertEqual(process.returncode, 0)
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
        keys = [line["key"] for line in self.lines()[1:]]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertEqual(len(keys), 27)
        table = [[row.split("\t")[:3] + row.split("\t")[6:] for row in (self.folder / folder / "scores.tsv").read_text().splitlines()]
                 for folder in ("whole", "s")]
        self.assertEqual(*table)
        print(f"{kills} kills", end=" ")

    def test_a_line_that_was_cut_off_is_computed_again(self):
        self.select("-C", "1,10", "--folds", "2", "--baselines", "none")
        points = self.folder / "s" / "points.jsonl"
        whole = points.read_bytes()
        points.write_bytes(whole[:-40])
        self.select("-C", "1,10", "--folds", "2", "--baselines", "none")
        self.assertEqual(len(points.read_bytes().splitlines()), len(whole.splitlines()))
        points.write_bytes(whole.replace(b'"support"', b'"supporT"', 1))
        self.refuse("is damaged: its checksum does not match", "-C", "1,10", "--folds", "2", status=3)

    def test_interrupts_keep_points(self):
        process = subprocess.Popen([PROGRAM, "select", "a.csv", "-C", ",".join(str(k) for k in range(1, 400)), "-o", "s"], cwd=self.folder,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        points = self.folder / "s" / "points.jsonl"
        while not points.exists() or points.read_bytes().count(b"\n") < 3:
            time.sleep(0.01)
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertIn("the same command goes on", process.communicate()[1])
        self.assertEqual(process.returncode, 130)
        self.assertFalse((self.folder / "s" / "model.kweave").exists())
        result = run("select", "a.csv", "-C", ",".join(str(k) for k in range(1, 400)), "-o", "s", "--time-limit", "0.1", cwd=self.folder)
        self.assertEqual(result.returncode, 5, result.stderr)

    def test_array_jobs_are_merged(self):
        options = [*GRID, "--folds", "3", "--threads", "1", "--baselines", "none"]
        whole = self.select(*options, folder="whole")
        for fold in ("1", "2", "3"):
            self.succeed("select", "a.csv", *options, "--fold", fold, "-o", "one" if fold == "1" else "rest", "-q")
        merged = self.select(*options, "--merge", "one", "--merge", "rest", folder="s")
        self.assertEqual(len(self.lines()), 1)  # nothing was computed
        self.assertEqual([point["fold_scores"] for point in whole["points"]], [point["fold_scores"] for point in merged["points"]])

    def test_splits(self):
        # Classes have the same share in every fold, and repeats differ.
        found = self.select("--folds", "4", "--repeats", "2", "--baselines", "constant")
        self.assertEqual(found["folds"], 8)
        self.assertEqual(found["baselines"][0]["name"], "constant")
        for split, folds in (("plain", 5), ("subsample", 5)):
            self.assertEqual(self.select("--split", split, "--baselines", "none", folder=split)["folds"], folds)
        self.write("groups.txt", "".join(f"g{i // 10}\n" for i in range(120)))
        self.assertEqual(self.select("--split", "leave-one-out", "--groups-file", "groups.txt", "--baselines", "none", folder="groups")["folds"], 12)
        self.write("small.csv", csv_text(self.labels[:24], self.rows[:24]))
        self.succeed("select", "small.csv", "--split", "leave-one-out", "--score", "auc", "-o", "loo", "-q", "--baselines", "none")
        one = json.loads((self.folder / "loo" / "selection.json").read_text())["points"][0]
        self.assertNotIn("standard_error", one)
        self.assertTrue(0 <= one["score"] <= 1)

    def test_nested_permutations_and_baselines(self):
        found = self.select("-C", "0.1,10", "--folds", "2", "--nested", "2", "--permutations", "4", "--kernel", "linear", "--kernel", "rbf(gamma=[0.1,median])")
        self.assertEqual(len(found["nested"]["fold_scores"]), 2)
        permutation = found["permutation"]
        self.assertEqual(permutation["observed"], found["nested"]["score"])
        as_good = sum(score >= permutation["observed"] for score in permutation["scores"])
        self.assertAlmostEqual(permutation["p_value"], (1 + as_good) / 5)
        self.assertEqual([one["name"] for one in found["baselines"]], ["constant", "uniform", "single"])
        self.assertEqual(len(found["stability"]), 3)
        self.assertAlmostEqual(sum(kernel["mean"] for kernel in found["stability"]), 1, places=9)
        self.succeed("report", "s", "-o", "page.html")
        page = (self.folder / "page.html").read_text()
        for section in ("grid", "baselines", "stability", "permutation", "kernels"):
            self.assertTrue(f'<section id="{section}"' in page, section)
        self.assertTrue(f"p = {permutation['p_value']:.4g}" in page)
        (self.folder / "none").mkdir()
        result = run("report", "none", "-o", "page.html", cwd=self.folder)
        self.assertEqual(result.returncode, 3)
        self.assertIn("there is no selection.json", result.stderr)

    def test_axes(self):
        found = self.select("--kernel-set", "linear; rbf(gamma=1)", "--kernel-set", "linear", "--normalize", "none", "--normalize", "center,multiplicative",
                            "--folds", "2", "--rule", "one-standard-error", "--baselines", "none")
        self.assertEqual([list(point["values"].values()) for point in found["points"]],
                         [[n, k] for n in ("none", "center,multiplicative") for k in (["linear", "rbf(gamma=1)"], ["linear"])])
        chosen, best = found["points"][found["chosen"]], found["points"][found["best"]]
        self.assertGreaterEqual(chosen["score"], best["score"] - best["standard_error"])
        self.write("r.csv", csv_text([f"{row[0] + 0.1 * row[1]:.4f}" for row in self.rows], self.rows))
        self.succeed("select", "r.csv", "--task", "regress", "--epsilon", "0.01,0.1", "--folds", "3", "-o", "r", "-q")
        found = json.loads((self.folder / "r" / "selection.json").read_text())
        self.assertEqual(found["score"], "r2")
        self.assertGreater(found["points"][0]["score"], 0.5)

    def test_bad_input(self):
        self.select("-C", "1,10", "--folds", "2", "--baselines", "none")
        self.refuse("was begun with other options", "-C", "1,100", "--folds", "2")
        self.refuse("was begun with other options: --seed was 0, now it is 3", "-C", "1,10", "--folds", "2", "--seed", "3")
        self.refuse("expected above 0", "-C", "1,-1")
        self.refuse("-C names the same value twice", "-C", "1,1")
        self.refuse("--folds is 1, expected 2 or more", "--folds", "1")
        self.refuse("fewer than --folds 100", "--folds", "100")
        self.refuse("is not defined in fold 1", "--folds", "2", "-C", "1,10", "--score", "r2")
        self.refuse("--fold is 9, expected at most 2", "--folds", "2", "--fold", "9")
        self.write("few.txt", "1\n2\n")
        self.refuse("few.txt: 2 lines for 120 samples", "--folds-file", "few.txt", status=3)
        result = run("select", "a.csv", cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("select needs -o SELECTION", result.stderr)

    def test_noise_scores_at_chance(self):
        """KWEAVE_LEAK_REPETITIONS asks for more than a few data sets of noise: nested scores are centred at chance, p-values uniform."""
        repetitions = int(os.environ.get("KWEAVE_LEAK_REPETITIONS", "4"))
        randomly = random.Random(5)
        scores, values = [], []
        for repetition in range(repetitions):
            labels = [str(i % 2) for i in range(60)]
            rows = [[randomly.gauss(0, 1) for _ in range(20)] for _ in range(60)]
            self.write("noise.csv", csv_text(labels, rows))
            self.succeed("select", "noise.csv", "-C", "0.1,1,10", "--folds", "3", "--nested", "3", "--permutations", "39" if repetitions > 20 else "4",
                         "--normalize", "center,multiplicative", "--baselines", "none", "--seed", repetition, "-o", f"n{repetition}", "-q")
            found = json.loads((self.folder / f"n{repetition}" / "selection.json").read_text())
            scores.append(found["nested"]["score"])
            values.append(found["permutation"]["p_value"])
        mean = sum(scores) / repetitions
        self.assertLess(abs(mean - 0.5), 4 * 0.5 / (60 * repetitions) ** 0.5)  # four standard errors of as many coins
        if repetitions > 20:
            for level in (0.1, 0.25, 0.5):
                share = sum(value <= level for value in values) / repetitions
                self.assertLess(abs(share - level), 4 * (level * (1 - level) / repetitions) ** 0.5, level)


if __name__ == "__main__":
    unittest.main()
