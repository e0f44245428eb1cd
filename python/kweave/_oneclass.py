"""The one-class machine."""
from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin

from ._base import DEFAULTS, MKLEstimator
from ._compat import check_sample_weight
from ._samples import prepare
from ._typing import KernelsLike, Progress, RandomState, SamplesLike


class MKLOneClass(OutlierMixin, MKLEstimator):
    """One-class machine that learns its kernel as a weighted sum of many: what do normal samples look like?

    The answer is certified: `duality_gap_` bounds how far it is from the optimum.

    Parameters
    ----------
    kernels : kernel, list of kernels or KernelStack, default=None
        Kernels of `kweave.kernels`, texts of the kernel language such as ``"rbf(gamma=[0.1,1,10])"``, or functions
        ``k(X, Z)``. None: all matrices of a `KernelStack`, else a linear kernel and Gaussians of five widths around the
        median distance on every view. A `KernelStack` here is held by the estimator; samples are then given by
        their indices in it.
    nu : float
        At most this share of the training samples become outliers.
    bias : bool
        Whether the function has a threshold of its own; without one, `C` takes the place of `nu`.
    C : float
        Without bias: weight of the losses against the norm of the function.
    norm : float or 'inf'
        Norm p on the kernel weights: 1 is sparse, infinity is the uniform sum.
    block_norm : float or 'inf'
        Instead of `norm`: block norm P on the parts of the function, 1 to infinity; 0: none.
    regularizer : {'norm', 'mixed', 'matrix', 'laplacian', 'elastic', 'entropy', 'logdet'}
        What is asked of the kernel weights beside being positive.
    penalty : float
        Weight of a penalty on the kernel weights, instead of a bound on it; 0: none.
    weight_bounds : dict, default=None
        Bounds on the weights of single kernels within the norm: ``{kernel: (lower, upper)}``, a kernel by its name or its
        number from 1, ``'*'`` for all of them.
    groups : str
        For 'mixed': groups of kernels, 'view', 'spec' or the path of a file with one name for every kernel.
    inner_norm : float or 'inf'
        For 'mixed': norm within groups, of the kind of `norm` or `block_norm`.
    matrix : str
        For 'matrix' and 'laplacian': path of a file with one row for every kernel (one value for every kernel: a diagonal
        matrix), or 'alignment' or 'centered-alignment', how alike the kernels are on the training samples.
    matrix_on : {'weights', 'parts'}
        What the matrix couples: the kernel weights or the parts of the function.
    ridge : float
        Added to the diagonal of the matrix.
    elastic : float
        For 'elastic': share of the 2-norm, above 0, at most 1.
    combine : str
        What the kernels make together: 'sum', or 'product', Gaussians whose widths are learned.
    restarts : int
        For a product: starting points of the search, of which the best answer is kept.
    method : str
        How the kernel weights move.
    solver : str
        What trains the machine at given weights.
    driver : str
        When the kernel weights move.
    normalize : str or sequence of str
        Normalisation of every kernel, in sequence, with statistics of the training data: 'none', or a list of
        'trace', 'multiplicative', 'spherical', 'center'.
    gap : float
        Relative duality gap to reach.
    certificate : {'auto', 'table', 'direct'}
        How the certificate evaluates kernels.
    max_iterations : int
        Moves of the kernel weights at most; 0: the method's own limit.
    warm_start : bool, default=False
        Whether `fit` starts from the weights and duals of the last one. The answer is as good as without and sooner
        there, as along a path over C or norm; it must be the same samples in the same order.
    callback : callable, default=None
        Called a few times a second while training, with a dictionary of 'seconds', 'relative_gap', 'target_gap',
        'iterations', 'solves' and 'phase'. Training stops with the best model so far when it returns True.
    memory : int or str
        Bytes to use, or a text such as '2G'; 0: half of what is free.
    time_limit : float
        Seconds after which training stops with the best model so far; 0: none.
    n_jobs : int, default=None
        Threads; None: all cores, or in a worker process of joblib its share of them.
    random_state : int, RandomState instance or None, default=None
        Seed of the samples from which data-driven widths are measured; None: 0.
    verbose : int, default=0
        1: progress and notes; 2: details.

    Attributes
    ----------
    kernel_names_ : list of str
        Names of the kernels in the order given; above 10,000 kernels the heaviest 10,000.
    kernel_weights_ : ndarray of shape (n_kernels,)
        Their weights.
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

    def __init__(
        self,
        kernels: KernelsLike = None,
        *,
        nu: float = DEFAULTS["nu"],
        bias: bool = DEFAULTS["bias"],
        C: float = DEFAULTS["C"],
        norm: float | str = DEFAULTS["norm"],
        block_norm: float | str = DEFAULTS["block_norm"],
        regularizer: str = DEFAULTS["regularizer"],
        penalty: float = DEFAULTS["penalty"],
        weight_bounds: Mapping[str, tuple[float, float]] | None = None,
        groups: str = DEFAULTS["groups"],
        inner_norm: float | str = DEFAULTS["inner_norm"],
        matrix: str = DEFAULTS["matrix"],
        matrix_on: str = DEFAULTS["matrix_on"],
        ridge: float = DEFAULTS["ridge"],
        elastic: float = DEFAULTS["elastic"],
        combine: str = DEFAULTS["combine"],
        restarts: int = DEFAULTS["restarts"],
        method: str = DEFAULTS["method"],
        solver: str = DEFAULTS["solver"],
        driver: str = DEFAULTS["driver"],
        normalize: str | Sequence[str] = DEFAULTS["normalize"],
        gap: float = DEFAULTS["gap"],
        certificate: str = DEFAULTS["certificate"],
        max_iterations: int = DEFAULTS["max_iterations"],
        warm_start: bool = False,
        callback: Progress | None = None,
        memory: int | str = DEFAULTS["memory"],
        time_limit: float = DEFAULTS["time_limit"],
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.nu = nu
        self.bias = bias
        self.C = C
        self.norm = norm
        self.block_norm = block_norm
        self.regularizer = regularizer
        self.penalty = penalty
        self.weight_bounds = weight_bounds
        self.groups = groups
        self.inner_norm = inner_norm
        self.matrix = matrix
        self.matrix_on = matrix_on
        self.ridge = ridge
        self.elastic = elastic
        self.combine = combine
        self.restarts = restarts
        self.method = method
        self.solver = solver
        self.driver = driver
        self.normalize = normalize
        self.gap = gap
        self.certificate = certificate
        self.max_iterations = max_iterations
        self.warm_start = warm_start
        self.callback = callback
        self.memory = memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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
        self._learned(self._train(training, self._training_matrices(training.samples), start), training)
        return training

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
