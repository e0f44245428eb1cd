"""Kernels: how alike two samples are.

Every class mirrors a word of the kernel language, and ``str(kernel)`` is the kernel in that language. A parameter takes
a number, a list (one kernel per value), or a text of the language such as ``"median*4"`` or
``"logspace(1e-3,1e3,7)"``.

Examples
--------
>>> from kweave import kernels
>>> str(kernels.RBF(gamma=[0.1, 1], view="genes"))
'rbf(gamma=[0.1,1])@genes'
>>> str(kernels.RBF(gamma="median") * kernels.Linear())
'(rbf(gamma=median)*linear)'
>>> str(kernels.Each(kernels.RBF()))
'each(rbf)'
"""
import numbers
import re

import numpy as np

from . import _core

__all__ = [
    "RBF",
    "Callable",
    "Chi2",
    "Each",
    "Intersection",
    "Kernel",
    "Laplacian",
    "Linear",
    "Mean",
    "Poly",
    "Precomputed",
    "Product",
    "Sum",
    "Tanimoto",
]


def quoted(name):
    """A name as the kernel language takes it."""
    name = str(name)
    return name if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name) else f'"{name}"'


_KINDS = {re.match(r"\w+", line)[0] for line in _core.kernel_help().splitlines()}


def matrix_kernel(name):
    """The kernel of a matrix, called like it where the language allows that name for a kernel."""
    is_allowed = name not in _KINDS and not set(name) & set("()[]@*+=,#\"'\\")
    return f"precomputed(file={quoted(name)}{f',name={quoted(name)}' if is_allowed else ''})"


def _value(value):
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Number):
        return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    return "[" + ",".join(_value(item) for item in np.ravel(np.asarray(value, dtype=object))) + "]"


def _feature(feature):
    """A feature by name, or by position: from 0 in Python, from 1 in the language."""
    return str(int(feature) + 1) if isinstance(feature, numbers.Integral) else quoted(feature)


class Kernel:
    """Base of all kernels.

    Parameters
    ----------
    view : str, default=None
        View that the kernel works on; None: one kernel per view.
    features : sequence of int or str, default=None
        Features that it works on, by position from 0 or by name; None: all. Needs a view where there are several.
    name : str, default=None
        Name of the kernel in results.
    """

    def __init__(self, view=None, features=None, name=None):
        self.view = view
        self.features = features
        self.name = name

    def _parameters(self):
        return {}

    def _word(self):
        return type(self).__name__.lower()

    def _place(self):
        if self.view is None and self.features is None:
            return ""
        inside = "" if self.features is None else "[" + ",".join(map(_feature, self.features)) + "]"
        return f"@{quoted(self.view or 'data')}{inside}"

    def __str__(self):
        parameters = [f"{key}={_value(value)}" for key, value in self._parameters().items() if value is not None]
        if self.name is not None:
            parameters.append(f"name={quoted(self.name)}")
        return self._word() + (f"({','.join(parameters)})" if parameters else "") + self._place()

    def __repr__(self):
        return f"<kernel {self}>"

    def __eq__(self, other):
        return isinstance(other, Kernel) and str(self) == str(other)

    def __hash__(self):
        return hash(str(self))

    def __mul__(self, other):
        return Product([self, other])

    def __add__(self, other):
        return Sum([self, other])


class Linear(Kernel):
    """``<x, z>``."""


class _Wide(Kernel):
    """A kernel with a width."""

    def __init__(self, gamma=None, *, view=None, features=None, name=None):
        super().__init__(view, features, name)
        self.gamma = gamma

    def _parameters(self):
        return {"gamma": self.gamma}


class RBF(_Wide):
    """``exp(-gamma ||x - z||^2)``.

    Parameters
    ----------
    gamma : float, sequence of float or str, default=None
        Width; 'median', 'mean' and 'quantile(q)' measure it on the training samples. None: the language's default.
    view, features, name
        As in `Kernel`.
    """


class Laplacian(_Wide):
    """``exp(-gamma ||x - z||_1)``; parameters as in `RBF`."""


class Chi2(_Wide):
    """``exp(-gamma sum (x - z)^2 / (x + z))`` for features that are not negative; parameters as in `RBF`."""


