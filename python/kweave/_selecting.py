"""Estimators that choose C and norm by cross-validation, on the warm paths of the core."""
from __future__ import annotations

import inspect
import json
import re
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, check_cv

from . import _core
from ._classifier import MKLClassifier
from ._regressor import MKLRegressor
from ._run import make_run

#: Parameters of the plain estimators that a selection chooses or does without.
_CHOSEN = ("C", "norm", "probability", "warm_start")
#: Names of scikit-learn for scores of the core.
_SCORES = {
    "roc_auc": "auc",
    "matthews_corrcoef": "mcc",
    "f1_macro": "f1",
    "neg_log_loss": "log_loss",
    "neg_root_mean_squared_error": "rmse",
    "neg_mean_absolute_error": "mae",
}

_GRID = """
    Cs : sequence of float, default=(0.1, 1.0, 10.0)
        Values of C to try.
    norms : sequence of float or 'inf', default=(1.0, 2.0, 'inf')
        Norms on the kernel weights to try, all with every C.
    cv : int, splitter or iterable of splits, default=None
        As in scikit-learn; None: 5 folds, stratified for classes, fewer where a class has fewer samples.
    scoring : str, default=None
        Score of the core, such as 'accuracy', 'balanced_accuracy', 'auc', 'r2' or 'mae'; None: 'accuracy' or 'r2'.
    rule : {'best', 'one-standard-error'}, default='best'
        Which point is chosen: the best mean, or of all within one standard error of it the one with the fewest
        kernels, then the smallest C.
"""


def _with_grid(kind):
    """The class with a constructor that takes the grid beside what its parent takes, and both in its docstring."""
    parent = inspect.signature(kind.__mro__[2].__init__).parameters
    kept = [one.replace(kind=one.KEYWORD_ONLY) for name, one in parent.items() if name != "self" and name not in _CHOSEN]
    own = inspect.signature(_Selecting.__init__).parameters.values()
    signature = inspect.Signature([*own, *kept], return_annotation="None")

    def __init__(self, *arguments, **named):
        bound = signature.bind(self, *arguments, **named)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            if name != "self":
                setattr(self, name, value)

    __init__.__signature__ = signature
    kind.__init__ = __init__
    if kind.__doc__:  # python -OO has none
        text = kind._described
        for name in _CHOSEN:
            text = re.sub(rf"    {name} : .*\n(?:        .*\n)*", "", text)
        kind.__doc__ = kind.__doc__.replace("    {parameters}\n", (_GRID + text.lstrip("\n")).lstrip("\n")[:-4])
    return kind


