"""What the estimators share: from parameters to the core's options, and from its models to attributes."""
from __future__ import annotations

import inspect
import json
import os
import warnings
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Any, Mapping, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Bunch, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted

from . import _core, _notes
from ._bases import BaseEstimator
from ._compat import SparseInputTags, validate_data
from ._containers import KernelStack, Views
from ._explain import Explanations
from ._html import fitted_summary
from ._names import readable, specification
from ._nested import nested_parameters, with_nested
from ._options import OPTIONS, kernel_list, option, parameter
from ._run import make_run
from ._samples import CoreMatrix, Samples, check_targets
from ._typing import KernelsLike, SamplesLike
from .kernels import Callable, Joint, Kernel, function_matrix, matrix_kernel

_Estimator = TypeVar("_Estimator", bound="MKLEstimator")


class WholeFit:
    """An estimator whose fit is all or nothing."""

    def _fit_whole(self, *arguments):
        """What `_fit` learns, or where it fails or is interrupted, what was learned before."""
        fitted = copy(self)
        fitted._fit(*arguments)
        self.__dict__ = fitted.__dict__
        return self


class MKLEstimator(Explanations, WholeFit, SparseInputTags, BaseEstimator):
    """Base of the estimators; not for direct use."""

    _task = ""
    #: Attributes that `save` keeps beside the model, which does not have them.
    _kept_attributes: tuple[str, ...] = (
        "n_features_in_", "feature_names_in_", "_kind", "_training_positions", "_stack_rows", "_stack_columns",
        "_widths", "_sources", "_feature_names",
    )

    kernels: KernelsLike
    gap: float
    kernel_names_: list[str]
    kernel_weights_: NDArray[np.float64]
    machine_weights_: NDArray[np.float64]
    kernel_weights_interval_: NDArray[np.float64]
    weight_shares_interval_: NDArray[np.float64]
    source_weights_interval_: dict[str, tuple[float, float]]
    source_weight_shares_interval_: dict[str, tuple[float, float]]
    duality_gap_: float
    objective_: float
    history_: list[Any]
    status_: str
    summary_: dict[str, Any]
    support_: NDArray[np.int64]
    dual_coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    n_iter_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters of the estimator, and of its kernels as in ``kernels__gamma``, ``kernels__rna__gamma`` or ``kernels__0__gamma``.

        Parameters
        ----------
        deep : bool, default=True
            Whether those of kernels are wanted: of one, of a dictionary by view, or of a list by name or position.

        Returns
        -------
        params : dict
            Values by name.
        """
        params = super().get_params(deep=False)
        return {**params, **nested_parameters("kernels", self.kernels)} if deep else params

    def set_params(self: _Estimator, **params: Any) -> _Estimator:
        """Set parameters, those of kernels by the names that `get_params` tells; kernels are copied first.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self : estimator
            This estimator.
        """
        inside = {name: value for name, value in params.items() if name.startswith("kernels__")}
        super().set_params(**{name: value for name, value in params.items() if name not in inside})
        for name, value in inside.items():
            self.kernels = with_nested(self.kernels, name.split("__")[1:], value, name)
        return self

    def _input(self, X, y="no_validation", *, reset, **options):
        """Any of the four kinds of input as samples, and the targets (None without)."""
        check_params = dict(accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
        if isinstance(self.kernels, KernelStack):
            X = self.kernels[self._indices(X)]
        self._check_kind(X, reset)
        if not (y is None or isinstance(y, str)):
            check_targets(y)
        if not isinstance(X, (Views, KernelStack)):
            X = validate_data(self, X, y, reset=reset, **check_params, **options)
            X, y = X if isinstance(X, tuple) else (X, None)
            return Samples([("data", X, getattr(self, "feature_names_in_", ()))]), y
        if isinstance(X, Views):
            X.check_index(y, "y")
            widths = {} if reset else getattr(self, "_widths", {})
            samples = Samples(
                [(name, X.widened(name, widths.get(name)), X.feature_names[name]) for name in X], presence=X.presence,
                confounds=X.confounds,
            )
        else:
            samples = Samples([], X)
        if isinstance(y, str):
            y = None
        elif y is not None:
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
        if reset:
            self.n_features_in_ = X.shape[1]
            self.__dict__.pop("feature_names_in_", None)
        return samples, y

    def _check_kind(self, X, reset):
        """Says what is wrong where scikit-learn would only see a number of dimensions or features."""
        if getattr(X, "ndim", 2) == 3:
            raise ValueError("X has 3 dimensions, as several Gram matrices have: give KernelStack(X), which can be sliced")
        if isinstance(X, Mapping) and not hasattr(X, "shape"):  # some sparse matrices are dictionaries
            raise ValueError("X is a dictionary: give Views(X) of features, or KernelStack(X) of Gram matrices")
        if isinstance(X, (list, tuple)) and X and getattr(X[0], "ndim", 0) == 2:
            raise ValueError(
                f"X is a {type(X).__name__} of {len(X)} matrices: give KernelStack(X) of Gram matrices, or "
                "Views({name: matrix, ...}) of features"
            )
        kind = type(X).__name__ if isinstance(X, (Views, KernelStack)) else "array"
        if reset:
            self._kind = kind
        expected = getattr(self, "_kind", kind)
        is_one_view = {kind, expected} == {"array", "Views"} and np.shape(X)[1:] == (self.n_features_in_,)
        if kind != expected and not is_one_view:
            what = {"array": "an array, sparse matrix or DataFrame"}
            raise ValueError(
                f"the estimator was fitted to {what.get(expected, expected)}, X is {what.get(kind, kind)}; "
                "new samples come in the same form"
            )

    @staticmethod
    def _indices(X):
        """Sample indices, given as one column or none."""
        indices = np.asarray(X)
        if indices.dtype.kind not in "iu" or indices.size != len(indices):
            raise ValueError(
                "the estimator holds the kernel matrices, so X has the indices of samples in them, such as "
                f"np.arange(n); its shape is {indices.shape}, its type {indices.dtype}"
            )
        return indices.ravel()

    def _new_samples(self, X):
        """The samples that a fitted estimator is asked about."""
        check_is_fitted(self)
        return self._input(X, reset=False)[0]

    def _options(self, samples):
        classes = self._class_names()
        options = {name: option(name, getattr(self, name), classes) for name in OPTIONS if hasattr(self, name)}
        options["task"] = self._task
        names = samples.feature_names()
        options["weight_bounds"] = [
            (specification(kernel, names), bound) for kernel, bound in options.get("weight_bounds", [])
        ]
        if isinstance(self.kernels, KernelStack) or (self.kernels is None and samples.stack is not None):
            options["kernels"] = [matrix_kernel(name) for name in samples.stack.names]
        elif self.kernels is not None:
            widths = {name: matrix.shape[1] for name, matrix, _ in samples.views}
            options["kernels"] = [str(kernel) for kernel in kernel_list(self.kernels)]
            for kernel in kernel_list(self.kernels):
                if isinstance(kernel, Kernel):
                    kernel.check_features(widths)
        options["keep_samples"] = self._keep(samples.size)
        return options

    @staticmethod
    def _keep(count):
        """Samples that the model stores, though they may be no support vectors, so that it can tell kernel values."""
        return []

    def _callables(self):
        if self.kernels is None or isinstance(self.kernels, KernelStack):
            return []
        return [kernel for kernel in kernel_list(self.kernels) if isinstance(kernel, Callable)]

    def _training_matrices(self, samples, functions):
        """Kernel values among training samples, for the core; `functions` are the kernels that are none of its own."""
        matrices = []
        if samples.stack is not None:
            if not samples.stack.is_square:
                raise ValueError("training needs kernel matrices whose rows and columns are the same samples")
            rows = samples.stack.rows
            matrices += [CoreMatrix(name, gram, rows, rows, rows, rows) for name, gram in samples.stack.items()]
        for kernel in functions:
            X = samples.view(kernel.view)
            numbers = () if isinstance(kernel, Joint) else samples.positions
            matrices.append(
                CoreMatrix(
                    function_matrix(kernel.name), kernel.matrix(X, X), row_numbers=numbers, column_numbers=numbers
                )
            )
        return matrices

    def _learned(self, model, training):
        """Sets the attributes of a fitted estimator."""
        samples = training.samples
        self._feature_names = samples.feature_names()
        self._describe(model, training.positions)
        self._training_positions = training.positions
        self._widths = {name: matrix.shape[1] for name, matrix, _ in samples.views}
        self._sources = list(self._widths) if samples.stack is None else list(samples.stack.names)
        self._stack_rows = None if samples.stack is None else samples.stack.rows
        self._stack_columns = None if samples.stack is None else samples.stack.n_columns
        self._stored = np.array(model.stored_samples, dtype=np.int64)
        self._functions = self._callables()
        self._kept_rows = {
            kernel.view: samples.view(kernel.view)[self._stored] for kernel in self._functions if len(self._stored)
        }

    def _new_columns(self, stack):
        """Which columns of a stack with new samples belong to the training samples, or to those the model stores."""
        if self._stack_rows is None or stack.n_columns == len(self._stack_rows) != self._stack_columns:
            return ()
        if stack.n_columns == self._stack_columns:
            return self._stack_rows
        if stack.n_columns == len(self.support_):
            needed = self._training_positions[self._stored]
            if np.isin(needed, self.support_).all():
                return np.searchsorted(self.support_, needed)
        raise ValueError(
            f"kernel matrices of {stack.n_columns} columns, expected one per training sample ({len(self._stack_rows)}) "
            f"or per support vector ({len(self.support_)})"
        )

    def _new_matrices(self, samples):
        """Kernel values between new samples and training samples."""
        matrices = []
        if samples.stack is not None:
            columns = self._new_columns(samples.stack)
            for name, gram in samples.stack.items():
                diagonal = partial(samples.stack.diagonal, name)
                rows, numbers = samples.stack.rows, columns if len(columns) else np.arange(gram.shape[1])
                matrix = CoreMatrix(name, gram, rows, columns, rows, numbers)
                matrices.append(self._with_diagonal(matrix, diagonal))
        for kernel in self._functions:
            values = np.empty((samples.size, 0))
            if len(self._stored):
                values = kernel.matrix(samples.view(kernel.view), self._kept_rows[kernel.view])
            diagonal = partial(kernel.diagonal, samples.view(kernel.view))
            matrices.append(self._with_diagonal(CoreMatrix(function_matrix(kernel.name), values), diagonal))
        return matrices

    def _with_diagonal(self, matrix, diagonal):
        """The matrix with k(x,x) of the new samples as its last column, where the normalisation needs it."""
        if "spherical" not in self._normalize:
            return matrix
        name, gram, rows, columns, *_ = matrix
        values = diagonal()
        if values is None:
            raise ValueError(f"normalisation 'spherical' needs `diagonals` of the new samples for {name!r}")
        gram = gram[rows] if len(rows) else gram
        gram = gram[:, columns] if len(columns) else gram
        return CoreMatrix(name, np.column_stack([gram, values]), row_numbers=matrix.row_numbers)

    def _train(self, training, start=None, class_weights=()):
        options = self._options(training.samples)
        options["class_weights"] = list(class_weights)
        if np.any(training.weight != 1):
            options["sample_weights"] = training.weight
        data = training.samples.to_core(self._training_matrices(training.samples, self._callables()))
        run, targets = make_run(self, self.callback), training.y.astype(np.float64)
        return _core.train(data, targets, self._class_names(), options, run, start)

    def _start(self, positions):
        """The model that a new one starts from: that of the last fit to the same samples, or none."""
        last = getattr(self, "_model", None)
        is_same = last is not None and np.array_equal(self._training_positions, positions)
        return last if self.warm_start and is_same else None

    def _ask(self, samples, method, machines=((),), model=None):
        """What `method` of the model, or of another, says about new samples, for every machine."""
        run, data = make_run(self), samples.to_core(self._new_matrices(samples))
        with self._naming_matrices():
            return [getattr(model or self._model, method)(data, run, *machine) for machine in machines]

    @staticmethod
    @contextmanager
    def _naming_matrices():
        """Says what to give where the core misses the values of a kernel."""
        try:
            yield
        except ValueError as error:
            if getattr(error, "field", None) != "gram_files":
                raise
            raise ValueError(
                f"the model needs the kernel values of the new samples for {error.value!r}; matrices come in a "
                "KernelStack, functions are not in a model file: pickle the estimator to keep them"
            ) from None

    def _each_machine(self, samples, method, model=None):
        """What `method` says about new samples, for every machine of the model."""
        return self._ask(samples, method, [(machine,) for machine in range(self._model.machines)], model)

    def _decide(self, samples):
        """One column of decision values per output."""
        return self._ask(samples, "decide")[0].reshape(samples.size, self._model.outputs)

    def verify(self, X: SamplesLike, y: ArrayLike | None = None) -> Bunch:
        """Compute primal, dual and gap anew from the training data, by code that shares nothing with training.

        Plain loops over the formulas, as ``kweave verify`` runs them: about n^2 / 2 evaluations of every kernel on one
        thread.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            The samples that `fit` got, in that order; their indices when `kernels` is a `KernelStack`.
        y : array-like of shape (n_samples,), default=None
            The targets that `fit` got.

        Returns
        -------
        verification : Bunch
            'holds' (whether nothing speaks against what the estimator says of itself), 'primal', 'dual', 'relative_gap'
            (sums over machines, and the largest gap), 'machines' (the same of each, beside what is claimed),
            'failures' and 'unchecked' (a sentence for each thing that is not as claimed, or could not be checked) and
            'kernel_values' (how many were computed).
        """
        check_is_fitted(self)
        samples, y = self._input(X, *(() if y is None else (y,)), reset=False)
        expected = int(self._training_positions.max(initial=-1)) + 1
        if samples.size < expected:
            raise ValueError(f"X has {samples.size} samples, but the estimator was fitted to {expected} or more")
        samples = samples.take(self._training_positions)
        y = np.zeros(samples.size) if y is None else self._encoded(np.asarray(y)[self._training_positions])
        data = samples.to_core(self._training_matrices(samples, self._functions))
        with self._naming_matrices():
            return Bunch(**json.loads(self._model.verify(data, y, self._class_names(), make_run(self))))

    def _encoded(self, y):
        """Targets as the core takes them."""
        return np.asarray(y, dtype=np.float64)

    def _class_names(self):
        """Names of the classes, by the numbers that are their targets; none for other tasks."""
        return []

    def _describe(self, model, positions):
        """Sets the attributes that say what was learned; `positions[i]` is where the i-th sample came from."""
        self._model = model
        self.summary_ = summary = json.loads(model.summary)
        self._normalize = summary["options"]["normalize"]
        self.status_ = summary["status"]
        # What is no finite number is null there.
        self.objective_ = np.nan if summary["primal"] is None else summary["primal"]
        self.duality_gap_ = np.nan if summary["relative_gap"] is None else summary["relative_gap"]
        self.n_iter_ = summary["iterations"]
        machines = summary.get("machines", [])
        # Machines that were learned together share one history.
        self.history_ = summary["history"] or [machine.get("history", []) for machine in machines]
        self._core_names = [kernel["name"] for kernel in summary["kernels"]]
        self.kernel_names_ = [readable(name, self._feature_names) for name in self._core_names]
        # Of separate machines the mean.
        self.kernel_weights_ = np.array([kernel["weight"] for kernel in summary["kernels"]], dtype=float)
        self.machine_weights_ = np.array(
            [machine["weights"] for machine in machines] or [self.kernel_weights_], dtype=float
        )
        self._describe_intervals(summary)
        self._describe_support(model, positions)
        self.intercept_ = np.array([machine["bias"] for machine in machines] or [summary["bias"]])
        if len(model.classes) == 2 == len(machines):  # one function for each class: their difference decides
            self.intercept_ = np.diff(self.intercept_)
        if self.status_ not in ("converged", "interrupted"):
            reached = f"the relative duality gap is {self.duality_gap_:.2g}, wanted was {self.gap:.2g}"
            if self.duality_gap_ <= self.gap and "share_error" in summary:  # weights_tolerance was asked for
                reached = f"the shares of the kernels are known to {summary['share_error']:.2g} only"
            warnings.warn(f"training ended early ({self.status_}): {reached}", ConvergenceWarning)

    def _describe_intervals(self, summary):
        """Sets what is certified of the weights at every optimum; what is not is NaN."""
        unknown = (np.nan, np.nan)

        def intervals(reports, name):
            return [tuple(report.get(name, unknown)) for report in reports]

        kernels, sources = summary["kernels"], summary.get("sources", [])
        self.kernel_weights_interval_ = np.array(intervals(kernels, "weight_interval"), dtype=float).reshape(-1, 2)
        self.weight_shares_interval_ = np.array(intervals(kernels, "share_interval"), dtype=float).reshape(-1, 2)
        names = [source["name"] for source in sources]
        self.source_weights_interval_ = dict(zip(names, intervals(sources, "weight_interval")))
        self.source_weight_shares_interval_ = dict(zip(names, intervals(sources, "share_interval")))

    def _describe_support(self, model, positions):
        pairs = [model.support(machine) for machine in range(model.machines)]
        stored = np.unique(np.concatenate([positions[indices] for indices, _ in pairs]))
        coefficients = np.zeros((len(pairs), len(stored)))
        for k, (indices, factors) in enumerate(pairs):
            coefficients[k, np.searchsorted(stored, positions[indices])] = factors
        self.support_ = stored
        is_difference = len(pairs) == 2 == len(model.classes)  # of the functions of two classes
        self.dual_coef_ = np.diff(coefficients, axis=0) if is_difference else coefficients

    def _repr_html_inner(self):
        return super()._repr_html_inner() + fitted_summary(self)

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += fitted_summary(self)
        return bundle

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model in the format that the command line reads, too.

        The estimator that `load` makes of it equals this one. Only functions (kernels, `callback`), the matrices of a
        `KernelStack` and the state of a `RandomState` stay behind; pickle the estimator to keep these.

        Parameters
        ----------
        path : str or path-like
            File to write; it is replaced only when the model is complete.
        """
        check_is_fitted(self)
        attributes = {name: vars(self)[name] for name in self._kept_attributes if name in vars(self)}
        parameters = {name: getattr(self, name) for name in self.get_params(deep=False)}
        model = self._model.with_note("python", _notes.write({**parameters, **attributes}))
        model.save(os.fspath(path))

    @classmethod
    def load(cls: type[_Estimator], path: str | os.PathLike[str]) -> _Estimator:
        """Open a model that `save` or the command line wrote.

        Parameters
        ----------
        path : str or path-like
            The model file.

        Returns
        -------
        estimator : estimator
            Fitted, with the parameters that it was saved with; of a model of the command line with the options that
            were given when it was trained.
        """
        with open(path, "rb"):  # for the errors of Python's own files
            pass
        model = _core.Model.load(os.fspath(path))
        options = {name: parameter(value) for name, value in model.given_options.items()}
        if options["task"] != cls._task:
            raise ValueError(f"{path}: a model for task '{options['task']}', expected '{cls._task}'")
        options["random_state"] = json.loads(model.summary)["options"].get("seed", 0) or None
        kept = _notes.read(model.note("python"))
        parameters = cls._parameters(options, model.classes)
        parameters.update((name, kept[name]) for name in inspect.signature(cls).parameters if name in kept)
        estimator = cls(**parameters)
        estimator._restore(model, {name: kept[name] for name in cls._kept_attributes if name in kept})
        return estimator

    @classmethod
    def _parameters(cls, options, classes):
        """Those that a model with these options was trained with."""
        known = inspect.signature(cls).parameters
        return {name: options[name] for name in ("kernels", "random_state", *OPTIONS) if name in known}

    def _restore(self, model, kept):
        """Sets what `fit` would have set; `kept` are the attributes that were saved."""
        if model.views:  # a model without kernels on features takes any number of them
            self.n_features_in_ = sum(columns for _, columns in model.views)
        count = model.data_count or max(model.stored_samples, default=-1) + 1
        self._training_positions = np.arange(count)
        self._stack_rows = self._stack_columns = None
        self._widths = dict(model.views)
        self._sources = list(self._widths)
        self._feature_names = {
            view["name"]: view.get("feature_names", []) for view in json.loads(model.describe_json())["views"]
        }
        self.__dict__.update(kept)
        self._describe(model, self._training_positions)
        self._stored = np.array(model.stored_samples, dtype=np.int64)
        self._functions, self._kept_rows = [], {}
