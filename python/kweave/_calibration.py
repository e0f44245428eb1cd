"""Probabilities that agree with the decision.

P(class k | f) = exp(a f_k) / sum_j exp(a f_j) with one slope a > 0 for all classes, and for two classes
1 / (1 + exp(-a f)) with one slope on either side of 0: both are largest for the class that the decision function
prefers. The slopes maximise the likelihood of decision values of samples that their machine has not seen (Platt 1999
with cross-fitting; temperature scaling of Guo et al. 2017 for several classes).

One against one, votes say little: r_uv = 1 / (1 + exp(-a f_uv)) of all pairs of classes are coupled to the probabilities that
agree with them best (the second method of Wu, Lin and Weng 2004, JMLR 5, equation 21), and these are raised to a power, the second
slope. Where the most probable class is not the one with most votes, the two exchange their probabilities.
"""
import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, log_softmax, softmax

_LOG_SLOPES = (-12.0, 12.0)


def _best_slope(loss):
    found = minimize_scalar(lambda log_slope: loss(np.exp(log_slope)), bounds=_LOG_SLOPES, method="bounded")
    return float(np.exp(found.x))


def _agreeing(probabilities, values):
    """The same probabilities, the largest where the value is: where they round to a tie, a last digit breaks it."""
    rows, best = np.arange(len(values)), values.argmax(axis=1)
    largest = probabilities.max(axis=1)
    probabilities[rows, probabilities.argmax(axis=1)] = probabilities[rows, best]
    probabilities[rows, best] = largest
    is_tie = probabilities.argmax(axis=1) != best
    probabilities[rows[is_tie], best[is_tie]] = np.nextafter(largest[is_tie], np.inf)
    return probabilities


def logistic_probabilities(values, is_joint=False):
    """Probabilities of machines that were trained with the logistic loss, each against the rest or all jointly."""
    if values.ndim == 1:
        positive = expit(values)
        return np.column_stack([1 - positive, positive])
    if is_joint:
        return _agreeing(softmax(values, axis=1), values)
    log_positive = log_expit(values)  # does not vanish where no class is likely
    return _agreeing(softmax(log_positive, axis=1), values)


class Calibration:
    """Maps decision values to probabilities.

    Parameters
    ----------
    values : ndarray of shape (n,) or (n, n_classes)
        Decision values of samples that were not trained on.
    codes : ndarray of shape (n,)
        Their classes.
    weight : ndarray of shape (n,)
        Their weights.
    """

    def __init__(self, values, codes, weight):
        if values.ndim == 1:
            self.slopes = [self._one_sided(values, codes, weight, side) for side in (values <= 0, values > 0)]
        else:
            rows = np.arange(len(codes))
            # One more sample that belongs to every class a little: the slope stays finite where all is separable.
            prior = 1.0 / values.shape[1]

            def loss(slope):
                log_p = log_softmax(slope * values, axis=1)
                return -np.sum(weight * log_p[rows, codes]) - prior * np.mean(log_p.sum(axis=1))

            self.slopes = [_best_slope(loss)]

    @classmethod
    def from_slopes(cls, slopes):
        """The map that has these `slopes`."""
        calibration = cls.__new__(cls)
        calibration.slopes = slopes
        return calibration

    @staticmethod
    def _one_sided(values, codes, weight, side):
        f, y, w = values[side], codes[side], weight[side]
        if len(f) == 0:
            return 1.0
        # Platt's targets: what is expected of a new sample after seeing these.
        right = y == (f > 0)
        hits, misses = np.sum(w * right), np.sum(w * ~right)
        target = np.where(right, (hits + 1) / (hits + 2), 1 / (misses + 2))
        size = np.abs(f)

        def loss(slope):
            return np.sum(w * (np.logaddexp(0, slope * size) - target * slope * size))

        return _best_slope(loss)

    def probabilities(self, values):
        """Probabilities of the classes, one column each."""
        if values.ndim == 1:
            slope = np.where(values > 0, self.slopes[1], self.slopes[0])
            positive = expit(slope * values)
            return np.column_stack([1 - positive, positive])
        return _agreeing(softmax(self.slopes[0] * values, axis=1), values)


