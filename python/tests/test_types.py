"""What type checkers make of the package; they come with tools/test-newest-python."""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = str(Path(__file__).resolve().parents[1])

GOOD = """
from kweave import MKLClassifier, MKLRegressor, Views, kernels
MKLClassifier({"rna": kernels.RBF(gamma=[0.1, 1])}, loss="hinge", norm="inf", class_weight="balanced")
print(MKLRegressor("rbf", norm=1.5).fit([[1.0]], [1.0]).score([[1.0]], [1.0]))
"""
BAD = ['MKLClassifier(loss="hinges")', 'MKLClassifier(norm="infinite")', 'MKLRegressor(loss="hinge")', "MKLClassifier().kernel_weight_"]


def run_mypy(text, tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(text)
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = true\n")
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", str(tmp_path.parent), "program.py"]
    surroundings = {**os.environ, "MYPYPATH": PACKAGES}
    done = subprocess.run(command, cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if ": error:" in line]


def test_mypy_finds_nothing_in_the_package_and_in_right_programs(tmp_path):
    assert run_mypy(GOOD, tmp_path) == []


def test_mypy_finds_misspelt_values(tmp_path):
    head = "from kweave import MKLClassifier, MKLRegressor\n"
    errors = run_mypy(head + "\n".join(BAD) + "\n", tmp_path)
    assert [int(line.split(":")[1]) for line in errors] == list(range(2, 2 + len(BAD))), errors


def test_everything_public_has_a_type():
    pytest.importorskip("pyright")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--ignoreexternal", "--verifytypes", "kweave"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        pytest.skip("pyright needs Node.js, which it could not fetch")
    assert json.loads(done.stdout)["typeCompleteness"]["completenessScore"] >= 0.95
