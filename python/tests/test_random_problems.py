"""Random options and data: a clear error or a certified answer, never a crash."""
import warnings

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from kweave import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor, Views, kernels

KERNELS = st.one_of(
    st.none(),
    st.lists(
        st.sampled_from(
            [
                "linear",
                "rbf",
                "rbf(gamma=[0.01,1,100])",
                "rbf(gamma=median*4)",
                "laplacian",
                "tanimoto",
                "poly(degree=1..3)",
                "each(rbf)",
                "each(linear)",
                "rbf*linear",
                "mean(rbf,linear)",
                "chi2",
                "intersection",
                "rbf(gamma=-1)",
                "nonsense",
                kernels.RBF(10.0, features=[0]),
                kernels.Callable(lambda A, B: np.asarray((A @ B.T)) if not sparse.issparse(A) else (A @ B.T).toarray()),
            ]
        ),
        min_size=1,
        max_size=3,
        unique_by=str,
    ),
)

OPTIONS = st.fixed_dictionaries(
    {
        "kernels": KERNELS,
        "C": st.sampled_from([1e-6, 0.1, 1, 1000, 1e9, 0, -1]),
        "norm": st.sampled_from([1, 1.001, 4 / 3, 2, 100, np.inf, "inf", 0.5]),
        "normalize": st.sampled_from(["auto", "none", "trace", "spherical", "center", "spherical,center", "luck"]),
        "gap": st.sampled_from([0.5, 1e-2, 1e-3, 1e-5, 0]),
        "method": st.sampled_from(["auto", "auto", "auto", "analytic", "silp", "level", "cutting-plane", "spg", "lbfgs"]),
        "driver": st.sampled_from(["auto", "auto", "wrapper", "interleaved"]),
        "solver": st.sampled_from(["auto", "auto", "smo", "block", "linear"]),
        "bias": st.sampled_from([True, True, False]),
        "combine": st.sampled_from(["sum", "sum", "sum", "sum", "product"]),
        "block_norm": st.sampled_from([0, 0, 0, 1, 1.5, 2, 4, "inf", 0.5]),
        "regularizer": st.sampled_from(["norm", "norm", "norm", "elastic", "mixed"]),
        "groups": st.sampled_from(["", "view", "spec"]),
        "penalty": st.sampled_from([0, 0, 0, 0.5, -1]),
        "certificate": st.sampled_from(["auto", "table", "direct"]),
        "max_iterations": st.sampled_from([0, 0, 1, 5]),
        "n_jobs": st.sampled_from([None, 1, 2]),
        "random_state": st.sampled_from([None, 7]),
    }
)

CLASSIFIER_OPTIONS = st.fixed_dictionaries(
    {
        "loss": st.sampled_from(["auto", "auto", "squared-hinge", "smoothed-hinge", "logistic", "least-squares", "squared"]),
        "multiclass": st.sampled_from(["auto", "ovr", "ovo", "joint"]),
        "machine_weights": st.sampled_from(["own", "own", "common"]),
        "class_kernels": st.sampled_from([None, None, ["identity", "blocks"]]),
        "class_weight": st.sampled_from([None, "balanced"]),
        "probability": st.booleans(),
    }
)
REGRESSOR_OPTIONS = st.fixed_dictionaries(
    {
        "loss": st.sampled_from(["auto", "epsilon-insensitive", "squared", "hinge"]),
        "epsilon": st.sampled_from([0, 0.1, 10, -1]),
    }
)
ONE_CLASS_OPTIONS = st.fixed_dictionaries({"nu": st.sampled_from([0.01, 0.5, 1, 0, 2])})
# A problem with many options at unusual values is mostly refused; most draws change a few of them.
SOME = st.sets(st.integers(0, 40), max_size=12)

