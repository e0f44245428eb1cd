"""
Regression at several scales
============================

A slow trend, a fast wave and noise. Gaussians of many widths find both scales in one training; the decision split by kernel
shows who explains what.
"""
import numpy as np

from kweave import MKLRegressor, kernels

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(0, 10, 300))[:, None]
truth = 0.5 * X.ravel() + np.sin(6 * X.ravel())
y = truth + rng.normal(scale=0.2, size=300)

clf = MKLRegressor([kernels.Linear(), kernels.RBF(np.logspace(-2, 2, 5))], C=10, epsilon=0.1).fit(X[::2], y[::2])
for name, weight in zip(clf.kernel_names_, clf.kernel_weights_):
    print(f"{weight:6.3f}  {name}")
print(f"R2 on the points between: {clf.score(X[1::2], truth[1::2]):.3f}, gap {clf.duality_gap_:.1e}")
assert clf.score(X[1::2], truth[1::2]) > 0.95

parts = clf.decision_function_by_kernel(X)
slow = parts[:, 0]
print(f"correlation of the linear part with the trend: {np.corrcoef(slow, X.ravel())[0, 1]:.3f}")
