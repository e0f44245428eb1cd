"""Answers by kernel, by source and by feature."""
import json
import subprocess

import matplotlib.pyplot
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kweave import KernelStack, KernelWeightsDisplay, MKLClassifier, MKLOneClass, MKLRegressor, SourceSharesDisplay, Views, ViewTransformer, kernels, view_importance
from support import KWEAVE, named, needs_program

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def views(cancer):
    X = cancer[0] / cancer[0].std()
    return Views({"mean": X.iloc[:, :10], "error": X.iloc[:, 10:20], "worst": X.iloc[:, 20:]})


def total(parts, estimator):
    return parts.sum(axis=-1) + (estimator.intercept_ if parts.ndim == 3 else estimator.intercept_[0])


@pytest.mark.parametrize("estimator", [
    MKLClassifier(),
    MKLClassifier(norm=1),
    MKLClassifier(multiclass="joint"),
    MKLClassifier(["rbf@mean", "linear@error", "rbf@mean*linear@worst"]),
    MKLClassifier(["rbf@mean", kernels.Callable(rbf_kernel, view="worst")]),
    MKLRegressor(),
    MKLOneClass("rbf"),
], ids=named)
def test_sources_add_up(views, cancer, estimator):
    estimator.fit(views, cancer[1])
    parts = estimator.decision_function_by_source(views)
    assert parts.shape == (len(views), len(estimator.source_shares_))
    decide = estimator.predict if isinstance(estimator, MKLRegressor) else estimator.decision_function
    np.testing.assert_allclose(total(parts, estimator), decide(views), rtol=1e-9, atol=1e-9)
    shares = estimator.source_shares_
    assert list(shares)[:3] == ["mean", "error", "worst"] and sum(shares.values()) == pytest.approx(1)
    assert all(not parts[:, s].any() for s, share in enumerate(shares.values()) if share == 0)


@needs_program
def test_shares_are_those_of_the_program(views, cancer, tmp_path):
    clf = MKLClassifier(["rbf@mean", "linear@error", "rbf@mean*linear@worst"]).fit(views, cancer[1])
    clf.save(tmp_path / "model")
    told = subprocess.run([KWEAVE, "inspect", "--json", tmp_path / "model"], capture_output=True, check=True).stdout
    told = {source["source"]: source["share"] for source in json.loads(told)["sources"]}
    assert {source: share for source, share in clf.source_shares_.items() if share} == pytest.approx(told)
    assert MKLClassifier.load(tmp_path / "model").source_shares_ == clf.source_shares_


def test_sources_of_stacks_and_arrays(cancer):
    X, y = cancer
    stack = KernelStack({"l": linear_kernel(X), "r": rbf_kernel(X, gamma=1e-4)})
    clf = MKLClassifier().fit(stack, y)
    assert list(clf.source_shares_) == ["l", "r"]
    np.testing.assert_allclose(total(clf.decision_function_by_source(stack), clf), clf.decision_function(stack))
    assert MKLClassifier(["linear", rbf_kernel]).fit(X, y).source_shares_ == {"data": pytest.approx(1)}
    product = MKLClassifier("each(rbf)", combine="product").fit(X.iloc[:, :3], y)
    assert not hasattr(product, "source_shares_")
    with pytest.raises(ValueError, match="combine is 'product'"):
        product.decision_function_by_kernel(X.iloc[:, :3])


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
def test_several_machines_have_one_vector_of_weights(multiclass):
    X, y = load_iris(return_X_y=True)
    clf = MKLClassifier(multiclass=multiclass).fit(X, y)
    assert clf.kernel_weights_.shape == (6,) and clf.machine_weights_.shape == (3, 6)
    np.testing.assert_allclose(clf.kernel_weights_, clf.machine_weights_.mean(axis=0))
    binary = MKLClassifier().fit(X, y == 0)
    assert binary.machine_weights_.tolist() == [binary.kernel_weights_.tolist()]


def test_two_classes_have_one_function(cancer):
    X, y = cancer
    clf = MKLClassifier(multiclass="joint").fit(X, y)
    assert clf.intercept_.shape == (1,) and clf.dual_coef_.shape == (1, len(clf.support_))
    np.testing.assert_allclose(total(clf.decision_function_by_kernel(X), clf), clf.decision_function(X), atol=1e-9)


def test_weights_of_many_machines_stay_readable():
    X, y = load_digits(return_X_y=True)
    clf = MKLClassifier(multiclass="ovo", gap=0.01).fit(X[:400], y[:400])
    drawn = KernelWeightsDisplay.from_estimator(clf)
    assert len(drawn.bars_) == 1 and drawn.ax_.get_legend() is None and "45 machines" in drawn.ax_.get_xlabel()
    order = np.argsort(-clf.kernel_weights_, kind="stable")
    np.testing.assert_allclose([bar.get_width() for bar in drawn.bars_[0]], clf.kernel_weights_[order])
    assert len(KernelWeightsDisplay.from_estimator(clf, max_machines=50).bars_) == 45
    matplotlib.pyplot.close("all")


