"""The regressor."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._base import MKLEstimator
from ._bases import RegressorMixin
from ._compat import check_sample_weight
from ._parameters import RegressorParameters, described
from ._samples import prepare
from ._typing import SamplesLike


@described
class MKLRegressor(RegressorParameters, RegressorMixin, MKLEstimator):
    """Support vector or ridge regression that learns its kernel as a weighted sum of many.

    Minimises ``1/2 Omega(w)^2 + C sum_i loss_i`` with ``f(x) = sum_m <w_m, phi_m(x)> + b``; the weights of the
    kernels have a p-norm of at most 1. The answer is certified: `duality_gap_` bounds how far it is from the optimum.

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
    n_iter_ : int
        Moves of the kernel weights.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where the input had names.

    Examples
    --------
    >>> import numpy as np
    >>> from kweave import MKLRegressor
    >>> X = np.linspace(0, 6, 100)[:, None]
    >>> MKLRegressor(C=10).fit(X, np.sin(X.ravel())).score(X, np.sin(X.ravel())) > 0.95
    True
    """

    _task = "regress"

    def fit(self, X: SamplesLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> MKLRegressor:
        """Learn kernel weights and function.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C for samples; zero equals absence.

        Returns
        -------
        self : MKLRegressor
            The fitted regressor.
        """
        return self._fit_whole(X, y, sample_weight)

    def _fit(self, X, y, sample_weight=None):
        samples, y = self._input(X, y, reset=True, y_numeric=True)
        weight = check_sample_weight(sample_weight, X)
        training = prepare(samples, np.asarray(y, dtype=np.float64), weight)
        start = self._start(training.positions)
        self._learned(self._train(training, start), training)
        return training

    def predict(self, X: SamplesLike) -> NDArray[np.float64]:
        """Values of the function.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The value predicted for each sample.
        """
        return self._decide(self._new_samples(X)).ravel()
