"""`verify` finds primal, dual and gap again, and what was changed."""
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from support import named

from kweave import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor, Views

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["c", "a", "b"])[Y]


@pytest.mark.parametrize("estimator", [
    MKLClassifier(),
    MKLClassifier(multiclass="joint", norm=1),
    MKLClassifier(multiclass="ovo", class_weight="balanced"),
    MKLClassifier([rbf_kernel, "linear"]),
    MKLRegressor(loss="squared"),
    MKLOneClass(nu=0.1),
], ids=named)
def test_what_was_learned_holds(estimator):
    y = X[:, 3] if isinstance(estimator, MKLRegressor) else NAMES
    weight = np.where(np.arange(150) % 5, 1.5, 0)
    estimator = clone(estimator).fit(X, y, sample_weight=weight)
    found = estimator.verify(X, y)
    assert found.holds and found["failures"] == []
    assert found.primal == pytest.approx(estimator.objective_, rel=1e-6)
    assert found.relative_gap == pytest.approx(estimator.duality_gap_, abs=1e-6)
    assert found.kernel_values > 0


def test_every_kind_of_input():
    frame = pd.DataFrame(X, columns=list("abcd"))
    stack = KernelStack({"linear": linear_kernel(X), "rbf": rbf_kernel(X)})
    for clf, samples in (
        (MKLClassifier(), frame),
        (MKLClassifier(), Views({"a": X[:, :2], "b": X[:, 2:]})),
        (MKLClassifier(), stack),
        (MKLClassifier(stack), np.arange(150)),
    ):
        assert clf.fit(samples, NAMES).verify(samples, NAMES).holds


def test_other_data_does_not_pass(tmp_path):
    clf = MKLClassifier().fit(X, NAMES)
    changed = X.copy()
    changed[clf.support_[0], 0] += 1
    found = clf.verify(changed, NAMES)
    assert not found.holds and f"sample {clf.support_[0]} " in found.failures[0]
    flipped = NAMES.copy()
    flipped[clf.support_[0]] = "b" if NAMES[clf.support_[0]] != "b" else "a"
    assert not clf.verify(X, flipped).holds
    with pytest.raises(ValueError, match="X has 140 samples, but the estimator was fitted to 150"):
        clf.verify(X[:140], NAMES[:140])
    with pytest.raises(ValueError, match="the class 'd', which the classifier was not fitted to"):
        clf.verify(X, np.where(NAMES == "a", "d", NAMES))
    with pytest.raises(NotFittedError):
        MKLClassifier().verify(X, NAMES)
    clf.save(tmp_path / "model")
    assert MKLClassifier.load(tmp_path / "model").verify(X, NAMES).holds


def test_functions_are_needed(tmp_path):
    clf = MKLClassifier([rbf_kernel, "linear"]).fit(X, NAMES)
    clf.save(tmp_path / "model")
    with pytest.raises(ValueError, match="rbf_kernel"):
        MKLClassifier.load(tmp_path / "model").verify(X, NAMES)
