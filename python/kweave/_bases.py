"""The classes of scikit-learn that estimators are made of; it has no types, so that they are written down here."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...

    class ClassifierMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...
        def set_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_score_request(self, **requests: bool | str | None) -> Self: ...

    class RegressorMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...
        def set_fit_request(self, **requests: bool | str | None) -> Self: ...
        def set_score_request(self, **requests: bool | str | None) -> Self: ...

    class OutlierMixin:
        def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[Any]: ...
        def set_fit_request(self, **requests: bool | str | None) -> Self: ...

    class TransformerMixin:
        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...

    class BaseComposition(BaseEstimator):
        def _get_params(self, attr: str, deep: bool = True) -> dict[str, Any]: ...
        def _set_params(self, attr: str, **params: Any) -> Self: ...

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        OutlierMixin,
        RegressorMixin,
        TransformerMixin,
    )
    from sklearn.utils.metaestimators import _BaseComposition as BaseComposition

__all__ = [
    "BaseComposition",
    "BaseEstimator",
    "ClassifierMixin",
    "OutlierMixin",
    "RegressorMixin",
    "TransformerMixin",
]
