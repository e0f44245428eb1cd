"""Parameters of the estimators as the core takes them."""
import numbers
from typing import Mapping

import numpy as np

from ._parameters import INFINITE, KINDS
from .kernels import Callable, Kernel, on_view

#: Parameters that are handed to the core under their own name.
OPTIONS = tuple(KINDS)


def _norm(name, value):
    try:
        return float(value)  # 'inf' too
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}, expected a number or 'inf'") from None


def _class_kernels(value):
    """Texts of the kernels on the classes."""
    is_one = isinstance(value, str) or not np.iterable(value) or np.ndim(value) == 2  # a table has its columns in it
    kernels = [] if value is None else [value] if is_one else list(value)
    for kernel in kernels:
        if not isinstance(kernel, str):
            raise ValueError(
                f"class_kernels has {type(kernel).__name__}, expected texts: 'identity', 'blocks', "
                "'matrix(file=FILE)' or 'taxonomy(file=FILE)'; a matrix over the classes goes into such a file, "
                "as pandas.DataFrame(matrix, classes, classes).to_csv(FILE) writes it"
            )
    return kernels


def _intervals(name, value):
    """Bounds by the names or numbers of kernels, which the core counts from 1, as a list or array of pairs has all of them."""
    if value is None:
        return []
    if not isinstance(value, Mapping) and np.iterable(value) and not isinstance(value, str):
        value = dict(enumerate(getattr(value, "to_numpy", lambda: value)()))
    try:
        pairs = [(kernel, (float(lower), float(upper))) for kernel, (lower, upper) in value.items()]
    except (AttributeError, TypeError, ValueError):
        raise ValueError(
            f"{name} is {value!r}, expected pairs of numbers: in a dictionary by kernels, or an array of one row per kernel"
        ) from None
    return [(str(kernel + 1) if isinstance(kernel, numbers.Integral) else str(kernel), own) for kernel, own in pairs]


def option(name, value):
    """A parameter as the core takes it."""
    kind = KINDS[name]
    if kind == "list of str":
        return _class_kernels(value)
    if kind == "intervals":
        return _intervals(name, value)
    if kind == "numbers":
        if value is not None and not hasattr(value, "items"):
            raise ValueError(f"{name} is {value!r}, expected a dictionary from classes to numbers")
        return [(str(label), _norm(f"{name} of class {label!r}", own)) for label, own in (value or {}).items()]
    if kind == "sequence" and not isinstance(value, str):
        if not (value is None or np.iterable(value)) or not all(isinstance(item, str) for item in value or ()):
            raise ValueError(f"{name} is {value!r}, expected a text, a sequence of texts or None")
        return ",".join(value or ()) or "none"
    return _norm(name, value) if name in INFINITE else value


def parameter(value):
    """What the core says of an option, as a parameter: pairs as a dictionary, and None where there are none."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return {name: list(own) if isinstance(own, tuple) else own for name, own in value}
    return None if value == [] else value


def _as_kernel(kernel):
    if isinstance(kernel, (str, Kernel)):
        return kernel
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise ValueError(f"kernels has the class {kernel.__name__}, expected one of its instances: {kernel.__name__}()")
    if callable(kernel):
        return Callable(kernel)
    hint = "; Gram matrices go into a KernelStack" if np.ndim(kernel) == 2 else ""
    raise ValueError(
        f"kernels has a {type(kernel).__name__}, expected kernels of kweave.kernels, texts of the kernel language or "
        f"functions of two sets of samples{hint}"
    )


def kernel_list(kernels):
    """The kernels of the parameter, functions wrapped; those of a dictionary on the views that it names."""
    if isinstance(kernels, Mapping):
        by_view = {str(view): kernel_list(own) for view, own in kernels.items()}
        kernels = [on_view(kernel, view) for view, own in by_view.items() for kernel in own]
    if isinstance(kernels, (str, Kernel)) or callable(kernels) or np.ndim(kernels) == 0:
        kernels = [kernels]
    kernels = [_as_kernel(kernel) for kernel in kernels]
    if not kernels:
        raise ValueError("kernels is empty; leave it out, or give None, for the default kernels")
    names = [kernel.name for kernel in kernels if isinstance(kernel, Callable)]
    for name in {name for name in names if names.count(name) > 1}:
        same = [k for k, kernel in enumerate(kernels) if isinstance(kernel, Callable) and kernel.name == name]
        for number, k in enumerate(same, 1):
            old = kernels[k]
            kernels[k] = type(old)(old.function, view=old.view, name=f"{name}.{number}", block=old.block)
    return kernels
