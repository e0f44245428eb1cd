"""The classifier on arrays, sparse matrices and tables."""
import json
import pickle
import subprocess

import numpy as np
import pandas as pd
import pytest
import sklearn.utils
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from kweave import MKLClassifier, kernels
from support import KWEAVE, needs_program


@pytest.fixture(scope="module")
def problem():
    X, y = make_classification(n_samples=150, n_features=8, n_informative=4, random_state=3)
    return X, np.array(["ill", "well"], dtype=object)[y]


def test_answer_is_certified(problem):
    clf = MKLClassifier(gap=1e-4).fit(*problem)
    assert clf.status_ == "converged" and 0 <= clf.duality_gap_ <= 1e-4
    assert list(clf.classes_) == ["ill", "well"]
    assert len(clf.kernel_names_) == len(clf.kernel_weights_) == 6
    assert np.isclose(np.linalg.norm(clf.kernel_weights_), 1)
    assert clf.history_[-1]["solves"] >= 1 and clf.objective_ > 0
    assert clf.score(*problem) > 0.9


def test_intervals_hold_the_weights(problem):
    clf = MKLClassifier(gap=1e-4).fit(*problem)
    precise = MKLClassifier(gap=1e-8).fit(*problem)
    assert clf.kernel_weights_interval_.shape == clf.weight_shares_interval_.shape == (6, 2)
    for weights in (clf.kernel_weights_, precise.kernel_weights_):
        lower, upper = clf.kernel_weights_interval_.T
        assert np.all(lower <= weights + 1e-6) and np.all(weights - 1e-6 <= upper)
        lower, upper = clf.weight_shares_interval_.T
        assert np.all(lower <= weights / weights.sum() + 1e-6) and np.all(weights / weights.sum() - 1e-6 <= upper)
    widths = [np.ptp(fitted.weight_shares_interval_, axis=1).max() for fitted in (clf, precise)]
    assert widths[1] < 0.3 * widths[0]
    assert [tuple(share) for share in clf.source_weight_shares_interval_.values()] == [(1, 1)]


def test_what_is_not_certified_is_nan(problem):
    clf = MKLClassifier(block_norm=4, gap=1e-2).fit(*problem)
    assert np.isnan(clf.kernel_weights_interval_).all() and "block norm 4" in clf.summary_["no_intervals"]


def test_one_kernel_is_an_svm(problem):
    X, y = problem
    clf = MKLClassifier("rbf(gamma=0.1)", C=2, normalize="none", gap=1e-8).fit(X, y)
    svc = SVC(gamma=0.1, C=2, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(clf.decision_function(X), svc.decision_function(X), atol=1e-3)


def test_support_vectors_make_the_decision(problem):
    X, y = problem
    clf = MKLClassifier("linear", normalize="none").fit(X, y)
    values = X @ X[clf.support_].T @ clf.dual_coef_.ravel() * clf.kernel_weights_[0] + clf.intercept_
    np.testing.assert_allclose(clf.decision_function(X), values, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda X: X.tolist(),
        sparse.csr_matrix,
        sparse.csc_matrix,
        lambda X: pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]),
    ],
)
def test_containers_agree(problem, convert):
    X, y = problem
    reference = MKLClassifier(gap=1e-6).fit(X, y)
    clf = MKLClassifier(gap=1e-6).fit(convert(X), y)
    # Sparse inner products are summed in another order.
    np.testing.assert_allclose(clf.decision_function(convert(X)), reference.decision_function(X), atol=2e-3)


def test_float32_stays_float32():
    X = np.random.default_rng(0).normal(size=(600, 500)).astype(np.float32)  # above the size that is merged
    y = X[:, 0] > 0
    clf = MKLClassifier("linear").fit(X, y)
    np.testing.assert_allclose(
        clf.decision_function(X), MKLClassifier("linear").fit(X.astype(float), y).decision_function(X), atol=1e-2
    )
    assert clf.score(X, y) > 0.9


def test_unsorted_sparse_rows_are_left_alone():
    X = sparse.csr_matrix((np.array([1.0, 2, 3, 4]), np.array([2, 0, 1, 0]), np.array([0, 2, 3, 4])), shape=(3, 3))
    before = X.indices.copy()
    clf = MKLClassifier("linear").fit(X, [0, 1, 1])
    assert np.array_equal(X.indices, before)
    np.testing.assert_allclose(clf.decision_function(X), clf.decision_function(X.toarray()), rtol=1e-6)


def test_feature_names_are_remembered(problem):
    X, y = problem
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    clf = MKLClassifier().fit(frame, y)
    assert list(clf.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame[frame.columns[::-1]])