class Poly(Kernel):
    """``(gamma <x, z> + coef0)^degree``.

    Parameters
    ----------
    degree, gamma, coef0 : number, sequence or str, default=None
        Parameters of the formula; None: the language's defaults 3, 1 and 1.
    view, features, name
        As in `Kernel`.
    """

    def __init__(self, degree=None, gamma=None, coef0=None, *, view=None, features=None, name=None):
        super().__init__(view, features, name)
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def _parameters(self):
        return {"degree": self.degree, "gamma": self.gamma, "coef0": self.coef0}


class Intersection(Kernel):
    """``sum min(x, z)`` for features that are not negative."""


class Tanimoto(Kernel):
    """``<x, z> / (||x||^2 + ||z||^2 - <x, z>)``."""


class Precomputed(Kernel):
    """Values of a matrix: one of a `KernelStack`, or a file.

    Parameters
    ----------
    file : str
        Name in the stack, or path of a NumPy or text file.
    name : str, default=None
        Name of the kernel in results.
    """

    def __init__(self, file, *, name=None):
        super().__init__(name=name)
        self.file = file

    def _parameters(self):
        return {"file": quoted(self.file)}


class _Combined(Kernel):
    """One kernel built from others."""

    _operator = ""

    def __init__(self, kernels, name=None):
        super().__init__(name=name)
        self.kernels = list(kernels)

    def __str__(self):
        inside = self._operator.join(str(kernel) for kernel in self.kernels)
        return f"({inside}{'' if self.name is None else f', name={quoted(self.name)}'})"


class Product(_Combined):
    """The product of kernels, one kernel with one weight; also written ``k1 * k2``.

    Parameters
    ----------
    kernels : sequence of kernels
        The factors.
    name : str, default=None
        Name of the kernel in results.
    """

    _operator = "*"


class Sum(_Combined):
    """The sum of kernels, one kernel with one weight; also written ``k1 + k2``; parameters as in `Product`."""

    _operator = "+"


class Mean(_Combined):
    """The mean of kernels, one kernel with one weight; parameters as in `Product`."""

    def __str__(self):
        inside = f"mean({','.join(str(kernel) for kernel in self.kernels)})"
        return inside if self.name is None else f"({inside}, name={quoted(self.name)})"


class Each(Kernel):
    """One kernel per feature.

    Parameters
    ----------
    kernel : Kernel or str
        The kernel that every feature gets.
    view, features, name
        As in `Kernel`.
    """

    def __init__(self, kernel, *, view=None, features=None, name=None):
        super().__init__(view, features, name)
        self.kernel = kernel

    def __str__(self):
        name = "" if self.name is None else f", name={quoted(self.name)}"
        return f"each({self.kernel}{name}){self._place()}"


class Callable(Kernel):
    """Any function of two sets of samples.

    It is evaluated in blocks of rows; its values are held in memory while training runs.

    Parameters
    ----------
    function : callable
        Takes arrays of shape (n, d) and (m, d), returns kernel values of shape (n, m).
    view : str, default=None
        View that it works on; None: the only one.
    name : str, default=None
        Name of the kernel in results; None: that of the function.
    block : int, default=1024
        Rows that are evaluated at a time.
    """

    def __init__(self, function, *, view=None, name=None, block=1024):
        super().__init__(view=view, name=name or getattr(function, "__name__", "callable"))
        self.function = function
        self.block = block

    def __str__(self):
        return matrix_kernel(self.name)

    def __eq__(self, other):
        return isinstance(other, Callable) and (self.function, self.view, self.name) == (
            other.function,
            other.view,
            other.name,
        )

    __hash__ = Kernel.__hash__

    def matrix(self, left, right):
        """Kernel values between two sets of samples.

        Parameters
        ----------
        left, right : array-like
            Samples.

        Returns
        -------
        values : ndarray of shape (n_left, n_right)
            The values, float64.
        """
        values = np.empty((left.shape[0], right.shape[0]))
        for begin in range(0, left.shape[0], self.block):
            rows = slice(begin, begin + self.block)
            part = np.asarray(self.function(left[rows], right), dtype=np.float64)
            if part.shape != values[rows].shape:
                raise ValueError(
                    f"kernel {self.name!r} returned values of shape {part.shape}, expected {values[rows].shape}"
                )
            values[rows] = part
        return values

    def diagonal(self, samples):
        """Kernel value of every sample with itself.

        Parameters
        ----------
        samples : array-like
            Samples.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            The values, float64.
        """
        ones = (self.function(samples[i : i + 1], samples[i : i + 1]) for i in range(samples.shape[0]))
        return np.array([np.asarray(one, dtype=np.float64).item() for one in ones])
