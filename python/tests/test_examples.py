"""Every example runs, and so does every example in a docstring and on the Python page."""
import doctest
import importlib
import re
import runpy
from pathlib import Path

import matplotlib.pyplot
import pytest

import kweave

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))
MODULES = ["_classifier", "_containers", "_oneclass", "_regressor", "_transformer", "kernels"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
    matplotlib.pyplot.close("all")


def test_there_are_enough_examples():
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module(f"kweave.{name}"))
    assert tried > 0 and failed == 0


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_blocks_of_pages(page):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_everything_public_is_documented():
    for name in kweave.__all__:
        thing = getattr(kweave, name)
        if isinstance(thing, type):
            assert thing.__doc__, name
            for method, function in vars(thing).items():
                if not method.startswith("_") and callable(function):
                    assert function.__doc__, f"{name}.{method}"
