#!/usr/bin/env python3
"""Generates joint_pairs.json: as joint.json, with kernels on pairs of sample and class that are no products.

A pair (i, u) is a point of its own, the sample moved by a matrix of its class, and a kernel on pairs compares points. They are
stored sample after sample, point i m + u. Run it only to change the problems:

    /usr/bin/python3 generate_joint_pairs.py > joint_pairs.json
"""

import json
import sys

import numpy as np

from generate_joint import NORMS, Problem
from generate_lp_norm import kernel_matrix, linear, rbf, unit_variance


def make_problem(name, seed, n, classes, kernels, pair_kernels, norms=NORMS, per_sample=False, bias=True,
                 loss="hinge"):
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n) % classes)
    features = random.normal(size=(n, 3))
    features[:, :2] += 1.5 * random.normal(size=(classes, 2))[y]
    features = np.round(features, 3)
    moves = random.normal(size=(classes, 3, 3))
    points = np.round(np.einsum("uab,ib->iua", moves, features).reshape(n * classes, 3), 3)
    costs = np.round(10 ** random.uniform(-1, 1, n), 4) if per_sample else np.ones(n)
    kernels = [unit_variance(features, kernel) for kernel in kernels]
    order = np.arange(n * classes).reshape(n, classes).T.ravel()  # class after class
    joint = [np.kron(np.eye(classes), kernel_matrix(features, kernel)) for kernel in kernels]
    joint += [kernel_matrix(points, kernel)[np.ix_(order, order)] for kernel in pair_kernels]
    problem = Problem(np.array(joint), y, costs, classes, bias, loss)
    optima = []
    for p in norms:
        lower, upper = problem.bracket(p)
        width = (upper - lower) / upper
        print(f"{name} p={p:.4g} {lower:.10g} {upper:.10g} {width:.1e}", file=sys.stderr)
        if not -1e-9 <= width <= 1e-7:
            sys.exit("bracket too wide")
        optima.append({"norm": "inf" if p == float("inf") else p, "lower": lower, "upper": upper})
    return {"name": name, "features": features.tolist(), "points": points.tolist(), "y": y.tolist(),
            "C": costs.tolist(), "classes": classes, "bias": bias, "loss": loss, "kernels": kernels,
            "class_kernels": [], "pair_kernels": pair_kernels, "optima": optima}


def scaled(kernels, scale):
    return [dict(kernel, scale=scale) for kernel in kernels]


if __name__ == "__main__":
    every = range(3)
    problems = [
        make_problem("one_on_pairs", 1, 40, 3, [], scaled(rbf([0.3], every), 1.5), norms=[2.0], per_sample=True),
        make_problem("one_on_pairs_no_bias", 2, 40, 4, [], scaled(rbf([0.3], every), 1.5), norms=[2.0], bias=False),
        make_problem("pairs_and_products", 3, 45, 3, rbf([0.3], every) + linear([0, 1]),
                     scaled(rbf([0.1, 1], every), 1.5) + scaled(linear(every), 0.2)),
        make_problem("pairs_squared", 4, 40, 3, rbf([0.3], every), scaled(rbf([0.1, 1], every), 1.5),
                     loss="squared-hinge", per_sample=True),
    ]
    print(json.dumps({"problems": problems}))
