"""Probabilities that agree with the decision.

P(class k | f) = exp(a f_k) / sum_j exp(a f_j) with one slope a > 0 for all classes, and for two classes
1 / (1 + exp(-a f)) with one slope on either side of 0: both are largest for the class that the decision function
prefers. The slopes maximise the likelihood of decision values of samples that their machine has not seen (Platt 1999
with cross-fitting; temperature scaling of Guo et al. 2017 for several classes).
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
