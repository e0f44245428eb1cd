#!/usr/bin/env python3
"""Generates intervals.json: confidence intervals of scores, found by other means than the library's, with SciPy 1.10.1 and scikit-learn 1.2.1.
Run it only to change the problems:

    /usr/bin/python3 generate_intervals.py > intervals.json

Wilson's interval by the roots of the score test; DeLong's variance by its definition over all pairs; Fisher's through the
normal distribution; Clopper's bound for pairs without a mistake.
"""

import json
import sys

import numpy as np
from scipy import optimize, stats
from sklearn import metrics


def wilson(hits, count, confidence):
    z = stats.norm.ppf((1 + confidence) / 2)
    share = hits / count

    def test(p):  # 0 where the hits are z standard deviations away
        return (share - p) ** 2 * count - z * z * p * (1 - p)

    # At shares of 0 and 1 the share itself is a root, too.
    lower = 0.0 if hits == 0 else optimize.brentq(test, 0, min(share, 1 - 1e-9), xtol=1e-15)
    upper = 1.0 if hits == count else optimize.brentq(test, max(share, 1e-9), 1, xtol=1e-15)
    return lower, upper


def delong(y, f, confidence):
    positive, negative = f[y], f[~y]
    right = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    area = right.mean()
    assert np.isclose(area, metrics.roc_auc_score(y, f))
    if area in (0, 1):
        bound = stats.beta.ppf((1 - confidence) / 2, min(right.shape), 1)
        return area, (bound, 1.0) if area == 1 else (0.0, 1 - bound)
    variance = right.mean(axis=1).var(ddof=1) / len(positive) + right.mean(axis=0).var(ddof=1) / len(negative)
    half = stats.norm.ppf((1 + confidence) / 2) * np.sqrt(variance) / (area * (1 - area))
    logit = np.log(area / (1 - area))
    return area, tuple(1 / (1 + np.exp(-np.array([logit - half, logit + half]))))


def fisher(r, count, confidence):
    ends = stats.norm(np.arctanh(r), 1 / np.sqrt(count - 3)).interval(confidence)
    return tuple(np.tanh(ends))


def main():
    generator = np.random.default_rng(5)
    problems = {"wilson": [], "delong": [], "fisher": []}
    for count in (1, 2, 10, 83, 4000):
        for share in (0, 0.1, 0.5, 0.97, 1):
            for confidence in (0.8, 0.95, 0.999):
                hits = round(share * count)
                problems["wilson"].append({"hits": hits, "count": count, "confidence": confidence, "interval": wilson(hits, count, confidence)})
    for count, noise in ((12, 2.0), (60, 1.0), (60, 0.02), (200, 5.0)):
        for confidence in (0.9, 0.95):
            y = np.arange(count) % 3 == 0
            f = np.round(y + noise * generator.standard_normal(count), 1)  # with ties
            area, interval = delong(y, f, confidence)
            problems["delong"].append({"labels": y.astype(int).tolist(), "values": f.tolist(), "confidence": confidence, "area": area, "interval": interval})
    for r, count in ((0.0, 4), (0.5, 20), (-0.97, 300)):
        problems["fisher"].append({"r": r, "count": count, "confidence": 0.95, "interval": fisher(r, count, 0.95)})
    json.dump(problems, sys.stdout, indent=None)
    print()


main()
