#!/usr/bin/python3
"""Writes svm_objectives.txt: dual objectives of small support vector machines, solved by LIBSVM (scikit-learn's SVC).

Data come from SplitMix64, so that the C++ test makes the same samples bit by bit: uniform features in [-1, 1), the
label the sign of a fixed polynomial plus noise, weights between 0.5 and 1.5 where asked for.

    Debian: apt install python3-sklearn;  run: python3 tests/reference/generate_svm_objectives.py
"""
import pathlib

import numpy as np
from sklearn.svm import SVC

MASK = (1 << 64) - 1


class Random:
    def __init__(self, seed):
        self.state = seed

    def uniform(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        return (z >> 11) * 2.0**-53


def make(seed, n, d, noise, weighted):
    random = Random(seed)
    x, y, weights = np.empty((n, d)), np.empty(n), np.ones(n)
    for i in range(n):
        for k in range(d):
            x[i, k] = 2 * random.uniform() - 1
        score = x[i, 0] * x[i, d - 1] + 0.5 * x[i, 0] + noise * (2 * random.uniform() - 1)
        y[i] = 1 if score > 0 else -1
        if weighted:
            weights[i] = 0.5 + random.uniform()
    return x, y, weights


def objective(x, y, weights, kernel, gamma, C):
    if kernel == "rbf":
        squared = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
        K = np.exp(-gamma * squared)
    else:
        K = gamma * (x @ x.T)
    svc = SVC(C=C, kernel="precomputed", tol=1e-9, shrinking=False, cache_size=500)
    svc.fit(K, y, sample_weight=weights)
    beta = np.zeros(len(y))
    beta[svc.support_] = svc.dual_coef_[0]
    assert abs(beta.sum()) < 1e-9
    return 0.5 * beta @ K @ beta - y @ beta


def main():
    cases = [
        (1, 60, 2, 0.1, False, "rbf", 1.0, 1.0),
        (2, 200, 5, 0.1, False, "rbf", 0.5, 10.0),
        (3, 200, 5, 0.3, True, "rbf", 0.5, 1.0),
        (4, 300, 10, 0.1, False, "rbf", 0.05, 100.0),
        (5, 300, 3, 0.5, True, "rbf", 20.0, 0.1),
        (6, 150, 4, 0.1, False, "linear", 1.0, 1.0),
        (7, 150, 8, 0.4, True, "linear", 0.25, 5.0),
        (8, 400, 6, 0.2, True, "rbf", 1.0, 1000.0),
    ]
    with open(pathlib.Path(__file__).with_name("svm_objectives.txt"), "w") as out:
        out.write("# seed n d noise weighted kernel gamma C objective; made by generate_svm_objectives.py\n")
        for seed, n, d, noise, weighted, kernel, gamma, C in cases:
            value = objective(*make(seed, n, d, noise, weighted), kernel, gamma, C)
            out.write(f"{seed} {n} {d} {noise} {int(weighted)} {kernel} {gamma} {C} {value:.12g}\n")


if __name__ == "__main__":
    main()
