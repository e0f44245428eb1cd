"""Displays in scikit-learn's style: computed by `from_...`, drawn by `plot`, kept for a second drawing."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._base import MKLEstimator


_FEW_LINES = 10  # as many as there are colours


def _axes(ax):
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("displays need matplotlib: pip install matplotlib") from error
    if ax is None:
        _, ax = plt.subplots()
    return ax


class KernelWeightsDisplay:
    """Weights of the kernels as bars, the heaviest first.

    Of several machines every one has a bar of its own; of more than `max_machines` the bar is their mean, and a line reaches from
    the smallest weight to the largest.

    Parameters
    ----------
    names : sequence of str
        Names of the kernels.
    weights : ndarray of shape (n_kernels,) or (n_machines, n_kernels)
        Their weights.
    machines : sequence, default=None
        Labels of the rows of `weights`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    bars_ : list of BarContainer
        One per machine, or one of their means.
    """

    names: list[str]
    weights: NDArray[Any]
    ax_: Axes
    figure_: Any
    bars_: list[Any]

    def __init__(self, names: Sequence[str], weights: ArrayLike, machines: Sequence[str] | None = None) -> None:
        self.names = list(names)
        self.weights = np.atleast_2d(weights)
        self.machines = machines

    @classmethod
    def from_estimator(
        cls,
        estimator: MKLEstimator,
        *,
        max_kernels: int = 20,
        max_machines: int = 6,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> KernelWeightsDisplay:
        """Draw the weights that an estimator learned.

        Parameters
        ----------
        estimator : fitted estimator
            Any of this package.
        max_kernels : int, default=20
            Kernels to draw, the heaviest.
        max_machines : int, default=6
            Machines that have bars of their own; of more the mean is drawn.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.barh`.

        Returns
        -------
        display : KernelWeightsDisplay
            The display.
        """
        check_is_fitted(estimator)
        weights, machines = estimator.machine_weights_, None
        if len(np.unique(weights, axis=0)) == 1:
            weights = estimator.kernel_weights_  # one machine, or several that share a kernel
        else:
            machines = [
                machine["class"] + (f" or {machine['against']}" if "against" in machine else "")
                for machine in estimator.summary_["machines"]
            ]
        display = cls(estimator.kernel_names_, weights, machines)
        return display.plot(max_kernels=max_kernels, max_machines=max_machines, ax=ax, **kwargs)

    def plot(
        self, *, max_kernels: int = 20, max_machines: int = 6, ax: Axes | None = None, **kwargs: Any
    ) -> KernelWeightsDisplay:
        """Draw.

        Parameters
        ----------
        max_kernels : int, default=20
            Kernels to draw, the heaviest.
        max_machines : int, default=6
            Machines that have bars of their own; of more the mean is drawn.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.barh`.

        Returns
        -------
        self : KernelWeightsDisplay
            The display.
        """
        ax = _axes(ax)
        mean = self.weights.mean(axis=0)
        heaviest = np.argsort(-mean, kind="stable")[:max_kernels]
        own = self.weights[:, heaviest]
        is_mean = len(own) > max_machines
        label = "kernel weight"
        if is_mean:
            label = f"kernel weight: mean and range over {len(own)} machines"
            errors = [mean[heaviest] - own.min(axis=0), own.max(axis=0) - mean[heaviest]]
            kwargs = {"xerr": np.maximum(errors, 0), "ecolor": "0.5", **kwargs}
            own = mean[None, heaviest]
        height = 0.8 / len(own)
        self.bars_ = []
        for k, row in enumerate(own):
            name = None if self.machines is None or is_mean else str(self.machines[k])
            place = np.arange(len(heaviest)) + (k - (len(own) - 1) / 2) * height
            self.bars_.append(ax.barh(place, row, height, label=name, **kwargs))
        ax.set_yticks(np.arange(len(heaviest)), [self.names[m] for m in heaviest])
        ax.invert_yaxis()
        ax.set_xlabel(label)
        if self.machines is not None and not is_mean:
            ax.legend(title="machine")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class SourceSharesDisplay:
    """Share of every source in the learned function as bars, the largest first.

    Parameters
    ----------
    shares : dict of str to float
        Share of each source, as `source_shares_` has them.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    bars_ : BarContainer
        The bars.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kweave import MKLClassifier, SourceSharesDisplay, Views
    >>> X, y = load_wine(return_X_y=True)
    >>> clf = MKLClassifier().fit(Views({"alcohol": X[:, :1], "rest": X[:, 1:]}), y)
    >>> sorted(clf.source_shares_)
    ['alcohol', 'rest']
    >>> display = SourceSharesDisplay.from_estimator(clf)
    """

    shares: dict[str, float]
    ax_: Axes
    figure_: Any
    bars_: Any

    def __init__(self, shares: Mapping[str, float]) -> None:
        self.shares = dict(shares)

    @classmethod
    def from_estimator(
        cls, estimator: MKLEstimator, *, max_sources: int = 20, ax: Axes | None = None, **kwargs: Any
    ) -> SourceSharesDisplay:
        """Draw the shares of an estimator's sources.

        Parameters
        ----------
        estimator : fitted estimator
            Any of this package.
        max_sources : int, default=20
            Sources to draw, those with the largest shares.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.barh`.

        Returns
        -------
        display : SourceSharesDisplay
            The display.
        """
        return cls(estimator.source_shares_).plot(max_sources=max_sources, ax=ax, **kwargs)

    def plot(self, *, max_sources: int = 20, ax: Axes | None = None, **kwargs: Any) -> SourceSharesDisplay:
        """Draw.

        Parameters
        ----------
        max_sources : int, default=20
            Sources to draw, those with the largest shares.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.barh`.

        Returns
        -------
        self : SourceSharesDisplay
            The display.
        """
        ax = _axes(ax)
        largest = sorted(self.shares, key=lambda source: -self.shares[source])[:max_sources]
        self.bars_ = ax.barh(largest, [100 * self.shares[source] for source in largest], **kwargs)
        ax.bar_label(self.bars_, fmt="%.0f %%", padding=3)
        ax.invert_yaxis()
        ax.margins(x=0.15)
        ax.set_xlabel("share of the squared norm of the function (%)")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class ConvergenceDisplay:
    """Relative duality gap over the moves of the kernel weights, or over time.

    Parameters
    ----------
    histories : list of list of dict
        `history_` of each machine.
    target : float, default=None
        The gap that was asked for.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    lines_ : list of Line2D
        One per machine.
    """

    ax_: Axes
    figure_: Any
    lines_: list[Any]

    def __init__(self, histories: list[list[dict[str, Any]]], target: float | None = None) -> None:
        self.histories = histories
        self.target = target

    @classmethod
    def from_estimator(
        cls,
        estimator: MKLEstimator,
        *,
        x: Literal["iterations", "seconds", "solves"] = "iterations",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> ConvergenceDisplay:
        """Draw how an estimator got to its answer.

        Parameters
        ----------
        estimator : fitted estimator
            Any of this package.
        x : {'iterations', 'seconds', 'solves'}, default='iterations'
            What the gap is drawn over.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot`.

        Returns
        -------
        display : ConvergenceDisplay
            The display.
        """
        check_is_fitted(estimator)
        histories = estimator.history_
        if not histories or isinstance(histories[0], dict):
            histories = [histories]
        return cls(histories, estimator.gap).plot(x=x, ax=ax, **kwargs)

    def plot(self, *, x: Literal["iterations", "seconds", "solves"] = "iterations", ax: Axes | None = None, **kwargs: Any) -> ConvergenceDisplay:
        """Draw.

        Parameters
        ----------
        x : {'iterations', 'seconds', 'solves'}, default='iterations'
            What the gap is drawn over.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.plot`.

        Returns
        -------
        self : ConvergenceDisplay
            The display.
        """
        if x not in ("iterations", "seconds", "solves"):
            raise ValueError(f"x is {x!r}, expected 'iterations', 'seconds' or 'solves'")
        ax = _axes(ax)
        self.lines_ = []
        if len(self.histories) > _FEW_LINES:
            kwargs = {"color": "C0", "linewidth": 0.7, "marker": "", **kwargs}
        for history in self.histories:
            place = [i if x == "iterations" else row[x] for i, row in enumerate(history)]
            gaps = [max(row["relative_gap"], 1e-16) for row in history]
            self.lines_ += ax.plot(place, gaps, **{"marker": ".", **kwargs})
        if self.target is not None:
            ax.axhline(self.target, linestyle=":", color="0.5")
        ax.set_yscale("log")
        ax.set_xlabel({"iterations": "moves of the kernel weights"}.get(x, x))
        ax.set_ylabel("relative duality gap")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class KernelAlignmentDisplay:
    """How alike kernels are: alignments of all pairs, and of each kernel with the labels.

    Parameters
    ----------
    names : sequence of str
        Names of the kernels.
    alignment : ndarray of shape (n_kernels, n_kernels)
        Alignments of pairs of kernels.
    label_alignment : ndarray of shape (n_kernels,), default=None
        Alignments with the labels.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    image_ : AxesImage
        The matrix.
    """

    names: list[str]
    alignment: NDArray[Any]
    ax_: Axes
    figure_: Any
    image_: Any

    def __init__(
        self, names: Sequence[str], alignment: ArrayLike, label_alignment: NDArray[np.float64] | None = None
    ) -> None:
        self.names = list(names)
        self.alignment = np.asarray(alignment)
        self.label_alignment = label_alignment

    @classmethod
    def from_estimator(
        cls,
        estimator: MKLEstimator,
        X: Any,
        y: ArrayLike | None = None,
        *,
        centered: bool = True,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> KernelAlignmentDisplay:
        """Draw the alignments of an estimator's kernels on some samples; it need not be fitted.

        Parameters
        ----------
        estimator : estimator
            Any of this package; its `kernels` and `normalize` are used.
        X : array-like, sparse matrix, DataFrame, Views or KernelStack
            Samples.
        y : array-like, default=None
            Classes, for the alignments with the labels; those that are not centred need two.
        centered : bool, default=True
            Whether kernels are centred first, which is what makes them alike to a machine with bias.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.imshow`.

        Returns
        -------
        display : KernelAlignmentDisplay
            The display.
        """
        analysis = estimator.analyze_kernels(X, y)
        prefix = "centered_" if centered else ""
        labels = [kernel.get(prefix + "label_alignment") for kernel in analysis["kernels"]]
        display = cls(
            [kernel["name"] for kernel in analysis["kernels"]],
            analysis[prefix + "alignment"],
            None if None in labels else np.array(labels),
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> KernelAlignmentDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.imshow`.

        Returns
        -------
        self : KernelAlignmentDisplay
            The display.
        """
        ax = _axes(ax)
        self.image_ = ax.imshow(self.alignment, **{"vmin": -1, "vmax": 1, "cmap": "RdBu_r", **kwargs})
        labels = self.names
        if self.label_alignment is not None:
            labels = [f"{name} ({value:.2f})" for name, value in zip(self.names, self.label_alignment)]
        ax.set_xticks(np.arange(len(labels)), self.names, rotation=90)
        ax.set_yticks(np.arange(len(labels)), labels)
        ax.figure.colorbar(self.image_, ax=ax, label="alignment")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class ClassKernelDisplay:
    """Classes as points in the plane: those that the learned kernel on the classes holds for alike lie close together.

    Parameters
    ----------
    classes : sequence of str
        Names of the classes.
    points : ndarray of shape (n_classes, 2)
        Where they lie.
    matrix : ndarray of shape (n_classes, n_classes)
        The learned kernel on the classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn.
    figure_ : matplotlib Figure
        Its figure.
    points_ : PathCollection
        The points.
    """

    classes: list[str]
    points: NDArray[Any]
    matrix: NDArray[Any]
    ax_: Axes
    figure_: Any
    points_: Any

    def __init__(self, classes: Sequence[str], points: ArrayLike, matrix: ArrayLike) -> None:
        self.classes = list(classes)
        self.points = np.asarray(points)
        self.matrix = np.asarray(matrix)

    @classmethod
    def from_estimator(
        cls, estimator: MKLEstimator, *, ax: Axes | None = None, **kwargs: Any
    ) -> ClassKernelDisplay:
        """Draw the kernel on the classes that an estimator learned.

        Parameters
        ----------
        estimator : fitted estimator
            An `MKLClassifier` with `multiclass='joint'` and `class_kernels`.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.scatter`.

        Returns
        -------
        display : ClassKernelDisplay
            The display.
        """
        check_is_fitted(estimator)
        learned = estimator.summary_.get("class_kernel")
        if learned is None:
            raise ValueError("no kernel on the classes was learned: expected multiclass='joint' and class_kernels")
        return cls(learned["classes"], learned["embedding"], learned["matrix"]).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> ClassKernelDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        **kwargs : dict
            Passed to `matplotlib.axes.Axes.scatter`.

        Returns
        -------
        self : ClassKernelDisplay
            The display.
        """
        ax = _axes(ax)
        self.points_ = ax.scatter(self.points[:, 0], self.points[:, 1], **kwargs)
        for name, place in zip(self.classes, self.points):
            ax.annotate(name, place, xytext=(4, 4), textcoords="offset points")
        ax.set_aspect("equal", adjustable="datalim")
        ax.margins(0.15)
        self.ax_, self.figure_ = ax, ax.figure
        return self
