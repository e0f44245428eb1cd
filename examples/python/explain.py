"""
Why was this sample predicted so?
=================================

The decision of a sum of kernels is a sum of decisions, one per kernel. Beside it, the displays: weights, convergence, and
how alike the kernels are.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from kweave import ConvergenceDisplay, KernelAlignmentDisplay, KernelWeightsDisplay, MKLClassifier, kernels

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
groups = {"size": [0, 2, 3, 20, 22, 23], "texture": [1, 21], "shape": [4, 5, 6, 7, 24, 25, 26, 27]}
clf = MKLClassifier([kernels.RBF(features=f, name=name) for name, f in groups.items()]).fit(X, y)

parts = clf.decision_function_by_kernel(X[:3])
for i, row in enumerate(parts):
    told = ", ".join(f"{name} {value:+.2f}" for name, value in zip(clf.kernel_names_, row))
    print(f"sample {i}: {told}, bias {clf.intercept_[0]:+.2f}: {clf.predict(X[i : i + 1])[0]}")
assert np.allclose(parts.sum(axis=1) + clf.intercept_, clf.decision_function(X[:3]))

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
KernelWeightsDisplay.from_estimator(clf, ax=axes[0])
ConvergenceDisplay.from_estimator(clf, ax=axes[1])
KernelAlignmentDisplay.from_estimator(clf, X, y, ax=axes[2])
plt.show()
