#!/usr/bin/python3
"""Writes task_objectives.txt: primal optima and decision values of small SVR and one-class machines, solved by LIBSVM
(scikit-learn's SVR and OneClassSVM).

Data come from SplitMix64, so that the C++ test makes the same samples bit by bit: uniform features in [-1, 1), targets
a fixed function of them plus noise, weights between 0.5 and 1.5 where asked for. The last five samples are new: only
their decision values are stored.

LIBSVM's one-class machine has alpha that sum to nu times the sum of the weights; ours sum to 1. So its dual objective is
divided by the square of that sum, its decision values by the sum.

    Debian: apt install python3-sklearn;  run: python3 tests/reference/generate_task_objectives.py
"""
import pathlib

import numpy as np
from sklearn.svm import SVR, OneClassSVM

from generate_svm_objectives import Random

NEW = 5


def make(seed, n, d, noise, weighted):
    random = Random(seed)
    x, y, weights = np.empty((n + NEW, d)), np.empty(n + NEW), np.ones(n + NEW)
    for i in range(n + NEW):
        for k in range(d):
            x[i, k] = 2 * random.uniform() - 1
        y[i] = x[i, 0] * x[i, d - 1] + 2 * x[i, 0] + noise * (2 * random.uniform() - 1)
        if weighted:
            weights[i] = 0.5 + random.uniform()
    return x, y, weights


def kernel_matrix(a, b, kernel, gamma):
    if kernel == "rbf":
        return np.exp(-gamma * ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))
    return a @ b.T


def solve(task, x, y, weights, kernel, gamma, C, epsilon, nu):
    train, new = x[:-NEW], x[-NEW:]
    K = kernel_matrix(train, train, kernel, gamma)
    settings = {"kernel": "precomputed", "tol": 1e-10, "shrinking": False, "cache_size": 500}
    w = weights[:-NEW]
    if task == "regress":
        machine = SVR(C=C, epsilon=epsilon, **settings).fit(K, y[:-NEW], sample_weight=w)
    else:
        machine = OneClassSVM(nu=nu, **settings).fit(K, sample_weight=w)
    beta = np.zeros(len(train))
    beta[machine.support_] = machine.dual_coef_[0]
    outputs = kernel_matrix(new, train, kernel, gamma) @ beta + machine.intercept_[0]
    if task == "regress":
        assert abs(beta.sum()) < 1e-8
        objective = y[:-NEW] @ beta - epsilon * np.abs(beta).sum() - 0.5 * beta @ K @ beta
        return objective, outputs
    total = nu * w.sum()
    assert abs(beta.sum() - total) < 1e-8 * total
    return -0.5 * beta @ K @ beta / total**2, outputs / total


def main():
    cases = [
        ("regress", 1, 60, 2, 0.1, 0, "rbf", 1.0, 1.0, 0.1, 0.5),
        ("regress", 2, 200, 5, 0.3, 0, "rbf", 0.5, 10.0, 0.05, 0.5),
        ("regress", 3, 200, 5, 0.5, 1, "rbf", 0.5, 1.0, 0.3, 0.5),
        ("regress", 4, 150, 8, 0.2, 1, "rbf", 0.2, 100.0, 0.0, 0.5),
        ("regress", 5, 150, 4, 0.4, 0, "linear", 1.0, 1.0, 0.1, 0.5),
        ("regress", 6, 300, 3, 0.5, 1, "rbf", 5.0, 0.1, 0.2, 0.5),
        ("oneclass", 7, 60, 2, 0.1, 0, "rbf", 1.0, 1.0, 0.1, 0.1),
        ("oneclass", 8, 200, 5, 0.1, 0, "rbf", 0.5, 1.0, 0.1, 0.5),
        ("oneclass", 9, 200, 3, 0.1, 1, "rbf", 2.0, 1.0, 0.1, 0.05),
        ("oneclass", 10, 300, 4, 0.1, 1, "rbf", 0.3, 1.0, 0.1, 0.9),
    ]
    with open(pathlib.Path(__file__).with_name("task_objectives.txt"), "w") as out:
        out.write("# task seed n d noise weighted kernel gamma C epsilon nu optimum and five decision values; made by "
                  "generate_task_objectives.py\n")
        for task, seed, n, d, noise, weighted, kernel, gamma, C, epsilon, nu in cases:
            optimum, outputs = solve(task, *make(seed, n, d, noise, weighted), kernel, gamma, C, epsilon, nu)
            numbers = " ".join(f"{value:.12g}" for value in (optimum, *outputs))
            out.write(f"{task} {seed} {n} {d} {noise} {weighted} {kernel} {gamma} {C} {epsilon} {nu} {numbers}\n")


if __name__ == "__main__":
    main()