# A machine is never surer than that, so that the equations of the coupling can be solved.
_LEAST = 1e-7
# Values of the systems of equations that are solved at a time: some megabytes.
_VALUES = 1 << 20


def votes(values, pairs, classes):
    """The decision function of machines one against one: votes, and in their fraction the sums of the values."""
    count, sums = np.zeros((len(values), classes)), np.zeros((len(values), classes))
    for k, (first, second) in enumerate(pairs):
        is_first = values[:, k] > 0
        count[:, first] += is_first
        count[:, second] += ~is_first
        sums[:, first] += values[:, k]
        sums[:, second] -= values[:, k]
    return count + sums / (3 * (np.abs(sums) + 1))


def _coupled(pairwise):
    """Probabilities p that minimise sum_uv (r_vu p_u - r_uv p_v)^2; `pairwise` is r, of shape (n, classes, classes)."""
    classes = pairwise.shape[1]
    diagonal = np.arange(classes)
    reverse = pairwise.swapaxes(1, 2)
    system = np.ones((len(pairwise), classes + 1, classes + 1))
    system[:, -1, -1] = 0
    system[:, :-1, :-1] = -reverse * pairwise
    squares = reverse**2
    squares[:, diagonal, diagonal] = 0
    system[:, diagonal, diagonal] = squares.sum(axis=2)
    right = np.zeros((len(pairwise), classes + 1, 1))
    right[:, -1] = 1
    found = np.linalg.solve(system, right)[:, :-1, 0].clip(np.finfo(float).tiny)
    return found / found.sum(axis=1, keepdims=True)


class PairCalibration:
    """Maps the values of machines one against one to probabilities of the classes.

    Parameters
    ----------
    values : ndarray of shape (n, n_machines)
        Values of samples that were not trained on.
    pairs : list of pairs of int
        The classes of each machine, first the one that positive values are for.
    classes : int
        Number of classes.
    codes : ndarray of shape (n,)
        Classes of the samples.
    weight : ndarray of shape (n,)
        Their weights.
    """

    def __init__(self, values, pairs, classes, codes, weight):
        self.pairs, self.classes = [(int(u), int(v)) for u, v in pairs], classes
        margins, targets, weights = [], [], []
        for k, pair in enumerate(self.pairs):
            own = np.isin(codes, pair)
            right = np.where(codes[own] == pair[0], values[own, k], -values[own, k])
            margins.append(right)
            weights.append(weight[own])
            # Platt's targets: what is expected of a new sample after seeing these.
            total = np.bincount(codes[own], weights=weight[own], minlength=classes)[codes[own]]
            targets.append((total + 1) / (total + 2))
        margin, target, own_weight = map(np.concatenate, (margins, targets, weights))
        slope = _best_slope(
            lambda a: np.sum(own_weight * (np.logaddexp(0, a * margin) - target * a * margin))
        )
        self.slopes = [slope, 1.0]
        logarithms = np.log(self._couple(values))
        rows, prior = np.arange(len(codes)), 1.0 / classes

        def loss(power):
            log_p = log_softmax(power * logarithms, axis=1)
            return -np.sum(weight * log_p[rows, codes]) - prior * np.mean(log_p.sum(axis=1))

        self.slopes = [slope, _best_slope(loss)]

    @classmethod
    def from_slopes(cls, slopes, pairs, classes):
        """The map that has these `slopes`."""
        calibration = cls.__new__(cls)
        calibration.pairs, calibration.classes, calibration.slopes = pairs, classes, slopes
        return calibration

    def _couple(self, values):
        first, second = np.array(self.pairs).T
        found = np.empty((len(values), self.classes))
        block = max(1, _VALUES // (self.classes + 1) ** 2)
        for begin in range(0, len(values), block):
            part = values[begin : begin + block]
            pairwise = np.full((len(part), self.classes, self.classes), 0.5)
            likely = expit(self.slopes[0] * part).clip(_LEAST, 1 - _LEAST)
            pairwise[:, first, second] = likely
            pairwise[:, second, first] = 1 - likely
            found[begin : begin + block] = _coupled(pairwise)
        return found

    def probabilities(self, values):
        """Probabilities of the classes, one column each."""
        coupled = softmax(self.slopes[1] * np.log(self._couple(values)), axis=1)
        return _agreeing(coupled, votes(values, self.pairs, self.classes))
