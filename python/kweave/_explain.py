"""What was learned, in answers that one can read: by kernel, by source and by feature."""
from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._names import readable
from ._run import make_run
from ._samples import Samples
from ._typing import SamplesLike
from .kernels import function_name

_KERNELS = {kind["name"] for kind in _core.kernel_table()} | {"precomputed", "joint"}


def is_linear(kernel):
    """Whether a kernel of the language is an inner product of features: `linear`, one per feature, or sums of them."""
    bare = re.sub(r"\"[^\"]*\"|'[^']*'|\[[^\]]*\]|name=[^,)]*", "", kernel)
    words = set(re.findall(r"(?<![@\w.-])[a-z]\w*", bare))
    return "*" not in bare and words & _KERNELS == {"linear"}


class Explanations:
    """Attributes and functions of every estimator that say why."""

    # What it needs of the estimator.
    summary_: dict[str, Any]
    intercept_: NDArray[np.float64]
    _core_names: list[str]
    _widths: dict[str, int]
    _new_samples: Any
    _training_matrices: Any
    _callables: Any
    _options: Any

    def _parts(self, samples):
        """What every kernel adds to every function of `intercept_`: (n_samples, n_functions, n_kernels)."""
        if self.summary_["options"]["combine"] != "sum":
            raise ValueError("combine is 'product', expected 'sum': a product has no parts that add up")
        column = {name: m for m, name in enumerate(self._core_names)}
        machines = len(self.machine_weights_)
        parts = np.zeros((samples.size, machines, len(column)))
        active = [column[name] for name in self._model.active_kernels]
        functions = self._each_machine(samples, "decide_by_kernel")
        per_machine = len(functions) // machines  # with kernels on classes several functions make one
        for k, values in enumerate(functions):
            parts[:, k // per_machine, active] += values.reshape(samples.size, len(active))
        # Two classes, one function each: their difference decides.
        return parts if len(self.intercept_) == machines else parts[:, 1:] - parts[:, :1]

    def decision_function_by_kernel(self, X: SamplesLike) -> NDArray[np.float64]:
        """Decision function split into the contribution of each kernel.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.

        Returns
        -------
        parts : ndarray of shape (n_samples, n_kernels) or (n_samples, n_classes, n_kernels)
            Their sum over kernels, plus `intercept_`, is the decision function. Kernels are those of `kernel_names_`. One
            against one, where the decision function counts votes, there is a row for each entry of
            ``summary_['machines']``, and the sum is what that machine votes by.
        """
        parts = self._parts(self._new_samples(X))
        return parts[:, 0] if len(self.intercept_) == 1 else parts

    def decision_function_by_source(self, X: SamplesLike) -> NDArray[np.float64]:
        """Decision function split into the contribution of each source: a view, or a matrix of a `KernelStack`.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.

        Returns
        -------
        parts : ndarray of shape (n_samples, n_sources) or (n_samples, n_classes, n_sources)
            Their sum over sources, plus `intercept_`, is the decision function, as for `decision_function_by_kernel`.
            Sources are those of `source_shares_`, in that order.
        """
        parts = self._parts(self._new_samples(X))
        sources = {source: s for s, source in enumerate(self.source_shares_)}
        by_source = np.zeros((*parts.shape[:2], len(sources)))
        for name, source in self._kernel_sources().items():
            by_source[:, :, sources[source]] += parts[:, :, self._core_names.index(name)]
        return by_source[:, 0] if len(self.intercept_) == 1 else by_source

    def _weighted_kernels(self):
        """The kernels with a weight: name, source, share."""
        check_is_fitted(self)
        if self.summary_["options"]["combine"] != "sum":
            raise AttributeError("a product of kernels has no parts that add up, so that sources have no shares")
        views = {kernel.name: kernel.view for kernel in self._functions}
        kernels = json.loads(self._model.describe_json())["kernels"]
        for kernel in kernels:
            name = function_name(kernel["source"])
            if name is not None:  # functions work on a view as other kernels do
                kernel["source"] = views.get(name) or (self._sources[0] if name in views else name)
        return kernels

    def _kernel_sources(self):
        """The source of every kernel with a weight, by its name."""
        return {kernel["name"]: kernel["source"] for kernel in self._weighted_kernels()}

    @property
    def source_shares_(self) -> dict[str, float]:
        """Share of every source in the squared norm of the function, as ``kweave inspect`` tells it.

        The shares sum to 1 unless no kernel has a weight. Kernels that work on several views have a source of their own,
        such as 'image with rna'. With several machines it is the share of the mean weights.
        """
        shares = {source: 0.0 for source in getattr(self, "_sources", ())}
        for kernel in self._weighted_kernels():
            shares[kernel["source"]] = shares.get(kernel["source"], 0.0) + kernel["share"]
        return shares

    @property
    def coef_(self) -> NDArray[np.float64] | dict[str, NDArray[np.float64]]:
        """Weights of the features where all kernels are linear: of shape (1, n_features) or (n_classes, n_features).

        A dictionary of them by view where the estimator was fitted to `Views`. The decision function is ``X @ coef_.T +
        intercept_``, with `normalize` 'center' up to a constant. One against one there is a row for each machine.
        """
        check_is_fitted(self)
        options = self.summary_["options"]
        if not all(map(is_linear, options["kernels"])) or "spherical" in options["normalize"]:
            raise AttributeError("coef_ is there where all kernels are linear and none is normalised 'spherical'")
        if options["combine"] != "sum" or not self._widths:
            raise AttributeError("coef_ is there for sums of kernels on features")
        coefficients = {}
        for view, width in self._widths.items():
            rows = [(name, sparse.csr_matrix((width + 1, own)), ()) for name, own in self._widths.items() if name != view]
            unit = sparse.vstack([sparse.csr_matrix((1, width)), sparse.identity(width)], format="csr")
            values = self._parts(Samples([(view, unit, ()), *rows])).sum(axis=2)
            coefficients[view] = (values[1:] - values[0]).T
        has_views = len(coefficients) > 1 or getattr(self, "_kind", None) == "Views"
        return coefficients if has_views else next(iter(coefficients.values()))

    def analyze_kernels(self, X: SamplesLike, y: ArrayLike | None = None) -> dict[str, Any]:
        """Look at the kernels on some samples before anything is learned.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features), Views or KernelStack
            Samples; their indices when `kernels` is a `KernelStack`.
        y : array-like of shape (n_samples,), default=None
            Classes, for alignments with the labels.

        Returns
        -------
        analysis : dict
            'kernels' (name, scale, mean and, with `y`, centred alignment with the matrix that is 1 for samples of the
            same class, else 0; with two classes, also the plain alignment with their signs), 'alignment' and
            'centered_alignment' (of all pairs).
        """
        samples, _ = clone(self)._input(X, reset=True)
        classes, codes = np.unique([] if y is None else y, return_inverse=True)
        data = samples.to_core(self._training_matrices(samples, self._callables()))
        names = [str(label) for label in classes]
        options = self._options(samples)
        analysis = json.loads(_core.analyze_kernels(data, codes, names, options, make_run(self)))
        for kernel in analysis["kernels"]:
            kernel["name"] = readable(kernel["name"], samples.feature_names())
        return analysis
