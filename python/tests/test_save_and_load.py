"""A loaded estimator equals the saved one in every parameter and attribute."""
import datetime
import json
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.utils import compute_class_weight
from support import KWEAVE, needs_program

from kweave import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor, Views, _notes, kernels

#: What belongs to functions and to the compiled core.
NOT_COMPARED = {"_model", "_functions", "_kept_rows"}


def reloaded(estimator, path):
    estimator.save(path)
    return type(estimator).load(path)


def assert_equal(left, right, name=""):
    assert type(left) is type(right), name
    if isinstance(left, np.ndarray):
        assert left.dtype == right.dtype and np.array_equal(left, right), name
    elif isinstance(left, dict):
        assert [(type(key), key) for key in left] == [(type(key), key) for key in right], name
        for key in left:
            assert_equal(left[key], right[key], f"{name}[{key!r}]")
    elif isinstance(left, (list, tuple)):
        assert len(left) == len(right), name
        for i, (one, other) in enumerate(zip(left, right)):
            assert_equal(one, other, f"{name}[{i}]")
    elif hasattr(left, "__dict__"):
        assert_equal(vars(left), vars(right), name)
    else:
        assert left == right, name


def assert_same(estimator, loaded):
    """All but functions and the model itself."""
    ours, theirs = vars(estimator), vars(loaded)
    assert ours.keys() == theirs.keys()
    for name in ours.keys() - NOT_COMPARED:
        assert_equal(ours[name], theirs[name], name)


