"""Kernels on words of sequences of any lengths, from file to prediction: every model is verified by plain loops."""
import json
import random
import unittest

from support import FolderTest, run


def made_lines(count, letters, motif, seed):
    """Lines of label, id and sequence; half of them have a motif somewhere, one letter in ten of it changed."""
    generator = random.Random(seed)
    lines = []
    for i in range(count):
        text = [generator.choice(letters) for _ in range(generator.randint(25, 45))]
        if i % 2 == 0:
            start = generator.randrange(len(text) - len(motif) + 1)
            for at, letter in enumerate(motif):
                text[start + at] = letter if generator.random() > 0.1 else generator.choice(letters)
        lines.append(f"{'with' if i % 2 == 0 else 'without'} s{i} {''.join(text)}\n")
    return "".join(lines)


class Words(FolderTest):
    def setUp(self):
        super().setUp()
        self.write("a.txt", made_lines(70, "ACGT", "GATTACAGAT", 1))
        self.write("b.txt", made_lines(60, "ACGT", "GATTACAGAT", 2))

    def scores(self, *options, train="a.txt", test="b.txt"):
        self.succeed("train", train, *options, "-q", "-o", "m.kweave", "--summary", "s.json")
        self.succeed("verify", "m.kweave", train, "-q")
        self.succeed("predict", "m.kweave", test, "-q", "-o", "p.tsv", "--summary", "p.json")
        return json.loads((self.folder / "p.json").read_text())

    def test_words_that_sequences_share(self):
        for options in (
            ("--kernel", "spectrum(k=1..5)"),
            ("--kernel", "spectrum(k=4)", "--kernel", "mismatch(k=6, m=1)", "--norm", "1", "--normalize", "spherical"),
            ("--kernel", "gapped(l=7, k=4..6)", "--gap", "1e-5"),
            ("--kernel", "gapped(l=8, k=6)", "--kernel", "spectrum(k=3)*spectrum(k=2)", "--normalize", "center"),
        ):
            with self.subTest(options=options):
                self.assertGreater(self.scores(*options)["auc"], 0.8)

    def test_reverse_complement_is_the_same_sequence(self):
        text = (self.folder / "b.txt").read_text()
        turned = "".join(f"{label} {name} {letters[::-1].translate(str.maketrans('ACGT', 'TGCA'))}\n"
                         for label, name, letters in (line.split() for line in text.splitlines()))
        self.write("turned.txt", turned)
        kernels = ("--kernel", "spectrum(k=4, rc=1)", "--kernel", "mismatch(k=4, rc=1)", "--kernel", "gapped(l=6, k=4, rc=1)")
        self.scores(*kernels)
        outputs = (self.folder / "p.tsv").read_text()
        self.succeed("predict", "m.kweave", "turned.txt", "-q", "-o", "t.tsv")
        for before, after in zip(outputs.splitlines(), (self.folder / "t.tsv").read_text().splitlines()):
            self.assertEqual(before.split()[0], after.split()[0])
            self.assertAlmostEqual(float(before.split()[1]), float(after.split()[1]), places=6)

    def test_motifs_and_alignments_of_proteins(self):
        self.write("p.txt", made_lines(40, "ACDEFGHIKLMNPQRSTVWY", "MWCHPMWCHP", 3))
        self.write("q.txt", made_lines(40, "ACDEFGHIKLMNPQRSTVWY", "MWCHPMWCHP", 4))
        for options in (
            ("--kernel", "motif(pattern=[1,11,101,111,1001,1011,1101,1111,10001,10011,10101,10111,11001,11011,11101,11111])",
             "--kernel", "motif(pattern=[1,11])@data[1..15]", "--kernel", "motif(pattern=[1,11])@data[-15..]"),
            ("--kernel", "local_alignment", "--kernel", "local_alignment(beta=1, open=2)"),
        ):
            with self.subTest(options=options):
                self.assertGreater(self.scores(*options, train="p.txt", test="q.txt")["auc"], 0.8)

    def test_shifts_and_other_tasks(self):
        text = "".join(f"{i % 3} s{i} {random.Random(i).choice('AC') * 4}{'ACGTTGCAAG'[i % 3:]}{'GT' * 6}"[:28] + "\n"
                       for i in range(45))
        self.write("c.txt", text)
        for options in (("--multiclass", "joint"), ("--task", "regress"), ("--task", "oneclass")):
            with self.subTest(options=options):
                self.succeed("train", "c.txt", "--kernel", "spectrum(k=1..2)", "--kernel", "gapped(l=4, k=3)", *options, "-q", "-o",
                             "m.kweave")
        self.write("e.txt", "".join(f"{i % 2} s{i} {'ACGTACGT'[i % 4:][:4]}{'ACTG' * 3}\n" for i in range(20)))
        self.succeed("train", "e.txt", "--kernel", "wds(degree=4, shift=[0,2])", "-q", "-o", "m.kweave")

    def test_bad_input(self):
        self.write("p.txt", made_lines(10, "ACDEFGHIKLMNPQRSTVWY", "MWCHP", 5))
        for file, kernel, sentence in (
            ("a.txt", "mismatch(k=3, m=3)", "m is 3, expected less than k, which is 3"),
            ("a.txt", "gapped(l=5, k=6)", "k is 6, expected at most l, which is 5"),
            ("a.txt", "motif(pattern=110)", "pattern must be 1 or 11 or 101"),
            ("a.txt", "wds", "letters, but wds needs as many in all sequences"),
            ("p.txt", "spectrum(rc=1)", "rc=1 adds the reverse complement, which needs DNA or RNA"),
            ("p.txt", "spectrum(k=30)", "more than 2^64 words of 30 letters out of 20"),
        ):
            result = run("train", file, "--kernel", kernel, "-q", "-o", "x.kweave", cwd=self.folder)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(sentence, result.stderr)
            self.assertEqual(len(result.stderr.strip().splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
