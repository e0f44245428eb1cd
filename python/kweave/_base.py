"""What the estimators share: from parameters to the core's options, and from its models to attributes."""
import inspect
import json
import os
import warnings
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._compat import SparseInputTags, validate_data
from ._containers import KernelStack, Views
from ._html import fitted_summary
from ._run import make_run
from ._samples import Samples
from .kernels import Callable, Kernel, matrix_kernel

#: Default of every option, as the core has it.
DEFAULTS = _core.default_options()

# Parameters that are handed to the core under their own name.
_OPTIONS = ("loss", "C", "epsilon", "nu", "sharpness", "bias", "norm", "method", "solver", "driver", "normalize", "gap", "certificate",
            "max_iterations")


def _option(name, value):
    """A parameter as the core takes it."""
    if name == "norm":
        return float(value)  # 'inf' too
    if name == "normalize" and not isinstance(value, str):
        return ",".join(value) or "none"
    return value


def _as_list(kernels):
    """The kernels of the parameter, functions wrapped."""
    if isinstance(kernels, (str, Kernel)) or callable(kernels):
        kernels = [kernels]
    kernels = [kernel if isinstance(kernel, (str, Kernel)) else Callable(kernel) for kernel in kernels]
    names = [kernel.name for kernel in kernels if isinstance(kernel, Callable)]
    for name in {name for name in names if names.count(name) > 1}:
        same = [k for k, kernel in enumerate(kernels) if isinstance(kernel, Callable) and kernel.name == name]
        for number, k in enumerate(same, 1):
            old = kernels[k]
            kernels[k] = Callable(old.function, view=old.view, name=f"{name}.{number}", block=old.block)
    return kernels