def test_several_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    clf = MKLClassifier(C=10).fit(X, names)
    assert clf.decision_function(X).shape == (150, 3)
    assert clf.kernel_weights_.shape == (6,) and clf.machine_weights_.shape == (3, 6)
    assert clf.dual_coef_.shape == (3, len(clf.support_))
    assert clf.score(X, names) > 0.95


def test_no_variance_gives_the_bias_model():
    clf = MKLClassifier().fit(np.ones((5, 2)), [0, 1, 1, 1, 0])
    assert list(clf.predict(np.ones((2, 2)))) == [1, 1]
    assert clf.duality_gap_ == 0 and not clf.kernel_weights_.any() and len(clf.support_) == 0


def test_weights_count_samples(problem):
    X, y = problem
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, size=len(y))
    weighted = MKLClassifier().fit(X, y, sample_weight=weight)
    repeated = MKLClassifier().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert np.array_equal(weighted.decision_function(X), repeated.decision_function(X))
    assert set(weighted.support_) <= set(np.flatnonzero(weight))


def test_several_labels_per_sample_are_refused_with_what_to_do(problem):
    X, y = problem
    with pytest.raises(ValueError, match=r"y has shape .*expected one class per sample.*OneVsRestClassifier"):
        MKLClassifier().fit(X, np.column_stack([y, y]))


def test_class_weight_is_a_factor_on_c(problem):
    X, y = problem
    factors = MKLClassifier(class_weight={"ill": 3, "well": 1}).fit(X, y)
    weights = MKLClassifier().fit(X, y, sample_weight=np.where(y == "ill", 3, 1))
    assert np.array_equal(factors.decision_function(X), weights.decision_function(X))


def test_sample_order_does_not_matter(problem):
    X, y = problem
    order = np.random.default_rng(2).permutation(len(y))
    clf, shuffled = MKLClassifier().fit(X, y), MKLClassifier().fit(X[order], y[order])
    assert np.array_equal(clf.decision_function(X), shuffled.decision_function(X))
    assert np.array_equal(np.sort(order[shuffled.support_]), clf.support_)


@pytest.mark.parametrize("norm", [float("inf"), "inf"])
def test_infinite_norm_is_the_uniform_sum(problem, norm):
    assert np.allclose(MKLClassifier(norm=norm).fit(*problem).kernel_weights_, 1)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"C": -1}, "C is -1"),
        ({"C": "much"}, "C is 'much', expected a number"),
        ({"norm": 0.5}, "norm is 0.5"),
        ({"gap": 0}, "gap is 0"),
        ({"kernels": "gauss"}, "gauss"),
        ({"kernels": "rbf(gamma="}, "rbf"),
        ({"method": "luck"}, "luck"),
        ({"normalize": "tidy"}, "tidy"),
        ({"memory": "a lot"}, "memory is 'a lot'"),
        ({"memory": None}, "memory is None"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"n_jobs": "2"}, "n_jobs is '2'"),
        ({"norm": "two"}, "norm is 'two', expected a number or 'inf'"),
        ({"block_norm": None}, "block_norm is None"),
        ({"time_limit": -1}, "time_limit is -1"),
        ({"callback": "me"}, "callback is 'me'"),
        ({"class_C": [1, 2]}, "class_C is .*expected a dictionary"),
    ],
)
def test_wrong_options_are_named(problem, options, message):
    with pytest.raises(ValueError, match=message):
        MKLClassifier(**options).fit(*problem)


def test_early_end_is_a_warning(problem):
    with pytest.warns(ConvergenceWarning, match="iteration_limit"):
        clf = MKLClassifier(gap=1e-9, max_iterations=1, kernels="rbf(gamma=logspace(1e-3,1e2,9))").fit(*problem)
    assert clf.status_ == "iteration_limit" and clf.duality_gap_ > 1e-9


def test_pickle_and_clone(problem):
    X, y = problem
    clf = MKLClassifier(norm=1).fit(X, y)
    again = pickle.loads(pickle.dumps(clf))
    assert np.array_equal(again.decision_function(X), clf.decision_function(X))
    assert clone(clf).get_params() == clf.get_params() and not hasattr(clone(clf), "classes_")


def test_save_and_load(problem, tmp_path):
    X, y = problem
    clf = MKLClassifier(C=3).fit(X, y)
    clf.save(tmp_path / "model.kweave")
    again = MKLClassifier.load(tmp_path / "model.kweave")
    assert np.array_equal(again.decision_function(X), clf.decision_function(X))
    assert np.array_equal(again.predict(X), clf.predict(X))
    assert again.C == 3 and again.kernel_names_ == clf.kernel_names_ and again.n_features_in_ == 8


def test_bad_model_files_are_refused(tmp_path):
    path = tmp_path / "model.kweave"
    path.write_bytes(b"no model")
    with pytest.raises(ValueError, match="model.kweave"):
        MKLClassifier.load(path)


