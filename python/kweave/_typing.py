"""Types of the public interface."""
from typing import Any, Callable, Dict, Mapping, Sequence, Union

import numpy as np

from ._containers import KernelStack
from .kernels import Kernel

#: An array-like, sparse matrix, DataFrame, `Views` or `KernelStack`; indices when the estimator holds a `KernelStack`.
SamplesLike = Any
KernelLike = Union[Kernel, str, Callable[[Any, Any], Any]]
KernelsLike = Union[
    KernelLike, Sequence[KernelLike], Mapping[str, Union[KernelLike, Sequence[KernelLike]]], KernelStack, None
]
Progress = Callable[[Dict[str, Any]], Any]
RandomState = Union[int, np.random.RandomState, None]