class _Selecting:
    """What both share; before the plain estimator in the order of bases."""

    probability = False
    warm_start = False

    Cs: Sequence[float]
    norms: Sequence[float | str]
    cv: Any
    scoring: str | None
    rule: str
    C_: float
    norm_: float
    best_score_: float
    scores_: NDArray[np.float64]
    cv_results_: dict[str, Any]
    selection_: dict[str, Any]

    def __init__(
        self,
        Cs: Sequence[float] = (0.1, 1.0, 10.0),
        norms: Sequence[float | str] = (1.0, 2.0, "inf"),
        cv: Any = None,
        scoring: str | None = None,
        rule: str = "best",
    ) -> None:
        raise NotImplementedError  # the classes below have constructors of their own

    if not TYPE_CHECKING:  # for type checkers they are the attributes of the plain estimators

        @property
        def C(self) -> float:
            """What was chosen."""
            return getattr(self, "C_", 1.0)

        @property
        def norm(self) -> float:
            """What was chosen."""
            return getattr(self, "norm_", 2.0)

    def _folds(self, training):
        """Pairs of positions among the samples of `training`, where equal samples are one and so on one side."""
        is_classifier = self._task == "classify"
        if self.cv is None:
            smallest = np.bincount(training.y.astype(int)).min() if is_classifier else len(training.y)
            count = max(2, min(5, int(smallest)))
            splitter = StratifiedKFold(count) if is_classifier and smallest > 1 else KFold(count)
            yield from splitter.split(training.y, training.y)
            return
        y = training.y[training.place]  # as given: splits name samples by where they are there
        for train, test in check_cv(self.cv, y, classifier=is_classifier).split(np.zeros((len(y), 1)), y):
            tested = np.unique(training.place[test])
            yield np.setdiff1d(training.place[train], tested), tested

    def _train(self, training, start=None, class_weights=()):
        options = self._options(training.samples)
        options["class_weights"] = list(class_weights)
        if np.any(training.weight != 1):
            options["sample_weights"] = training.weight
        data = training.samples.to_core(self._training_matrices(training.samples, self._callables()))
        grid = {
            "C": [float(C) for C in self.Cs],
            "norm": [float(norm) for norm in self.norms],
        }
        if self.scoring is not None and not isinstance(self.scoring, str):
            raise ValueError(f"scoring is {self.scoring!r}, expected the name of a score, or None")
        score = _SCORES.get(self.scoring, self.scoring) or "auto"
        folds = [(train.tolist(), test.tolist()) for train, test in self._folds(training)]
        run, targets = make_run(self, self.callback), training.y.astype(np.float64)
        found = json.loads(_core.select(data, targets, self._class_names(), options, grid, folds, score, self.rule, run))
        self._note_selection(found)
        return super()._train(training, start, class_weights)

    def _note_selection(self, found):
        points = found["points"]
        chosen = points[found["chosen"]]
        self.selection_ = found
        self.C_, self.norm_ = chosen["values"]["C"], float(chosen["values"]["norm"])
        self.best_score_ = chosen["score"]
        self.scores_ = np.array([point["fold_scores"] for point in points]).reshape(len(self.Cs), len(self.norms), -1)
        means = np.array([point["score"] for point in points])
        order = means if found["smaller_is_better"] else -means
        self.cv_results_ = {
            "params": [{"C": point["values"]["C"], "norm": float(point["values"]["norm"])} for point in points],
            "mean_test_score": means,
            "std_test_score": self.scores_.std(axis=2).ravel(),
            "rank_test_score": np.array([1 + int((order < own).sum()) for own in order], dtype=np.int32),
        }


@_with_grid
class MKLClassifierCV(_Selecting, MKLClassifier):
    """`MKLClassifier` that chooses C and norm by cross-validation.

    All points are trained on the same folds, along paths on which every point starts from the last one and kernels are
    computed once, which costs far less than `GridSearchCV` over `MKLClassifier`; that takes any other parameter.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    C_ : float
        The C chosen.
    norm_ : float
        The norm chosen.
    best_score_ : float
        Mean score of the point chosen, over the folds.
    scores_ : ndarray of shape (n_Cs, n_norms, n_folds)
        All scores.
    cv_results_ : dict
        'params', 'mean_test_score', 'std_test_score' and 'rank_test_score', as `GridSearchCV` has them.
    selection_ : dict
        All that ``kweave select`` would write.

    See Also
    --------
    MKLClassifier : All other attributes and methods.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kweave import MKLClassifierCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = MKLClassifierCV(Cs=[1, 10], norms=[1, 2], cv=3).fit(X, y)
    >>> clf.best_score_ > 0.95
    True
    """


@_with_grid
class MKLRegressorCV(_Selecting, MKLRegressor):
    """`MKLRegressor` that chooses C and norm by cross-validation.

    All points are trained on the same folds, along paths on which every point starts from the last one and kernels are
    computed once, which costs far less than `GridSearchCV` over `MKLRegressor`; that takes any other parameter.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    C_ : float
        The C chosen.
    norm_ : float
        The norm chosen.
    best_score_ : float
        Mean score of the point chosen, over the folds.
    scores_ : ndarray of shape (n_Cs, n_norms, n_folds)
        All scores.
    cv_results_ : dict
        'params', 'mean_test_score', 'std_test_score' and 'rank_test_score', as `GridSearchCV` has them.
    selection_ : dict
        All that ``kweave select`` would write.

    See Also
    --------
    MKLRegressor : All other attributes and methods.

    Examples
    --------
    >>> import numpy as np
    >>> from kweave import MKLRegressorCV
    >>> X = np.random.RandomState(0).uniform(0, 6, (100, 1))
    >>> MKLRegressorCV(Cs=[1, 10], norms=[2]).fit(X, np.sin(X.ravel())).best_score_ > 0.9
    True
    """
