"""What differs between scikit-learn 1.2 and the current release, in one place."""
from typing import Any

import numpy as np
from sklearn.utils import validation

from ._containers import Views

try:
    from sklearn.utils.validation import validate_data
except ImportError:

    def validate_data(estimator, X, y="no_validation", **options):
        return estimator._validate_data(X, y, **options)


def check_sample_weight(sample_weight, X):
    """One float64 per sample, 0 or more: ones where `sample_weight` is None."""
    if isinstance(X, Views):
        X.check_index(sample_weight, "sample_weight")
    weight = validation._check_sample_weight(sample_weight, X, dtype="float64")
    if (weight < 0).any():
        first = int(np.argmax(weight < 0))
        raise ValueError(f"sample_weight is {weight[first]:g} at position {first}, expected 0 or more")
    return weight


class SparseInputTags:
    """Says to either version that an estimator takes sparse matrices."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


class TwoClassesTags:
    """Says to either version when an estimator tells two classes apart and no more."""

    _serves_two_classes: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.classifier_tags.multi_class = not self._serves_two_classes()
        return tags

    def _more_tags(self):
        return {"binary_only": self._serves_two_classes()}


class RequiresYTags:
    """Says to either version that `fit` needs targets."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        return tags

    def _more_tags(self):
        return {"requires_y": True}
