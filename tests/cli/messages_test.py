"""What people are told: ranges, formats that are not read, standard input, hints, help, and nothing that steers a terminal."""
import subprocess
import unittest

from support import PROGRAM, FolderTest, csv_text, libsvm_text, run, two_classes

USAGE, DATA = 2, 3
LABELS, ROWS = two_classes(24)
CSV = csv_text(LABELS, ROWS)

# (arguments of train besides the data and the model, what is said)
OPTIONS = [
    (["--threads", "0"], "--threads is 0, expected 1 to 4096"),
    (["--threads", "9" * 20], "expected a whole number"),
    (["--seed", "-1"], "--seed is -1, expected 0 or more"),
    (["--time-limit", "nan"], "--time-limit is nan, expected 0 or more"),
    (["--time-limit", "-1"], "--time-limit is -1, expected 0 or more"),
    (["--time-limit", ""], "--time-limit '', expected a number"),
    (["--memory", "nan"], "--memory 'nan', expected a size"),
    (["--device", "tpu"], "--device 'tpu' is not available; available: auto, cpu, cuda"),
    (["--device-memory", "-1"], "--device-memory is -1, expected 0 or more"),
    (["--label-column", ""], "--label-column '', expected a value"),
    (["--summary", "--norm", "2"], "--summary has no value, as the option --norm follows"),
]

# (first bytes, what they are)
FORMATS = [(b"PAR1rest", "Parquet"), (b"\x89HDF\r\n\x1a\nrest", "HDF5"), (b'{"a": [1, 2]}', "JSON"), (b"[[1, 2], [3, 4]]", "JSON"),
           (b"@RELATION iris\n@ATTRIBUTE a NUMERIC\n", "ARFF")]


