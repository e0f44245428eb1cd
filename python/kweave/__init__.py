"""Learn one model from many kernels.

The estimators follow scikit-learn's conventions; the numbers come from the compiled core, and every fitted
estimator carries the duality gap that certifies its answer.
"""
from . import kernels
from ._classifier import MKLClassifier
from ._containers import KernelStack, Views
from ._core import __version__
from ._display import ClassKernelDisplay, ConvergenceDisplay, KernelAlignmentDisplay, KernelWeightsDisplay, SourceSharesDisplay
from ._importance import view_importance
from ._oneclass import MKLOneClass
from ._regressor import MKLRegressor
from ._selecting import MKLClassifierCV, MKLRegressorCV
from ._transformer import MKLTransformer
from ._view_transformer import ViewTransformer

__all__ = [
    "ClassKernelDisplay",
    "ConvergenceDisplay",
    "KernelAlignmentDisplay",
    "KernelStack",
    "KernelWeightsDisplay",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLOneClass",
    "MKLRegressor",
    "MKLRegressorCV",
    "MKLTransformer",
    "SourceSharesDisplay",
    "ViewTransformer",
    "Views",
    "__version__",
    "kernels",
    "view_importance",
]
