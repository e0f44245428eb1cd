"""Containers of samples that scikit-learn can slice: several views, and several Gram matrices."""
from __future__ import annotations

from typing import Any, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array


def _row_key(key):
    """What scikit-learn asks for: `X[key]` or `X[key, ...]`."""
    if isinstance(key, tuple):
        key, *rest = key
        if any(part is not Ellipsis and part != slice(None) for part in rest):
            raise IndexError("samples can be selected, their features cannot")
    return key


def _resolve(key, size):
    """Positions that a slice, mask or list of indices selects."""
    key = _row_key(key)
    if np.isscalar(key):
        key = [key]
    return np.arange(size)[key]


class Views:
    """Several sources of evidence about the same samples.

    Slices by sample, so it goes wherever scikit-learn takes an array of samples.

    Parameters
    ----------
    views : dict of str to array-like, sparse matrix or DataFrame
        Features of each view, one row per sample.
    ids : sequence, dict of str to sequence, or 'index', default=None
        Ids of the samples. A dict has those of each view, 'index' takes them from DataFrames: the views are then
        joined, samples that a view lacks are left out, and the order is that of the first view. `ids` says afterwards
        which samples are there.

    Attributes
    ----------
    ids : ndarray or None
        Ids of the samples.
    shape : tuple of int
        Samples, and features over all views.

    Examples
    --------
    >>> import numpy as np
    >>> from kweave import Views
    >>> X = Views({"rna": np.eye(3), "image": np.ones((2, 5))}, ids={"rna": "abc", "image": "ca"})
    >>> X.shape, X.ids.tolist()
    ((2, 8), ['a', 'c'])
    """

    def __init__(
        self, views: Mapping[str, Any], *, ids: Sequence[Any] | NDArray[Any] | Mapping[str, Any] | str | None = None
    ) -> None:
        if not views:
            raise ValueError("there are no views")
        if isinstance(ids, str) and ids == "index":
            ids = {name: matrix.index for name, matrix in views.items() if hasattr(matrix, "iloc")}
        if isinstance(ids, dict) and set(ids) != set(views):
            raise ValueError(f"ids of the views {sorted(ids)}, expected those of {sorted(views)}")
        self._names = {
            name: [str(column) for column in matrix.columns] if hasattr(matrix, "columns") else []
            for name, matrix in views.items()
        }
        self._matrices = {
            name: check_array(matrix, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", input_name=name)
            for name, matrix in views.items()
        }
        self.ids = None
        if isinstance(ids, dict):
            self._join({name: np.asarray(list(ids[name])) for name in views})
        elif ids is not None:
            self.ids = np.asarray(ids)
        self._check_sizes()

    def _join(self, ids):
        for name, own in ids.items():
            if len(own) != self._matrices[name].shape[0] or len(np.unique(own)) != len(own):
                raise ValueError(f"view {name!r}: expected one id per sample, each once")
        first = next(iter(ids.values()))
        self.ids = first[np.logical_and.reduce([np.isin(first, own) for own in ids.values()])]
        if len(self.ids) == 0:
            raise ValueError("no id occurs in all views")
        for name, own in ids.items():
            order = np.argsort(own)
            self._matrices[name] = self._matrices[name][order[np.searchsorted(own, self.ids, sorter=order)]]

    def _check_sizes(self):
        sizes = {name: matrix.shape[0] for name, matrix in self._matrices.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"the views differ in their number of samples: {sizes}; give `ids` to join them")
        if self.ids is not None and len(self.ids) != len(self):
            raise ValueError(f"{len(self.ids)} ids for {len(self)} samples")

    @property
    def shape(self) -> tuple[int, int]:
        """Samples, and features over all views."""
        return len(self), sum(matrix.shape[1] for matrix in self._matrices.values())

    def __len__(self) -> int:
        return next(iter(self._matrices.values())).shape[0]

    def __getitem__(self, key: Any) -> Views:
        rows = _resolve(key, len(self))
        part = object.__new__(Views)
        part._names = self._names
        part._matrices = {name: matrix[rows] for name, matrix in self._matrices.items()}
        part.ids = None if self.ids is None else self.ids[rows]
        return part

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}: {matrix.shape[1]} features" for name, matrix in self._matrices.items())
        return f"Views({len(self)} samples; {inside})"

    def items(self) -> Iterator[tuple[str, Any, list[str]]]:
        """Go through the views.

        Yields
        ------
        view : tuple of str, matrix and list of str
            Name, features and their names (none: an empty list).
        """
        for name, matrix in self._matrices.items():
            yield name, matrix, self._names[name]


