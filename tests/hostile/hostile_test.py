#!/usr/bin/env python3
"""Hostile command lines by the hundred: readers x damages x options. Each must end soon, with one sentence and the right exit status.

A case is wrong when its exit status is none of the expected, when it fails with anything but one line on standard error that starts
with "kweave: ", when control characters reach a stream, or when it fails and leaves a new file behind; a crash when a signal ends it
or it reports an internal error; a hang when it takes longer than SECONDS.

Usage: KWEAVE=build/release/kweave hostile_test.py [--list]
"""
import concurrent.futures
import gzip
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path

import cbor

SEEDS = Path(__file__).parent.parent / "fuzz/seeds/model"
PROGRAM = os.environ["KWEAVE"]
SECONDS = 60
USAGE, DATA, RESOURCE = 2, 3, 4
REFUSED = (USAGE, DATA, RESOURCE)
FINE = (0,)
# A damage may leave a file that can be read; then training may miss the gap (5), and the claim of a model may fail (6).
ANY = FINE + REFUSED + (5, 6)

RANDOM = random.Random(20)
LABELS = [(-1, 1)[i % 2] for i in range(16)]
ROWS = [[RANDOM.gauss(label, 1), RANDOM.gauss(0, 1), abs(RANDOM.gauss(1, 1))] for label in LABELS]


def csv(separator=","):
    lines = [separator.join(["id", "label", "a", "b", "c"])]
    lines += [separator.join([f"s{i}", str(y), *map(repr, row)]) for i, (y, row) in enumerate(zip(LABELS, ROWS))]
    return ("\n".join(lines) + "\n").encode()


def libsvm():
    return "".join(f"{y} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row)) + "\n"
                   for y, row in zip(LABELS, ROWS)).encode()


