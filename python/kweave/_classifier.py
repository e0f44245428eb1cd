"""The classifier."""
from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from ._base import MKLEstimator
from ._bases import ClassifierMixin
from ._calibration import Calibration, PairCalibration, logistic_probabilities
from ._compat import TwoClassesTags, check_sample_weight
from ._parameters import ClassifierParameters, described
from ._run import Stage
from ._samples import Training, prepare
from ._typing import SamplesLike


def _parse_classes(texts):
    """Labels of the command line as integers or finite numbers where all of them are, else as they are written.

    Zeros in front belong to names: '01' is not 1.
    """
    are_numbers = all(re.fullmatch(r"[+-]?(?!0\d)[\d.]+(e[+-]?\d+)?", text, re.IGNORECASE) for text in texts)
    for dtype in (np.int64, np.float64) if are_numbers else ():
        try:
            values = np.array(texts).astype(dtype)
        except (ValueError, OverflowError):
            continue
        if np.isfinite(values).all() and len(np.unique(values)) == len(texts):
            return values
    return np.array(texts)


def _has_probabilities(estimator):
    """One against one, the values are votes: only two classes have probabilities without calibration."""
    is_one_machine = len(getattr(estimator, "classes_", ())) == 2
    has_own = estimator.loss == "logistic" and (is_one_machine or estimator.multiclass != "ovo")
    if estimator.probability or has_own:
        return True
    raise AttributeError("probabilities need probability=True, or loss='logistic' and not multiclass='ovo'")


@described
class MKLClassifier(ClassifierParameters, TwoClassesTags, ClassifierMixin, MKLEstimator):
    """Support vector classifier that learns its kernel as a weighted sum of many.

    Minimises ``1/2 Omega(w)^2 + C sum_i loss_i`` with ``f(x) = sum_m <w_m, phi_m(x)> + b``; the weights of the
    kernels have a p-norm of at most 1. The answer is certified: `duality_gap_` bounds how far it is from the
    optimum. More than two classes are learned by machines of two classes each, or by one machine for all.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    kernel_names_ : list of str
        Names of the kernels in the order given; above 10,000 kernels the heaviest 10,000.
    kernel_weights_ : ndarray of shape (n_kernels,)
        Their weights; of several machines with weights of their own the mean.
    machine_weights_ : ndarray of shape (n_machines, n_kernels)
        The weights of each machine; with several machines a row for each entry of ``summary_['machines']``.
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
        The bias; two classes have one.
    coef_ : ndarray of shape (n_machines, n_features), or dict of str to ndarray
        Weights of the features, where all kernels are linear; by view where the input was `Views`.
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
    _kept_attributes = (*MKLEstimator._kept_attributes, "classes_", "_factors", "_calibration")

    classes_: NDArray[Any]

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

    def _serves_two_classes(self):
        return self.combine == "product"

    def _class_factors(self, y, codes, weight):
        """Factors on C for the classes; balanced ones count a sample as often as its weight says."""
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            return weight.sum() / (len(self.classes_) * np.bincount(codes, weights=weight))
        return compute_class_weight(self.class_weight, classes=self.classes_, y=y)

    @classmethod
    def _parameters(cls, options, classes):
        labels = dict(zip(classes, _parse_classes(classes).tolist()))

        def by_class(name):
            return {labels.get(text, text): value for text, value in (options[name] or {}).items()} or None

        parameters = super()._parameters(options, classes)
        parameters.update((name, by_class(name)) for name in ("class_C", "class_norm"))
        return {**parameters, "class_weight": by_class("class_weights")}

    def _restore(self, model, kept):
        super()._restore(model, kept)
        if model.is_multilabel:
            raise ValueError("a model of samples with several labels, expected one label per sample")
        self.classes_ = kept.get("classes_", _parse_classes(model.classes))

    def _train_model(self, training):
        return self._train(training, self._start(training.positions), self._given_factors())

    def _class_names(self):
        return [str(label) for label in getattr(self, "classes_", np.array([])).tolist()]

    def _encoded(self, y):
        codes = np.searchsorted(self.classes_, y).clip(max=len(self.classes_) - 1)
        is_other = self.classes_[codes] != y
        if np.any(is_other):
            other = y.tolist()[int(np.argmax(is_other))]
            raise ValueError(f"y has the class {other!r}, which the classifier was not fitted to")
        return codes.astype(np.float64)

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
            return self._calibration_of(self._calibrated_values(samples), codes, total)
        values = None
        for number, (inside, outside) in enumerate(StratifiedKFold(folds).split(codes, codes), 1):
            part = clone(self).set_params(probability=False, warm_start=False)
            part._stage = Stage(f"calibration fold {number} of {folds}", self.duality_gap_)
            part.classes_, part._factors = self.classes_, self._factors
            fold = Training(samples.take(inside), codes[inside], weight[inside], inside, inside)
            part._learned(part._train_model(fold), fold)
            own = part._calibrated_values(samples.take(outside))
            values = np.empty((samples.size, *own.shape[1:])) if values is None else values
            values[outside] = own
        return self._calibration_of(values, codes, total)

    def _calibrated_values(self, samples):
        """What probabilities are found from: decision values, or one against one those of every machine."""
        if self.summary_.get("multiclass") != "ovo":
            return self._values(samples)
        return self._ask(samples, "decide_by_machine")[0].reshape(samples.size, self._model.machines)

    def _calibration_of(self, values, codes, weight):
        if self.summary_.get("multiclass") != "ovo":
            return Calibration(values, codes, weight)
        number = {name: code for code, name in enumerate(self._class_names())}
        pairs = [(number[one["class"]], number[one["against"]]) for one in self.summary_["machines"]]
        return PairCalibration(values, pairs, len(number), codes, weight)

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
        samples = self._new_samples(X)
        if isinstance(getattr(self, "_calibration", None), PairCalibration):
            return self._calibration.probabilities(self._calibrated_values(samples))
        values = self._values(samples)
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
