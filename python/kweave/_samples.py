"""Samples on their way into the core: what every kind of input becomes."""
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

# Up to this size a copy costs nothing that anybody would notice.
_SMALL_BYTES = 1 << 20


def _core_matrix(matrix):
    """The form in which the core reads a matrix, without a copy where it has that form already."""
    if not sparse.issparse(matrix):
        return matrix
    return (
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(np.float64, copy=False),
        matrix.shape[1],
    )


class CoreMatrix(NamedTuple):
    """Kernel values as the core reads them."""

    name: str
    values: np.ndarray
    #: The rows and columns that are meant, in their order; empty: all.
    rows: Any = ()
    columns: Any = ()
    #: What messages call these.
    row_numbers: Any = ()
    column_numbers: Any = ()


def canonical_rows(matrix):
    """The same matrix with the entries of sparse rows sorted and unique; the caller's stays as it is."""
    if sparse.issparse(matrix) and not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _is_missing(label):
    is_nan = isinstance(label, float) and label != label
    return label is None or is_nan or type(label).__name__ in ("NAType", "NaTType")  # of pandas, if it is there


def check_targets(y):
    """Refuses targets that are missing: of those among objects scikit-learn knows only some."""
    values = np.asarray(y)
    if values.dtype == object and values.ndim == 1:
        for i, label in enumerate(values):
            if _is_missing(label):
                raise ValueError(f"y has {label!r} at position {i}, expected a value for every sample")


class Samples:
    """Samples described by the features of views, by rows of Gram matrices, or by both.

    Parameters
    ----------
    views : list of (name, matrix, feature names)
        Matrices as scikit-learn's validation leaves them: float32 or float64 in C order, or sparse rows.
    stack : KernelStack, default=None
        Rows of Gram matrices.
    positions : ndarray of int, default=None
        Where each sample was in what the user gave; None: where it is.
    presence : dict of str to ndarray of bool, default=None
        Which samples have a view, for views that not all of them have.
    confounds : ndarray of shape (n_samples, n_confounds), default=None
        What is regressed out of the features.
    """

    def __init__(self, views, stack=None, positions=None, presence=None, confounds=None):
        self.confounds = confounds
        self.presence = {} if presence is None else presence
        self.views = [(name, canonical_rows(matrix), list(names)) for name, matrix, names in views]
        self.stack = stack
        self.size = self.views[0][1].shape[0] if self.views else len(stack)
        self.positions = np.arange(self.size) if positions is None else positions

    def take(self, indices):
        """The samples at `indices`, in that order."""
        views = [(name, matrix[indices], names) for name, matrix, names in self.views]
        presence = {name: has[indices] for name, has in self.presence.items()}
        stack = None if self.stack is None else self.stack[indices]
        confounds = None if self.confounds is None else self.confounds[indices]
        return Samples(views, stack, self.positions[indices], presence, confounds)

    def view(self, name):
        """The matrix of a view; None names the only one."""
        found = [matrix for own, matrix, _ in self.views if name in (None, own)]
        if len(found) != 1:
            names = ", ".join(repr(own) for own, _, _ in self.views) or "none"
            raise ValueError(f"a callable kernel works on view {name!r}; the views are {names}")
        if name in self.presence or (name is None and self.presence):
            raise ValueError(f"a callable kernel works on view {name!r}, which {np.sum(~self.presence[name])} samples lack")
        return found[0]

    def feature_names(self):
        """Names of the features of every view; none for those without."""
        return {name: names for name, _, names in self.views}

    def to_core(self, matrices=()):
        """The dictionary that `_core` reads; `matrices` are those of type `CoreMatrix`."""
        return {
            "size": self.size,
            "positions": self.positions,
            "views": [
                (name, _core_matrix(matrix), names, self.presence[name].astype(float) if name in self.presence else ())
                for name, matrix, names in self.views
            ],
            "matrices": list(matrices),
            "confounds": self.confounds,
        }

    def row_keys(self):
        """Rows of numbers, equal for equal samples only; None when samples are many or known by matrices."""
        if self.confounds is not None or self.stack is not None or sum(8 * self.size * m.shape[1] for _, m, _ in self.views) > _SMALL_BYTES:
            return None
        dense = [m.toarray() if sparse.issparse(m) else m for _, m, _ in self.views]
        dense += [has[:, None] for has in self.presence.values()]
        return np.hstack(dense).astype(np.float64) + 0.0  # no negative zeros


def merge_equal(samples, y, weight):
    """Puts samples into an order of their own and merges those that are equal and have equal targets.

    A sample that occurs twice then is a sample of weight two, and the order in which samples are given does not
    matter, both to the last digit. Samples beyond a megabyte stay as they are: moving them would cost a copy.

    Returns
    -------
    order : ndarray of int
        Positions of the samples that stay, in their new order.
    weight : ndarray of float
        Their weights.
    place : ndarray of int
        Where each of the given samples is among those that stay.
    """
    rows = samples.row_keys()
    if rows is None:
        return np.arange(samples.size), weight, np.arange(samples.size)
    keys = np.column_stack([rows, y]).astype(np.float64)
    keys = keys.view(np.dtype((np.void, keys.dtype.itemsize * keys.shape[1]))).ravel()
    _, order, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return order, np.bincount(inverse.ravel(), weights=weight), inverse.ravel()


@dataclass
class Training:
    """What goes into the core, and where it came from."""

    samples: Samples
    y: np.ndarray
    weight: np.ndarray
    #: Position of each sample in the data given; of equal ones that of the first.
    positions: np.ndarray
    #: Where each sample with a weight, in the order given, is among `samples`.
    place: np.ndarray


def prepare(samples, y, weight):
    """Leaves out samples of weight 0 and merges equal ones."""
    kept = np.flatnonzero(weight)
    if len(kept) < samples.size:
        samples, y, weight = samples.take(kept), y[kept], weight[kept]
    order, weight, place = merge_equal(samples, y, weight)
    if not np.array_equal(order, np.arange(samples.size)):
        samples, y = samples.take(order), y[order]
    return Training(samples, y, weight, kept[order], place)