class MKLEstimator(SparseInputTags, BaseEstimator):
    """Base of the estimators; not for direct use."""

    _task = ""

    def _input(self, X, y="no_validation", *, reset, **options):
        """Any of the four kinds of input as samples, and the targets (None without)."""
        check_params = dict(accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        if isinstance(self.kernels, KernelStack):
            X = self.kernels[self._indices(X)]
        if not isinstance(X, (Views, KernelStack)):
            X = validate_data(self, X, y, reset=reset, **check_params, **options)
            X, y = X if isinstance(X, tuple) else (X, None)
            return Samples([("data", X, getattr(self, "feature_names_in_", ()))]), y
        samples = Samples([], X) if isinstance(X, KernelStack) else Samples(X.items())
        if isinstance(y, str):
            y = None
        elif y is not None:
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
        if reset:
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        return samples, y

    @staticmethod
    def _indices(X):
        """Sample indices, given as one column or none."""
        indices = np.asarray(X)
        if indices.dtype.kind not in "iu" or indices.size != len(indices):
            raise ValueError("the estimator holds the kernel matrices, so samples are given by their index")
        return indices.ravel()

    def _new_samples(self, X):
        """The samples that a fitted estimator is asked about."""
        check_is_fitted(self)
        return self._input(X, reset=False)[0]

    def _options(self, samples):
        options = {name: _option(name, getattr(self, name)) for name in _OPTIONS if hasattr(self, name)}
        options["task"] = self._task
        if isinstance(self.kernels, KernelStack) or (self.kernels is None and samples.stack is not None):
            options["kernels"] = [matrix_kernel(name) for name in samples.stack.names]
        elif self.kernels is not None:
            options["kernels"] = [str(kernel) for kernel in _as_list(self.kernels)]
        options["keep_samples"] = self._keep(samples.size)
        return options

    @staticmethod
    def _keep(count):
        """Samples that the model stores, though they may be no support vectors, so that it can tell kernel values."""
        return []

    def _callables(self):
        if self.kernels is None or isinstance(self.kernels, KernelStack):
            return []
        return [kernel for kernel in _as_list(self.kernels) if isinstance(kernel, Callable)]

    def _training_matrices(self, samples):
        """Kernel values among training samples, for the core."""
        matrices = []
        if samples.stack is not None:
            if not samples.stack.is_square:
                raise ValueError("training needs kernel matrices whose rows and columns are the same samples")
            rows = samples.stack.rows
            matrices += [(name, gram, rows, rows) for name, gram in samples.stack.items()]
        for kernel in self._callables():
            X = samples.view(kernel.view)
            matrices.append((kernel.name, kernel.matrix(X, X), (), ()))
        return matrices

    def _learned(self, models, training):
        """Sets the attributes of a fitted estimator."""
        self._describe(models, training.positions)
        samples = training.samples
        self._training_positions = training.positions
        self._stack_rows = None if samples.stack is None else samples.stack.rows
        self._stack_columns = None if samples.stack is None else samples.stack.columns
        self._stored = [np.array(model.stored_samples, dtype=np.int64) for model in models]
        self._kept = np.unique(np.concatenate(self._stored))
        self._kept_rows = {
            kernel.view: samples.view(kernel.view)[self._kept] for kernel in self._callables() if len(self._kept)
        }

    def _new_columns(self, stack, machine):
        """Which columns of a stack with new samples belong to the training samples, or to those a machine stores."""
        if self._stack_rows is None or stack.columns == len(self._stack_rows) != self._stack_columns:
            return ()
        if stack.columns == self._stack_columns:
            return self._stack_rows
        if stack.columns == len(self.support_):
            needed = self._training_positions[self._stored[machine]]
            if np.isin(needed, self.support_).all():
                return np.searchsorted(self.support_, needed)
        raise ValueError(
            f"kernel matrices of {stack.columns} columns, expected one per training sample ({len(self._stack_rows)}) "
            f"or per support vector ({len(self.support_)})"
        )

    def _new_matrices(self, samples):
        """Kernel values between new samples and training samples, for each machine."""
        kernels = self._callables() if len(self._kept) else []
        values = {kernel: kernel.matrix(samples.view(kernel.view), self._kept_rows[kernel.view]) for kernel in kernels}
        per_machine = []
        for machine, stored in enumerate(self._stored):
            matrices = []
            if samples.stack is not None:
                columns = self._new_columns(samples.stack, machine)
                for name, gram in samples.stack.items():
                    diagonal = partial(samples.stack.diagonal, name)
                    matrices.append(self._with_diagonal((name, gram, samples.stack.rows, columns), diagonal))
            for kernel in kernels:
                diagonal = partial(kernel.diagonal, samples.view(kernel.view))
                columns = np.searchsorted(self._kept, stored)
                matrices.append(self._with_diagonal((kernel.name, values[kernel], (), columns), diagonal))
            per_machine.append(matrices)
        return per_machine

    def _with_diagonal(self, matrix, diagonal):
        """The matrix with k(x,x) of the new samples as its last column, where the normalisation needs it."""
        if "spherical" not in self._normalize:
            return matrix
        name, gram, rows, columns = matrix
        values = diagonal()
        if values is None:
            raise ValueError(f"normalisation 'spherical' needs `diagonals` of the new samples for {name!r}")
        gram = gram[rows] if len(rows) else gram
        gram = gram[:, columns] if len(columns) else gram
        return name, np.column_stack([gram, values]), (), ()

    def _train(self, training, matrices, start=None, targets=None, classes=()):
        options = self._options(training.samples)
        if np.any(training.weight != 1):
            options["sample_weights"] = training.weight
        data, run = training.samples.to_core(matrices), make_run(self, self.callback)
        targets = training.y if targets is None else targets
        return _core.train(data, targets.astype(np.float64), list(classes), options, run, start)

    def _starts(self, count, positions):
        """The machine that each of `count` new ones starts from: those of the last fit to the same samples, or none."""
        last = getattr(self, "_models", [])
        is_same = len(last) == count and np.array_equal(self._training_positions, positions)
        return last if self.warm_start and is_same else [None] * count

    def _each_machine(self, samples, method):
        """What `method` of every machine says about new samples."""
        run, matrices = make_run(self), self._new_matrices(samples)
        return [getattr(model, method)(samples.to_core(own), run) for model, own in zip(self._models, matrices)]

    def _decide(self, samples):
        """One column of decision values per machine."""
        return np.column_stack(self._each_machine(samples, "decide"))

    def decision_function_by_kernel(self, X):
        """Decision function split into the contribution of each kernel.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.

        Returns
        -------
        parts : ndarray of shape (n_samples, n_kernels) or (n_samples, n_classes, n_kernels)
            Their sum over kernels, plus `intercept_`, is the decision function. Kernels are those of `kernel_names_`.
        """
        samples = self._new_samples(X)
        column = {name: m for m, name in enumerate(self.kernel_names_)}
        parts = np.zeros((samples.size, len(self._models), len(column)))
        for k, values in enumerate(self._each_machine(samples, "decide_by_kernel")):
            active = self._models[k].active_kernels
            parts[:, k, [column[name] for name in active]] = values.reshape(samples.size, len(active))
        return parts[:, 0] if len(self._models) == 1 else parts

    def analyze_kernels(self, X, y=None):
        """Look at the kernels on some samples before anything is learned.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.
        y : array-like of shape (n_samples,), default=None
            Classes, for alignments with the labels when there are two.

        Returns
        -------
        analysis : dict
            'kernels' (name, scale, mean and, with two classes, alignment with the labels), 'alignment' and
            'centered_alignment' (of all pairs).
        """
        samples, _ = clone(self)._input(X, reset=True)
        classes, codes = ([], np.zeros(0)) if y is None else np.unique(y, return_inverse=True)
        data = samples.to_core(self._training_matrices(samples))
        names = [str(label) for label in classes]
        options = self._options(samples)
        return json.loads(_core.analyze_kernels(data, codes, names, options, make_run(self)))

    def _describe(self, models, positions):
        """Sets the attributes that say what was learned; `positions[i]` is where the i-th sample came from."""
        self._models = models
        summaries = [json.loads(model.summary) for model in models]
        self._normalize = summaries[0]["options"]["normalize"]
        self.summary_ = summaries[0] if len(models) == 1 else summaries
        self.status_ = next((s["status"] for s in summaries if s["status"] != "converged"), "converged")
        self.objective_ = sum(s["primal"] for s in summaries)
        self.duality_gap_ = max(s["relative_gap"] for s in summaries)
        self.n_iter_ = sum(s["iterations"] for s in summaries)
        histories = [s["history"] for s in summaries]
        self.history_ = histories[0] if len(models) == 1 else histories
        self._describe_kernels(summaries)
        self._describe_support(models, positions)
        self.intercept_ = np.array([s["bias"] for s in summaries])
        if self.status_ not in ("converged", "interrupted"):
            warnings.warn(
                f"training ended early ({self.status_}): the relative duality gap is {self.duality_gap_:.2g}, "
                f"wanted was {self.gap:.2g}",
                ConvergenceWarning,
            )

    def _describe_kernels(self, summaries):
        names = list(dict.fromkeys(kernel["name"] for s in summaries for kernel in s["kernels"]))
        column = {name: m for m, name in enumerate(names)}
        weights = np.zeros((len(summaries), len(names)))
        for k, summary in enumerate(summaries):
            for kernel in summary["kernels"]:
                weights[k, column[kernel["name"]]] = kernel["weight"]
        self.kernel_names_ = names
        self.kernel_weights_ = weights[0] if len(summaries) == 1 else weights

    def _describe_support(self, models, positions):
        pairs = [model.support for model in models]
        stored = np.unique(np.concatenate([positions[indices] for indices, _ in pairs]))
        coefficients = np.zeros((len(models), len(stored)))
        for k, (indices, factors) in enumerate(pairs):
            coefficients[k, np.searchsorted(stored, positions[indices])] = factors
        self.support_ = stored
        self.dual_coef_ = coefficients

    def _repr_html_inner(self):
        return super()._repr_html_inner() + fitted_summary(self)

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += fitted_summary(self)
        return bundle

    def save(self, path):
        """Write the model in the format that the command line reads, too.

        Parameters
        ----------
        path : str or path-like
            File to write; it is replaced only when the model is complete.
        """
        check_is_fitted(self)
        if len(self._models) > 1:
            raise ValueError("a model file holds one machine; pickle an estimator that has several")
        self._models[0].save(os.fspath(path))

    @classmethod
    def load(cls, path):
        """Open a model that `save` or the command line wrote.

        Parameters
        ----------
        path : str or path-like
            The model file.

        Returns
        -------
        estimator : estimator
            Fitted, with the options it was trained with.
        """
        model = _core.Model.load(os.fspath(path))
        options = json.loads(model.summary)["options"]
        if options["task"] != cls._task:
            raise ValueError(f"{path}: a model for task '{options['task']}', expected '{cls._task}'")
        known = inspect.signature(cls).parameters
        estimator = cls(
            kernels=options["kernels"],
            **{name: options[name] for name in _OPTIONS if name in options and name in known},
        )
        estimator._restore(model)
        return estimator

    def _restore(self, model):
        """Sets what `fit` would have set."""
        if model.views:  # a model without kernels on features takes any number of them
            self.n_features_in_ = sum(columns for _, columns in model.views)
        self._describe([model], np.arange(max(model.stored_samples, default=-1) + 1))
        self._training_positions = np.arange(max(model.stored_samples, default=-1) + 1)
        self._stack_rows = self._stack_columns = None
        self._stored = [np.array(model.stored_samples, dtype=np.int64)]
        self._kept, self._kept_rows = self._stored[0], {}
