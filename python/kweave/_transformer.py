"""The learned kernel as a transformer."""
from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from ._base import MKLEstimator, WholeFit
from ._bases import BaseEstimator, TransformerMixin
from ._classifier import MKLClassifier
from ._compat import RequiresYTags, SparseInputTags
from ._containers import KernelStack
from ._regressor import MKLRegressor
from ._samples import check_targets
from ._typing import RandomState, SamplesLike


class MKLTransformer(WholeFit, RequiresYTags, SparseInputTags, TransformerMixin, BaseEstimator):
    """Kernel learned from labelled samples, as features for whatever comes next.

    Parameters
    ----------
    estimator : estimator, default=None
        What learns the kernel weights; None: `MKLClassifier`, or `MKLRegressor` for continuous targets, with its
        defaults. With several machines the kernel is the mean of theirs.
    output : {'gram', 'nystroem'}, default='gram'
        'gram': kernel values with all training samples, as for an SVC with ``kernel='precomputed'``. 'nystroem': features
        whose inner products approximate the kernel.
    n_components : int, default=100
        Training samples on which Nystroem features are built.
    by_source : bool, default=False
        Whether every source, a view or a matrix of a `KernelStack`, has a kernel of its own: its part of the learned kernel,
        with the learned weights. 'gram' then gives a `KernelStack` with a matrix for each, 'nystroem' the features of one
        source after the other. The parts sum to what False gives.
    random_state : int, RandomState instance or None, default=None
        Draws those samples.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator: weights, certificate and all.
    components_ : ndarray of int
        Positions of the training samples that the features are built on.
    sources_ : list of str
        The sources with a weight, in the order of their matrices or features, where `by_source` asks for them.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where the input had names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kweave import MKLTransformer
    >>> X, y = load_iris(return_X_y=True)
    >>> MKLTransformer(output="nystroem", n_components=10).fit_transform(X, y).shape
    (150, 10)
    """

    estimator_: MKLEstimator
    components_: NDArray[np.int64]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    def __init__(
        self,
        estimator: MKLEstimator | None = None,
        *,
        output: Literal["gram", "nystroem"] = "gram",
        n_components: int = 100,
        by_source: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.output = output
        self.n_components = n_components
        self.by_source = by_source
        self.random_state = random_state

    def fit(self, X: SamplesLike, y: ArrayLike) -> MKLTransformer:
        """Learn the kernel.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples.
        y : array-like of shape (n_samples,)
            Targets of the estimator.

        Returns
        -------
        self : MKLTransformer
            The fitted transformer.
        """
        return self._fit_whole(X, y)

    def _fit(self, X, y):
        if self.output not in ("gram", "nystroem"):
            raise ValueError(f"output is {self.output!r}, expected 'gram' or 'nystroem'")
        if self.n_components < 1:
            raise ValueError(f"n_components is {self.n_components}, expected 1 or more")
        if self.estimator is not None and not isinstance(self.estimator, MKLEstimator):
            raise ValueError(f"estimator is {self.estimator!r}, expected None or an estimator of kweave, which learn kernels")
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        check_targets(y)
        self.estimator_ = self._default(y) if self.estimator is None else clone(self.estimator)
        self._landmarks = None
        self.estimator_.__dict__["_keep"] = self._choose
        training = self.estimator_._fit(X, y)
        del self.estimator_.__dict__["_keep"]
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        self._kernels = self._kernels_by_source() if self.by_source else None
        if self.output == "gram":
            self._columns = training.place  # samples that are equal share a column
            self.components_ = np.arange(len(training.place))
        else:
            self._columns = self._landmarks
            self.components_ = training.positions[self._landmarks]
            landmarks = training.samples.take(self._landmarks)
            self._whitening = [self._inverse_root(self._values(landmarks, part)) for part in self._parts()]

    def _kernels_by_source(self):
        """The names of the kernels with a weight, by source."""
        kernels = {source: [] for source in self.estimator_.source_shares_}
        for name, source in self.estimator_._kernel_sources().items():
            kernels[source].append(name)
        kernels = {source: names for source, names in kernels.items() if names}
        if not kernels:
            raise ValueError("no kernel has a weight, so that there are no sources to tell apart")
        return kernels

    @property
    def sources_(self) -> list[str]:
        """The sources with a weight, in the order of their matrices or features."""
        check_is_fitted(self)
        if self._kernels is None:
            raise AttributeError("sources_ are there with by_source=True")
        return list(self._kernels)

    def _parts(self):
        """The model, or those that have the kernels of one source each."""
        model = self.estimator_._model
        return [model] if self._kernels is None else [model.with_kernels(names) for names in self._kernels.values()]

    @staticmethod
    def _default(y):
        return MKLRegressor() if type_of_target(y).startswith("continuous") else MKLClassifier()

    def _choose(self, count):
        """The training samples that a model must keep."""
        if self._landmarks is None:
            chosen = np.arange(count)
            if self.output == "nystroem":
                chosen = np.sort(check_random_state(self.random_state).permutation(count)[: self.n_components])
            self._landmarks = chosen
        return self._landmarks

    @staticmethod
    def _inverse_root(kernel):
        left, values, right = np.linalg.svd(kernel)
        return (left / np.sqrt(np.maximum(values, 1e-12))) @ right

    def _values(self, samples, model):
        """The learned kernel of a model between new samples and the columns."""
        estimator = self.estimator_
        total = np.zeros((samples.size, len(self._columns)))
        stored, machines = estimator._stored, estimator._each_machine(samples, "learned_kernel", model)
        for values in machines:
            total += values.reshape(samples.size, len(stored))[:, np.searchsorted(stored, self._columns)]
        return total / len(machines)

    def transform(self, X: SamplesLike) -> NDArray[np.float64] | KernelStack:
        """Kernel values or features of samples.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples.

        Returns
        -------
        values : ndarray of shape (n_samples, n_training_samples) or (n_samples, n_components), or KernelStack
            As `output` and `by_source` say.
        """
        check_is_fitted(self)
        samples = self.estimator_._new_samples(X)
        values = [self._values(samples, part) for part in self._parts()]
        if self.output == "nystroem":
            return np.hstack([part @ whitening for part, whitening in zip(values, self._whitening)])
        return KernelStack(dict(zip(self.sources_, values))) if self._kernels else values[0]

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Names of the features that come out: the class and a number, behind the source where `by_source` asks for it.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Not used.

        Returns
        -------
        names : ndarray of str
            The names.
        """
        check_is_fitted(self)
        names = [f"{type(self).__name__.lower()}{k}" for k in range(len(self._columns))]
        sources = [f"{source}__" for source in self.sources_] if self._kernels else [""]
        return np.asarray([source + name for source in sources for name in names], dtype=object)
