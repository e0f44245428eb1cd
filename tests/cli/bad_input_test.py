"""Bad input of every kind: one clear sentence on standard error, the right exit status, and no model."""
import bz2
import gzip
import lzma
import unittest
from pathlib import Path

from support import FolderTest, csv_text, libsvm_text, npy_bytes, run, two_classes

USAGE, DATA, RESOURCE = 2, 3, 4
LABELS, ROWS = two_classes(12)
CSV = csv_text(LABELS, ROWS)
LIBSVM = libsvm_text(LABELS, ROWS)
LONG = csv_text(*two_classes(800))
SQUARE = [[float(i == j) for j in range(12)] for i in range(12)]

# (what, files, arguments of train, exit status, part of the message)
TRAIN = [
    # Files.
    ("missing file", {}, ["none.csv"], DATA, "none.csv"),
    ("a folder", {}, ["."], DATA, "directory"),
    ("empty file", {"d.csv": ""}, ["d.csv"], DATA, "d.csv"),
    ("header only", {"d.csv": "label,a\n"}, ["d.csv"], DATA, "d.csv"),
    ("binary rubbish", {"d.txt": bytes(range(256)) * 4}, ["d.txt"], DATA, "d.txt"),
    ("truncated gzip", {"d.csv.gz": gzip.compress(CSV.encode())[:-12]}, ["d.csv.gz"], DATA, "d.csv.gz"),
    ("corrupt zstd", {"d.csv": b"\x28\xb5\x2f\xfd" + b"rubbish" * 9}, ["d.csv"], DATA, "d.csv"),
    ("xz", {"d.csv.xz": lzma.compress(CSV.encode())}, ["d.csv.xz"], DATA, "compressed with xz, which is not supported"),
    ("bzip2", {"d.csv": bz2.compress(CSV.encode())}, ["d.csv"], DATA, "compressed with bzip2, which is not supported"),
    ("FASTA", {"d.fa": ">seq1\nACGT\n"}, ["d.fa"], DATA, "FASTA"),
    ("unknown format", {"d.csv": CSV}, ["d.csv", "--format", "excel"], USAGE, "excel"),
    # LIBSVM.
    ("index 0", {"d": "1 0:1\n-1 1:1\n"}, ["d"], DATA, "line 1"),
    ("descending indices", {"d": "1 1:1 3:1\n-1 3:1 2:1\n"}, ["d"], DATA, "line 2"),
    ("repeated index", {"d": "1 2:1 2:1\n-1 1:1\n"}, ["d"], DATA, "line 1"),
    ("index too large", {"d": "1 2147483648:1\n-1 1:1\n"}, ["d"], DATA, "2147483648"),
    ("missing value", {"d": "1 1:\n-1 1:1\n"}, ["d"], DATA, "line 1"),
    ("missing colon", {"d": "1 1\n-1 1:1\n"}, ["d"], DATA, "line 1"),
    ("NaN", {"d": "1 1:nan\n-1 1:1\n"}, ["d"], DATA, "nan"),
    ("infinity", {"d": "1 1:inf\n-1 1:1\n"}, ["d"], DATA, "inf"),
    ("overflow", {"d": "1 1:1e999\n-1 1:1\n"}, ["d"], DATA, "1e999"),
    ("trailing characters", {"d": "1 1:1x\n-1 1:1\n"}, ["d"], DATA, "1x"),
    ("one class", {"d": "1 1:1\n1 1:2\n"}, ["d"], DATA, "1 class ('1')"),
    ("one class only", {"d": "1 1:1\n1 1:2\n+1 1:1\n"}, ["d"], DATA, "expected two or more"),
    # CSV.
    ("ragged rows", {"d.csv": "label,a,b\n1,2,3\n-1,2\n"}, ["d.csv"], DATA, "line 3"),
    ("text among numbers", {"d.csv": "label,a\n1,2\n-1,high\n"}, ["d.csv"], DATA, "high"),
    ("empty cell", {"d.csv": "label,a,b\n1,2,3\n-1,,3\n"}, ["d.csv"], DATA, "line 3"),
    ("NaN cell", {"d.csv": "label,a\n1,2\n-1,nan\n"}, ["d.csv"], DATA, 'line 3, column 2 ("a")'),
    ("infinite cell", {"d.csv": "label,a\n1,2\n-1,Infinity\n"}, ["d.csv"], DATA,
     'line 3, column 2 ("a"): found "Infinity", expected a finite number'),
    ("infinity in a first line", {"d.csv": "1,inf\n-1,2\n"}, ["d.csv", "--label-column", "1"], DATA,
     'line 1, column 2: found "inf"'),
    ("no label column", {"d.csv": "a,b\n1,2\n3,4\n"}, ["d.csv"], DATA, "label"),
    ("unknown label column", {"d.csv": CSV}, ["d.csv", "--label-column", "colour"], DATA,
     'no column called "colour", only "label", "x1", "x2"'),
    ("label column with a slip", {"d.csv": "class,a\ndaisy,2\nlily,1\n"}, ["d.csv", "--label-column", "clas"], DATA,
     'no column called "clas", only "class", "a"; did you mean "class"?'),
    ("label column that does not exist", {"d.csv": CSV}, ["d.csv", "--label-column", "9"], DATA, "an index from 1 to 5"),
    ("label column without labels", {"d.csv": CSV}, ["d.csv", "--task", "oneclass", "--label-column", "colour"], DATA,
     'no column called "colour"'),
    ("label column of no file", {"a.csv": CSV, "b.csv": "b\n" + "1\n" * 12},
     ["a.csv", "--view", "b=b.csv", "--label-column", "lable"], DATA,
     'a.csv, b.csv: there is no column called "lable", only "label", "x1", "x2", "x3", "x4", "b"; did you mean "label"?'),
    ("label column of LIBSVM", {"d": LIBSVM}, ["d", "--label-column", "y"], DATA, "expected a CSV or TSV file"),
    ("words in a column", {"d.csv": "a,species\n1,setosa\n2,virginica\n"}, ["d.csv"], DATA,
     'found "setosa", expected a finite number (if this column holds the labels, --label-column species says so)'),
    ("missing label", {"d.csv": "label,a\np,2\nq,3\nNA,1\n"}, ["d.csv"], DATA,
     'line 4, column 1 ("label"): a label is missing: found "NA", expected a label (a finite number or a word)'),
    ("missing label of LIBSVM", {"d": "1:1\n-1 1:2\n1 1:3\n"}, ["d"], DATA,
     'line 1, column 1: a label is missing: found "1:1", but line 2 starts with "-1"'),
    ("unknown id column", {"d.csv": CSV}, ["d.csv", "--id-column", "code"], DATA, 'called "code", only "label", "x1"'),
    ("ids in one file only", {"a.csv": "id,label,a\ns1,1,1\ns2,-1,2\n", "b.csv": "b\n1\n2\n"},
     ["a.csv", "--view", "b=b.csv"], DATA, "a.csv has ids and b.csv has none"),
    ("text called label beside --labels", {"d.csv": "label,a\np,2\nq,1\n", "y.txt": "1\n-1\n"},
     ["d.csv", "--labels", "y.txt"], DATA, "--label-column label leaves this column out"),
    ("repeated id", {"a.csv": "id,label,a\ns1,1,1\ns1,-1,2\n", "b.csv": "id,b\ns1,1\ns2,2\n"},
     ["--view", "a=a.csv", "--view", "b=b.csv"], DATA, "s1"),
    ("views of different length", {"a.csv": CSV, "b": "1 1:1\n-1 1:1\n"}, ["a.csv", "--view", "b=b"], DATA, "12"),
    ("labels of different length", {"d.csv": CSV, "y.txt": "1\n-1\n"}, ["d.csv", "--labels", "y.txt"], DATA, "2"),
    # NumPy.
    ("NaN in an array", {"d.npy": npy_bytes([[1.0, float("nan")], [1.0, 2.0]]), "y.txt": "1\n-1\n"},
     ["d.npy", "--labels", "y.txt"], DATA, "d.npy"),
    ("truncated array", {"d.npy": npy_bytes(ROWS)[:-5], "y.txt": "1\n"}, ["d.npy", "--labels", "y.txt"], DATA,
     "d.npy"),
    ("array without labels", {"d.npy": npy_bytes(ROWS)}, ["d.npy"], DATA, "label"),
    # Kernels.
    ("unknown kernel", {"d.csv": CSV}, ["d.csv", "--kernel", "rfb(gamma=1)"], USAGE, "rfb"),
    ("unclosed kernel", {"d.csv": CSV}, ["d.csv", "--kernel", "rbf(gamma=1"], USAGE, "rbf(gamma=1"),
    ("unknown parameter", {"d.csv": CSV}, ["d.csv", "--kernel", "rbf(sigma=1)"], USAGE, "sigma"),
    ("negative width", {"d.csv": CSV}, ["d.csv", "--kernel", "rbf(gamma=-1)"], USAGE, "gamma"),
    ("unknown view", {"d.csv": CSV}, ["d.csv", "--kernel", "linear@mrna"], USAGE, "mrna"),
    ("feature outside the view", {"d.csv": CSV}, ["d.csv", "--kernel", "linear@data[9]"], USAGE, "9"),
    ("empty kernel", {"d.csv": CSV}, ["d.csv", "--kernel", ""], USAGE, "kernel"),
    ("negative features", {"d": "1 1:-1\n-1 1:1\n1 1:2\n-1 1:3\n"}, ["d", "--kernel", "chi2"], None, "chi2"),
    ("missing matrix", {"d.csv": CSV}, ["d.csv", "--kernel", "precomputed(file=K.npy)"], DATA, "K.npy"),
    ("matrix of the wrong size", {"d.csv": CSV, "K.npy": npy_bytes(SQUARE[:5])},
     ["d.csv", "--kernel", "precomputed(file=K.npy)"], DATA, "5 x 12"),
    ("asymmetric matrix", {"d.csv": CSV, "K.npy": npy_bytes([[1.0 + i for _ in range(12)] for i in range(12)])},
     ["d.csv", "--kernel", "precomputed(file=K.npy)"], DATA, "not symmetric"),
    ("NaN in a matrix", {"d.csv": CSV, "K.npy": npy_bytes([[float("nan")] * 12] * 12)},
     ["d.csv", "--kernel", "precomputed(file=K.npy)"], DATA, "row 1"),
    # Options.
    ("no data", {}, [], USAGE, "no data"),
    ("no output", {"d.csv": CSV}, None, USAGE, "-o MODEL"),
    ("unknown option", {"d.csv": CSV}, ["d.csv", "--colour"], USAGE, "--colour"),
    ("C of 0", {"d.csv": CSV}, ["d.csv", "-C", "0"], USAGE, "C is 0"),
    ("C that is no number", {"d.csv": CSV}, ["d.csv", "-C", "big"], USAGE, "big"),
    ("norm that is no fraction", {"d.csv": CSV}, ["d.csv", "--norm", "4/x"], USAGE, "fraction such as 4/3"),
    ("norm of a division by 0", {"d.csv": CSV}, ["d.csv", "--norm", "4/0"], USAGE, "fraction such as 4/3"),
    ("norm of a small fraction", {"d.csv": CSV}, ["d.csv", "--norm", "1/2"], USAGE, "norm is 0.5"),
    ("option with a slip", {"d.csv": CSV}, ["d.csv", "--nrom", "1"], USAGE, "did you mean --norm?"),
    ("summary over the data", {"d.csv": CSV}, ["d.csv", "--summary", "./d.csv"], USAGE, "overwrite the input DATA d.csv"),
    ("summary over a view", {"d.csv": CSV}, ["--view", "a=d.csv", "--summary", "d.csv"], USAGE, "the input --view"),
    ("summary over labels", {"d.csv": CSV, "y": "1\n"}, ["d.csv", "--labels", "y", "--summary", "y"], USAGE, "--labels"),
    ("summary over weights", {"d.csv": CSV, "w": "1\n" * 12}, ["d.csv", "--weights", "w", "--summary", "w"], USAGE,
     "the input --weights"),
    ("summary over a matrix", {"d.csv": CSV, "K.npy": npy_bytes(SQUARE)},
     ["d.csv", "--kernel", "precomputed(file=K.npy)", "--summary", "K.npy"], USAGE, "the input --kernel K.npy"),
    ("summary over a class kernel", {"d.csv": CSV, "c.txt": "-1 1\n"},
     ["d.csv", "--multiclass", "joint", "--class-kernel", "matrix(file=c.txt)", "--summary", "c.txt"], USAGE,
     "the input --class-kernel c.txt"),
    ("summary over the matrix of a regularizer", {"d.csv": CSV, "R.txt": "1\n"},
     ["d.csv", "--regularizer", "matrix", "--matrix", "R.txt", "--summary", "R.txt"], USAGE, "the input --matrix R.txt"),
    ("summary over the model", {"d.csv": CSV}, ["d.csv", "--summary", "./m.kweave"], USAGE, "-o and --summary are the same"),
    ("no time at all", {"d.csv": LONG}, ["d.csv", "--time-limit", "1e-9"], RESOURCE, "time limit was reached before"),
    ("norm below 1", {"d.csv": CSV}, ["d.csv", "--norm", "0.5"], USAGE, "norm is 0.5"),
    ("gap of 0", {"d.csv": CSV}, ["d.csv", "--gap", "0"], USAGE, "gap is 0"),
    ("unknown task", {"d.csv": CSV}, ["d.csv", "--task", "cluster"], USAGE, "available: classify, regress, oneclass"),
    ("loss of another task", {"d.csv": CSV}, ["d.csv", "--task", "regress", "--loss", "hinge"], USAGE,
     "epsilon-insensitive, squared"),
    ("negative epsilon", {"d.csv": CSV}, ["d.csv", "--task", "regress", "--epsilon=-1"], USAGE, "epsilon is -1"),
    ("nu above 1", {"d.csv": CSV}, ["d.csv", "--task", "oneclass", "--nu", "1.5"], USAGE, "nu is 1.5"),
    ("product of one class", {"d.csv": CSV}, ["d.csv", "--task", "oneclass", "--combine", "product"], USAGE, "--task oneclass"),
    ("class weight without classes", {"d.csv": CSV}, ["d.csv", "--task", "oneclass", "--class-weight", "1=2"], USAGE,
     "no classes"),
    ("text as target", {"d.csv": CSV.replace("\n1,", "\nhigh,", 1)}, ["d.csv", "--task", "regress"], DATA, "'high'"),
    ("block norm below 1", {"d.csv": CSV}, ["d.csv", "--block-norm", "0.5"], USAGE, "block-norm"),
    ("bounds without a range", {"d.csv": CSV}, ["d.csv", "--weight-bounds", "linear=0.5"], USAGE, "LOWER..UPPER"),
    ("bounds of no number", {"d.csv": CSV}, ["d.csv", "--weight-bounds", "1=a..b"], USAGE, "'a', expected a number"),
    ("bounds of no kernel", {"d.csv": CSV}, ["d.csv", "--weight-bounds", "cubic=0..1"], USAGE, "'cubic'"),
    ("bounds in the wrong order", {"d.csv": CSV}, ["d.csv", "--weight-bounds", "1=1..0"], USAGE, "the lower end first"),
    ("bounds beyond the norm", {"d.csv": CSV}, ["d.csv", "--norm", "1", "--weight-bounds", "*=0.9.."], USAGE, "above 1"),
    ("bounds beside a penalty", {"d.csv": CSV}, ["d.csv", "--penalty", "1", "--weight-bounds", "1=0..1"], USAGE,
     "without a --penalty"),
    ("unknown method", {"d.csv": CSV}, ["d.csv", "--method", "magic"], USAGE, "magic"),
    ("method for another norm", {"d.csv": CSV}, ["d.csv", "--method", "silp", "--norm", "2"], USAGE, "silp"),
    ("method for another loss", {"d.csv": CSV}, ["d.csv", "--method", "lbfgs", "--norm", "2"], USAGE, "analytic"),
    ("unknown normaliser", {"d.csv": CSV}, ["d.csv", "--normalize", "whiten"], USAGE, "whiten"),
    ("bad size", {"d.csv": CSV}, ["d.csv", "--memory", "lots"], USAGE, "lots"),
    ("no threads", {"d.csv": CSV}, ["d.csv", "--threads", "0"], USAGE, "--threads"),
    ("view without a name", {"d.csv": CSV}, ["--view", "d.csv"], USAGE, "NAME=VALUE"),
    ("view given twice", {"d.csv": CSV}, ["d.csv", "--view", "data=d.csv"], USAGE, "'data'"),
    ("class weight given twice", {"d.csv": CSV}, ["d.csv", "--class-weight", "1=2,-1=3", "--class-weight", "+1=4"], USAGE,
     "--class-weight for class '1' is given twice"),
    ("class weight of no class", {"d.csv": CSV}, ["d.csv", "--class-weight", "7=2"], USAGE, "'7'"),
    ("too few weights", {"d.csv": CSV, "w": "1\n1\n"}, ["d.csv", "--weights", "w"], USAGE, "2 values of --weights for 12 samples"),
    ("negative weight", {"d.csv": CSV, "w": "-1\n" * 12}, ["d.csv", "--weights", "w"], USAGE, "sample 1"),
    ("weight that is no number", {"d.csv": CSV, "w": "1\nx\n"}, ["d.csv", "--weights", "w"], DATA, "line 2"),
    ("all weights 0", {"d.csv": CSV, "w": "0\n" * 12}, ["d.csv", "--weights", "w"], DATA, "weight above 0"),
    ("unknown key", {"d.csv": CSV, "c.toml": "colour = 1\n"}, ["d.csv", "--config", "c.toml"], USAGE, "colour"),
    ("missing config", {"d.csv": CSV}, ["d.csv", "--config", "none.toml"], USAGE, "none.toml"),
    ("bad value in config", {"d.csv": CSV, "c.toml": 'C = "big"\n'}, ["d.csv", "--config", "c.toml"], USAGE, "big"),
]

