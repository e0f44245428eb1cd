"""
Gram matrices in a grid search
==============================

Kernels that were computed elsewhere go through scikit-learn's model selection as they are: a stack of Gram matrices slices
by sample, rows and columns together, and no value is copied. The estimator may also hold them; samples are then indices.
"""
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics.pairwise import cosine_similarity, laplacian_kernel, polynomial_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale

from kweave import KernelStack, MKLClassifier

X, y = load_wine(return_X_y=True)
X = scale(X)
stack = KernelStack(
    {"cosine": cosine_similarity(X), "cubic": polynomial_kernel(X, degree=3), "laplace": laplacian_kernel(X)}
)
grid = {"C": [0.1, 1, 10], "norm": [1, 2, "inf"]}

search = GridSearchCV(MKLClassifier(), grid, cv=5).fit(stack, y)
print("stack:  ", search.best_params_, f"{search.best_score_:.3f}")

indices = GridSearchCV(MKLClassifier(stack), grid, cv=5).fit(np.arange(len(y)), y)
print("indices:", indices.best_params_, f"{indices.best_score_:.3f}")
assert search.best_score_ == indices.best_score_ > 0.95

best = search.best_estimator_
new = KernelStack({name: gram[:3, best.support_] for name, gram in stack.items()})  # columns of support vectors only
print("from support vectors alone:", best.predict(new))
