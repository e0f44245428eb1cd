"""The one-class machine."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._base import MKLEstimator
from ._bases import OutlierMixin
from ._compat import check_sample_weight
from ._parameters import OneClassParameters, described
from ._samples import prepare
from ._typing import SamplesLike


@described
class MKLOneClass(OneClassParameters, OutlierMixin, MKLEstimator):
    """One-class machine that learns its kernel as a weighted sum of many: what do normal samples look like?

    The answer is certified: `duality_gap_` bounds how far it is from the optimum.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    kernel_names_ : list of str
        Names of the kernels in the order given; above 10,000 kernels the heaviest 10,000.
    kernel_weights_ : ndarray of shape (n_kernels,)
        Their weights.
    machine_weights_ : ndarray of shape (1, n_kernels)
        The same as a row, as classifiers of several machines have it.
    kernel_weights_interval_ : ndarray of shape (n_kernels, 2)
        What `kernel_weights_` are at every optimum, at least and at most, certified as the gap is; NaN where nothing can
        be said.
    weight_shares_interval_ : ndarray of shape (n_kernels, 2)
        The same of the share of every kernel in the sum of all weights.
    source_weights_interval_ : dict of str to tuple of float
        The same of the sums over the kernels of every source.
    source_weight_shares_interval_ : dict of str to tuple of float
        The same of the shares of the sources in the sum of the weights.
    source_shares_ : dict of str to float
        Share of every source (view, or matrix of a `KernelStack`) in the squared norm of the function.
    duality_gap_ : float
        Certified relative duality gap.
    objective_ : float
        Primal objective.
    history_ : list of dict
        One entry per move of the weights: 'seconds', 'primal', 'dual', 'relative_gap', 'solves', 'inside_solve'.
    status_ : str
        'converged', 'iteration_limit', 'time_limit', 'stalled' or 'interrupted'.
    summary_ : dict
        The core's whole summary.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors in the training data.
    dual_coef_ : ndarray of shape (1, n_support)
        Their factors in the function.
    intercept_ : ndarray of shape (1,)
        The bias.
    coef_ : ndarray of shape (1, n_features), or dict of str to ndarray
        Weights of the features, where all kernels are linear; by view where the input was `Views`.
    offset_ : float
        ``decision_function = score_samples - offset_``.
    n_iter_ : int
        Moves of the kernel weights.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where the input had names.

    Examples
    --------
    >>> import numpy as np
    >>> from kweave import MKLOneClass
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> MKLOneClass("rbf", nu=0.1).fit(X).predict([[0, 0], [9, 9]])
    array([ 1, -1])
    """

    _task = "oneclass"

    def fit(self, X: SamplesLike, y: Any = None, sample_weight: ArrayLike | None = None) -> MKLOneClass:
        """Learn kernel weights and function.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; zero equals absence.

        Returns
        -------
        self : MKLOneClass
            The fitted machine.
        """
        return self._fit_whole(X, None, sample_weight)

    def _fit(self, X, y=None, sample_weight=None):
        samples, _ = self._input(X, reset=True)
        weight = check_sample_weight(sample_weight, X)
        training = prepare(samples, np.zeros(samples.size), weight)
        start = self._start(training.positions)
        self._learned(self._train(training, start), training)
        return training

    def _encoded(self, y):
        return np.zeros(len(y))

    @property
    def offset_(self) -> float:
        """The threshold: ``decision_function = score_samples - offset_``."""
        return -self.intercept_[0]

    def decision_function(self, X: SamplesLike) -> NDArray[np.float64]:
        """How far inside samples lie.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            Negative for outliers.
        """
        return self._decide(self._new_samples(X)).ravel()

    def score_samples(self, X: SamplesLike) -> NDArray[np.float64]:
        """The decision function without its threshold.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            The larger, the more normal.
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X: SamplesLike) -> NDArray[np.int64]:
        """Tell normal samples from outliers.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            1 for normal samples, -1 for outliers.
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)