# (what, arguments of predict after the model, files, exit status, part of the message)
PREDICT = [
    ("wrong number of features", ["new.csv"], {"new.csv": "1\n2\n"}, DATA, "4"),
    ("missing feature", ["new.csv"], {"new.csv": "x1,x4,other,x2\n1,2,3,4\n"}, DATA, 'no column called "x3"'),
    ("feature twice", ["new.csv"], {"new.csv": "x1,x4,x3,x2,x2\n1,2,3,4,5\n"}, DATA, "two features called 'x2'"),
    ("unknown label column", ["d.csv", "--label-column", "lable"], {"d.csv": CSV}, DATA, 'did you mean "label"?'),
    ("label column that is not there", ["new.csv", "--label-column", "5"], {"new.csv": "1,2,3,4\n"}, DATA,
     "the label column is not there, expected an index from 1 to 4"),
    ("label column that is a feature", ["new.csv", "--label-column", "1"], {"new.csv": "x1,x2,x3,x4\n1,2,3,4\n"}, DATA,
     'column 1 ("x1") is a feature in training'),
    ("bad value beyond training", ["new"], {"new": "1 9:x\n"}, DATA, "feature 9"),
    ("unknown matrix", ["d.csv", "--gram", "K=d.csv"], {"d.csv": CSV}, USAGE, "which needs none"),
    ("predictions over the model", ["d.csv", "-o", "m.kweave"], {"d.csv": CSV}, USAGE, "the input MODEL"),
    ("predictions over the data", ["d.csv", "-o", "d.csv"], {"d.csv": CSV}, USAGE, "the input DATA"),
    ("scores over predictions", ["d.csv", "-o", "p", "--summary", "p"], {"d.csv": CSV}, USAGE, "the same file, p"),
    ("no data", [], {}, USAGE, "predict needs DATA"),
    ("missing view", ["--view", "a=d.csv", "--view", "b=d.csv"], {"d.csv": CSV}, DATA, "needs view 'data'"),
    ("output that cannot be", ["d.csv", "-o", "none/p.txt"], {"d.csv": CSV}, USAGE, "none/p.txt"),
]


