"""
More than two classes
=====================

Handwritten digits, with kernels on the whole image and on its four quarters.
"""
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from kweave import MKLClassifier, kernels

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=700, random_state=0, stratify=y)

pixels = np.arange(64).reshape(8, 8)
quarters = {"top left": pixels[:4, :4], "top right": pixels[:4, 4:], "low left": pixels[4:, :4], "low right": pixels[4:, 4:]}
parts = [kernels.RBF(features=part.ravel(), name=name) for name, part in quarters.items()]

clf = MKLClassifier([kernels.RBF(["median", "median*4"], name="image"), *parts], C=10, multiclass="ovr").fit(X_train, y_train)
print(f"accuracy {clf.score(X_test, y_test):.3f}, largest gap of the machines {clf.duality_gap_:.1e}")
four = clf.machine_weights_[4]  # of the machine that tells fours from the rest
print("weights for digit 4:", ", ".join(f"{name} {weight:.2f}" for name, weight in zip(clf.kernel_names_, four)))
assert clf.score(X_test, y_test) > 0.96