def npy(rows, descr="<f8", header=None):
    text = header or f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    text += " " * ((-11 - len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + b"".join(
        struct.pack("<d", v) for row in rows for v in row)


def model_bytes(payload, version=5):
    return b"\x8bKWEAVE\n" + struct.pack("<IIQ", version, zlib.crc32(payload), len(payload)) + payload


SQUARE = [[float(i == j) + 0.1 for j in range(16)] for i in range(16)]
READERS = {"d.csv": csv(), "d.tsv": csv("\t"), "d.libsvm": libsvm(), "d.npy": npy(ROWS), "d.data": csv(";"),
           "d.csv.gz": gzip.compress(csv(), mtime=0)}

# What can happen to bytes on their way. None: the file is missing.
DAMAGES = {
    "whole": lambda b: b,
    "missing": lambda b: None,
    "empty": lambda b: b"",
    "blank": lambda b: b"\n \n\t\n",
    "first byte": lambda b: b[:1],
    "half": lambda b: b[:len(b) // 2],
    "last byte lost": lambda b: b[:-1],
    "doubled": lambda b: b + b,
    "zeros": lambda b: bytes(len(b)),
    "zeros behind": lambda b: b + bytes(64),
    "zeros in front": lambda b: bytes(8) + b,
    "high bytes": lambda b: bytes(x | 0x80 for x in b),
    "shifted": lambda b: bytes((x + 1) % 256 for x in b),
    "reversed": lambda b: b[::-1],
    "utf-16": lambda b: b"\xff\xfe" + b.decode("latin-1").encode("utf-16-le"),
    "bom": lambda b: b"\xef\xbb\xbf" + b,
    "carriage returns": lambda b: b.replace(b"\n", b"\r\n"),
    "old macintosh": lambda b: b.replace(b"\n", b"\r"),
    "no line ends": lambda b: b.replace(b"\n", b""),
    "escape": lambda b: b.replace(b"1", b"\x1b[31m", 3),
    "nul": lambda b: b.replace(b".", b"\0", 5),
    "nan": lambda b: b.replace(b"0.", b"nan", 2),
    "infinity": lambda b: b.replace(b"0.", b"1e999", 2),
    "huge": lambda b: b.replace(b"0.", b"1e300", 2),
    "quote": lambda b: b.replace(b",", b'"', 7),
    "colons": lambda b: b.replace(b".", b":"),
    "commas": lambda b: b.replace(b".", b","),
    "no digits": lambda b: bytes(x for x in b if not 48 <= x < 58),
    "long line": lambda b: b.replace(b"\n", b" ", 10) + b"9" * 100_000,
    "json": lambda b: b'{"a": [1, 2, 3]}',
    "html": lambda b: b"<!DOCTYPE html><html></html>",
    "zip": lambda b: b"PK\3\4" + b,
    "gzip": lambda b: gzip.compress(b, mtime=0),
    "gzip cut": lambda b: gzip.compress(b, mtime=0)[:-5],
    "gzip bent": lambda b: gzip.compress(b, mtime=0)[:20] + b"\xff\xff" + gzip.compress(b, mtime=0)[22:],
    "zstd rubbish": lambda b: b"\x28\xb5\x2f\xfd" + b,
    "noise": lambda b: bytes(random.Random(len(b)).randrange(256) for _ in b),
}
SURE_REFUSALS = {"missing", "empty", "blank", "zeros", "utf-16", "json", "html", "zip", "gzip cut", "zstd rubbish"}

HARMLESS = {"whole", "bom", "carriage returns", "gzip", "last byte lost"}

# Ways in, with {} for the damaged file. The other files are whole.
WAYS = {
    "train": ["train", "{}", "-o", "new.kweave"],
    "oneclass": ["train", "{}", "--task", "oneclass", "-o", "new.kweave"],
    "regress": ["train", "{}", "--task", "regress", "-o", "new.kweave"],
    "view": ["train", "good.csv", "--view", "other={}", "-o", "new.kweave"],
    "labels": ["train", "x.npy", "--labels", "{}", "-o", "new.kweave"],
    "kernels": ["kernels", "{}"],
    "predict": ["predict", "good.kweave", "{}"],
    "verify": ["verify", "good.kweave", "{}"],
}
# Files of options, which are text or matrices.
FILES = {
    "weights": (b"1\n" * 16, ["train", "good.csv", "--weights", "{}", "-o", "new.kweave"]),
    "config": (b'norm = 1\n', ["train", "good.csv", "--config", "{}", "-o", "new.kweave"]),
    "gram": (npy(SQUARE), ["train", "good.csv", "--kernel", "precomputed(file={})", "-o", "new.kweave"]),
    "groups": (b"a\nb\n", ["train", "good.csv", "--kernel", "linear", "--kernel", "rbf(gamma=1)", "--regularizer", "mixed",
                           "--groups", "{}", "-o", "new.kweave"]),
    "matrix": (b"1 0\n0 1\n", ["train", "good.csv", "--kernel", "linear", "--kernel", "rbf(gamma=1)", "--regularizer", "matrix",
                               "--matrix", "{}", "-o", "new.kweave"]),
}
MODEL_WAYS = {"predict": ["predict", "{}", "good.csv"], "inspect": ["inspect", "{}"], "json": ["inspect", "{}", "--json"],
              "verify": ["verify", "{}", "good.csv"]}

VALUES = ["", "nan", "-nan", "inf", "-inf", "-1", "0", "1e999", "9" * 400, "0x10", "1/0", "one", "--norm", "\x1b[31m", "1,5", " 1", "é"]
NUMBERS = ["-C", "--epsilon", "--nu", "--norm", "--block-norm", "--penalty", "--elastic", "--inner-norm", "--ridge", "--gap",
           "--max-iterations", "--restarts", "--threads", "--memory", "--seed", "--time-limit", "--sharpness"]
WORDS = ["--task", "--loss", "--regularizer", "--multiclass", "--combine", "--method", "--driver", "--solver", "--normalize",
         "--certificate", "--format", "--label-column", "--id-column", "--bias", "--kernel", "--view", "--labels",
         "--class-weight", "--weight-bounds", "--groups", "--matrix", "--config"]
SPECS = ["", "(", ")", "rbf(", "rbf()", "rbf(gamma=)", "rbf(gamma=-1)", "rbf(gamma=nan)", "rbf(gamma=1e999)", "rbf(gamma=[])",
         "rbf(gamma=1..)", "rbf(gama=1)", "poly(degree=99999999999)", "poly(degree=1..1e9)", "linear@none", "linear@data[0]",
         "linear@data[99]", "each()", "each(each(linear))", "mean(linear)", "linear+", "*linear", "linear**linear", "((((linear))))",
         "(" * 5000 + "linear" + ")" * 5000, "linear" * 2000, "precomputed", "precomputed(file=)", "precomputed(file=none)",
         "precomputed(file=.)", "precomputed(file=/dev/null)", "rbf(gamma=median/0)", "rbf(gamma=q0)", "tanimoto@", "\x1b[31m", "ré",
         "linear,name=x", "rbf(gamma=1,gamma=2)", "rbf(1)"]
VERBS = [[], ["tarin"], ["train"], ["predict"], ["inspect"], ["kernels"], ["verify"], ["help", "none"], ["--none"], ["train", "--none"],
         ["train", "good.csv"], ["train", "good.csv", "-o"], ["train", "good.csv", "-o", "-"], ["train", "good.csv", "-o", "."],
         ["train", "good.csv", "-o", "none/m"], ["train", "good.csv", "-o", "good.csv"], ["train", "good.csv", "extra", "-o", "m"],
         ["train", "good.csv", "-o", "/dev/full"], ["train", "good.csv", "-o", "m", "--summary", "m"],
         ["predict", "good.kweave"], ["predict", "good.csv", "good.csv"], ["predict", "good.kweave", "good.kweave"],
         ["predict", "good.kweave", "good.csv", "-o", "good.kweave"], ["predict", "good.kweave", "good.csv", "-o", "good.csv"],
         ["predict", "good.kweave", "good.csv", "-o", "/dev/full"], ["predict", "good.kweave", "x.npy", "--ids"],
         ["predict", "good.kweave", "good.csv", "--gram", "none"], ["verify", "good.kweave"], ["inspect", "good.csv"],
         ["inspect", "none"], ["inspect", "."], ["kernels", "good.csv", "--export", "good.csv"], ["kernels", "none"]]


# Of --config.
CONFIGS = ["norm", "norm =", "= 1", "norm = ", "norm = one", "norm = nan", "norm = 1e999", "norm = [1]", "norm = {a = 1}", "norm = '1",
           "norm = 1\nnorm = 2",
           "[norm]\nnorm = 1", "[train]\nnone = 1", "none = 1", "\x1b[31m = 1", "norm = \"\x1b[31m\"", "config = 'bad'", "output = 'good.csv'",
           "kernel = 'rbf('", "kernel = ['linear', 'none']", "kernel = 3", "method = 'none'", "task = 7", "C = -1", "C = \"\"", "quiet = 'maybe'",
           "view = 'none'", "view = 'a=none'", "labels = '.'", "threads = 0", "threads = 1e9", "memory = '1'", "memory = -5", "seed = -1",
           "time-limit = 'soon'", "[[[", "]", "\"", "'", "a.b.c = 1", "1 = 2", "norm = 0x", "norm = 1979-05-27", "# only this"]
# Values in the place of one of a model, which then gets a right checksum.
INTRUDERS = [None, True, -1, 0, 1, 2**31, 2**53, 2**63, 2**64 - 1, float("nan"), float("inf"), -1e308, 1e308, "", "\x1b[31mred",
             "a" * 300, b"", b"\xff" * 8, struct.pack("<d", float("nan")) * 4, [], [[]], {}, {"a": 1}, [0] * 50]


class Cases:
    def __init__(self):
        self.all = []

    def add(self, name, words, files, expected):
        self.all.append((name, words, files, expected))

    @staticmethod
    def expected_of(reader, damage, way):
        is_gone = damage in ("missing", "empty", "blank")
        if is_gone or (damage in SURE_REFUSALS and way != "labels"):  # labels may be any words
            return REFUSED
        if damage in HARMLESS and reader in ("d.csv", "d.tsv", "d.libsvm", "d.data") and way in ("train", "kernels"):
            return FINE
        return ANY

    def of_files(self):
        for reader, content in READERS.items():
            for damage, change in DAMAGES.items():
                for way, words in WAYS.items():
                    file = f"bad-{reader}"
                    self.add(f"{way} {reader} {damage}", [w.format(file) for w in words], {file: change(content)},
                             self.expected_of(reader, damage, way))
        for option, (content, words) in FILES.items():
            for damage, change in DAMAGES.items():
                self.add(f"{option} {damage}", [w.format("bad") for w in words], {"bad": change(content)},
                         REFUSED if damage in ("missing", "empty", "blank") else ANY)

    def of_models(self, model):
        payload = model[24:]
        for damage, change in DAMAGES.items():
            for way, words in MODEL_WAYS.items():
                changed = change(model)
                expected = REFUSED if changed != model and damage not in ("gzip",) else ANY
                self.add(f"model {way} {damage}", [w.format("bad.kweave") for w in words], {"bad.kweave": changed}, expected)
        # Damages with a right checksum, which the loader has to find by itself.
        for k in range(60):
            generator = random.Random(k)
            bent = bytearray(payload)
            for _ in range(generator.randrange(1, 4)):
                bent[generator.randrange(len(bent))] = generator.randrange(256)
            way = list(MODEL_WAYS)[k % len(MODEL_WAYS)]
            self.add(f"crafted {way} {k}", [w.format("bad.kweave") for w in MODEL_WAYS[way]],
                     {"bad.kweave": model_bytes(bytes(bent))}, ANY)
        models = {"good": model, **{path.stem: path.read_bytes() for path in sorted(SEEDS.glob("*.kweave"))}}
        for name, whole in models.items():
            content = cbor.decode(whole[24:])
            paths = list(cbor.places(content))
            for k in range(100 if name == "good" else 20):
                generator = random.Random(f"{name} {k}")
                bent = cbor.encode(cbor.changed(content, generator.choice(paths), generator.choice(INTRUDERS)))
                way = list(MODEL_WAYS)[k % len(MODEL_WAYS)]
                self.add(f"intruder {name} {way} {k}", [w.format("bad.kweave") for w in MODEL_WAYS[way]],
                         {"bad.kweave": model_bytes(bent, whole[8])}, ANY)
        for k, rubbish in enumerate([b"", b"\xa0", b"\xf6", b"\x9f" * 3000, b"\xbf", b"\x5b" + b"\xff" * 8, b"\x9b" + b"\xff" * 8]):
            for way, words in MODEL_WAYS.items():
                self.add(f"rubbish {way} {k}", [w.format("bad.kweave") for w in words], {"bad.kweave": model_bytes(rubbish)}, REFUSED)

    def of_strangers(self, model):
        """Models that nobody trained: what they ask for is more than they hold, or cannot be."""
        doubles = lambda values: struct.pack(f"<{len(values)}d", *values)
        payload = cbor.decode(model[24:])
        payload.pop("problem")
        features = payload["samples"][0]["features"]
        stored = len(payload["sample_indices"]) // 8
        escape = "\x1b[31mred\x1b]0;title\x07\u009b2J"
        many = 100_000
        empty = {"kind": "sparse", "rows": many, "columns": features["columns"], "offsets": bytes(8 * (many + 1)), "indices": b"",
                 "values": b""}
        indices = struct.pack(f"<{many}q", *range(many))
        machine = {"output": 0, "against": -1, "theta": payload["theta"], "support": b"", "factors": b"", "bias": 0.0}
        kernels, family = payload["kernels"], payload["kernels"]["families"][0]
        family = {**family, "subset": 1, "members": {name: values[:8] for name, values in family["members"].items()}}
        count = 200
        crowd = {**payload, "theta": doubles([1.0] * count), "normalization": {
            **payload["normalization"], "scale": doubles([1.0] * count), "chains": []}, "kernels": {
                **kernels, "subsets": [b"", struct.pack(f"<{many}i", *([0] * many))], "families": [family] * count, "names": [],
                "composites": [], "order": struct.pack(f"<{2 * count}i", *(x for f in range(count) for x in (f, 0)))}}
        view = payload["samples"][0]
        several = {**payload, "multiclass": "ovr", "classes": ["a", "b", "c"]}
        crafted = {
            "nan": ({**payload, "samples": [{**view, "features": {
                **features, "values": doubles([float("nan")] * (len(features["values"]) // 8))}}]}, REFUSED),
            "no machines": ({**several, "machines": []}, REFUSED),
            "no machines of pairs": ({**several, "multiclass": "ovo", "machines": []}, REFUSED),
            "one machine": ({**several, "machines": [machine]}, REFUSED),
            "many machines": ({**several, "machines": [machine] * 5000, "sample_indices": indices, "training_count": many,
                               "samples": [{**view, "features": empty}]}, REFUSED),
            "many classes": ({**several, "classes": [str(u) for u in range(5000)], "sample_indices": indices, "training_count": many,
                              "machines": [{**machine, "output": u} for u in range(5000)], "normalization": {
                                  **payload["normalization"], "chains": []}, "samples": [{**view, "features": empty}]}, ANY),
            "many empty classes": ({**several, "classes": [""] * 1_000_000, "machines": [machine] * 3}, REFUSED),
            "many empty names": ({**payload, "samples": [{**view, "feature_names": [""] * 1_000_000}]}, REFUSED),
            "many kernels": (crowd, ANY),
            "long names": ({**crowd, "kernels": {**crowd["kernels"], "subsets": [b"", struct.pack(f"<{10 * many}i", *[0] * 10 * many)]}}, REFUSED),
            "many columns": ({**payload, "samples": [{**view, "feature_names": [], "features": {
                **empty, "rows": stored, "columns": 2**31 - 1, "offsets": bytes(8 * (stored + 1))}}]}, ANY),
            "escape in a class": ({**payload, "classes": [escape, escape + "2"]}, ANY),
            "escape in a view": ({**payload, "kernels": {**kernels, "views": [escape]}, "samples": [{**view, "view": escape}]}, ANY),
            "escape in a kernel": ({**payload, "kernels": {**kernels, "names": [[0, escape]]}}, ANY),
        }
        for name, (content, expected) in crafted.items():
            for way, words in MODEL_WAYS.items():
                self.add(f"stranger {way} {name}", [w.format("bad.kweave") for w in words],
                         {"bad.kweave": model_bytes(cbor.encode(content))}, expected)

    def of_options(self):
        for k, text in enumerate(CONFIGS):
            for verb in (["train", "good.csv", "-o", "new.kweave"], ["predict", "good.kweave", "good.csv"]):
                self.add(f"config {verb[0]} {k}", [*verb, "--config", "bad.toml"], {"bad.toml": text.encode()}, ANY)
        for option in NUMBERS + WORDS:
            for value in VALUES:
                sure = value in ("", "one", "--norm", "\x1b[31m") and option in NUMBERS
                self.add(f"{option} {value[:12]!r}", ["train", "good.csv", option, value, "-o", "new.kweave"], {},
                         REFUSED if sure else ANY)
        for spec in SPECS:
            for verb in (["train", "good.csv", "-o", "new.kweave"], ["kernels", "good.csv"]):
                self.add(f"{verb[0]} kernel {spec[:20]!r}", [*verb, "--kernel", spec], {}, ANY)
        for words in VERBS:
            self.add("verb " + " ".join(words), words, {}, REFUSED)


def judge(case, template):
    """None where all is well, else (kind, why)."""
    name, words, files, expected = case
    with tempfile.TemporaryDirectory(prefix="kweave-hostile-") as folder:
        for path in template.iterdir():
            os.link(path, Path(folder) / path.name)
        for file, content in files.items():
            if content is not None:
                (Path(folder) / file).write_bytes(content)
        before = set(os.listdir(folder))
        try:
            result = subprocess.run([PROGRAM, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
                                    env={**os.environ, "OMP_NUM_THREADS": "1"})
        except subprocess.TimeoutExpired:
            return "hang", "took longer than allowed"
        status, told = result.returncode, result.stderr.decode("utf-8", "replace")
        if status < 0 or status == 70:
            return "crash", f"status {status}: {told[-300:]}"
        if status not in expected:
            return "wrong", f"status {status}, expected one of {expected}: {told[-300:]}"
        shown = result.stderr + result.stdout
        if any(c < 32 and c not in (9, 10) or c == 127 for c in shown) or b"\xc2\x9b" in shown:
            return "wrong", "control characters reached the terminal"
        if status in REFUSED:
            lines = [line for line in told.splitlines() if not line.startswith("kweave: warning: ")]
            if not lines or not lines[-1].startswith("kweave: ") or len(lines[-1]) > 1500:
                return "wrong", f"not one sentence: {told[-300:]}"
            if set(os.listdir(folder)) - before:
                return "wrong", f"left behind {set(os.listdir(folder)) - before}"
    return None


def main():
    with tempfile.TemporaryDirectory(prefix="kweave-template-") as folder:
        template = Path(folder)
        (template / "good.csv").write_bytes(csv())
        (template / "x.npy").write_bytes(npy(ROWS))
        subprocess.run([PROGRAM, "train", "good.csv", "-q", "-o", "good.kweave"], cwd=template, check=True)
        cases = Cases()
        cases.of_files()
        cases.of_models((template / "good.kweave").read_bytes())
        cases.of_strangers((template / "good.kweave").read_bytes())
        cases.of_options()
        if "--list" in sys.argv:
            print("\n".join(name for name, *_ in cases.all))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            findings = list(pool.map(lambda case: judge(case, template), cases.all))
    counts = Counter(finding[0] for finding in findings if finding)
    for (name, words, *_), finding in zip(cases.all, findings):
        if finding:
            shown = " ".join(word if len(word) < 60 else word[:57] + "..." for word in words)
            print(f"{finding[0]}: {name}: kweave {shown}\n  {finding[1]}")
    print(f"{len(cases.all)} cases: {counts['wrong']} wrong, {counts['crash']} crashes, {counts['hang']} hangs")
    return 1 if counts else 0


if __name__ == "__main__":
    sys.exit(main())
