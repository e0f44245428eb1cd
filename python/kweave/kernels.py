"""Kernels: how alike two samples are.

Every class mirrors a word of the kernel language (those of kernels on features are made from the core's table of them), and ``str(kernel)`` is the kernel in that language. A parameter takes
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
from __future__ import annotations

import inspect
import numbers
import re
from copy import copy
from typing import TYPE_CHECKING, Any, Mapping, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _core

__all__ = [
    "Callable",
    "Each",
    "Joint",
    "Kernel",
    "Mean",
    "Precomputed",
    "Product",
    "Sum",
]


#: A number, several of them, a text of the kernel language, or None for its default.
Parameter = Union[float, str, Sequence[Union[float, str]], NDArray[Any], None]


def quoted(name: object) -> str:
    """A name as the kernel language takes it."""
    name = str(name)
    return name if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name) else f'"{name}"'


_KINDS = {word for line in _core.kernel_help().splitlines() for word in re.findall(r"^\w+", line)}


def matrix_kernel(name: str, kind: str = "precomputed", matrix: str | None = None) -> str:
    """The kernel called `name`, where the language allows that, of a matrix of the same name or another."""
    is_allowed = name not in _KINDS and not set(name) & set("()[]@*+=,#\"'\\")
    return f"{kind}(file={quoted(matrix or name)}{f',name={quoted(name)}' if is_allowed else ''})"


_FUNCTION = "function "


def function_matrix(name: str) -> str:
    """What the core calls the values of a function.

    The samples of a model with functions need not be in the order they were given in, so no matrix of the caller must
    take the place of the values.
    """
    return f"{_FUNCTION}{name}"


def function_name(matrix: str) -> str | None:
    """The function whose values a matrix has, by `function_matrix`; None: it is no such matrix."""
    return matrix[len(_FUNCTION) :] if matrix.startswith(_FUNCTION) else None


def _value(value):
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Number):
        return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))
    return "[" + ",".join(_value(item) for item in np.ravel(np.asarray(value, dtype=object))) + "]"


def _feature(feature):
    """A feature by name, or by position: from 0 in Python, from 1 in the language."""
    return str(int(feature) + 1) if isinstance(feature, numbers.Integral) else quoted(feature)


def on_view(kernel: Kernel | str, view: str) -> Kernel | str:
    """A kernel of any form on a view."""
    if not isinstance(kernel, str):
        return kernel.on_view(view)
    if "@" in kernel:
        return kernel
    return f"({kernel})@{quoted(view)}" if set(kernel) & set("*+") else f"{kernel}@{quoted(view)}"


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

    def __init__(
        self, view: str | None = None, features: Sequence[int | str] | None = None, name: str | None = None
    ) -> None:
        self.view = view
        self.features = features
        self.name = name

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What the kernel was made with, so that a grid reaches it as in ``kernels__gamma``.

        Parameters
        ----------
        deep : bool, default=True
            Kernels have no parameters of others, so it makes no difference.

        Returns
        -------
        params : dict
            Values by name.
        """
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        return {name: getattr(self, name) for name in names}

    def on_view(self, view: str) -> Kernel:
        """The same kernel on a view; parts of it that have one keep it.

        Parameters
        ----------
        view : str
            The view.

        Returns
        -------
        kernel : Kernel
            A copy, or this kernel where it has a view already.
        """
        if self.view is not None:
            return self
        made = copy(self)
        made.view = view
        return made

    def check_features(self, widths: Mapping[str, int]) -> None:
        """Refuse features by a position that a view does not have.

        Parameters
        ----------
        widths : dict of str to int
            Number of features of every view.
        """
        width = widths.get(self.view or "data")
        for feature in () if self.features is None or width is None else self.features:
            if isinstance(feature, numbers.Integral) and not 0 <= feature < width:
                raise ValueError(f"{self!r}: there is no feature {feature}; positions run from 0 to {width - 1} in Python")

    def _parameters(self):
        return {}

    def _word(self):
        return type(self).__name__.lower()

    def _place(self):
        if self.view is None and self.features is None:
            return ""
        inside = "" if self.features is None else "[" + ",".join(map(_feature, self.features)) + "]"
        return f"@{quoted(self.view or 'data')}{inside}"

    def __str__(self) -> str:
        parameters = [f"{key}={_value(value)}" for key, value in self._parameters().items() if value is not None]
        if self.name is not None:
            parameters.append(f"name={quoted(self.name)}")
        return self._word() + (f"({','.join(parameters)})" if parameters else "") + self._place()

    def __repr__(self) -> str:
        return f"<kernel {self}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kernel) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __mul__(self, other: Kernel | str) -> Product:
        return Product([self, other])

    def __add__(self, other: Kernel | str) -> Sum:
        return Sum([self, other])


