"""What the tests of the command line share: running the program, small data, NumPy files without NumPy."""
import array
import json
import os
import random
import re
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

PROGRAM = os.environ["KWEAVE"]
# The sanitizers that the program was built with, as CMake names them. They reserve terabytes of address space.
SANITIZERS = os.environ.get("KWEAVE_SANITIZE", "")

# Options of train that verify takes too, since they say what the samples are.
DATA_OPTIONS = {"--view", "--labels", "--label-separator", "--label-column", "--id-column", "--format", "--join", "--confounds"}
FLAGS = {"--accept-partial", "-q", "--quiet", "-v", "--verbose", "--dry-run", "--options-page", "--help"}
# Values of kernels between all pairs of samples: a few seconds.
MOST_VALUES = 1e9


def start(*arguments, cwd, timeout=120):
    return subprocess.run([PROGRAM, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL)


def run(*arguments, cwd, timeout=120):
    """Runs the program; the result has returncode, stdout and stderr. Every model that is trained is verified."""
    result = start(*arguments, cwd=cwd, timeout=timeout)
    if arguments[:1] == ("train",) and result.returncode == 0:
        verify(list(map(str, arguments[1:])), cwd)
    return result


def wait_for_handler(process, number, seconds=60):
    """Waits until the program takes care of this signal, which would end it in silence before. It may start slowly."""
    end = time.monotonic() + seconds
    status = Path(f"/proc/{process.pid}/status")
    while not int(re.search(r"SigCgt:\s*(\w+)", status.read_text())[1], 16) >> (number - 1) & 1:
        assert process.poll() is None, f"ended with {process.returncode}"
        assert time.monotonic() < end, "it took too long to start"
        time.sleep(0.001)


def verify(options, cwd):
    """Raises unless the claim of the model that `kweave train` with these options wrote holds."""
    data, model = [], None
    while options:
        name = options.pop(0)
        name, equals, value = name.partition("=") if name.startswith("--") else (name, "", "")
        if name in FLAGS:
            if name in ("--dry-run", "--options-page", "--help"):
                return
        elif not name.startswith("-"):
            data.append(name)
        else:
            value = value if equals else options.pop(0)
            if name in DATA_OPTIONS:
                data += [name, value]
            elif name in ("-o", "--output"):
                model = value
            elif name == "--config":  # which may name the samples, too
                return
    content = json.loads(start("inspect", "--json", model, cwd=cwd).stdout)
    if content["training_count"] ** 2 * content["summary"]["kernels_total"] > MOST_VALUES:
        return
    result = start("verify", model, *data, cwd=cwd, timeout=600)
    assert result.returncode == 0, f"kweave verify {model} {' '.join(data)}\n{result.stdout}{result.stderr}"


class FolderTest(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="kweave-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, content):
        mode = "wb" if isinstance(content, bytes) else "w"
        with open(self.folder / name, mode) as file:
            file.write(content)
        return name

    def read_json(self, name):
        return json.loads((self.folder / name).read_text())

    def succeed(self, *arguments):
        result = run(*arguments, cwd=self.folder)
        self.assertEqual(result.returncode, 0, f"kweave {' '.join(map(str, arguments))}\n{result.stderr}")
        return result.stdout

    def train(self, *arguments, model="m.kweave"):
        """Trains quietly, reads the model back and returns the summary."""
        self.succeed("train", *arguments, "-q", "-o", model, "--summary", "summary.json")
        self.succeed("inspect", model)
        return self.read_json("summary.json")

    def predict(self, *arguments, model="m.kweave"):
        """Labels and decision values."""
        lines = self.succeed("predict", model, *arguments).splitlines()
        labels, values = zip(*(line.split("\t") for line in lines))
        return list(labels), [float(value) for value in values]


def two_classes(count, features=4, seed=1, distance=1.0):
    """Labels (-1, 1) and rows of positive features, so that every kernel is defined on them."""
    generator = random.Random(seed)
    labels, rows = [], []
    for _ in range(count):
        label = generator.choice((-1, 1))
        labels.append(label)
        rows.append([abs(generator.gauss(2 + distance * label * (j % 2), 1)) for j in range(features)])
    return labels, rows


def csv_text(labels, rows, names=None, ids=None):
    names = names or [f"x{j + 1}" for j in range(len(rows[0]))]
    lines = [",".join((["id"] if ids else []) + (["label"] if labels else []) + names)]
    for i, row in enumerate(rows):
        cells = ([ids[i]] if ids else []) + ([str(labels[i])] if labels else []) + [repr(v) for v in row]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def libsvm_text(labels, rows):
    return "".join(f"{y} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v) + "\n"
                   for y, row in zip(labels, rows))


def npy_bytes(rows, descr="<f8"):
    code = {"<f8": "d", "<f4": "f"}[descr]
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header += " " * ((-11 - len(header)) % 64) + "\n"
    values = array.array(code, [v for row in rows for v in row])
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values.tobytes()


def read_npy(path):
    data = Path(path).read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    rows, columns = map(int, re.search(rb"\((\d+), (\d+)\)", data[10:10 + length]).groups())
    values = array.array("d", data[10 + length:])
    assert len(values) == rows * columns
    return [values[i * columns:(i + 1) * columns] for i in range(rows)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))