def test_products_say_that_they_tell_two_classes_apart():
    for combine in ("sum", "product"):
        clf = MKLClassifier(combine=combine)
        if hasattr(sklearn.utils, "get_tags"):
            is_binary = not sklearn.utils.get_tags(clf).classifier_tags.multi_class
        else:
            is_binary = clf._get_tags()["binary_only"]
        assert is_binary == (combine == "product")


@needs_program
def test_models_of_the_command_line_open_here_and_back(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    table = pd.DataFrame(X).assign(label=y)
    table.to_csv(tmp_path / "data.csv", index=False)

    def run(*arguments):
        return subprocess.run([KWEAVE, *map(str, arguments)], cwd=tmp_path, check=True, capture_output=True, text=True)

    run("train", "data.csv", "-C", 2, "-o", "program.kweave", "-q", "--summary", "summary.json")
    clf = MKLClassifier.load(tmp_path / "program.kweave")
    assert list(clf.classes_) == [0, 1] and clf.C == 2
    assert clf.objective_ == json.loads((tmp_path / "summary.json").read_text())["primal"]
    printed = run("predict", "program.kweave", "data.csv", "-q").stdout.splitlines()
    assert [int(line.split("\t")[0]) for line in printed] == clf.predict(X).tolist()

    MKLClassifier(C=2).fit(table.drop(columns="label").rename(columns=str), y).save(tmp_path / "python.kweave")
    printed = run("predict", "python.kweave", "data.csv", "-q").stdout.splitlines()
    values = MKLClassifier.load(tmp_path / "python.kweave").decision_function(X)
    np.testing.assert_allclose([float(line.split("\t")[1]) for line in printed], values, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("multiclass, machines", [("ovr", 3), ("ovo", 3)])
def test_several_classes_are_saved(multiclass, machines, tmp_path):
    X, y = load_iris(return_X_y=True)
    names = np.array(["b", "a", "c"])[y]
    clf = MKLClassifier(C=10, multiclass=multiclass).fit(X, names)
    assert len(clf.summary_["machines"]) == machines == len(clf.intercept_) == len(clf.history_)
    assert all(history[-1]["solves"] >= 1 for history in clf.history_)
    clf.save(tmp_path / "iris.kweave")
    loaded = MKLClassifier.load(tmp_path / "iris.kweave")
    assert loaded.multiclass == multiclass and list(loaded.classes_) == ["a", "b", "c"]
    assert np.array_equal(loaded.decision_function(X), clf.decision_function(X))
    assert np.array_equal(pickle.loads(pickle.dumps(clf)).predict(X), clf.predict(X))


def test_one_against_one_is_svc():
    X, y = load_iris(return_X_y=True)
    clf = MKLClassifier("rbf(gamma=0.5)", normalize="none", multiclass="ovo", gap=1e-6).fit(X, y)
    svc = SVC(gamma=0.5, tol=1e-8, decision_function_shape="ovr").fit(X, y)
    np.testing.assert_allclose(clf.decision_function(X), svc.decision_function(X), atol=2e-2)
    assert np.array_equal(clf.predict(X), svc.predict(X))


def test_classes_with_their_own_c_and_norm():
    X, y = load_iris(return_X_y=True)
    plain = MKLClassifier(multiclass="ovr").fit(X, y)
    own = MKLClassifier(multiclass="ovr", class_C={1: 30}, class_norm={2: 1}).fit(X, y)
    assert own.summary_["machines"][1]["primal"] > plain.summary_["machines"][1]["primal"]
    assert own.machine_weights_[2].sum() == pytest.approx(1)


def test_errors_tell_field_value_and_rule():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="^gap is 2, expected above 0, at most 1$") as caught:
        MKLClassifier(gap=2).fit(X, y)
    assert (caught.value.field, caught.value.value, caught.value.rule) == ("gap", "2", "above 0, at most 1")
    with pytest.raises(ValueError, match="^driver 'x' is not available") as caught:
        MKLClassifier(driver="x").fit(X, y)
    assert caught.value.field == "driver"


def test_machines_share_their_weights():
    X, y = load_iris(return_X_y=True)
    clf = MKLClassifier(machine_weights="common").fit(X, y)
    assert clf.summary_["multiclass"] == "ovr" and clf.machine_weights_.shape == (3, len(clf.kernel_names_))
    assert np.array_equal(clf.machine_weights_[0], clf.machine_weights_[2])
    assert clf.history_[-1]["relative_gap"] <= 1e-3 and clf.score(X, y) > 0.9


@pytest.mark.parametrize("options", [
    {"block_norm": 4 / 3},
    {"block_norm": "inf"},
    {"penalty": 0.5},
    {"regularizer": "elastic", "elastic": 0.3},
    {"regularizer": "mixed", "groups": "spec", "norm": 1, "inner_norm": 2},
    {"regularizer": "matrix", "matrix": "centered-alignment", "ridge": 0.1},
])
def test_regularizers_reach_the_core(options):
    X, y = load_breast_cancer(return_X_y=True)
    kernels = ["linear", "rbf(gamma=[0.01,0.1])"]
    clf = MKLClassifier(kernels, **options).fit(X[:200] / X.max(axis=0), y[:200])
    assert clf.duality_gap_ <= 1e-3
    for name, value in options.items():
        is_number = not isinstance(value, str) or value == "inf"
        told = clf.summary_["options"][name]
        assert float(told) == pytest.approx(float(value)) if is_number else told == value


def test_bounds_on_weights_hold():
    X, y = load_breast_cancer(return_X_y=True)
    bounds = {"linear": (0.2, 0.3), 2: (0, 0.5)}  # by name, and by position as Python counts
    clf = MKLClassifier(["linear", "rbf(gamma=[0.01,0.1])"], weight_bounds=bounds, norm=1)
    clf.fit(X[:200] / X.max(axis=0), y[:200])
    assert clf.duality_gap_ <= 1e-3
    assert 0.2 - 1e-9 <= clf.kernel_weights_[0] <= 0.3 + 1e-9
    assert clf.kernel_weights_[2] <= 0.5 + 1e-9
    assert clf.summary_["options"]["weight_bounds"] == {"linear": [0.2, 0.3], "3": [0, 0.5]}


@pytest.mark.parametrize("form", [list, np.array, pd.DataFrame], ids=["list", "array", "frame"])
def test_bounds_in_the_order_of_the_kernels(form):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[:200] / X.max(), y[:200]
    bounds = form([(0.2, 0.3), (0, np.inf), (0, 0.5)])
    clf = MKLClassifier(["linear", "rbf(gamma=[0.01,0.1])"], weight_bounds=bounds, norm=1).fit(X, y)
    named = clone(clf).set_params(weight_bounds={"linear": (0.2, 0.3), "rbf(gamma=0.1)": (0, 0.5)}).fit(X, y)
    np.testing.assert_allclose(clf.kernel_weights_, named.kernel_weights_)
    each = MKLClassifier("each(rbf(gamma=1))", weight_bounds={"rbf(gamma=1)@worst area": (0.4, 0.5)}, norm=1).fit(X, y)
    assert 0.4 - 1e-9 <= each.kernel_weights_[each.kernel_names_.index("rbf(gamma=1)@worst area")] <= 0.5 + 1e-9
    with pytest.raises(ValueError, match="expected pairs of numbers"):
        MKLClassifier(weight_bounds=[1, 2, 3]).fit(X, y)


@pytest.mark.parametrize("count", [5, 6, 7, 8, 9, 12, 20])
@pytest.mark.parametrize("widest, narrowest", [(1e-3, 1), (1e-4, 1e3)])
def test_predictions_are_those_of_the_formula_for_any_number_of_widths(count, widest, narrowest):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    gammas = np.logspace(np.log10(widest), np.log10(narrowest), count)
    clf = MKLClassifier(kernels.RBF(gammas), normalize="none").fit(X, X[:, 0] > 0)
    for Z in (X, 3 * X[:20], 10 * X[:7]):
        parts = [weight * rbf_kernel(Z, X[clf.support_], gamma=gamma) for weight, gamma in zip(clf.kernel_weights_, gammas)]
        expected = sum(parts) @ clf.dual_coef_.ravel() + clf.intercept_
        np.testing.assert_allclose(clf.decision_function(Z), expected, atol=1e-9)


def test_groups_tell_their_weights():
    X, y = load_breast_cancer(return_X_y=True)
    clf = MKLClassifier(["linear", "rbf(gamma=[0.01,0.1])"], regularizer="mixed", groups="spec", norm=1, inner_norm=2)
    groups = clf.fit(X[:200] / X.max(axis=0), y[:200]).summary_["groups"]
    assert [len(group["kernels"]) for group in groups] == [1, 2]
    weights = [group["weight"] * kernel["weight"] for group in groups for kernel in group["kernels"]]
    assert weights == pytest.approx(clf.kernel_weights_.tolist())


def test_block_norm_one_is_the_norm_one():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:200] / X.max(axis=0)
    by_parts = MKLClassifier(["linear", "rbf(gamma=[0.01,0.1])"], block_norm=1, gap=1e-5).fit(X, y[:200])
    by_weights = MKLClassifier(["linear", "rbf(gamma=[0.01,0.1])"], norm=1, gap=1e-5).fit(X, y[:200])
    assert by_parts.objective_ == pytest.approx(by_weights.objective_, rel=1e-4)
