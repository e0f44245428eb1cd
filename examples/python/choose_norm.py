"""
Model selection over the norm
=============================

p = 1 keeps few kernels, p = infinity adds all of them up. Which is right depends on how many of them are useful, so it
is chosen by cross-validation beside C; the outer loop says how good the whole procedure is.
"""
import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score

from kweave import MKLClassifier

X, y = make_classification(300, 20, n_informative=3, n_redundant=0, class_sep=0.8, shuffle=False, random_state=4)
order = np.random.default_rng(0).permutation(len(y))  # the first three features stay those that matter
X, y = X[order], y[order]
grid = {"norm": [1, 2, np.inf], "C": [0.1, 1]}
search = GridSearchCV(MKLClassifier("each(rbf)", gap=1e-2), grid, cv=3)

scores = cross_val_score(search, X, y, cv=3)
search.fit(X, y)
for norm in grid["norm"]:
    mean = search.cv_results_["mean_test_score"][search.cv_results_["param_norm"] == norm].max()
    print(f"norm {norm:5.3g}: accuracy {mean:.3f}")
print("chosen:", search.best_params_, f"nested accuracy {scores.mean():.3f}")
useful = search.best_estimator_.kernel_weights_[:3].sum() / search.best_estimator_.kernel_weights_.sum()
print(f"share of the weight on the three features that matter: {useful:.2f}")
assert useful > 0.2  # 0.15 if all features were alike
