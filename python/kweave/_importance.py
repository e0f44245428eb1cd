"""How much a fitted estimator needs each view."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import check_scoring
from sklearn.utils import Bunch, check_random_state

from ._containers import Views


def view_importance(
    estimator: Any,
    X: Views,
    y: ArrayLike,
    *,
    scoring: Any = None,
    n_repeats: int = 5,
    random_state: Any = None,
) -> Bunch:
    """Permutation importance of whole views: what the score loses when the samples of one view are shuffled.

    `sklearn.inspection.permutation_importance` shuffles single features, of which others of the same view may know as much.

    Parameters
    ----------
    estimator : fitted estimator
        Any that takes `Views`, such as a pipeline with a `ViewTransformer`.
    X : Views
        Samples, best those that the estimator was not fitted to.
    y : array-like of shape (n_samples,)
        Their targets.
    scoring : str or callable, default=None
        What the score is, as in scikit-learn; None: the estimator's own.
    n_repeats : int, default=5
        How often each view is shuffled.
    random_state : int, RandomState instance or None, default=None
        Shuffles.

    Returns
    -------
    importance : Bunch
        'views' (names), 'importances' (of shape (n_views, n_repeats)), 'importances_mean' and 'importances_std'.

    Examples
    --------
    >>> import numpy as np
    >>> from kweave import MKLClassifier, Views, view_importance
    >>> rng = np.random.default_rng(0)
    >>> X = Views({"useful": rng.normal(size=(90, 3)), "noise": rng.normal(size=(90, 3))})
    >>> y = X["useful"][:, 0] > 0
    >>> found = view_importance(MKLClassifier().fit(X[:60], y[:60]), X[60:], y[60:], random_state=0)
    >>> found.views[found.importances_mean.argmax()]
    'useful'
    """
    if not isinstance(X, Views):
        raise ValueError(f"X is {type(X).__name__}, expected Views; sklearn.inspection has permutation_importance of features")
    if n_repeats < 1:
        raise ValueError(f"n_repeats is {n_repeats}, expected 1 or more")
    score, random = check_scoring(estimator, scoring), check_random_state(random_state)
    whole = score(estimator, X, y)
    losses = np.empty((len(X.keys()), n_repeats))
    for v, name in enumerate(X):
        for repeat in range(n_repeats):
            shuffled = X.with_matrices({**X, name: X[name][random.permutation(len(X))]}, X.feature_names)
            losses[v, repeat] = whole - score(estimator, shuffled, y)
    return Bunch(
        views=list(X), importances=losses, importances_mean=losses.mean(axis=1), importances_std=losses.std(axis=1)
    )
