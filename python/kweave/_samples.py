"""Samples on their way into the core: what every kind of input becomes."""
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


def canonical_rows(matrix):
    """The same matrix with the entries of sparse rows sorted and unique; the caller's stays as it is."""
    if sparse.issparse(matrix) and not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


class Samples:
    """Samples described by the features of one or more views.

    Parameters
    ----------
    views : list of (name, matrix, feature names)
        Matrices as scikit-learn's validation leaves them: float32 or float64 in C order, or sparse rows.
    """

    def __init__(self, views):
        self.views = [(name, canonical_rows(matrix), list(names)) for name, matrix, names in views]
        self.size = self.views[0][1].shape[0]

    def take(self, indices):
        """The samples at `indices`, in that order."""
        return Samples([(name, matrix[indices], names) for name, matrix, names in self.views])

    def to_core(self):
        """The dictionary that `_core` reads."""
        return {
            "size": self.size,
            "views": [(name, _core_matrix(matrix), names) for name, matrix, names in self.views],
        }

    def row_keys(self):
        """One byte string per sample, equal for equal samples; None when the samples are many."""
        if sum(8 * self.size * matrix.shape[1] for _, matrix, _ in self.views) > _SMALL_BYTES:
            return None
        dense = [m.toarray() if sparse.issparse(m) else m for _, m, _ in self.views]
        return np.hstack(dense, dtype=np.float64) + 0.0  # no negative zeros


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
    """
    rows = samples.row_keys()
    if rows is None:
        return np.arange(samples.size), weight
    keys = np.column_stack([rows, y]).astype(np.float64)
    keys = keys.view(np.dtype((np.void, keys.dtype.itemsize * keys.shape[1]))).ravel()
    _, order, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return order, np.bincount(inverse.ravel(), weights=weight)
