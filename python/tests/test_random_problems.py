"""Random options and data: a clear error or a certified answer, never a crash."""
import warnings

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from kweave import KernelStack, MKLClassifier, Views, kernels

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
        "method": st.sampled_from(["auto", "auto", "auto", "analytic", "silp"]),
        "certificate": st.sampled_from(["auto", "table", "direct"]),
        "max_iterations": st.sampled_from([0, 0, 1, 5]),
        "class_weight": st.sampled_from([None, "balanced"]),
        "probability": st.booleans(),
        "n_jobs": st.sampled_from([None, 1, 2]),
        "random_state": st.sampled_from([None, 7]),
    }
)

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


@settings(
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)
@given(OPTIONS, DATA)
def test_error_or_certified_answer(options, data):
    X, y, weight = make(data)
    clf = MKLClassifier(**options, time_limit=2)  # values around 1e16 beside 1 may take minutes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)  # indefinite matrices are named so
        try:
            clf.fit(X, y, sample_weight=weight)
        except ValueError as error:
            assert str(error)
            return
    assert np.isfinite(clf.duality_gap_) and clf.duality_gap_ >= 0
    if clf.status_ == "converged":
        assert clf.duality_gap_ <= clf.gap
    assert np.isfinite(clf.kernel_weights_).all() and (clf.kernel_weights_ >= 0).all()
    values = clf.decision_function(X)
    assert np.isfinite(values).all()
    assert np.isin(clf.predict(X), clf.classes_).all()
    if clf.probability:
        assert np.allclose(clf.predict_proba(X).sum(axis=1), 1)
