"""The regressor and the one-class machine."""
import inspect
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVR, OneClassSVM

from kweave import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor, _core


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X, (y - y.mean()) / y.std()


def test_one_kernel_is_support_vector_regression(diabetes):
    X, y = diabetes
    reg = MKLRegressor("rbf(gamma=5)", C=2, epsilon=0.2, normalize="none", gap=1e-8).fit(X, y)
    svr = SVR(gamma=5, C=2, epsilon=0.2, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(reg.predict(X), svr.predict(X), atol=1e-3)


def test_squared_loss_is_ridge(diabetes):
    X, y = diabetes
    reg = MKLRegressor("rbf(gamma=5)", loss="squared", bias=False, C=2, normalize="none", gap=1e-10).fit(X, y)
    # Their loss is halved or not by convention; one of the two is theirs exactly.
    K = rbf_kernel(X, gamma=5)
    ridge = {alpha: KernelRidge(alpha=alpha, kernel="precomputed").fit(K, y).predict(K) for alpha in (1 / 2, 1 / 4)}
    assert min(np.abs(reg.predict(X) - values).max() for values in ridge.values()) < 1e-3


def test_regressor_in_a_grid_search(diabetes):
    X, y = diabetes
    search = GridSearchCV(MKLRegressor(), {"C": [0.1, 1, 10], "norm": [1, 2]}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_score_ > 0.4
    assert search.best_estimator_.duality_gap_ <= 1e-3
    stack = KernelStack({"a": X @ X.T, "b": rbf_kernel(X, gamma=5)})
    assert GridSearchCV(MKLRegressor(), {"C": [1, 10]}, cv=3).fit(stack, y).best_score_ > 0.3


def test_regressor_weights_and_warm_start(diabetes):
    X, y = diabetes
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = MKLRegressor().fit(X, y, sample_weight=weight)
    repeated = MKLRegressor().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert np.array_equal(weighted.predict(X), repeated.predict(X))
    warm = MKLRegressor(warm_start=True)
    for C in (0.5, 1, 2):
        warm.set_params(C=C).fit(X, y)
        assert warm.objective_ == pytest.approx(MKLRegressor(C=C).fit(X, y).objective_, rel=2e-3)


def test_constant_data_give_the_bias(diabetes):
    reg = MKLRegressor().fit(np.ones((5, 2)), [1.0, 2, 3, 4, 5])
    assert 1 <= reg.predict(np.ones((1, 2)))[0] <= 5
    assert reg.duality_gap_ <= 1e-9


def test_one_class_agrees_with_libsvm(diabetes):
    X, _ = diabetes
    machine = MKLOneClass("rbf(gamma=5)", nu=0.3, normalize="none", gap=1e-8).fit(X)
    svm = OneClassSVM(gamma=5, nu=0.3, tol=1e-8).fit(X)
    scale = svm.dual_coef_.sum() / machine.dual_coef_.sum()
    np.testing.assert_allclose(scale * machine.decision_function(X), svm.decision_function(X), atol=1e-2 * scale)
    assert np.mean(machine.predict(X) == svm.predict(X)) > 0.98
    np.testing.assert_allclose(machine.score_samples(X) - machine.offset_, machine.decision_function(X))


def test_one_class_finds_outliers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    machine = MKLOneClass(nu=0.1).fit(X)
    assert np.mean(machine.predict(X) == -1) <= 0.11
    assert (machine.predict([[20, 20], [-15, 3]]) == -1).all()
    again = pickle.loads(pickle.dumps(machine))
    assert np.array_equal(again.decision_function(X), machine.decision_function(X))


@pytest.mark.parametrize("kind", [MKLRegressor, MKLOneClass])
def test_save_and_load(diabetes, tmp_path, kind):
    X, y = diabetes
    estimator = kind(norm=1.5).fit(X, y)
    estimator.save(tmp_path / "model.kweave")
    again = kind.load(tmp_path / "model.kweave")
    assert np.array_equal(again.predict(X), estimator.predict(X)) and again.norm == 1.5
    with pytest.raises(ValueError, match="expected 'classify'"):
        MKLClassifier.load(tmp_path / "model.kweave")


def test_constant_data_have_no_outliers():
    machine = MKLOneClass().fit(np.ones((5, 2)))
    assert machine.predict(np.ones((2, 2))).tolist() == [1, 1]
    assert machine.duality_gap_ <= 1e-9


def test_every_option_of_the_command_line_has_a_parameter():
    page = (Path(__file__).resolve().parents[2] / "docs" / "options.md").read_text()  # a test keeps it as printed
    flags = re.findall(r"^\| `--?([\w-]+)` \|", page.partition("\n## ")[0], re.MULTILINE)
    elsewhere = {"task": "the class", "weights": "sample_weight of fit", "probabilities": "probability of the classifier"}
    plural = {"kernel": "kernels", "class-kernel": "class_kernels"}
    kinds = {kind: set(inspect.signature(kind).parameters) for kind in (MKLClassifier, MKLRegressor, MKLOneClass)}
    classes = {"sharpness", "multiclass", "machine-weights", "class-kernel", "class-weight", "class-C", "class-norm"}
    of_others = {MKLClassifier: {"epsilon", "nu"}, MKLRegressor: {"nu"} | classes, MKLOneClass: {"loss", "epsilon"} | classes}
    assert len(flags) > 30
    for kind, parameters in kinds.items():
        expected = set(flags) - set(elsewhere) - of_others[kind]
        assert {plural.get(flag, flag.replace("-", "_")) for flag in expected} <= parameters, kind


def test_every_option_of_the_core_has_a_parameter():
    core = _core.default_options()
    kinds = [inspect.signature(kind).parameters for kind in (MKLClassifier, MKLRegressor, MKLOneClass)]
    elsewhere = {"task", "sample_weights", "class_weights", "keep_samples", "threads", "seed", "probabilities"}
    for name in set(core) - elsewhere:
        assert any(name in parameters for parameters in kinds), name
    for parameters in kinds:
        for name, parameter in parameters.items():
            if name in core and name != "kernels":
                # None stands for an empty list, which no default may be.
                assert (core[name] if parameter.default is not None else None) == parameter.default, name
                assert parameter.default is not None or core[name] == [], name


@pytest.mark.parametrize("loss", ["logistic", "squared-hinge", "smoothed-hinge", "least-squares"])
@pytest.mark.parametrize("classes", [2, 3])
def test_other_losses_classify(loss, classes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, 150)
    X = rng.normal(size=(150, 3)) + 1.5 * y[:, None]
    clf = MKLClassifier(loss=loss, C=5).fit(X, y)
    assert clf.duality_gap_ <= 1e-3 and clf.score(X, y) > 0.8
    assert hasattr(clf, "predict_proba") == (loss == "logistic")
    if loss == "logistic":
        assert np.array_equal(clf.predict_proba(X).argmax(axis=1), clf.predict(X))
