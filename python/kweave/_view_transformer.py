"""Preprocessing of views, each by a transformer of its own."""
from __future__ import annotations

from typing import Any, Mapping

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ._bases import BaseComposition, TransformerMixin
from ._containers import Views

_PASS, _DROP = "passthrough", "drop"


class ViewTransformer(TransformerMixin, BaseComposition):
    """Transforms every view by itself, as part of a pipeline: fitted to the training samples of each fold.

    Parameters
    ----------
    transformers : transformer, or dict of str to transformer, 'passthrough' or 'drop'
        The transformer of each view by its name; views without one pass. One transformer by itself serves all views, each
        with a copy of its own. Parameters of a dictionary's are reached as in ``rna__n_components``, those of one by
        itself as in ``transformers__n_components``.

    Attributes
    ----------
    transformers_ : dict of str to transformer
        The fitted transformers by the names of their views.
    n_features_in_ : int
        Number of features over all views seen in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kweave import MKLClassifier, Views, ViewTransformer
    >>> rng = np.random.default_rng(0)
    >>> X = Views({"rna": rng.normal(size=(60, 30)), "image": rng.normal(size=(60, 5))})
    >>> scale = ViewTransformer({"rna": make_pipeline(StandardScaler(), PCA(3)), "image": StandardScaler()})
    >>> make_pipeline(scale, MKLClassifier()).fit(X, X["rna"][:, 0] > 0)[0].transform(X)
    Views(60 samples; rna: 3 features, image: 5 features)
    """

    transformers: Any
    transformers_: dict[str, Any]
    n_features_in_: int

    def __init__(self, transformers: Any) -> None:
        self.transformers = transformers

    @property
    def _by_view(self):
        return list(self.transformers.items()) if isinstance(self.transformers, Mapping) else []

    @_by_view.setter
    def _by_view(self, value):
        self.transformers = dict(value)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, those of the transformers included.

        Parameters
        ----------
        deep : bool, default=True
            Whether those of the transformers are wanted.

        Returns
        -------
        params : dict
            Values by name.
        """
        return self._get_params("_by_view", deep=deep)

    def set_params(self, **params: Any) -> ViewTransformer:
        """Set parameters, those of transformers by ``view__parameter``.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self : ViewTransformer
            This transformer.
        """
        self._set_params("_by_view", **params)
        return self

    def _transformer_of(self, name):
        chosen = self.transformers.get(name, _PASS) if isinstance(self.transformers, Mapping) else self.transformers
        return chosen if isinstance(chosen, str) else clone(chosen)

    def fit(self, X: Views, y: ArrayLike | None = None) -> ViewTransformer:
        """Fit the transformer of every view.

        Parameters
        ----------
        X : Views
            Samples.
        y : array-like of shape (n_samples,), default=None
            Targets, for transformers that ask for them.

        Returns
        -------
        self : ViewTransformer
            The fitted transformer.
        """
        if not isinstance(X, Views):
            raise ValueError(f"X is {type(X).__name__}, expected Views")
        unknown = [name for name, _ in self._by_view if name not in X]
        if unknown:
            raise ValueError(f"there is no view {unknown[0]!r} to transform, only {', '.join(map(repr, X))}")
        chosen = {name: self._transformer_of(name) for name in X}
        for name, transformer in chosen.items():
            if isinstance(transformer, str) and transformer not in (_PASS, _DROP):
                raise ValueError(f"view {name!r}: {transformer!r} is no transformer, expected one, {_PASS!r} or {_DROP!r}")
            if not isinstance(transformer, str):
                has = X.presence.get(name, slice(None))  # nothing is learned from samples without the view
                transformer.fit(X[name][has], y if y is None else np.asarray(y)[has])
        if all(isinstance(transformer, str) and transformer == _DROP for transformer in chosen.values()):
            raise ValueError("every view is dropped")
        self.transformers_ = chosen
        self.n_features_in_ = X.shape[1]
        self._inputs = X.feature_names
        return self

    def transform(self, X: Views) -> Views:
        """Transform every view.

        Parameters
        ----------
        X : Views
            Samples with the views of `fit`.

        Returns
        -------
        X_new : Views
            The same samples, with the views that were not dropped, under their names.
        """
        check_is_fitted(self)
        if not isinstance(X, Views) or set(X) != set(self.transformers_):
            raise ValueError(f"expected Views of {', '.join(map(repr, self.transformers_))}, found {X!r}")
        matrices, names = {}, {}
        for name, transformer in self.transformers_.items():
            if isinstance(transformer, str):
                if transformer == _PASS:
                    matrices[name], names[name] = X[name], X.feature_names[name]
            else:
                matrices[name] = transformer.transform(X[name])
                names[name] = self._names_out(name, transformer)
        return X.with_matrices(matrices, names)

    def _names_out(self, name, transformer):
        """Names of the features that come out: none where none went in or the transformer cannot tell."""
        inputs = self._inputs[name]
        if not inputs or not hasattr(transformer, "get_feature_names_out"):
            return []
        return [str(one) for one in transformer.get_feature_names_out(np.asarray(inputs, dtype=object))]