class _OfTheTable(Kernel):
    """A kernel of the core's table: its words and its parameters are those of the kernel language."""

    _kind: Mapping[str, Any]

    def _parameters(self):
        return {parameter["name"]: getattr(self, parameter["name"]) for parameter in self._kind["parameters"]}

    def _word(self):
        return self._kind["name"]


_PLACE = """view : str, default=None
    View that the kernel works on; None: one kernel per view.
features : sequence of int or str, default=None
    Features that it works on, by position from 0 or by name; None: all. Needs a view where there are several.
name : str, default=None
    Name of the kernel in results."""


def _documentation(kind):
    lines = [f"{kind['sentence']}.", "", "Parameters", "----------"]
    for parameter in kind["parameters"]:
        text = parameter["sentence"]
        words = (
            " 'median', 'mean' and 'quantile(q)' measure it on the training samples, 'auto' takes it from the number of features."
            if parameter["follows_from_data"]
            else ""
        )
        lines += [
            f"{parameter['name']} : float, sequence of float or str, default=None",
            f"    {text[0].upper()}{text[1:]}.{words} None: the language's default, {parameter['initial']}.",
        ]
    return "\n".join(lines + _PLACE.split("\n"))


def _make_class(kind):
    """The class of one kernel of the core's table."""
    own = [parameter["name"] for parameter in kind["parameters"]]
    places = {"view": "str | None", "features": "Sequence[int | str] | None", "name": "str | None"}
    is_simple = not own  # then the view may be given by position
    signature = inspect.Signature(
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        + [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation="Parameter")
            for name in own
        ]
        + [
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD if is_simple else inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=annotation,
            )
            for name, annotation in places.items()
        ],
        return_annotation="None",
    )

    def __init__(self, *values, **named):
        bound = signature.bind(self, *values, **named)
        bound.apply_defaults()
        given = dict(bound.arguments)
        Kernel.__init__(self, **{name: given[name] for name in places})
        for name in own:
            setattr(self, name, given[name])

    __init__.__signature__ = signature
    members = {"__init__": __init__, "__doc__": _documentation(kind), "__module__": __name__, "_kind": kind}
    return type(kind["class_name"], (_OfTheTable,), members)


for _kind in _core.kernel_table():
    if _kind["class_name"]:
        globals()[_kind["class_name"]] = _make_class(_kind)
        __all__ += [_kind["class_name"]]

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


class Precomputed(Kernel):
    """Values of a matrix: one of a `KernelStack`, or a file.

    Parameters
    ----------
    file : str
        Name in the stack, or path of a NumPy or text file.
    name : str, default=None
        Name of the kernel in results.
    """

    def __init__(self, file: str, *, name: str | None = None) -> None:
        super().__init__(name=name)
        self.file = file

    def _parameters(self):
        return {"file": quoted(self.file)}


class _Combined(Kernel):
    """One kernel built from others."""

    _operator: str = ""

    def __init__(self, kernels: Sequence[Kernel | str], name: str | None = None) -> None:
        super().__init__(name=name)
        self.kernels = kernels

    def on_view(self, view: str) -> Kernel:
        """The same kernel on a view; parts of it that have one keep it.

        Parameters
        ----------
        view : str
            The view.

        Returns
        -------
        kernel : Kernel
            A copy.
        """
        made = copy(self)
        made.kernels = [on_view(kernel, view) for kernel in self.kernels]
        return made

    def check_features(self, widths: Mapping[str, int]) -> None:
        for kernel in self.kernels:
            if isinstance(kernel, Kernel):
                kernel.check_features(widths)

    def __str__(self) -> str:
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

    _operator: str = "*"


class Sum(_Combined):
    """The sum of kernels, one kernel with one weight; also written ``k1 + k2``.

    Parameters
    ----------
    kernels : sequence of kernels
        The terms.
    name : str, default=None
        Name of the kernel in results.
    """

    _operator: str = "+"


