"""Kernels of the core's table against those of scikit-learn, and as classes."""
import numpy as np
import pytest
from scipy import sparse
from sklearn import gaussian_process
from sklearn.metrics import pairwise

from kweave import MKLClassifier, MKLTransformer, _core, kernels

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
