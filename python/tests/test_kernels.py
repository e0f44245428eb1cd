"""Kernels of the core's table against those of scikit-learn, and as classes."""
import numpy as np
import pytest
from scipy import sparse
from sklearn import gaussian_process
from sklearn.base import clone
from sklearn.metrics import pairwise
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import GridSearchCV

from kweave import MKLClassifier, MKLTransformer, Views, _core, kernels

DATA = np.random.default_rng(5).uniform(size=(23, 4)).round(3)
DATA[3] = 0

# Kernels and what another package says they are.
ORACLES = [
    (kernels.Linear(), pairwise.linear_kernel),
    (kernels.Poly(degree=2, gamma=0.5, coef0=2), lambda X, Z: pairwise.polynomial_kernel(X, Z, 2, 0.5, 2)),
    (kernels.RBF(0.7), lambda X, Z: pairwise.rbf_kernel(X, Z, 0.7)),
    (kernels.Laplacian(0.7), lambda X, Z: pairwise.laplacian_kernel(X, Z, 0.7)),
    (kernels.Chi2(0.7), lambda X, Z: pairwise.chi2_kernel(X, Z, 0.7)),
    (kernels.Matern(1.5, 0.7), gaussian_process.kernels.Matern(0.7, nu=1.5)),
    (kernels.Matern(2.5, 0.7), gaussian_process.kernels.Matern(0.7, nu=2.5)),
    (kernels.RationalQuadratic(0.6, 0.7), gaussian_process.kernels.RationalQuadratic(0.7, 0.6)),
    (kernels.Periodic(0.3, 0.7, features=[1]), lambda X, Z: gaussian_process.kernels.ExpSineSquared(0.7, 0.3)(X[:, 1:2], Z[:, 1:2])),
    (kernels.Cosine(), pairwise.cosine_similarity),
]


def gram(kernel, X):
    """The kernel's matrix, as the core computes it."""
    learner = MKLTransformer(MKLClassifier(kernels=[kernel], normalize="none"), output="gram")
    return learner.fit(X, np.arange(len(DATA)) % 2).transform(X)


@pytest.mark.parametrize("kernel, oracle", ORACLES, ids=lambda value: str(value) if isinstance(value, kernels.Kernel) else "")
@pytest.mark.parametrize("make", [np.asarray, np.float32, sparse.csr_matrix], ids=["double", "single", "sparse"])
def test_values_are_those_of_scikit_learn(kernel, oracle, make):
    data = DATA.astype(np.float32).astype(float)
    assert np.allclose(gram(kernel, make(data)), oracle(data, data), rtol=1e-9, atol=1e-12)


def test_every_kernel_of_the_table_has_a_class():
    for kind in _core.kernel_table():
        if not kind["class_name"]:
            continue
        cls = getattr(kernels, kind["class_name"])
        assert issubclass(cls, kernels.Kernel) and str(cls()) == kind["name"]
        for parameter in kind["parameters"]:
            assert str(cls(**{parameter["name"]: 1.5})) == f"{kind['name']}({parameter['name']}=1.5)"
        with pytest.raises(TypeError):
            cls(no_such_parameter=1)


@pytest.fixture(scope="module")
def two_views():
    rng = np.random.default_rng(0)
    views = Views({"rna": rng.normal(size=(60, 3)), "my image": rng.normal(size=(60, 2))})
    return views, (views["rna"][:, 0] > 0).astype(int)


def test_kernels_of_each_view(two_views):
    X, y = two_views
    chosen = {"rna": kernels.RBF(1.0), "my image": ["linear", kernels.Linear() * kernels.RBF(2), "linear*linear", linear_kernel]}
    clf = MKLClassifier(chosen).fit(X, y)
    image = '@"my image"'
    assert clf.kernel_names_ == ["rbf(gamma=1)@rna", f"linear{image}", f"linear{image}*rbf(gamma=2){image}",
                                 f"linear{image}*linear{image}", "linear_kernel"]
    assert list(clf.source_shares_) == ["rna", "my image"]
    same = MKLClassifier([kernels.RBF(1.0, view="rna"), kernels.Linear(view="my image")]).fit(X, y)
    by_view = MKLClassifier({"rna": kernels.RBF(1.0), "my image": "linear"}).fit(X, y)
    np.testing.assert_array_equal(same.decision_function(X), by_view.decision_function(X))
    with pytest.raises(ValueError, match='no view "rnas"; did you mean "rna"'):
        MKLClassifier({"rnas": "rbf"}).fit(X, y)


def test_a_grid_reaches_parameters_of_kernels(two_views):
    X, y = two_views
    given = {"rna": kernels.RBF(1.0), "my image": [kernels.Linear(), kernels.Sum([kernels.RBF(2), "linear"], name="both")]}
    clf = MKLClassifier(given)
    assert clf.get_params()["kernels__rna__gamma"] == 1 and "kernels__rna__gamma" not in clf.get_params(deep=False)
    names = {"kernels__rna__gamma": 3, "kernels__my image__both__kernels__0__gamma": 5, "kernels__my image__0": "rbf", "C": 7}
    changed = clone(clf).set_params(**names)
    assert [str(kernel) for kernel in (changed.kernels["rna"], *changed.kernels["my image"])] == [
        "rbf(gamma=3)", "rbf", "(rbf(gamma=5)+linear, name=both)"]
    assert changed.C == 7 and changed.get_params()["kernels__rna__gamma"] == 3
    shared = MKLClassifier(given).set_params(kernels__rna__gamma=9)
    assert given["rna"].gamma == 1 and shared.kernels["rna"].gamma == 9  # what others hold stays as it is
    search = GridSearchCV(clf, {"kernels__rna__gamma": [0.1, [0.1, 1]]}, cv=2).fit(X, y)
    assert str(search.best_estimator_.kernels["rna"]) == str(kernels.RBF(search.best_params_["kernels__rna__gamma"]))
    GridSearchCV(MKLClassifier(kernels.RBF()), {"kernels__gamma": [0.1, "median"]}, cv=2).fit(X["rna"], y)
    for name in ("kernels__rnas", "kernels__rna__gama", "kernels__my image__2__gamma"):
        with pytest.raises(ValueError, match=f"Invalid parameter '{name}'"):
            clf.set_params(**{name: 1})