def _as_gram(matrix, name):
    if sparse.issparse(matrix):
        matrix = matrix.toarray()
    matrix = np.asarray(matrix)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"kernel matrix {name!r} has {matrix.ndim} dimensions, expected 2")
    return matrix


class KernelStack:
    """Several Gram matrices of the same samples.

    Slices by sample without copying a value, so it goes wherever scikit-learn takes an array of samples: row and
    column i of a square stack are the same sample, and what is selected remembers where it came from. For new samples
    give a stack with one row per new sample and one column per training sample, or per support vector in the order
    of `support_`.

    Parameters
    ----------
    grams : dict of str to array, sequence of arrays, or array of shape (n, m, M)
        The matrices; float32 and float64 are not copied.
    names : sequence of str, default=None
        Names of the kernels, for matrices that have none; None: k1, k2, ...
    diagonals : dict or sequence of arrays, default=None
        Values of each kernel between every new sample and itself, which normalisation 'spherical' needs in a stack
        that is not square.

    Attributes
    ----------
    names : list of str
        Names of the kernels.
    shape : tuple of int
        Samples and kernels.
    rows : ndarray of int
        Positions of the samples in the matrices.
    columns : int
        Number of columns of the matrices.
    is_square : bool
        Whether rows and columns are the same samples.

    Examples
    --------
    >>> import numpy as np
    >>> from kweave import KernelStack
    >>> stack = KernelStack({"linear": np.eye(4), "ones": np.ones((4, 4))})
    >>> stack[[0, 2]].shape
    (2, 2)
    """

    def __init__(
        self,
        grams: Mapping[str, Any] | Sequence[Any] | NDArray[Any],
        names: Sequence[str] | None = None,
        *,
        diagonals: Mapping[str, ArrayLike] | Sequence[ArrayLike] | None = None,
    ) -> None:
        if isinstance(grams, Mapping):
            names, grams = list(grams), list(grams.values())
        elif isinstance(grams, np.ndarray) and grams.ndim == 3:
            grams = [grams[:, :, m] for m in range(grams.shape[2])]
        else:
            grams = list(grams)
        if not grams:
            raise ValueError("there are no kernel matrices")
        self.names = [f"k{m + 1}" for m in range(len(grams))] if names is None else [str(name) for name in names]
        if len(set(self.names)) != len(grams):
            raise ValueError(f"{len(set(self.names))} different names for {len(grams)} kernel matrices")
        self._grams = [_as_gram(gram, name) for gram, name in zip(grams, self.names)]
        shapes = {gram.shape for gram in self._grams}
        if len(shapes) > 1:
            raise ValueError(f"the kernel matrices differ in shape: {sorted(shapes)}")
        self._diagonals: list[NDArray[np.float64]] | None = None
        if diagonals is not None:
            if isinstance(diagonals, Mapping):
                diagonals = [diagonals[name] for name in self.names]
            self._diagonals = [np.asarray(values, dtype=np.float64) for values in diagonals]
        self._rows = np.arange(self._grams[0].shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and kernels."""
        return len(self), len(self.names)

    @property
    def rows(self) -> NDArray[np.int64]:
        """Positions of the samples in the matrices."""
        return self._rows

    @property
    def columns(self) -> int:
        """Number of columns of the matrices."""
        return self._grams[0].shape[1]

    @property
    def is_square(self) -> bool:
        """Whether rows and columns are the same samples."""
        return self._grams[0].shape[0] == self._grams[0].shape[1]

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: Any) -> KernelStack:
        part = object.__new__(KernelStack)
        part.__dict__.update(self.__dict__)
        part._rows = self._rows[_resolve(key, len(self))]
        return part

    def __deepcopy__(self, memo):
        return self  # never changed, so that clones of an estimator share the matrices

    def __repr__(self) -> str:
        return f"KernelStack({len(self)} samples; {', '.join(self.names)})"

    def items(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Go through the kernels.

        Yields
        ------
        kernel : tuple of str and ndarray
            Name and whole matrix, of which `rows` are the samples.
        """
        yield from zip(self.names, self._grams)

    def diagonal(self, name: str) -> NDArray[np.float64] | None:
        """Kernel value of every sample with itself.

        Parameters
        ----------
        name : str
            The kernel.

        Returns
        -------
        values : ndarray of shape (n_samples,) or None
            The values; None when they are not known.
        """
        m = self.names.index(name)
        if self._diagonals is not None:
            return self._diagonals[m][self._rows]
        return np.diagonal(self._grams[m])[self._rows].astype(np.float64) if self.is_square else None
