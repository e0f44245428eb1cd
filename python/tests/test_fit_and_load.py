"""A fit that fails changes nothing, and what is loaded can be trained again."""
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from support import named

from kweave import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor, MKLTransformer, Views

COMPAT = Path(__file__).resolve().parents[2] / "tests" / "compat"
CLASSIFY = [
    (loss, multiclass)
    for loss in ("auto", "hinge", "squared-hinge", "smoothed-hinge", "logistic", "least-squares")
    for multiclass in ("auto", "ovr", "ovo", "joint")
]


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def _interrupt(left, right):
    raise KeyboardInterrupt


FAILURES = {
    "time": (dict(time_limit=1e-9), (RuntimeError, ConvergenceWarning)),  # warnings are errors here
    "interrupt": (dict(kernels=_interrupt), KeyboardInterrupt),
    "option": (dict(method="luck"), ValueError),
    "kernel": (dict(kernels="gauss"), ValueError),
}
ESTIMATORS = [
    MKLClassifier(),
    MKLClassifier(probability=True),
    MKLClassifier([rbf_kernel, "linear"]),
    MKLRegressor(),
    MKLOneClass(),
    MKLTransformer(MKLClassifier()),
    MKLTransformer(MKLRegressor(), output="nystroem", n_components=20, random_state=0),
]


def _answers(estimator, X):
    return estimator.transform(X) if isinstance(estimator, MKLTransformer) else estimator.predict(X)


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=named)
def test_failed_fit_keeps_the_last(iris, estimator, failure):
    X, y = iris
    frame = pd.DataFrame(X, columns=list("abcd"))
    estimator = clone(estimator).fit(frame, y)
    before, answers = dict(vars(estimator)), _answers(estimator, frame)
    options, error = FAILURES[failure]
    if isinstance(estimator, MKLTransformer):
        options = {f"estimator__{name}": value for name, value in options.items()}
    params = {name: estimator.get_params()[name] for name in options}
    estimator.set_params(**options)
    with pytest.raises(error):
        estimator.fit(X[:, :3], y + 10)
    assert np.array_equal(_answers(estimator, frame), answers)
    estimator.set_params(**params)
    assert vars(estimator).keys() == before.keys()
    assert all(value is before[name] for name, value in vars(estimator).items())
    other = X[:, :3]
    fresh = clone(estimator).fit(other, y + 10)
    assert np.array_equal(_answers(estimator.fit(other, y + 10), other), _answers(fresh, other))
    assert not hasattr(estimator, "feature_names_in_")


def test_failed_fit_to_other_classes_keeps_the_classes(iris):
    X, y = iris
    clf = MKLClassifier().fit(X, y)
    names = np.array(["x", "y", "z"])[y]
    with pytest.raises(ValueError, match="nope"):
        clf.set_params(class_C={"nope": 1}).fit(X, names)
    assert clf.classes_.tolist() == [0, 1, 2] and clf.score(X, y) > 0.9
    with pytest.raises(ValueError, match="1 class"):
        clf.set_params(class_C=None).fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="same samples"):
        clf.fit(KernelStack([np.ones((3, 4))]), [0, 1, 1])
    assert clf.score(X, y) > 0.9


def test_failed_first_fit_leaves_nothing(iris):
    X, y = iris
    for estimator in (MKLClassifier(time_limit=1e-9), MKLTransformer(MKLClassifier(time_limit=1e-9))):
        with pytest.raises(RuntimeError, match="time limit"):
            estimator.fit(X, y)
        assert vars(estimator).keys() == estimator.get_params(deep=False).keys()
        with pytest.raises(NotFittedError):
            _answers(estimator, X)


def test_parameters_set_after_fit_wait_for_the_next(iris):
    X, y = iris
    clf = MKLClassifier([rbf_kernel]).fit(X, y)
    answers = clf.decision_function(X)
    assert np.array_equal(clf.set_params(kernels=[_interrupt]).decision_function(X), answers)
    with pytest.raises(NotFittedError, match="call fit again"):
        clf.set_params(loss="logistic").predict_proba(X)


def _reload(estimator, path):
    estimator.save(path)
    return type(estimator).load(path)


def _check_reloaded(estimator, X, y, path):
    """What `load` gives has the parameters given, and learns the same again."""
    estimator = clone(estimator).fit(X, y)
    loaded = _reload(estimator, path)
    differ = {name for name, value in estimator.get_params().items() if loaded.get_params()[name] != value}
    assert differ <= {"kernels", "norm"} and float(loaded.norm) == float(estimator.norm)
    again = clone(loaded).fit(X, y)
    assert again.objective_ == estimator.objective_
    assert np.array_equal(again.predict(X), estimator.predict(X))
    for norm in (1, 2, "inf"):
        assert clone(loaded).set_params(norm=norm).fit(X, y).status_ == "converged"