LABELS = {
    "integers": [3, -1, 10],
    "int8": np.array([3, -1, 10], dtype=np.int8),
    "unsigned": np.array([0, 2**63, 5], dtype=np.uint64),
    "booleans": [False, True],
    "floats": [0.0, 1.0, 5.0],
    "float32": np.array([1, 2, 4], dtype=np.float32),
    "texts": ["b", "a", "c d"],
    "zeros in front": ["01", "02", "10"],
    "numbers as texts": ["1", "2", "10"],
    "objects": np.array(["no", "yes", "perhaps, not"], dtype=object),
    "other alphabets": ["ä", "日本", '"quoted"\n'],
    "dates": np.array(["2020-01-01", "2021-05-05"], dtype="datetime64[D]"),
    "words that are numbers": ["nan", "inf", "1e3"],
}


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    return X, (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("seed", range(3))
def test_labels_of_every_type(samples, tmp_path, kind, seed):
    X, codes = samples
    names = np.asarray(LABELS[kind])
    y = names[np.minimum(codes, len(names) - 1)]
    rng = np.random.default_rng(seed)
    given = names.tolist()
    # scikit-learn finds no dates among the keys of a dictionary.
    by_class = {} if kind == "dates" else dict(class_weight={given[0]: 2.0})
    options = [{}, by_class, dict(class_weight="balanced", probability=True)][seed]
    if seed == 1 and by_class:
        try:
            compute_class_weight({given[0]: 2.0}, classes=np.unique(y), y=y)
        except ValueError as error:
            pytest.xfail(f"scikit-learn's own compute_class_weight takes texts of digits for numbers: {error}")
    weight = rng.integers(0, 3, size=len(X))  # positions of support vectors are not those of the core
    order = rng.permutation(len(X))
    clf = MKLClassifier("rbf", C=2, **options).fit(X[order], y[order], sample_weight=weight[order])
    loaded = reloaded(clf, tmp_path / "model")
    assert_same(clf, loaded)
    assert np.array_equal(loaded.predict(X), clf.predict(X)) and loaded.predict(X).dtype == y.dtype
    assert loaded.score(X, y) == clf.score(X, y)
    if seed == 2:
        assert np.array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    again = clone(loaded).fit(X[order], y[order], sample_weight=weight[order])
    assert again.objective_ == clf.objective_


PARAMETERS = [
    dict(time_limit=500.0, memory="1G", n_jobs=1, verbose=0, warm_start=True),
    dict(class_C={0: 3, np.int64(2): 1.5}, multiclass="ovr"),
    dict(class_norm={1: "inf"}, multiclass="ovr"),
    dict(norm="inf", normalize=("spherical", "center"), random_state=np.int64(3)),
    dict(norm=np.float32(1.5), weight_bounds={"linear": (0.1, 0.5)}, kernels=["linear", "rbf"], multiclass="joint"),
    dict(kernels=kernels.RBF([0.1, "median"], features=range(2)) * kernels.Linear()),
    dict(kernels=[kernels.Each(kernels.RBF(np.array([0.5, 2.0]))), kernels.Mean(["linear", kernels.Poly()], name="m")]),
    dict(kernels="linear", normalize=None, max_iterations=50),
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_every_parameter(samples, tmp_path, parameters):
    X, y = samples
    clf = MKLClassifier(**parameters).fit(X, y)
    loaded = reloaded(clf, tmp_path / "model")
    assert_same(clf, loaded)
    assert clone(loaded).fit(X, y).objective_ == clf.objective_


@pytest.mark.parametrize("estimator", [MKLRegressor(C=3), MKLRegressor(loss="squared"), MKLOneClass(nu=0.2)], ids=str)
def test_other_estimators(samples, tmp_path, estimator):
    X, y = samples
    repeated = np.vstack([X, X[:7]])
    estimator = clone(estimator).fit(repeated, np.append(y, y[:7]) + 0.25)
    assert_same(estimator, reloaded(estimator, tmp_path / "model"))


def test_feature_names(samples, tmp_path):
    X, y = samples
    frame = pd.DataFrame(X, columns=list("abcd"))
    clf = MKLClassifier().fit(frame, y)
    loaded = reloaded(clf, tmp_path / "model")
    assert_same(clf, loaded)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[list("dcba")])


def test_views_and_stacks(samples, tmp_path):
    X, y = samples
    views = Views({"a": pd.DataFrame(X[:, :2], columns=["p", "q"]), "b": X[:, 2:]})
    clf = MKLClassifier().fit(views, y)
    assert_same(clf, reloaded(clf, tmp_path / "model"))
    stack = KernelStack({"l": linear_kernel(X), "r": rbf_kernel(X)})
    part = np.arange(5, 55)
    clf = MKLClassifier().fit(stack[part], y[part])
    loaded = reloaded(clf, tmp_path / "model")
    assert_same(clf, loaded)
    assert np.array_equal(loaded.decision_function(stack), clf.decision_function(stack))


def test_functions_stay_behind(samples, tmp_path):
    X, y = samples
    clf = MKLClassifier([rbf_kernel, "linear"], callback=lambda info: False, random_state=np.random.RandomState(0))
    loaded = reloaded(clf.fit(X, y), tmp_path / "model")
    assert loaded.callback is None and loaded.kernel_names_ == clf.kernel_names_
    assert np.array_equal(loaded.support_, clf.support_) and loaded.C == clf.C


def test_saving_twice_changes_nothing(samples, tmp_path):
    X, y = samples
    clf = MKLClassifier(probability=True).fit(X, y)
    once = reloaded(clf, tmp_path / "once")
    assert_same(clf, reloaded(once, tmp_path / "twice"))
    assert_same(clf, pickle.loads(pickle.dumps(once)))


@pytest.mark.parametrize("labels, expected", [
    (["+1", "-1", "7"], [-1, 1, 7]),
    (["01", "02", "7"], ["01", "02", "7"]),
    (["0.5", "2", "7"], [0.5, 2.0, 7.0]),
    (["99999999999999999999", "1", "7"], [1.0, 7.0, 1e20]),
])
@needs_program
def test_labels_of_the_command_line(tmp_path, labels, expected):
    rows = [f"{labels[i % 3]},{i % 3 + 0.01 * i},{i}" for i in range(30)]
    (tmp_path / "d.csv").write_text("label,p,q\n" + "\n".join(rows) + "\n")
    model = str(tmp_path / "model")
    options = ["--class-C", f"{labels[0]}=2", "--multiclass", "ovr"]
    subprocess.run([KWEAVE, "train", str(tmp_path / "d.csv"), "-o", model, "-q", *options], check=True)
    loaded = MKLClassifier.load(model)
    assert sorted(loaded.classes_.tolist()) == expected
    assert list(loaded.class_C) == [loaded.classes_.dtype.type(labels[0]).item()]


def test_notes_hold_what_they_can():
    values = [None, 1.5, float("inf"), "x\ud800", (1, [2, {"a": (3,)}]), range(2, 9, 3), np.float32(0.1), np.arange(4),
              np.array([[1, 2], [3, 4]], dtype=np.int32), np.array(["a", "b\0"], dtype=object), {1: 2, "1": 3}]
    for value in values:
        assert_equal(_notes.decode(json.loads(json.dumps(_notes.encode(value)))), value)
    for value in (print, datetime.date(2020, 1, 1), np.array([None]), kernels.Callable(print)):
        with pytest.raises(_notes.Unkept):
            _notes.encode([value])
    with pytest.raises(ValueError, match="'other'"):
        _notes.decode({"other": 1})