class BadInput(FolderTest):
    def refuse(self, arguments, status, message):
        result = run(*arguments, cwd=self.folder)
        told = f"kweave {' '.join(arguments)}\nstatus {result.returncode}\n{result.stderr}"
        self.assertIn(result.returncode, (status,) if status else (USAGE, DATA), told)
        self.assertIn(message, result.stderr, told)
        self.assertEqual(result.stderr.count("\n"), 1, told)
        self.assertTrue(result.stderr.startswith("kweave: "), told)
        self.assertNotIn("internal error", result.stderr)

    def fill(self, files):
        for file in self.folder.iterdir():
            file.unlink()
        for name, content in files.items():
            self.write(name, content)

    def test_train(self):
        self.assertGreaterEqual(len(TRAIN), 40)
        for what, files, arguments, status, message in TRAIN:
            with self.subTest(what):
                self.fill(files)
                command = ["train", "d.csv"] if arguments is None else ["train", *arguments, "-o", "m.kweave"]
                self.refuse(command, status, message)
                self.assertFalse((self.folder / "m.kweave").exists())

    def test_predict(self):
        self.write("d.csv", CSV)
        self.train("d.csv")
        model = (self.folder / "m.kweave").read_bytes()
        for what, arguments, files, status, message in PREDICT:
            with self.subTest(what):
                self.fill({**files, "m.kweave": model})
                self.refuse(["predict", "m.kweave", *arguments], status, message)

    def test_predictions_that_overflow(self):
        self.write("d.csv", CSV)
        self.write("new.csv", "label,x1,x2,x3,x4\n1,1,2,3,4\n-1,1,-1e300,3,4\n")
        for arguments in ([], ["--task", "regress"], ["--loss", "logistic"]):
            self.train("d.csv", "--kernel", "poly(degree=3)", *arguments)
            for outputs in ([], ["--summary", "s.json"]):
                self.refuse(["predict", "m.kweave", "new.csv", *outputs], DATA,
                            "new sample 2 is not a finite number: its features (-1e+300 in column 'x2' of view 'data')")

    def test_model_files(self):
        self.write("d.csv", CSV)
        self.train("d.csv")
        model = (self.folder / "m.kweave").read_bytes()
        altered = bytearray(model)
        altered[len(model) // 2] ^= 1
        newer = bytearray(model)
        newer[8] = 99
        for what, content, message in (("truncated", model[:-10], "truncated"), ("header only", model[:24], "truncated"),
                                       ("altered", bytes(altered), "checksum"), ("newer", bytes(newer), "format 99"),
                                       ("longer", model + b"x", "after its end"), ("text", CSV.encode(), "not a Kweave"),
                                       ("empty", b"", "m.kweave"), ("one byte", b"\x8b", "not a Kweave")):
            for verb in ("inspect", "predict"):
                with self.subTest(what, verb=verb):
                    self.fill({"m.kweave": content, "d.csv": CSV})
                    self.refuse([verb, "m.kweave"] + (["d.csv"] if verb == "predict" else []), DATA, message)
        self.refuse(["inspect", "none.kweave"], DATA, "none.kweave")

    def test_output_is_checked_before_training(self):
        self.write("d.csv", CSV)
        for output, message in (("none/m.kweave", "No such file"), (".", "directory"), ("-", "standard output"),
                                ("d.csv", "overwrite the input DATA d.csv")):
            with self.subTest(output):
                self.refuse(["train", "d.csv", "-o", output], USAGE, message)
        self.refuse(["train", "d.csv", "-o", "m.kweave", "--summary", "none/s.json"], USAGE, "none/s.json")
        self.assertFalse((self.folder / "m.kweave").exists())

    def test_full_disk(self):
        if not Path("/dev/full").exists():
            self.skipTest("needs /dev/full")
        self.write("d.csv", CSV)
        self.refuse(["train", "d.csv", "-q", "-o", "/dev/full"], RESOURCE, "No space left")

    def test_verbs(self):
        self.refuse([], USAGE, "kweave --help")
        self.refuse(["dance"], USAGE, "expected one of train, predict, inspect, kernels, verify, evaluate, select, report (see kweave --help)")
        self.refuse(["trian"], USAGE, 'no verb \'trian\'; did you mean "train"?')
        self.refuse(["inspect"], USAGE, "MODEL")
        self.write("d.csv", CSV)
        self.refuse(["kernels", "d.csv", "--kernel", "rbf(gamma=logspace(1,2,3000))"], USAGE, "3000 kernels")
        self.refuse(["kernels", "d.csv", "--export", "d.csv/out"], RESOURCE, "d.csv/out")


if __name__ == "__main__":
    unittest.main()