@pytest.mark.parametrize("norm", [1, "inf"])
@pytest.mark.parametrize("loss, multiclass", CLASSIFY)
def test_loaded_classifiers_can_be_trained(iris, tmp_path, loss, multiclass, norm):
    X, y = iris
    clf = MKLClassifier(loss=loss, multiclass=multiclass, norm=norm)
    for labels in (y, y > 0):
        _check_reloaded(clf, X[::2], labels[::2], tmp_path / "model")


@pytest.mark.parametrize("estimator", [
    MKLRegressor(),
    MKLRegressor("linear", norm="inf"),
    MKLRegressor(loss="squared"),
    MKLOneClass(),
    MKLOneClass(bias=False),
    MKLClassifier(solver="smo", loss="squared-hinge", driver="wrapper", normalize="trace,center"),
    MKLClassifier(method="newton"),
    MKLClassifier(multiclass="joint", class_kernels=["identity", "blocks"]),
    MKLClassifier(multiclass="ovr", class_C={"1": 3}, machine_weights="common"),
    MKLClassifier(multiclass="ovr", class_weight={0: 2.0, 1: 1.0, 2: 0.5}, random_state=3),
    MKLClassifier(multiclass="joint", class_weight={2: 3.0}, probability=False),
    MKLRegressor(weight_bounds={"linear": [0.1, 0.5]}, random_state=7),
    MKLOneClass(random_state=1),
], ids=str)
def test_loaded_estimators_can_be_trained(iris, tmp_path, estimator):
    _check_reloaded(estimator, *iris, tmp_path / "model")


@pytest.mark.parametrize("names", [["a b", "c", "10"], [2, 10, -1], [0.0, 2.0, 5.0]], ids=str)
def test_loaded_class_weights_have_the_types_of_the_classes(iris, tmp_path, names):
    X, y = iris
    labels = np.array(names)[y]
    given = {names[1]: 4.0}
    loaded = _reload(MKLClassifier(class_weight=given).fit(X, labels), tmp_path / "model")
    assert loaded.class_weight == given
    balanced = MKLClassifier(class_weight="balanced").fit(X[20:], labels[20:])
    again = clone(_reload(balanced, tmp_path / "model")).fit(X[20:], labels[20:])
    assert again.class_weight == "balanced"
    assert again.objective_ == balanced.objective_


@pytest.mark.parametrize("kind, file", [
    (MKLClassifier, "v1/plain"),
    (MKLClassifier, "v3/joint"),
    (MKLClassifier, "v3/ovo"),
    (MKLClassifier, "v3/ovr"),
    (MKLRegressor, "v2/regress"),
    (MKLOneClass, "v2/oneclass"),
])
def test_models_of_older_versions_can_be_trained(kind, file):
    """They do not hold what was given, only what was run."""
    loaded = kind.load(COMPAT / f"{file}.kweave")
    assert (loaded.method, loaded.driver, loaded.solver) == ("auto", "auto", "auto")
    rng = np.random.default_rng(0)
    views = Views({name: rng.random(size=(60, columns)) for name, columns in loaded._model.views})
    assert clone(loaded).fit(views, np.arange(60) % 3).status_ == "converged"


def test_loaded_models_say_what_they_need(iris, tmp_path):
    X, y = iris
    stack = KernelStack({"rbf_kernel": rbf_kernel(X)})
    # Not even a matrix of that name will do: the model may hold the samples in another order.
    loaded = _reload(MKLClassifier([rbf_kernel]).fit(X, y), tmp_path / "model")
    with pytest.raises(ValueError, match="new samples come in the same form"):
        loaded.predict(stack)
    for kernels, new in (([rbf_kernel], X), ([rbf_kernel, "linear"], X)):
        loaded = _reload(MKLClassifier(kernels).fit(X, y), tmp_path / "model")
        assert "rbf_kernel" in loaded.kernel_names_
        for method in (loaded.predict, loaded.decision_function_by_kernel):
            with pytest.raises(ValueError, match="'function rbf_kernel'; .*pickle") as caught:
                method(new)
            assert "--gram" not in str(caught.value)
    loaded = _reload(MKLClassifier().fit(stack, y), tmp_path / "model")
    with pytest.raises(ValueError, match="fitted to KernelStack"):
        loaded.predict(X)
    assert clone(loaded).fit(stack, y).objective_ == loaded.objective_


