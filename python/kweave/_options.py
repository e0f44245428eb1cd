"""Parameters of the estimators as the core takes them."""
import json
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


def _class_kernel(kernel, classes):
    """The text of one kernel on the classes."""
    if isinstance(kernel, str):
        return kernel
    if isinstance(kernel, Mapping):
        return f"taxonomy(values={json.dumps({str(label): str(place) for label, place in kernel.items()})})"
    values = _numbers("class_kernels", kernel)
    labels = [str(label) for label in kernel.index] if hasattr(kernel, "columns") else classes
    if values.shape != (len(labels), len(labels)):
        raise ValueError(
            f"class_kernels has an array of shape {values.shape}, expected ({len(labels)}, {len(labels)}), one row and "
            "column per class in their order, or a DataFrame that names them"
        )
    if hasattr(kernel, "columns"):
        if set(kernel.columns) != set(kernel.index):
            raise ValueError("class_kernels has a DataFrame whose rows and columns are not the same classes")
        values = _numbers("class_kernels", kernel[kernel.index])
    return f"matrix(values={json.dumps([labels, *values.tolist()])})"


def _class_kernels(value, classes):
    """Texts of the kernels on the classes."""
    is_one = isinstance(value, (str, Mapping)) or not np.iterable(value) or hasattr(value, "columns")
    is_one = is_one or isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype != object
    kernels = [] if value is None else [value] if is_one else list(value)
    return [_class_kernel(kernel, classes) for kernel in kernels]


def _numbers(name, value):
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}, expected a text or numbers") from None


def _written(name, value):
    """An array over the kernels, as the core reads it in the place of a file."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if name == "feature_groups":
        if not isinstance(value, Mapping):
            raise ValueError(f"{name} is {value!r}, expected a file or a dictionary from groups to names of features")
        return json.dumps({str(group): [str(feature) for feature in features] for group, features in value.items()})
    return json.dumps([str(group) for group in value] if name == "groups" else _numbers(name, value).tolist())


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


def option(name, value, classes=()):
    """A parameter as the core takes it; `classes` are the names of the classes."""
    kind = KINDS[name]
    if kind == "list of str":
        return _class_kernels(value, list(classes))
    if name in ("groups", "matrix", "feature_groups"):
        return _written(name, value)
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
