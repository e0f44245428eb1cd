"""Accuracy and processor time beside what else a Python user would try, by one protocol for all.

Five folds outside, the same for all; features are scaled by the training samples of a fold. 'default' is what a program does without being
asked, 'chosen' has its parameters chosen by three folds inside. Programs for one source get the views side by side. MKLpy and himalaya
are left out where they are not installed, real views where KWEAVE_DATA does not name their folder.
"""
import importlib.util
import time

import datasets
import numpy as np
from measure import Row
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

COSTS = [0.1, 1, 10]


def real_views(names):
    """Views of the same samples from the folder of real data."""
    from kweave import Views

    parts = {name.split(".")[-1]: datasets.real(name) for name in names}
    labels = next(iter(parts.values()))[1]
    return Views({name: matrix.toarray() for name, (matrix, _) in parts.items()}), labels


def made(samples, features, classes, noise, seed):
    return make_classification(samples, features, n_informative=min(features, 8), n_redundant=0, n_classes=classes,
                               n_clusters_per_class=1, flip_y=noise, class_sep=0.8, random_state=seed)


def half_digits():
    X, y = load_digits(return_X_y=True)
    return X[::2], y[::2]


#: Names, and what gives samples and classes.
SETS = {
    "heart, like it (270 x 13, made)": lambda: made(270, 13, 2, 0.15, 0),
    "breast_cancer (569 x 30)": lambda: load_breast_cancer(return_X_y=True),
    "german, like it (1000 x 24, made)": lambda: made(1000, 24, 2, 0.3, 1),
    "vowel, like it (990 x 10, made)": lambda: made(990, 10, 11, 0, 2),
    "digits (899 x 64)": half_digits,
    "three views of brains (rosmap)": lambda: real_views(["rosmap.v1", "rosmap.v2", "rosmap.v3"]),
    "five views of digits (mfeat)": lambda: real_views([f"mfeat.{name}" for name in ("fac", "fou", "kar", "mor", "zer")]),
}


def side_by_side(X):
    """All views as one matrix."""
    return np.hstack(list(X.values())) if hasattr(X, "keys") else X


class SummedKernels(ClassifierMixin, BaseEstimator):
    """What programs of Gram matrices get: a linear kernel and Gaussians of three widths of each view, one against the rest."""

    def __init__(self, program="easymkl", strength=1.0):
        self.program = program
        self.strength = strength

    def _grams(self, X):
        grams = []
        for name, train in self.train_.items():
            new, width = (X[name] if hasattr(X, "keys") else X), 1 / train.shape[1]
            grams += [linear_kernel(new, train) * width, *(rbf_kernel(new, train, gamma=factor * width) for factor in (0.25, 1, 4))]
        return grams

    def fit(self, X, y):
        self.train_ = dict(X) if hasattr(X, "keys") else {"data": X}
        self.classes_ = np.unique(y)
        grams = self._grams(X)
        if self.program == "easymkl":
            import torch
            from MKLpy.algorithms import EasyMKL

            grams = [torch.tensor(gram) for gram in grams]
            self.machines_ = [EasyMKL(lam=self.strength).fit(grams, torch.tensor((y == label) * 2 - 1)) for label in self.classes_]
        else:
            from himalaya.kernel_ridge import MultipleKernelRidgeCV

            targets = np.where(y[:, None] == self.classes_, 1.0, -1.0)
            self.machine_ = MultipleKernelRidgeCV(kernels="precomputed", random_state=0).fit(np.stack(grams), targets)
        return self

    def predict(self, X):
        grams = self._grams(X)
        if self.program == "easymkl":
            import torch

            values = np.column_stack([np.asarray(machine.decision_function([torch.tensor(gram) for gram in grams])).ravel()
                                      for machine in self.machines_])
        else:
            values = np.asarray(self.machine_.predict(np.stack(grams)))
        return self.classes_[values.argmax(axis=1)]


def programs():
    """(name, estimator, grid); no grid: as it comes."""
    from kweave import MKLClassifier, ViewTransformer, Views

    join = FunctionTransformer(side_by_side)
    scale = make_pipeline(join, StandardScaler())

    def views_scaled(last):
        as_views = FunctionTransformer(lambda X: X if isinstance(X, Views) else Views({"data": X}))
        return make_pipeline(as_views, ViewTransformer(StandardScaler()), last)

    yield "kweave, default", views_scaled(MKLClassifier()), None
    yield "kweave, chosen", views_scaled(MKLClassifier()), {"mklclassifier__C": COSTS, "mklclassifier__norm": [1, 2, "inf"]}
    yield "SVC, default", make_pipeline(scale, SVC()), None
    yield "SVC, chosen", make_pipeline(scale, SVC()), {"svc__C": COSTS, "svc__gamma": ["scale", 0.001, 0.01, 0.1]}
    yield "LogisticRegression, default", make_pipeline(scale, LogisticRegression(max_iter=2000)), None
    yield "LogisticRegression, chosen", make_pipeline(scale, LogisticRegression(max_iter=2000)), {"logisticregression__C": COSTS}
    yield "HistGradientBoosting, default", make_pipeline(join, HistGradientBoostingClassifier(random_state=0)), None
    for program, module in (("easymkl", "MKLpy"), ("himalaya", "himalaya")):
        if importlib.util.find_spec(module) is None:
            print(f"skipped: {module} is not installed")
            continue
        yield f"{program}, default", views_scaled(SummedKernels(program)), None
        if program == "easymkl":
            yield "easymkl, chosen", views_scaled(SummedKernels(program)), {"summedkernels__strength": [0, 0.1, 0.5, 1]}


def sets(quick):
    """One row for each set and program: accuracy with its standard error over the folds, processor seconds of all folds."""
    for name in list(SETS)[:2] if quick else SETS:
        try:
            X, y = SETS[name]()
        except datasets.Missing as missing:
            print(missing)
            continue
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        for program, model, grid in programs():
            if grid is not None:
                model = GridSearchCV(model, grid, cv=StratifiedKFold(3, shuffle=True, random_state=1))
            begin, cpu = time.perf_counter(), time.process_time()
            scores = cross_val_score(model, X, y, cv=folds)
            error = scores.std(ddof=1) / np.sqrt(len(scores))
            yield Row("P1", name, program, time.perf_counter() - begin, cpu_seconds=time.process_time() - cpu,
                      accuracy=scores.mean(), bound=f"standard error {error:.4f}")
