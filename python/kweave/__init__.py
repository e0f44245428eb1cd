"""Learn one model from many kernels.

The estimators follow scikit-learn's conventions; the numbers come from the compiled core, and every fitted
estimator carries the duality gap that certifies its answer.
"""
from ._classifier import MKLClassifier
from ._core import __version__

__all__ = ["MKLClassifier", "__version__"]
