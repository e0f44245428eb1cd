"""What differs between scikit-learn 1.2 and the current release, in one place."""
from sklearn.utils import validation

try:
    from sklearn.utils.validation import validate_data
except ImportError:

    def validate_data(estimator, X, y="no_validation", **options):
        return estimator._validate_data(X, y, **options)


def check_sample_weight(sample_weight, X):
    """One float64 per sample: ones where `sample_weight` is None."""
    return validation._check_sample_weight(sample_weight, X, dtype="float64")


class SparseInputTags:
    """Says to either version that an estimator takes sparse matrices."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class RequiresYTags:
    """Says to either version that `fit` needs targets."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _more_tags(self):
        return {"requires_y": True}