class Mean(_Combined):
    """The mean of kernels, one kernel with one weight.

    Parameters
    ----------
    kernels : sequence of kernels
        What the mean is taken of.
    name : str, default=None
        Name of the kernel in results.
    """

    def __str__(self) -> str:
        inside = f"mean({','.join(str(kernel) for kernel in self.kernels)})"
        return inside if self.name is None else f"({inside}, name={quoted(self.name)})"


class Each(Kernel):
    """One kernel per feature.

    Parameters
    ----------
    kernel : Kernel or str
        The kernel that every feature gets.
    view : str, default=None
        View whose features get it; None: all views.
    features : sequence of int or str, default=None
        Features that get it, by position from 0 or by name; None: all. Needs a view where there are several.
    name : str, default=None
        Name of the kernels in results, to which the features add theirs.
    """

    def __init__(
        self,
        kernel: Kernel | str,
        *,
        view: str | None = None,
        features: Sequence[int | str] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(view, features, name)
        self.kernel = kernel

    def __str__(self) -> str:
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

    name: str

    def __init__(
        self, function: Any, *, view: str | None = None, name: str | None = None, block: int = 1024
    ) -> None:
        super().__init__(view=view, name=name or getattr(function, "__name__", "callable"))
        self.function = function
        self.block = block

    def __str__(self) -> str:
        return matrix_kernel(self.name, matrix=function_matrix(self.name))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and (self.function, self.view, self.name) == (
            other.function,
            other.view,
            other.name,
        )

    def __hash__(self) -> int:
        return super().__hash__()

    def matrix(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Kernel values between two sets of samples.

        Parameters
        ----------
        left : array-like of shape (n_left, n_features)
            Samples.
        right : array-like of shape (n_right, n_features)
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

    def diagonal(self, samples: Any) -> NDArray[np.float64]:
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


class Joint(Callable):
    """Any function of two sets of pairs of sample and class, for classifiers with ``multiclass='joint'``.

    Where all that is known of a class is its name, there are no such functions; where more is known, such as what samples of
    it should look like, they compare (x, u) with (z, v) in ways that no kernel on samples can.

    Parameters
    ----------
    function : callable
        Takes arrays of shape (n, d) and (m, d), returns kernel values of shape (n, n_classes, m, n_classes), classes in the
        order of `classes_`.
    view : str, default=None
        View that it works on; None: the only one.
    name : str, default=None
        Name of the kernel in results; None: that of the function.
    block : int, default=1024
        Samples that are evaluated at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from kweave import MKLClassifier, kernels
    >>> typical = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])  # of each class, as far as is known
    >>> def fit(X):
    ...     return np.exp(-((X[:, None] - typical) ** 2).sum(-1))
    >>> def alike(A, B):
    ...     return np.einsum("iu,jv->iujv", fit(A), fit(B))
    >>> y = np.arange(60) % 3
    >>> X = typical[y] + np.random.default_rng(1).normal(size=(60, 2))
    >>> classifier = MKLClassifier([kernels.RBF(), kernels.Joint(alike)], multiclass="joint").fit(X, y)
    >>> classifier.kernel_names_[1]
    'alike'
    """

    def __str__(self) -> str:
        return matrix_kernel(self.name, "joint", function_matrix(self.name))

    def matrix(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Kernel values between two sets of pairs.

        Parameters
        ----------
        left : array-like of shape (n_left, n_features)
            Samples.
        right : array-like of shape (n_right, n_features)
            Samples.

        Returns
        -------
        values : ndarray of shape (n_left * n_classes, n_right * n_classes)
            The values, float64; pairs of one sample stand together.
        """
        parts = []
        for begin in range(0, left.shape[0], self.block):
            rows = left[begin : begin + self.block]
            part = np.asarray(self.function(rows, right), dtype=np.float64)
            classes = part.shape[1] if part.ndim == 4 else 0
            if part.shape != (rows.shape[0], classes, right.shape[0], classes):
                raise ValueError(
                    f"kernel {self.name!r} returned values of shape {part.shape}, expected "
                    f"({rows.shape[0]}, n_classes, {right.shape[0]}, n_classes)"
                )
            parts.append(part.reshape(rows.shape[0] * classes, right.shape[0] * classes))
        return np.concatenate(parts)
