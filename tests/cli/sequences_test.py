"""Sequences from file to prediction: every task and normalisation is verified by plain loops, and bad input gets one sentence."""
import gzip
import json
import random
import unittest

from support import FolderTest, run


def made_sequences(count, length=30, seed=1):
    """Half of them have GATTACA near the middle, one letter in ten of it changed."""
    generator = random.Random(seed)
    labels, texts = [], []
    for i in range(count):
        letters = [generator.choice("ACGT") for _ in range(length)]
        if i % 2 == 0:
            for at, letter in enumerate("GATTACA"):
                if generator.random() > 0.1:
                    letters[12 + at] = letter
        labels.append("1" if i % 2 == 0 else "-1")
        texts.append("".join(letters))
    return labels, texts


def fasta(labels, texts, ids=True):
    return "".join(
        f">{f's{i}' if ids else ''} label={label}\n{text}\n" for i, (label, text) in enumerate(zip(labels, texts))
    )


class Sequences(FolderTest):
    def setUp(self):
        super().setUp()
        self.labels, self.texts = made_sequences(90)
        self.write("a.fa", fasta(self.labels[:60], self.texts[:60]))
        self.write("b.fa", fasta(self.labels[60:], self.texts[60:]))

    def weights(self):
        summary = json.loads((self.folder / "s.json").read_text())
        return {kernel["name"]: kernel["weight"] for kernel in summary["kernels"]}

    def test_from_fasta_to_a_verified_model(self):
        for options in (
            ("--kernel", "wd(order=1..8)"),
            ("--kernel", "wd(order=1..4)", "--norm", "1"),
            ("--kernel", "wd", "--kernel", "wd(degree=3)@data[-9..]", "--normalize", "spherical"),
            ("--kernel", "wd(degree=3)", "--normalize", "center"),
            ("--kernel", "wd(degree=4)", "--kernel", "wd(order=2)*wd(order=1)", "--gap", "1e-5"),
        ):
            with self.subTest(options=options):
                self.succeed("train", "a.fa", *options, "-q", "-o", "m.kweave", "--summary", "s.json")
                self.succeed("verify", "m.kweave", "a.fa", "-q")
                self.succeed("predict", "m.kweave", "b.fa", "-q", "-o", "p.tsv", "--summary", "p.json")
                self.assertGreater(json.loads((self.folder / "p.json").read_text())["auc"], 0.9)

    def test_positions_that_matter_get_the_weight(self):
        self.succeed("train", "a.fa", "--kernel", "each(wd(degree=4))", "-q", "-o", "m.kweave", "--summary", "s.json")
        self.succeed("verify", "m.kweave", "a.fa", "-q")
        weights = self.weights()
        heaviest = max(weights, key=weights.get)
        self.assertIn(heaviest, [f"wd(degree=4)@data[at {position}]" for position in range(12, 20)])

    def test_sequences_beside_numbers(self):
        generator = random.Random(3)
        rows = "".join(f"s{i},{generator.gauss(int(label), 2)}\n" for i, label in reversed(list(enumerate(self.labels[:60]))))
        self.write("n.csv", "id,x\n" + rows)
        views = ("--view", "seq=a.fa", "--view", "num=n.csv")
        self.succeed("train", *views, "--kernel", "wd(order=1..3)", "--kernel", "rbf@num", "--kernel", "wd(order=2)*linear@num",
                     "-q", "-o", "m.kweave", "--summary", "s.json")
        self.assertEqual(sorted(self.weights()), sorted(
            ["wd(order=1)@seq", "wd(order=2)@seq", "wd(order=3)@seq", next(n for n in self.weights() if n.startswith("rbf")),
             "wd(order=2)@seq*linear@num"]))
        self.succeed("verify", "m.kweave", *views, "-q")
        self.succeed("predict", "m.kweave", *views, "-q", "-o", "p.tsv")

    def test_several_classes_and_other_tasks(self):
        several = [str(i % 3) for i in range(60)]
        texts = [text[:int(label)] + "ACGTACGT" + text[int(label) + 8:] for label, text in zip(several, self.texts)]
        self.write("c.fa", fasta(several, texts))
        for options in (("--multiclass", "joint"), ("--multiclass", "ovr"), ("--task", "regress"), ("--task", "oneclass"),
                        ("--task", "regress", "--loss", "squared")):
            with self.subTest(options=options):
                self.succeed("train", "c.fa", "--kernel", "wd(order=1..4)", *options, "-q", "-o", "m.kweave")
                self.succeed("verify", "m.kweave", "c.fa", "-q")

    def test_other_forms_of_the_same_data(self):
        def train(file, *options):
            self.succeed("train", file, "--kernel", "wd(degree=4)", *options, "-q", "-o", "m.kweave", "--summary", "s.json")
            return json.loads((self.folder / "s.json").read_text())["primal"]

        primal = train("a.fa")
        (self.folder / "a.fa.gz").write_bytes(gzip.compress((self.folder / "a.fa").read_bytes()))
        self.write("a.fq", "".join(f"@s{i} label={label}\n{text}\n+\n{'!' * len(text)}\n"
                                   for i, (label, text) in enumerate(zip(self.labels[:60], self.texts))))
        self.write("a.txt", "".join(f"{label} s{i} {text.lower()}\n" for i, (label, text) in enumerate(zip(self.labels[:60], self.texts))))
        for name in ("a.fa.gz", "a.fq", "a.txt"):
            self.assertEqual(train(name), primal)
        self.write("plain.fa", "".join(f">\n{text}\n" for text in self.texts[:60]))
        self.write("labels.txt", "\n".join(self.labels[:60]) + "\n")
        self.assertEqual(train("plain.fa", "--labels", "labels.txt"), primal)
        self.write("kind.fa", fasta(self.labels[:60], self.texts).replace("label=", "kind="))
        self.assertEqual(train("kind.fa", "--label-column", "kind"), primal)

    def test_bad_input(self):
        self.succeed("train", "a.fa", "--kernel", "wd(degree=3)", "-q", "-o", "m.kweave")
        cases = [
            (">a label=1\nACGT\n>b label=2\nACG\n", ("--kernel", "wd"), "sample 2: 3 letters, but wd needs as many"),
            (">a label=1\nACGT\n>b label=2\n", ("--kernel", "wd"), "record 2: the sequence is empty"),
            (">a label=1\nACGTACGTACGT\n>b label=2\nAC!T\n", ("--kernel", "wd"), "record 2, position 3: found \"!\""),
            (">a label=1\nACGT\n>b\nACGT\n", ("--kernel", "wd"), "record 2: there is no label"),
            (">a label=1\nACGT\n>b label=2\nACGT\n", ("--kernel", "rbf"), "rbf works on numbers"),
            (">a label=1\nACGT\n>b label=2\nACGT\n", ("--kernel", "wd", "--alphabet", "AA"), "--alphabet"),
        ]
        for text, options, sentence in cases:
            self.write("bad.fa", text)
            result = run("train", "bad.fa", *options, "-q", "-o", "x.kweave", cwd=self.folder)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(sentence, result.stderr)
            self.assertEqual(len(result.stderr.strip().splitlines()), 1)
        self.write("short.fa", ">a\nACGT\n")
        result = run("predict", "m.kweave", "short.fa", cwd=self.folder)
        self.assertIn("4 letters, but wd needs 30 as in training", result.stderr)
        whole = gzip.compress((self.folder / "a.fa").read_bytes())
        (self.folder / "cut.fa.gz").write_bytes(whole[: len(whole) // 2])
        result = run("train", "cut.fa.gz", "--kernel", "wd", "-o", "x.kweave", cwd=self.folder)
        self.assertIn("cut.fa.gz: the gzip stream is corrupt", result.stderr)


if __name__ == "__main__":
    unittest.main()
