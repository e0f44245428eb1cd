"""
Which description of a digit matters?
=====================================

Handwritten digits, described in five ways: by frequencies, edges, profiles and moments of their images, and by ten numbers of noise. Each
description was made of some of the images only and in an order of its own, so the views are joined by id. Every view gets its own kernels;
the picture shows what each is worth alone, and what share it has in the function that is learned from all of them.
"""
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold, cross_val_score

from kweave import MKLClassifier, SourceSharesDisplay, Views

images, y = load_digits(return_X_y=True)
images, y = images[::3].reshape(-1, 8, 8) / 16, y[::3]
rng = np.random.default_rng(0)


def edges(images):
    """Strengths of edges in four directions, over the four quarters of an image."""
    down, right = np.gradient(images, axis=(1, 2))
    strength, angle = np.hypot(right, down), np.arctan2(down, right) % np.pi
    parts = [np.where(angle // (np.pi / 4) == k, strength, 0).reshape(-1, 2, 4, 2, 4) for k in range(4)]
    return np.concatenate([part.sum(axis=(2, 4)).reshape(len(images), -1) for part in parts], axis=1)


def moments(images):
    row, column = np.mgrid[:8, :8] / 7 - 0.5
    powers = [(p, q) for p in range(4) for q in range(4 - p)]
    return np.stack([(images * row**p * column**q).sum(axis=(1, 2)) for p, q in powers], axis=1)


descriptions = {
    "frequencies": np.abs(np.fft.rfft2(images)).reshape(len(images), -1),
    "edges": edges(images),
    "profiles": np.hstack([images.sum(axis=1), images.sum(axis=2)]),
    "moments": moments(images),
    "noise": rng.normal(size=(len(images), 10)),
}
made = {name: rng.permutation(len(images))[: len(images) - 5] for name in descriptions}  # each lacks five images
X = Views({name: values[made[name]] for name, values in descriptions.items()}, ids=made, drop=True)
y = y[X.ids]
print(X)

folds = StratifiedKFold(3, shuffle=True, random_state=0)
clf = MKLClassifier(C=10, norm=1, gap=1e-2)
alone = {name: cross_val_score(clf, values, y, cv=folds).mean() for name, values in X.items()}
together = cross_val_score(clf, X, y, cv=folds).mean()
shares = clf.fit(X, y).source_shares_
for name, accuracy in alone.items():
    print(f"{name:<12} alone: accuracy {accuracy:.3f}, together: share {shares[name]:.2f}")
print(f"together: accuracy {together:.3f}")
assert together > max(alone.values()) + 0.01 and shares["noise"] < 0.05 < shares["edges"]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.barh(list(alone), list(alone.values()))
left.invert_yaxis()
left.axvline(together, linestyle=":", color="0.3")
left.set_xlabel("accuracy alone (dotted: all together)")
SourceSharesDisplay.from_estimator(clf, ax=right)
plt.show()