def test_absent_files_are_not_found(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        MKLClassifier.load(tmp_path / "absent")
    with pytest.raises(IsADirectoryError):
        MKLClassifier.load(tmp_path)


@pytest.mark.parametrize("missing", [pd.NA, None, np.nan, pd.NaT], ids=repr)
@pytest.mark.parametrize("estimator", [MKLClassifier(), MKLRegressor(), MKLTransformer()], ids=str)
def test_missing_targets_are_named(iris, estimator, missing):
    X, y = iris
    targets = y.astype(object)
    targets[3] = missing
    for samples in (X, Views({"a": X})):
        with pytest.raises(ValueError, match="y has .* at position 3"):
            clone(estimator).fit(samples, targets)
    with pytest.raises(ValueError, match="y has <NA> at position 3"):
        clone(estimator).fit(X, pd.Series(targets).where(np.arange(150) != 3, pd.NA).astype("string"))


def test_matrices_over_classes_come_in_every_form(iris, tmp_path):
    X, y = iris
    joint = MKLClassifier(multiclass="joint")
    for wrong in (np.eye(2), [np.eye(3)[0]], 3, pd.DataFrame(np.eye(3), columns=list("abc"))):
        with pytest.raises(ValueError, match="class_kernels has an? (array of shape|DataFrame)"):
            clone(joint).set_params(class_kernels=wrong).fit(X, y)
    with pytest.raises(ValueError, match="expected names of the classes"):
        clone(joint).set_params(class_kernels="matrix(values=[1])").fit(X, y)
    names = np.array(["the setosa", "versicolor, blue", 'a "virginica"'])
    table = pd.DataFrame([[1, 0, 0], [0, 1, 0.5], [0, 0.5, 2]], names, names)
    table.to_csv(tmp_path / "classes.csv")
    forms = [f"matrix(file={tmp_path / 'classes.csv'})", table, table.iloc[::-1], [table], table.sort_index()[sorted(names)].to_numpy()]
    fits = [clone(joint).set_params(class_kernels=form).fit(X, names[y]) for form in forms]
    assert len({fit.objective_ for fit in fits}) == 1
    assert fits[1].objective_ != joint.fit(X, names[y]).objective_
    places = clone(joint).set_params(class_kernels=["identity", dict(zip(names, ["one/a", "two/b", "two/c"]))]).fit(X, names[y])
    assert [kernel["name"] for kernel in places.summary_["class_kernel"]["kernels"]] == ["identity", "level 1", "level 2", "identity"]


def test_groups_and_matrices_over_kernels_come_in_every_form(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:200] / X.max(axis=0), y[:200]
    specs = ["linear", "rbf(gamma=[0.01,0.1])"]
    by_spec, *grouped = (
        MKLClassifier(specs, regularizer="mixed", groups=groups, norm=1).fit(X, y)
        for groups in ("spec", ["a", "b", "b"], np.array([3, 4, 4]), pd.Series(["a", "b", "b"]))
    )
    assert {fit.objective_ for fit in grouped} == {by_spec.objective_}
    assert [group["name"] for group in grouped[0].summary_["groups"]] == ["a", "b"]
    matrix = np.array([[1, 0.2, 0], [0.2, 2, 0], [0, 0, 3]])
    np.save(tmp_path / "matrix.npy", matrix)
    by_file, *written = (
        MKLClassifier(specs, regularizer="matrix", matrix=form).fit(X, y)
        for form in (str(tmp_path / "matrix.npy"), matrix, matrix.tolist(), pd.DataFrame(matrix))
    )
    assert {fit.objective_ for fit in written} == {by_file.objective_}
    diagonal = [MKLClassifier(specs, regularizer="matrix", matrix=form).fit(X, y) for form in ([1, 2, 3], np.diag([1, 2, 3]))]
    assert diagonal[0].objective_ == diagonal[1].objective_
    written[0].save(tmp_path / "model")
    assert np.array_equal(MKLClassifier.load(tmp_path / "model").matrix, matrix)
    for wrong, message in (
        (dict(regularizer="matrix", matrix=np.eye(4)), "matrix: 4 x 4 values, but there are 3 kernels"),
        (dict(regularizer="matrix", matrix=[[1, 2], [3]]), "expected a text or numbers"),
        (dict(regularizer="matrix", matrix="[[1,2],[3]]"), "expected an array of rows"),
        (dict(regularizer="mixed", groups=["a"]), "1 groups for 3 kernels"),
        (dict(regularizer="mixed", groups="[1"), "expected an array of texts"),
    ):
        with pytest.raises(ValueError, match=message):
            MKLClassifier(specs, **wrong).fit(X, y)


def test_several_labels_go_through_scikit_learn(iris):
    X, y = iris
    labels = np.column_stack([y > 0, y > 1, X[:, 0] > 5.8]).astype(int)
    for several in (OneVsRestClassifier(MKLClassifier()), MultiOutputClassifier(MKLClassifier())):
        assert np.mean(several.fit(X, labels).predict(X) == labels) > 0.95
