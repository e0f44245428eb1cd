"""Estimators that choose C and norm: scores are those of a plain loop, the point chosen is what is fitted, and splits are those given."""
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_friedman1
from sklearn.model_selection import GroupKFold, KFold, cross_val_score

from kweave import MKLClassifier, MKLClassifierCV, MKLRegressor, MKLRegressorCV

X, Y = make_classification(120, 6, random_state=0)


def test_scores_are_those_of_a_plain_loop():
    folds = KFold(3, shuffle=True, random_state=1)
    found = MKLClassifierCV(Cs=[0.1, 10], norms=[1, 2], cv=folds, kernels=["linear", "rbf"]).fit(X, Y)
    assert found.scores_.shape == (2, 2, 3)
    for i, C in enumerate(found.Cs):
        for j, norm in enumerate(found.norms):
            plain = cross_val_score(MKLClassifier(C=C, norm=norm, kernels=["linear", "rbf"]), X, Y, cv=folds)
            assert np.abs(np.sort(plain) - np.sort(found.scores_[i, j])).max() <= 1 / 40 + 1e-9  # a sample on the threshold
    best = found.scores_.mean(axis=2).max()
    assert found.best_score_ == pytest.approx(best)
    chosen = MKLClassifier(C=found.C_, norm=found.norm_, kernels=["linear", "rbf"]).fit(X, Y)
    np.testing.assert_allclose(found.decision_function(X), chosen.decision_function(X), atol=1e-6)
    assert found.verify(X, Y).holds
    assert found.cv_results_["rank_test_score"].min() == 1


def test_regression_and_names_of_scores():
    rows, targets = make_friedman1(100, random_state=0)
    found = MKLRegressorCV(Cs=[1, 10], norms=[2, "inf"], cv=3, scoring="neg_root_mean_squared_error").fit(rows, targets)
    assert found.selection_["score"] == "rmse"
    assert found.best_score_ == pytest.approx(found.scores_.mean(axis=2).min())
    plain = MKLRegressor(C=found.C_, norm=found.norm_).fit(rows, targets)
    np.testing.assert_allclose(found.predict(rows), plain.predict(rows), atol=1e-6)


def test_parameters():
    found = MKLClassifierCV(Cs=[1], gap=1e-2)
    assert "C" not in found.get_params() and found.get_params()["gap"] == 1e-2
    assert clone(found).Cs == [1]
    groups = np.arange(120) // 10
    splits = list(GroupKFold(4).split(X, Y, groups))
    assert found.set_params(cv=splits, norms=[2]).fit(X, Y).scores_.shape == (1, 1, 4)
    with pytest.raises(ValueError, match="scoring is"):
        MKLClassifierCV(scoring=len).fit(X, Y)
    with pytest.raises(ValueError, match="score"):
        MKLClassifierCV(scoring="r2").fit(X, Y)
    with pytest.raises(TypeError):
        MKLClassifierCV(C=1)
