"""
Several views of the same samples
=================================

Two sources describe the same patients, a third is noise; each lacks some patients. The views are joined by id, every one
gets its own kernels, and the weights say which source mattered.
"""
import numpy as np

from kweave import MKLClassifier, Views, kernels

rng = np.random.default_rng(0)
n = 300
ids = np.array([f"patient{i:03}" for i in range(n)])
y = rng.integers(0, 2, n)
rna = rng.normal(size=(n, 50)) + 0.5 * y[:, None] * (np.arange(50) < 5)
image = rng.normal(size=(n, 10))
image[:, 0] += np.where(y == 1, 1.0, -1.0)
noise = rng.normal(size=(n, 30))

have_rna, have_image = ids[:280], ids[20:][::-1]  # in another order, too
X = Views(
    {"rna": rna[:280], "image": image[20:][::-1], "noise": noise},
    ids={"rna": have_rna, "image": have_image, "noise": ids},
    drop=True,  # samples that a source lacks
)
labels = dict(zip(ids, y))
y = np.array([labels[name] for name in X.ids])
print(X)

clf = MKLClassifier([kernels.Linear(view=v) for v in ("rna", "image", "noise")], norm=1, C=0.1)
clf.fit(X[:200], y[:200])
for name, weight in zip(clf.kernel_names_, clf.kernel_weights_):
    print(f"{weight:6.3f}  {name}")
print(f"accuracy on {len(y) - 200} new patients: {clf.score(X[200:], y[200:]):.3f}, gap {clf.duality_gap_:.1e}")
assert clf.kernel_weights_[2] < 0.2 * clf.kernel_weights_[:2].max()
