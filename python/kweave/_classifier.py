"""The classifier."""
from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from ._base import DEFAULTS, MKLEstimator
from ._calibration import Calibration, logistic_probabilities
from ._compat import check_sample_weight
from ._samples import Training, prepare
from ._typing import KernelsLike, Progress, RandomState, SamplesLike


def _parse_classes(texts):
    """Class labels of a model file as integers or numbers where all of them are, else as they are written."""
    for dtype in (np.int64, np.float64):
        try:
            return np.array(texts).astype(dtype)
        except ValueError:
            continue
    return np.array(texts)


def _has_probabilities(estimator):
    """One against one, the values are votes: only two classes have probabilities without calibration."""
    is_one_machine = len(getattr(estimator, "classes_", ())) == 2
    has_own = estimator.loss == "logistic" and (is_one_machine or estimator.multiclass != "ovo")
    if estimator.probability or has_own:
        return True
    raise AttributeError("probabilities need probability=True, or loss='logistic' and not multiclass='ovo'")


class MKLClassifier(ClassifierMixin, MKLEstimator):
    """Support vector classifier that learns its kernel as a weighted sum of many.

    Minimises ``1/2 Omega(w)^2 + C sum_i loss_i`` with ``f(x) = sum_m <w_m, phi_m(x)> + b``; the weights of the
    kernels have a p-norm of at most 1. The answer is certified: `duality_gap_` bounds how far it is from the
    optimum. More than two classes are learned by machines of two classes each, or by one machine for all.

    Parameters
    ----------
    kernels : kernel, list of kernels or KernelStack, default=None
        Kernels of `kweave.kernels`, texts of the kernel language such as ``"rbf(gamma=[0.1,1,10])"``, or functions
        ``k(X, Z)``. None: all matrices of a `KernelStack`, else a linear kernel and Gaussians of five widths around the
        median distance on every view. A `KernelStack` here is held by the estimator; samples are then given by
        their indices in it.
    loss : str
        What errors cost: 'hinge' (also 'auto'), 'squared-hinge', 'smoothed-hinge', 'logistic' or 'least-squares'.
    C : float
        Weight of the losses against the norm of the function.
    sharpness : float
        Of the smoothed hinge: the larger, the closer to the hinge.
    bias : bool
        Whether the function has a bias.
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
    multiclass : {'auto', 'joint', 'ovr', 'ovo'}
        More than two classes: one machine for all of them, one per class against the rest, or one per pair of classes.
    machine_weights : {'own', 'common'}
        'ovr': kernel weights of its own for every machine, or common to all of them.
    class_C : dict, default=None
        'ovr': C of the machines of single classes, in place of `C`.
    class_norm : dict, default=None
        'ovr': norm of the machines of single classes, in place of `norm`.
    class_kernels : list of str, default=None
        'joint': kernels on the classes, 'identity', 'blocks', 'matrix(file=FILE)' or 'taxonomy(file=FILE)'; None: the
        identity.
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
    class_weight : dict, 'balanced' or None, default=None
        Factors on C for classes, as in scikit-learn.
    probability : bool, default=False
        Whether `predict_proba` is wanted. It costs a cross-validation of five folds inside `fit`; the logistic loss has
        it without.
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
    classes_ : ndarray of shape (n_classes,)
        The classes.
    kernel_names_ : list of str
        Names of the kernels in the order given; above 10,000 kernels the heaviest 10,000.
    kernel_weights_ : ndarray of shape (n_kernels,) or (n_machines, n_kernels)
        Their weights; one row per entry of ``summary_['machines']`` when there are several machines.
    duality_gap_ : float
        Certified relative duality gap; of several machines the largest.
    objective_ : float
        Primal objective, summed over machines.
    history_ : list of dict, or list of such lists
        One entry per move of the weights: 'seconds', 'primal', 'dual', 'relative_gap', 'solves', 'inside_solve'. Where
        several machines moved weights of their own, a list for each entry of ``summary_['machines']``.
    status_ : str
        'converged', 'iteration_limit', 'time_limit', 'stalled' or 'interrupted'.
    summary_ : dict
        The core's whole summary.
    support_ : ndarray of shape (n_support,)
        Positions of the support vectors in the training data.
    dual_coef_ : ndarray of shape (n_machines, n_support)
        Their factors in the decision function; with `class_kernels` a row for each class and term of the kernel.
    intercept_ : ndarray of shape (n_machines,)
        The bias.
    n_iter_ : int
        Moves of the kernel weights.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where the input had names.

    Notes
    -----
    A weight of zero equals absence. Repeating a sample equals doubling its weight, to the last digit as long as
    the samples take less than a megabyte (equal samples are merged then, and their order does not matter); above,
    normalisation and data-driven widths count a repeated sample twice.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kweave import MKLClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = MKLClassifier(C=10).fit(X, y)
    >>> clf.duality_gap_ <= 1e-3
    True
    """

    _task = "classify"

    classes_: NDArray[Any]

    def __init__(
        self,
        kernels: KernelsLike = None,
        *,
        loss: str = DEFAULTS["loss"],
        C: float = DEFAULTS["C"],
        sharpness: float = DEFAULTS["sharpness"],
        bias: bool = DEFAULTS["bias"],
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
        multiclass: str = DEFAULTS["multiclass"],
        machine_weights: str = DEFAULTS["machine_weights"],
        class_C: Mapping[Any, float] | None = None,
        class_norm: Mapping[Any, float] | None = None,
        class_kernels: Sequence[str] | str | None = None,
        combine: str = DEFAULTS["combine"],
        restarts: int = DEFAULTS["restarts"],
        method: str = DEFAULTS["method"],
        solver: str = DEFAULTS["solver"],
        driver: str = DEFAULTS["driver"],
        normalize: str | Sequence[str] = DEFAULTS["normalize"],
        gap: float = DEFAULTS["gap"],
        certificate: str = DEFAULTS["certificate"],
        max_iterations: int = DEFAULTS["max_iterations"],
        class_weight: Mapping[Any, float] | str | None = None,
        probability: bool = False,
        warm_start: bool = False,
        callback: Progress | None = None,
        memory: int | str = DEFAULTS["memory"],
        time_limit: float = DEFAULTS["time_limit"],
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.loss = loss
        self.C = C
        self.sharpness = sharpness
        self.bias = bias
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
        self.multiclass = multiclass
        self.machine_weights = machine_weights
        self.class_C = class_C
        self.class_norm = class_norm
        self.class_kernels = class_kernels
        self.combine = combine
        self.restarts = restarts
        self.method = method
        self.solver = solver
        self.driver = driver
        self.normalize = normalize
        self.gap = gap
        self.certificate = certificate
        self.max_iterations = max_iterations
        self.class_weight = class_weight
        self.probability = probability
        self.warm_start = warm_start
        self.callback = callback
        self.memory = memory
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: SamplesLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> MKLClassifier:
        """Learn kernel weights and machine.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C for samples; zero equals absence.

        Returns
        -------
        self : MKLClassifier
            The fitted classifier.
        """
        return self._fit_whole(X, y, sample_weight)

    def _fit(self, X, y, sample_weight=None):
        shape = np.asarray(y).shape
        if len(shape) == 2 and shape[1] > 1:
            raise ValueError(
                f"y has shape {shape}, expected one class per sample; for several labels per sample fit "
                "OneVsRestClassifier(MKLClassifier()) or MultiOutputClassifier(MKLClassifier()) of scikit-learn"
            )
        samples, y = self._input(X, y, reset=True)
        check_classification_targets(y)
        weight = check_sample_weight(sample_weight, X)
        kept = weight != 0
        self.classes_ = np.unique(y[kept])
        if not kept.any():
            raise ValueError("all samples have weight 0")
        if len(self.classes_) < 2:
            found = ", ".join(repr(label) for label in self.classes_.tolist())
            raise ValueError(
                f"the samples with a weight belong to {len(self.classes_)} class ({found}), expected two or more"
            )
        # Samples of weight zero may belong to other classes; they are left out before anybody looks.
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        self._factors = self._class_factors(y[kept], codes[kept], weight[kept])
        training = prepare(samples, codes, weight * (self._factors != 0)[codes])
        self._learned(self._train_model(training), training)
        self._calibration = self._calibrate(training) if self.probability else None
        return training

    def _class_factors(self, y, codes, weight):
        """Factors on C for the classes; balanced ones count a sample as often as its weight says."""
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            return weight.sum() / (len(self.classes_) * np.bincount(codes, weights=weight))
        return compute_class_weight(self.class_weight, classes=self.classes_, y=y)

    @classmethod
    def _parameters(cls, options, classes):
        weights = options.get("class_weights", {})
        is_text = _parse_classes(classes).dtype.kind == "U"
        labels = list(weights) if is_text else _parse_classes(list(weights)).tolist()
        class_weight = dict(zip(labels, weights.values())) or None
        return {**super()._parameters(options, classes), "class_weight": class_weight}

    def _restore(self, model):
        super()._restore(model)
        if model.is_multilabel:
            raise ValueError("a model of samples with several labels, expected one label per sample")
        self.classes_ = _parse_classes(model.classes)

    def _train_model(self, training):
        names = [str(label) for label in self.classes_.tolist()]
        matrices = self._training_matrices(training.samples)
        return self._train(
            training, matrices, self._start(training.positions), training.y, names, self._given_factors()
        )

    def _given_factors(self):
        """For the core, so that models hold them. Classes of factor 0 have no samples."""
        given = self.classes_ if isinstance(self.class_weight, str) else self.class_weight or ()
        factors = zip(self.classes_.tolist(), self._factors.tolist())
        return [(str(label), factor) for label, factor in factors if factor and label in given]

    def decision_function(self, X: SamplesLike) -> NDArray[np.float64]:
        """Value of the decision function.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive means ``classes_[1]``. More: the largest value is the class predicted.
        """
        return self._values(self._new_samples(X))

    def _values(self, samples):
        values = self._decide(samples)
        if len(self.classes_) > 2:
            return values
        return values.ravel() if values.shape[1] == 1 else values[:, 1] - values[:, 0]

    def predict(self, X: SamplesLike) -> NDArray[Any]:
        """Classes of samples.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The class predicted for each sample.
        """
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]

    def _calibrate(self, training):
        """Slopes that turn decision values into probabilities, from samples left out of training."""
        if self.loss == "logistic" and self.summary_.get("multiclass") != "ovo":
            return None
        samples, codes, weight = training.samples, training.y, training.weight
        total = weight * self._factors[codes]
        folds = min(5, np.bincount(codes).min())
        if folds < 2:
            return Calibration(self._values(samples), codes, total)
        values = np.empty((samples.size,) if len(self.classes_) == 2 else (samples.size, len(self.classes_)))
        for inside, outside in StratifiedKFold(folds).split(codes, codes):
            part = clone(self).set_params(probability=False, warm_start=False)
            part.classes_, part._factors = self.classes_, self._factors
            fold = Training(samples.take(inside), codes[inside], weight[inside], inside, inside)
            part._learned(part._train_model(fold), fold)
            values[outside] = part._values(samples.take(outside))
        return Calibration(values, codes, total)

    @available_if(_has_probabilities)
    def predict_proba(self, X: SamplesLike) -> NDArray[np.float64]:
        """Probabilities of the classes; needs ``probability=True`` or the logistic loss.

        The most probable class is the one that `predict` names.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of `classes_`.
        """
        values = self.decision_function(X)
        if getattr(self, "_calibration", None) is not None:
            return self._calibration.probabilities(values)
        if self.summary_["options"]["loss"] != "logistic":
            raise NotFittedError("probability or loss was set after fit, which measures the probabilities: call fit again")
        return logistic_probabilities(values, self.summary_.get("multiclass") == "joint")

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: SamplesLike) -> NDArray[np.float64]:
        """Logarithms of `predict_proba`.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            One column per class, in the order of `classes_`.
        """
        return np.log(self.predict_proba(X))