def test_shares_are_drawn_largest_first(views, cancer):
    clf = MKLClassifier().fit(views, cancer[1])
    drawn = SourceSharesDisplay.from_estimator(clf, max_sources=2)
    assert [bar.get_width() for bar in drawn.bars_] == pytest.approx(
        [100 * share for share in sorted(clf.source_shares_.values())[:0:-1]], rel=1e-14)
    assert drawn.figure_ is drawn.ax_.figure
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("multiclass", ["ovr", "joint"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_coefficients_of_linear_kernels(multiclass, form):
    X, y = load_wine(return_X_y=True)
    clf = MKLClassifier(["linear", "each(linear)"], multiclass=multiclass).fit(form(X), y)
    assert clf.coef_.shape == (3, 13)
    np.testing.assert_allclose(X @ clf.coef_.T + clf.intercept_, clf.decision_function(form(X)), atol=1e-9)
    two = MKLClassifier("linear", multiclass=multiclass).fit(X[y < 2], y[y < 2])
    np.testing.assert_allclose((X @ two.coef_.T + two.intercept_).ravel(), two.decision_function(X), atol=1e-9)


def test_coefficients_by_view(views, cancer):
    model = MKLRegressor(["linear@mean", kernels.Linear(view="error", features=[0, 3])]).fit(views, cancer[1])
    assert {name: own.shape for name, own in model.coef_.items()} == {"mean": (1, 10), "error": (1, 10), "worst": (1, 10)}
    assert not model.coef_["worst"].any() and np.flatnonzero(model.coef_["error"]).tolist() == [0, 3]
    values = sum(views[name] @ own.T for name, own in model.coef_.items()) + model.intercept_
    np.testing.assert_allclose(values.ravel(), model.predict(views), atol=1e-9)


@pytest.mark.parametrize("options", [
    {}, {"kernels": ["linear", "rbf"]}, {"kernels": "linear*linear"}, {"kernels": "linear", "normalize": "spherical"},
    {"kernels": linear_kernel}, {"kernels": "poly(degree=1)"},
], ids=named)
def test_no_coefficients_elsewhere(cancer, options):
    with pytest.raises(AttributeError):
        MKLClassifier(**options).fit(*cancer).coef_


def test_kernels_are_named_by_their_features(cancer):
    X, y = cancer
    each = kernels.Each("rbf(gamma=1)", features=["mean radius", "mean area"])
    some = kernels.Linear(features=[0, 1, 2, 6])
    names = ["rbf(gamma=1)@mean radius", "rbf(gamma=1)@mean area", "linear@mean radius..mean perimeter,mean concavity"]
    clf = MKLClassifier([each, some]).fit(X, y)
    assert clf.kernel_names_ == names
    assert [kernel["name"] for kernel in clf.analyze_kernels(X)["kernels"]] == names
    each = kernels.Each("rbf(gamma=1)", features=[0, 3])
    assert MKLClassifier([each, some]).fit(X.to_numpy(), y).kernel_names_ == [
        "rbf(gamma=1)@x0", "rbf(gamma=1)@x3", "linear@x0..x2,x6"]
    views = Views({"a b": X.iloc[:, :2], "c": X.iloc[:, 2:4].to_numpy()})
    names = MKLClassifier(kernels.Each("linear")).fit(views, y).kernel_names_
    assert names == ['linear@"a b"[mean radius]', 'linear@"a b"[mean texture]', "linear@c[x0]", "linear@c[x1]"]


def test_names_survive_a_file(cancer, tmp_path):
    X, y = cancer
    clf = MKLClassifier(kernels.Each("rbf(gamma=1)"), norm=1).fit(X, y)
    clf.save(tmp_path / "model")
    loaded = MKLClassifier.load(tmp_path / "model")
    assert loaded.kernel_names_ == clf.kernel_names_ and "rbf(gamma=1)@worst area" in loaded.kernel_names_
    np.testing.assert_array_equal(loaded.decision_function_by_kernel(X), clf.decision_function_by_kernel(X))


def test_importance_of_views(views, cancer):
    y = cancer[1].to_numpy()
    noisy = views | {"noise": np.random.default_rng(0).normal(size=(len(y), 3))}
    model = make_pipeline(ViewTransformer(StandardScaler()), MKLClassifier("linear", norm=1)).fit(noisy[::2], y[::2])
    found = view_importance(model, noisy[1::2], y[1::2], n_repeats=3, random_state=0)
    assert found.views == ["mean", "error", "worst", "noise"] and found.importances.shape == (4, 3)
    assert found.importances_mean.argmax() == 2 and abs(found.importances_mean[3]) < 0.01
    again = view_importance(model, noisy[1::2], y[1::2], n_repeats=3, random_state=0, scoring="accuracy")
    np.testing.assert_array_equal(found.importances, again.importances)
    with pytest.raises(ValueError, match="X is ndarray, expected Views"):
        view_importance(model, views["mean"], y)