DATA = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 1000),
        "samples": st.integers(2, 40),
        "features": st.integers(1, 6),
        "classes": st.integers(1, 4),
        "scale": st.sampled_from([1e-8, 1.0, 1e8]),
        "offset": st.sampled_from([0.0, 1.0, 1e6]),
        "kind": st.sampled_from(["float64", "float32", "sparse", "views", "stack", "constant", "repeated"]),
        "weights": st.sampled_from(["none", "random", "zeros"]),
    }
)


def make(data):
    """Samples of some kind, classes and weights."""
    rng = np.random.default_rng(data["seed"])
    X = data["offset"] + data["scale"] * rng.normal(size=(data["samples"], data["features"]))
    y = rng.integers(0, data["classes"], data["samples"])
    kind = data["kind"]
    if kind == "float32":
        X = X.astype(np.float32)
    elif kind == "sparse":
        X = sparse.random(*X.shape, density=0.4, format="csr", random_state=data["seed"])
    elif kind == "views":
        X = Views({"data": X, "more": np.abs(X[:, :1])})
    elif kind == "stack":
        X = KernelStack({"a": X @ X.T, "b": np.eye(len(X))})
    elif kind == "constant":
        X = np.full_like(X, data["offset"])
    elif kind == "repeated":
        X = X[rng.integers(0, 3, len(X)) % len(X)]
    weight = None if data["weights"] == "none" else rng.uniform(size=len(y))
    if data["weights"] == "zeros":
        weight = np.where(weight < 0.3, 0, weight)
    return X, y, weight


def some_of(options, chosen):
    """The options at the chosen positions; the others keep their defaults."""
    return {name: value for k, (name, value) in enumerate(options.items()) if k in chosen or name == "kernels"}


def check(estimator, X, y, weight):
    """A clear error, or a certified answer that can be used; whether it was an answer."""
    estimator.set_params(time_limit=2)  # values around 1e16 beside 1 may take minutes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)  # indefinite matrices are named so
        try:
            estimator.fit(X, y, sample_weight=weight)
        except ValueError as error:
            assert str(error)
            return False
        except RuntimeError as error:
            assert "time limit" in str(error)
            return False
    assert np.isfinite(estimator.duality_gap_) and estimator.duality_gap_ >= 0
    if estimator.status_ == "converged" and estimator.combine == "sum":
        assert estimator.duality_gap_ <= estimator.gap
    assert np.isfinite(estimator.kernel_weights_).all() and (estimator.kernel_weights_ >= 0).all()
    assert np.isfinite(estimator.predict(X).astype(float)).all()
    parts = estimator.decision_function_by_kernel(X)
    assert np.isfinite(parts).all() and parts.shape[-1] == len(estimator.kernel_names_)
    return True


def random_problems(own_options, count):
    def decorate(test):
        limits = settings(
            max_examples=count, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
        )
        return limits(given(OPTIONS, own_options, SOME, DATA)(test))

    return decorate


@random_problems(CLASSIFIER_OPTIONS, 200)
def test_classifier(options, own, chosen, data):
    X, y, weight = make(data)
    clf = MKLClassifier(**some_of({**options, **own}, chosen))
    if not check(clf, X, y, weight):
        return
    assert np.isfinite(clf.decision_function(X)).all()
    assert np.isin(clf.predict(X), clf.classes_).all()
    if hasattr(clf, "predict_proba"):
        probabilities = clf.predict_proba(X)
        assert np.allclose(probabilities.sum(axis=1), 1)
        assert np.array_equal(clf.classes_[probabilities.argmax(axis=1)], clf.predict(X))


@random_problems(REGRESSOR_OPTIONS, 100)
def test_regressor(options, own, chosen, data):
    X, y, weight = make(data)
    check(MKLRegressor(**some_of({**options, **own}, chosen)), X, y * data["scale"], weight)


@random_problems(ONE_CLASS_OPTIONS, 100)
def test_one_class(options, own, chosen, data):
    X, _, weight = make(data)
    check(MKLOneClass(**some_of({**options, **own}, chosen)), X, None, weight)
