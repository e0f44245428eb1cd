"""
The width of a Gaussian without a grid search
=============================================

Fifty Gaussians from very wide to very narrow in one training, instead of fifty trainings: their weights choose the width.
"""
import time

import numpy as np
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from kweave import MKLClassifier, kernels

X, y = make_moons(600, noise=0.25, random_state=0)
train, test = np.arange(400), np.arange(400, 600)
widths = np.logspace(-3, 3, 50)

begin = time.perf_counter()
clf = MKLClassifier(kernels.RBF(widths), C=1).fit(X[train], y[train])
print(f"one training with 50 kernels: {time.perf_counter() - begin:.2f} s, accuracy {clf.score(X[test], y[test]):.3f}")

begin = time.perf_counter()
search = GridSearchCV(SVC(), {"gamma": widths}, cv=5).fit(X[train], y[train])
print(f"a grid of 50 widths:          {time.perf_counter() - begin:.2f} s, accuracy {search.score(X[test], y[test]):.3f}")

print("heaviest:", clf.kernel_names_[clf.kernel_weights_.argmax()])
assert clf.score(X[test], y[test]) > search.score(X[test], y[test]) - 0.03
