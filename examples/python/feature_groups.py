"""
Which groups of features matter
===============================

One kernel per group of columns and the sparse norm p = 1: groups that do not help get weight zero.
"""
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from kweave import MKLClassifier, kernels

data = load_breast_cancer(as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
X.columns = [name.replace(" ", "_") for name in X.columns]

groups = {kind: [c for c in X.columns if kind in c] for kind in ("mean", "error", "worst")}
groups["noise"] = [f"noise_{j}" for j in range(10)]
rng = np.random.default_rng(0)
for column in groups["noise"]:
    X[column] = rng.normal(size=len(X))

clf = MKLClassifier([kernels.RBF(features=columns, name=name) for name, columns in groups.items()], norm=1, C=0.1)
clf.fit(X, data.target)
for name, weight in zip(clf.kernel_names_, clf.kernel_weights_):
    print(f"{weight:6.3f}  {name}")
assert clf.kernel_weights_[clf.kernel_names_.index("noise")] < 0.05
