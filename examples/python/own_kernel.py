"""
A kernel of your own
====================

Any function of two sets of samples is a kernel, as long as it is symmetric and positive semidefinite; it may stand beside
the built-in ones.
"""
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel

from kweave import MKLClassifier, kernels

X, y = load_digits(n_class=2, return_X_y=True)


def mirrored(A, B):
    """Images that are alike after a flip from left to right."""
    flip = np.arange(64).reshape(8, 8)[:, ::-1].ravel()
    return rbf_kernel(A, B, gamma=1e-3) + rbf_kernel(A[:, flip], B, gamma=1e-3)


clf = MKLClassifier([kernels.RBF(), mirrored], C=10).fit(X[::2], y[::2])
for name, weight in zip(clf.kernel_names_, clf.kernel_weights_):
    print(f"{weight:.2f} {name}")
print(f"accuracy {clf.score(X[1::2], y[1::2]):.3f}")
assert clf.score(X[1::2], y[1::2]) > 0.98
