"""Containers of samples that scikit-learn can slice: several views, and several Gram matrices."""
from __future__ import annotations

import warnings
from html import escape
from typing import Any, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView

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
    return np.atleast_1d(np.arange(size)[key])


def _counts_from_zero(index):
    """Whether an index of pandas is the one of those who gave none."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


class _Labelled:
    """A matrix with what its container says of it: names of features, and ids of samples where it has some."""

    def __init__(self, matrix):
        self.names, self.ids, self.values = [], None, matrix
        if hasattr(matrix, "obs_names") and hasattr(matrix, "var_names"):  # AnnData
            self._label(matrix.X, matrix.obs_names, matrix.var_names)
        elif hasattr(matrix, "dims") and hasattr(matrix, "coords"):  # a DataArray of xarray
            if len(matrix.dims) != 2:
                raise ValueError(f"a view of xarray has the dimensions {matrix.dims}, expected samples and features")
            rows, columns = (matrix.coords[one].values if one in matrix.coords else None for one in matrix.dims)
            self._label(matrix.values, rows, columns)
        elif hasattr(matrix, "columns"):
            self._label(matrix, None if _counts_from_zero(matrix.index) else matrix.index, matrix.columns)

    def present_rows(self):
        """Which rows hold a number; None where all do by their form."""
        if sparse.issparse(self.values) or np.ndim(self.values) != 2:
            return None
        values = np.asarray(self.values)
        return ~np.isnan(values).all(axis=1) if values.dtype.kind == "f" and values.shape[1] else None

    def _label(self, values, ids, names):
        self.values = values
        self.ids = None if ids is None else np.asarray(ids)
        self.names = [] if names is None else [str(name) for name in names]


def _is_mudata(views):
    return hasattr(views, "mod") and hasattr(views, "obs_names")


def _as_mapping(views):
    """Any of the forms that views come in, as a dictionary."""
    if _is_mudata(views):
        return dict(views.mod)
    if hasattr(views, "data_vars"):  # a Dataset of xarray
        return {str(name): views[name] for name in views.data_vars}
    if isinstance(views, Mapping):
        return dict(views)
    if hasattr(views, "columns"):
        if getattr(views.columns, "nlevels", 1) < 2:
            raise ValueError("a DataFrame of views needs columns of two levels, the first with their names; give {name: frame} for one")
        names = views.columns.get_level_values(0)
        return {str(name): views.loc[:, names == name].droplevel(0, axis=1) for name in names.unique()}
    if isinstance(views, (list, tuple)):
        return {f"v{number}": view for number, view in enumerate(views, 1)}
    raise ValueError(f"views are {type(views).__name__}, expected a dictionary from names to matrices")


class Views:
    """Several sources of evidence about the same samples: a dictionary of arrays that can be sliced.

    ``X["rna"]`` is a view, ``X[rows]`` are samples in all views, so it goes wherever scikit-learn takes an array of
    samples. ``X | others`` has the views of both, joined by their ids where both have ids.

    Parameters
    ----------
    views : dict of str to array-like, sparse matrix, DataFrame, AnnData or DataArray, list of them, DataFrame, MuData or Dataset
        Features of each view, one row per sample. Those of a list are called v1, v2, ...; a DataFrame has the views in the
        first level of its columns. MuData holds a view for each modality, a Dataset of xarray one for each variable; the
        names of features and the ids of samples are theirs.
    ids : sequence, dict of str to sequence, or 'index', default=None
        Ids of the samples. A dict has those of each view, 'index' takes them from what the views come in, as it is done for
        MuData: the views are then joined, samples that a view lacks are left out, and the order is that of the first view.
        None: those that all views with ids have; it is an error if they differ. An index that only counts has none. `ids` says
        afterwards which samples are there: those of targets, as in ``y.loc[X.ids]``. A row of nothing but NaN is a sample that
        the view lacks; without ids they are left out by position, as in ``y[X.ids]``.
    join : {'inner', 'outer'}, default='inner'
        Which samples there are: those that all views have, or those that any view has. Samples that lack a view are used as
        `missing_views` of the estimator says; a view that is None is one that all samples lack, for prediction.
    confounds : array-like of shape (n_samples, n_confounds), default=None
        What estimators regress out of the features of all views, by what they learn from the training samples: age, site,
        movement. Its rows are those of `ids`, or of the views where there are none to join.
    drop : bool, default=None
        Whether an inner join may leave out samples. None: it may, and warns how many they are; False: it is an error.

    Attributes
    ----------
    ids : ndarray or None
        Ids of the samples.
    shape : tuple of int
        Samples, and features over all views.
    presence : dict of str to ndarray of bool
        Which samples have a view, of views that not all samples have.
    confounds : ndarray or None
        What estimators regress out of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from kweave import Views
    >>> X = Views({"rna": np.eye(3), "image": np.ones((2, 5))}, ids={"rna": "abc", "image": "ca"}, drop=True)
    >>> X.shape, X.ids.tolist()
    ((2, 8), ['a', 'c'])
    >>> X = Views({"rna": np.eye(3), "image": np.ones((2, 5))}, ids={"rna": "abc", "image": "ca"}, join="outer")
    >>> X.presence
    {'image': array([ True, False,  True])}
    """

    ids: NDArray[Any] | None
    presence: dict[str, NDArray[np.bool_]]
    confounds: NDArray[np.float64] | None = None

    def __init__(
        self,
        views: Any,
        *,
        ids: Any = None,
        join: str = "inner",
        confounds: ArrayLike | None = None,
        drop: bool | None = None,
    ) -> None:
        if join not in ("inner", "outer"):
            raise ValueError(f"join is {join!r}, expected 'inner' or 'outer'")
        if _is_mudata(views) and ids is None:
            ids = "index"  # what such a container is for
        labelled = {name: _Labelled(matrix) for name, matrix in _as_mapping(views).items()}
        if not labelled:
            raise ValueError("there are no views")
        own = {name: view.ids for name, view in labelled.items() if view.ids is not None}
        if isinstance(ids, str) and ids == "index":
            ids = own
        elif ids is None and own:
            ids = self._common_ids(own)
        if isinstance(ids, Mapping) and set(ids) != set(labelled):
            raise ValueError(f"ids of the views {sorted(ids)}, expected those of {sorted(labelled)}")
        presence = self._take_missing(labelled) if join == "outer" else {}
        if any(view.values is None for view in labelled.values()):
            raise ValueError(
                "a view is None, expected a matrix; a sample that a view lacks has a row of NaN there, or no id, and "
                "join='outer' takes None for a view that all samples lack"
            )
        if join == "inner":
            ids = self._without_missing(labelled, ids)
        matrices = {
            name: check_array(
                view.values, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", input_name=name,
                ensure_min_features=0 if name in presence else 1,
            )
            for name, view in labelled.items()
        }
        self._hold(matrices, {name: view.names for name, view in labelled.items()}, ids, drop, join, presence)
        if confounds is not None:
            self.confounds = check_array(confounds, dtype=np.float64, order="C", input_name="confounds")
            if len(self.confounds) != len(self):
                raise ValueError(f"{len(self.confounds)} rows of confounds for {len(self)} samples")

    @staticmethod
    def _take_missing(labelled):
        """Puts zeros into rows of nothing but NaN; returns which samples have each view that some lack."""
        sizes = {np.shape(view.values)[0] for view in labelled.values() if view.values is not None}
        if not sizes:
            raise ValueError("all views are None")
        presence = {}
        for name, view in labelled.items():
            if view.values is None:
                if len(sizes) > 1:
                    raise ValueError(f"view {name!r} is None, and the others differ in their number of samples: {sorted(sizes)}")
                view.values, presence[name] = np.zeros((*sizes, 0)), np.zeros(*sizes, dtype=bool)
                continue
            rows = view.present_rows()
            if rows is None or rows.all():
                continue
            presence[name] = rows
            view.values = np.where(rows[:, None], np.asarray(view.values), 0)
        return presence

    @staticmethod
    def _without_missing(labelled, ids):
        """Takes rows of nothing but NaN out of the views; what is left has ids, by position where there were none."""
        has = {name: view.present_rows() for name, view in labelled.items()}
        if all(rows is None or rows.all() for rows in has.values()):
            return ids
        present: dict[str, Any] = {}
        for name, view in labelled.items():
            rows = np.ones(np.shape(view.values)[0], dtype=bool) if has[name] is None else has[name]
            own = ids[name] if isinstance(ids, Mapping) else np.arange(len(rows)) if ids is None else ids
            if len(own) != len(rows):
                raise ValueError(f"view {name!r}: {len(own)} ids for {len(rows)} samples")
            present[name] = np.asarray(list(own))[rows]
            if not rows.all():
                view.values = view.values.loc[rows] if hasattr(view.values, "loc") else np.asarray(view.values)[rows]
        return present

    @staticmethod
    def _common_ids(own):
        """The ids that all views with some have; where they differ it is for the user to say what is meant."""
        (first, ids), *others = own.items()
        for name, other in others:
            if len(other) != len(ids) or not np.array_equal(ids, other):
                raise ValueError(
                    f"the ids of view {name!r} are not those of view {first!r}; ids='index' joins views by them, arrays "
                    "without ids go by row"
                )
        return ids

    def _hold(self, matrices, names, ids, drop=None, join="inner", presence=None):
        """Takes over matrices and names of their features by view, joined where the views have ids of their own."""
        self._matrices, self._names, self.ids = matrices, names, None
        self.presence = {} if presence is None else dict(presence)
        if isinstance(ids, Mapping):
            own = {name: np.asarray(list(ids[name])) for name in matrices}
            if join == "outer":
                self._join_all(own)
            else:
                self._join(own, drop)
        elif ids is not None:
            self.ids = np.asarray(ids)
        self._check_sizes()

    def _check_ids(self, ids):
        for name, own in ids.items():
            if len(own) != self._matrices[name].shape[0] or len(np.unique(own)) != len(own):
                raise ValueError(f"view {name!r}: expected one id per sample, each once")

    def _join_all(self, ids):
        """All samples, in the order in which their ids occur first; rows of zeros where a view has none."""
        self._check_ids(ids)
        every = np.concatenate(list(ids.values()))
        self.ids = every[np.sort(np.unique(every, return_index=True)[1])]
        for name, own in ids.items():
            order = np.argsort(own)
            at = np.searchsorted(own, self.ids, sorter=order).clip(max=len(own) - 1)
            rows = order[at]
            has = own[rows] == self.ids
            matrix = self._matrices[name][rows]
            if not has.all():
                matrix = sparse.diags(has.astype(matrix.dtype)) @ matrix if sparse.issparse(matrix) else np.where(has[:, None], matrix, 0)
                matrix = matrix.tocsr() if sparse.issparse(matrix) else matrix.astype(self._matrices[name].dtype, copy=False)
            if name in self.presence:
                has = has & self.presence[name][rows]
            self._matrices[name] = matrix
            self.presence.pop(name, None)
            if not has.all():
                self.presence[name] = has

    def _join(self, ids, drop):
        self._check_ids(ids)
        first = next(iter(ids.values()))
        self.ids = first[np.logical_and.reduce([np.isin(first, own) for own in ids.values()])]
        if len(self.ids) == 0:
            raise ValueError("no id occurs in all views")
        lost = {name: len(own) - len(self.ids) for name, own in ids.items() if len(own) > len(self.ids)}
        if lost and not drop:
            total = len(np.unique(np.concatenate(list(ids.values()))))
            told = ", ".join(f"{count} of view {name!r}" for name, count in lost.items())
            message = f"{len(self.ids)} of {total} samples have an id in all views; the join leaves out {told}"
            if drop is not None:
                raise ValueError(message)
            warnings.warn(f"{message} (drop=True says that this is meant)", UserWarning, stacklevel=4)
        for name, own in ids.items():
            order = np.argsort(own)
            rows = order[np.searchsorted(own, self.ids, sorter=order)]
            self._matrices[name] = self._matrices[name][rows]
            if name in self.presence:
                self.presence[name] = self.presence[name][rows]

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

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        raise TypeError(
            "Views are several arrays, and only estimators that know them take them; np.hstack of the matrices in it is one"
        )

    def check_index(self, values: Any, name: str) -> None:
        """Refuse values of the samples that say by their index that they are in another order.

        Parameters
        ----------
        values : Series, or anything else
            What has no index of ids is taken to be in the order of the samples.
        name : str
            What to call it.
        """
        index = getattr(values, "index", None)
        if self.ids is None or not hasattr(values, "iloc") or _counts_from_zero(index):
            return
        own = np.asarray(index)
        if len(own) == len(self) and np.array_equal(own, self.ids):
            return
        missing = int(np.count_nonzero(~np.isin(self.ids, own)))
        if missing:
            raise ValueError(f"the index of {name} lacks {missing} of the {len(self)} ids of X")
        what = "the ids of X in another order" if len(own) == len(self) else f"{len(own)} ids, X has {len(self)} of them"
        raise ValueError(f"the index of {name} has {what}; give {name}.loc[X.ids]")

    def __len__(self) -> int:
        return next(iter(self._matrices.values())).shape[0]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self._matrices:
                raise KeyError(f"there is no view {key!r}, only {', '.join(map(repr, self._matrices))}")
            return self._matrices[key]
        rows = _resolve(key, len(self))
        part = object.__new__(Views)
        part._names = self._names
        part._matrices = {name: matrix[rows] for name, matrix in self._matrices.items()}
        part.ids = None if self.ids is None else self.ids[rows]
        part.presence = {name: has[rows] for name, has in self.presence.items()}
        part.confounds = None if self.confounds is None else self.confounds[rows]
        return part

    def widened(self, name: str, width: int | None) -> Any:
        """The features of a view, where it is None as many zeros as it should have.

        Parameters
        ----------
        name : str
            The view.
        width : int or None
            Its number of features in training; None: not known.

        Returns
        -------
        matrix : array or sparse matrix
            The features.
        """
        matrix = self._matrices[name]
        return matrix if matrix.shape[1] or not width else np.zeros((len(self), width))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}: {matrix.shape[1]} features" for name, matrix in self._matrices.items())
        return f"Views({len(self)} samples; {inside})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{matrix.shape[1]:,}</td><td>{'sparse' if sparse.issparse(matrix) else 'dense'} "
            f"{matrix.dtype}</td><td>{escape(', '.join(self._names[name][:3]))}{', ...' * (len(self._names[name]) > 3)}</td></tr>"
            for name, matrix in self._matrices.items()
        )
        ids = "" if self.ids is None else f", ids {escape(', '.join(map(str, self.ids[:3])))}{', ...' * (len(self) > 3)}"
        head = "<tr><th>view</th><th>features</th><th>values</th><th>names</th></tr>"
        return f"<div>{len(self):,} samples{ids}<table>{head}{rows}</table></div>"

    def with_matrices(self, matrices: Mapping[str, Any], names: Mapping[str, list[str]]) -> Views:
        """The same samples with other features.

        Parameters
        ----------
        matrices : dict of str to array-like or sparse matrix
            Features of each view.
        names : dict of str to list of str
            Names of the features of each view; an empty list where it has none.

        Returns
        -------
        views : Views
            What `matrices` say, with the ids of the samples.
        """
        made = Views(matrices, ids=self.ids)
        made._names = {name: list(names[name]) for name in made}
        made.presence = {name: has for name, has in self.presence.items() if name in made}
        made.confounds = self.confounds
        return made

    def __contains__(self, name: object) -> bool:
        return name in self._matrices

    def __iter__(self) -> Iterator[str]:
        return iter(self._matrices)

    def __or__(self, other: Views | Mapping[str, Any]) -> Views:
        if not isinstance(other, (Views, Mapping)):
            return NotImplemented
        other = other if isinstance(other, Views) else Views(other)
        matrices = {**self._matrices, **other._matrices}
        ids: Any = other.ids if self.ids is None else self.ids
        if self.ids is not None and other.ids is not None:
            ids = {name: (other if name in other else self).ids for name in matrices}
        presence = {name: has for name, has in {**self.presence, **other.presence}.items() if name in matrices}
        presence = {name: has for name, has in presence.items() if name in (other if name in other else self).presence}
        both = object.__new__(Views)
        both._hold(matrices, {**self._names, **other._names}, ids, presence=presence)
        confounds = self.confounds if other.confounds is None else other.confounds
        if confounds is not None and len(confounds) != len(both):
            raise ValueError("the views are joined by ids, and the confounds of some of them are not known: give them to Views of all")
        both.confounds = confounds
        return both

    def __ror__(self, other: Mapping[str, Any]) -> Views:
        return Views(other) | self

    def keys(self) -> KeysView[str]:
        """Names of the views.

        Returns
        -------
        names : keys of a dict
            The names.
        """
        return self._matrices.keys()

    def get(self, name: str, default: Any = None) -> Any:
        """The features of a view, or something else where there is none of that name.

        Parameters
        ----------
        name : str
            The view.
        default : object, default=None
            What to give where there is no such view.

        Returns
        -------
        matrix : array, sparse matrix or `default`
            The features.
        """
        return self._matrices.get(name, default)

    def values(self) -> ValuesView[Any]:
        """Features of the views.

        Returns
        -------
        matrices : values of a dict
            An array or sparse matrix for each.
        """
        return self._matrices.values()

    def items(self) -> ItemsView[str, Any]:
        """Go through the views.

        Returns
        -------
        views : items of a dict
            Pairs of name and features.
        """
        return self._matrices.items()

    @property
    def feature_names(self) -> dict[str, list[str]]:
        """Names of the features of each view; an empty list where it has none."""
        return dict(self._names)


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
    n_columns : int
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

    names: list[str]

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
    def n_columns(self) -> int:
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

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        raise TypeError("a KernelStack is several matrices; np.dstack of those in it is one array")

    def __deepcopy__(self, memo: Any) -> KernelStack:
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
