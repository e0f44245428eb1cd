"""What the estimators share: from parameters to the core's options, and from its models to attributes."""
import json
import os
import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._compat import SparseInputTags, validate_data
from ._run import make_run
from ._samples import Samples, merge_equal

#: Default of every option, as the core has it.
DEFAULTS = _core.default_options()

# Parameters that are handed to the core under their own name.
_OPTIONS = ("C", "norm", "method", "driver", "normalize", "gap", "certificate", "max_iterations")


def _option(name, value):
    """A parameter as the core takes it."""
    if name == "norm":
        return float(value)  # 'inf' too
    if name == "normalize" and not isinstance(value, str):
        return ",".join(value) or "none"
    return value


class MKLEstimator(SparseInputTags, BaseEstimator):
    """Base of the estimators; not for direct use."""

    def _validated(self, X, y="no_validation", reset=True, **options):
        return validate_data(
            self, X, y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", **options
        )

    def _samples(self, X):
        """Validated features as samples."""
        names = getattr(self, "feature_names_in_", ())
        return Samples([("data", X, names)])

    def _new_samples(self, X):
        """The samples that a fitted estimator is asked about."""
        check_is_fitted(self)
        return self._samples(self._validated(X, reset=False))

    def _options(self):
        options = {name: _option(name, getattr(self, name)) for name in _OPTIONS}
        if self.kernels is not None:
            kernels = [self.kernels] if isinstance(self.kernels, str) else self.kernels
            options["kernels"] = [str(kernel) for kernel in kernels]
        return options

    def _prepare(self, samples, y, weight):
        """Leaves out samples of weight 0 and merges equal ones."""
        kept = np.flatnonzero(weight != 0)  # negative weights stay, for the core to refuse
        if len(kept) < samples.size:
            samples, y, weight = samples.take(kept), y[kept], weight[kept]
        order, weight = merge_equal(samples, y, weight)
        if np.array_equal(order, np.arange(samples.size)):
            return samples, y, weight, kept
        return samples.take(order), y[order], weight, kept[order]

    def _train(self, samples, codes, classes, weight):
        options = self._options()
        if np.any(weight != 1):
            options["sample_weights"] = weight
        return _core.train(samples.to_core(), codes.astype(np.int64), classes, options, make_run(self))

    def _decide(self, samples):
        """One column of decision values per machine."""
        data, run = samples.to_core(), make_run(self)
        return np.column_stack([model.decide(data, run) for model in self._models])

    def _describe(self, models, positions):
        """Sets the attributes that say what was learned; `positions[i]` is where the i-th sample came from."""
        self._models = models
        summaries = [json.loads(model.summary) for model in models]
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
        estimator = cls(
            kernels=options["kernels"], **{name: options[name] for name in _OPTIONS if name in options}
        )
        estimator._restore(model)
        return estimator

    def _restore(self, model):
        """Sets what `fit` would have set."""
        self.n_features_in_ = sum(columns for _, columns in model.views)
        indices, _ = model.support
        self._describe([model], np.arange(indices.max(initial=-1) + 1))