class Messages(FolderTest):
    def refuse(self, *arguments, status, says):
        result = run(*arguments, cwd=self.folder)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertLess(len(result.stderr), 400)
        self.assertIn(says, result.stderr)

    def test_values_of_options(self):
        self.write("d.csv", CSV)
        for options, says in OPTIONS:
            with self.subTest(options):
                self.refuse("train", "d.csv", "-o", "m.kweave", *options, status=USAGE, says=says)

    def test_other_formats_are_named(self):
        for content, name in FORMATS:
            for file in ("d", "d.csv", "d.data"):
                self.write(file, content)
                self.refuse("train", file, "-o", "m.kweave", status=DATA, says=f"{file}: this looks like {name}")

    def test_delimited_text_is_known_by_its_content(self):
        for name in ("d.data", "d.txt", "d"):
            for separator in (",", ";", "\t"):
                self.write(name, CSV.replace(",", separator))
                self.assertIn("read 24 samples", self.succeed("train", name, "-o", "m.kweave"))
        self.write("d.txt", libsvm_text(LABELS, ROWS).replace(" ", "\t"))
        self.assertIn("read 24 samples", self.succeed("train", "d.txt", "-o", "m.kweave"))

    def test_a_run_without_an_accelerator_goes_on_and_says_so_once(self):
        self.write("d.csv", CSV)
        said = run("train", "d.csv", "--device", "cuda", "-o", "m.kweave", cwd=self.folder)
        self.assertEqual(said.returncode, 0, said.stderr)
        lines = [line for line in said.stderr.splitlines() if "training runs on" in line]
        self.assertLessEqual(len(lines), 1, said.stderr)  # none on a machine that has one
        smooth = run("train", "d.csv", "--device", "cuda", "--loss", "logistic", "-o", "m.kweave", cwd=self.folder)
        self.assertIn("--device is for sums of kernels, losses with corners", smooth.stderr)
        self.assertEqual(smooth.returncode, 0, smooth.stderr)
        for device in ("auto", "cpu"):
            self.assertNotIn("CPU", run("train", "d.csv", "--device", device, "-o", "m.kweave", cwd=self.folder).stderr)

    def test_verbose_runs_say_what_was_decided(self):
        self.write("d.csv", CSV)
        said = run("train", "d.csv", "-v", "-o", "m.kweave", cwd=self.folder).stderr
        for words in ("single precision, which a gap of 0.001 can be reached with", "of the free memory", "--method", "--solver"):
            self.assertIn(words, said)
        self.assertEqual(run("train", "d.csv", "-o", "m.kweave", cwd=self.folder).stderr, "")

    def test_help_has_the_everyday_options_first(self):
        text = self.succeed("train", "--help")
        places = [text.index(words) for words in ("Options:", "--kernel", "--output", "Data:", "--id-column", "Learning:", "--method",
                                                  "Run:", "--memory")]
        self.assertEqual(places, sorted(places))

    def test_a_dash_is_standard_input(self):
        self.write("d.csv", CSV)
        piped = lambda *words: subprocess.run([PROGRAM, *words], cwd=self.folder, input=CSV, capture_output=True, text=True,
                                              timeout=60)
        result = piped("train", "-", "-o", "m.kweave")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(piped("predict", "m.kweave", "-").stdout, self.succeed("predict", "m.kweave", "d.csv"))
        self.assertIn("can be read once", piped("train", "-", "--labels", "-", "-o", "m.kweave").stderr)

    def test_continuous_targets_ask_for_regression(self):
        self.write("d.csv", csv_text([i + 0.5 for i in range(24)], ROWS))
        self.refuse("train", "d.csv", "-o", "m.kweave", status=DATA, says="did you mean --task regress?")

    def test_columns_of_ids_are_hinted_at(self):
        self.write("words.csv", "label,code,a\n1,p1,2\n-1,p2,3\n")
        self.refuse("train", "words.csv", "-o", "m.kweave", status=DATA, says="--id-column code says so")
        self.write("numbers.csv", csv_text(LABELS, ROWS, names=["patient_id", "Unnamed: 0", "a", "b"]))
        result = run("train", "numbers.csv", "-o", "m.kweave", cwd=self.folder)
        for name in ("patient_id", "Unnamed: 0"):
            self.assertIn(f'column "{name}" is a feature; if it holds sample ids, --id-column \'{name}\' says so', result.stderr)

    def test_control_characters_do_not_reach_the_terminal(self):
        self.write("d.csv", CSV)
        self.write("c.toml", 'task = "\x1b[31mred"\n')
        self.write("w.txt", "\x1b[31m\n")
        for options in (["--config", "c.toml"], ["--weights", "w.txt"], ["--kernel", "\x1b[31m"], ["--\x1b[31m"]):
            result = run("train", "d.csv", "-o", "m.kweave", *options, cwd=self.folder)
            self.assertNotEqual(result.returncode, 0)
            self.assertNotIn("\x1b", result.stderr)
            self.assertIn("[31m", result.stderr)

    def test_predictions_with_ids_and_header(self):
        ids = [f"s{i}" for i in range(24)]
        self.write("d.csv", csv_text(LABELS, ROWS, ids=ids))
        self.succeed("train", "d.csv", "-q", "-o", "m.kweave")
        result = run("predict", "m.kweave", "d.csv", "--ids", "--header", cwd=self.folder)
        header, *lines = result.stdout.splitlines()
        self.assertEqual(header, "id\tlabel\tf")
        self.assertEqual([line.split("\t")[0] for line in lines], ids)
        self.assertRegex(result.stderr, r"^accuracy \S+, balanced \S+, F1 \S+, MCC \S+, AUC \S+\n$")
        self.write("bare.csv", CSV)
        self.refuse("predict", "m.kweave", "bare.csv", "--ids", status=DATA, says="--ids: the data has none")
        words = [("a", "b", "c")[i % 3] for i in range(24)]
        self.write("three.csv", csv_text(words, ROWS))
        self.succeed("train", "three.csv", "-q", "-o", "three.kweave")
        header = self.succeed("predict", "three.kweave", "three.csv", "--header").splitlines()[0]
        self.assertEqual(header, "label\tf:a\tf:b\tf:c")

    def test_help_is_a_verb(self):
        self.assertEqual(self.succeed("help"), self.succeed("--help"))
        self.assertEqual(self.succeed("help", "train"), self.succeed("train", "--help"))
        self.refuse("help", "tarin", status=USAGE, says="did you mean")


if __name__ == "__main__":
    unittest.main()
