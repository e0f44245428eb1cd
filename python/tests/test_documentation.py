"""Every example runs, and everything public is documented, completely, in numpydoc's form, and has types."""
import doctest
import importlib
import inspect
import re
import runpy
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot
import numpy as np
import pandas as pd
import pytest

import kweave
from kweave import MKLClassifier, MKLOneClass, MKLRegressor, MKLTransformer, _core, kernels

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))
MODULES = ["_classifier", "_containers", "_display", "_importance", "_oneclass", "_regressor", "_transformer", "_view_transformer", "kernels"]
CLASSES = [thing for thing in map(kweave.__dict__.get, kweave.__all__) if isinstance(thing, type)]
CLASSES += [getattr(kernels, name) for name in kernels.__all__]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    shown = capsys.readouterr().out
    assert shown and "np." not in shown  # numbers as people write them
    matplotlib.pyplot.close("all")


def test_there_are_enough_examples():
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    failed, tried = doctest.testmod(importlib.import_module(f"kweave.{name}"))
    assert tried > 0 and failed == 0


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_blocks_of_pages(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_parameters_are_those_of_the_table_of_options():
    generate = [sys.executable, str(ROOT / "python" / "generate-parameters"), _core.__file__, "--check"]
    assert subprocess.run(generate, capture_output=True, text=True, check=False).stderr == ""


def sections(thing):
    """The sections of a docstring: {title: [(name, type, text)]}; '' is what stands above."""
    parts = re.split(r"\n(\w[\w ]*)\n(-+)\n", "\n" + inspect.getdoc(thing))
    for title, line in zip(parts[1::3], parts[2::3]):
        assert len(title) == len(line), f"{thing}: {title}"
    found = {"": parts[0].strip()}
    for title, body in zip(parts[1::3], parts[3::3]):
        entries = re.split(r"^(?=\S)", body, flags=re.MULTILINE)
        heads = [entry.split("\n", 1) for entry in entries if entry.strip()]
        found[title] = [(*(head + " : ").split(" : ")[:2], text[0].strip() if text else "") for head, *text in heads]
    return found


def check_parameters(thing, function):
    parameters = [
        ("**" if p.kind is p.VAR_KEYWORD else "") + name
        for name, p in inspect.signature(function).parameters.items()
        if name not in ("self", "cls")
    ]
    documented = sections(thing).get("Parameters", [])
    assert [name for name, _, _ in documented] == parameters, thing
    for name, kind, text in documented:
        assert kind and text.endswith("."), f"{thing}: {name}"


def public_members(kind):
    """Public functions and properties of a class that are written in this package."""
    names = {name for base in kind.__mro__ if base.__module__.startswith("kweave") for name in vars(base)}
    members = {name: getattr(kind, name) for name in sorted(names) if not name.startswith("_")}
    return {name: member for name, member in members.items() if callable(member) or isinstance(member, property)}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_everything_public_is_documented(kind):
    assert sections(kind)[""].endswith(".")
    check_parameters(kind, kind.__init__)
    for name, member in public_members(kind).items():
        assert sections(member)[""].split("\n")[0].endswith("."), f"{kind.__name__}.{name}"
        if not isinstance(member, property):
            check_parameters(member, member)
            is_told = bool({"Returns", "Yields"} & set(sections(member)))
            assert is_told == (inspect.signature(member).return_annotation != "None"), f"{kind.__name__}.{name}"


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_everything_public_has_types(kind):
    for name, member in {**public_members(kind), "__init__": kind.__init__}.items():
        signature = inspect.signature(member.fget if isinstance(member, property) else member)
        assert signature.return_annotation is not signature.empty, f"{kind.__name__}.{name}"
        for parameter in signature.parameters.values():
            assert parameter.name == "self" or parameter.annotation is not parameter.empty, f"{kind.__name__}.{name}"


@pytest.mark.parametrize("estimator", [MKLClassifier(), MKLRegressor(), MKLOneClass(), MKLTransformer()])
def test_attributes_are_documented(estimator):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["a", "b"])
    estimator.fit(X, np.arange(40) % 2)
    # The newest scikit-learn leaves properties that raise out of `dir` of an object.
    names = {*dir(estimator), *dir(type(estimator))}
    fitted = {name for name in names if name.endswith("_") and not name.startswith("_")}
    attributes = sections(type(estimator))["Attributes"]
    assert {name for name, _, _ in attributes} == fitted
    assert all(kind and text.endswith(".") for _, kind, text in attributes)
