#!/usr/bin/env python3
"""Generates importance.json: optimal kernel weights of small random problems, by cvxopt.

A problem is a seed: the test makes the same features from it by the same generator. Solved is the primal in the parts w_m
and the weights theta, minimise 1/2 sum_m ||w_m||^2 / theta_m + r(theta) + C sum_i xi_i subject to what the regulariser asks of theta,
as a second-order cone program (generate_regularizers.py). Run it only to change the problems:

    python3 generate_importance.py > importance.json
"""

import json

import numpy as np
from cvxopt import matrix, solvers, sparse

from generate_regularizers import Program, bound_norm, weights

SAMPLES, DIMENSIONS = 24, 2
GROUPS = [0, 0, 1, 1, 2]


class Random:
    """The generator of the test: a linear congruence."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (1103515245 * self.state + 12345) % 2**31
        return ((self.state >> 8) % 2001 - 1000) / 1000


def problem(seed, kernels):
    random = Random(seed)
    features = np.array([[[random.next() for _ in range(DIMENSIONS)] for _ in range(kernels)] for _ in range(SAMPLES)])
    noise = np.array([random.next() for _ in range(SAMPLES)])
    y = np.where(features[:, 0, 0] + 0.5 * features[:, 1, 0] + 0.4 * noise > 0, 1.0, -1.0)
    return features, y


def norm_of(program, theta, spec):
    if spec["kind"] == "mixed":
        tops = [bound_norm(program, [k for k, g in zip(theta, GROUPS) if g == group], spec["q"])
                for group in range(max(GROUPS[:len(theta)]) + 1)]
        return bound_norm(program, tops, spec["p"])
    return bound_norm(program, theta, spec["p"])


def constrain(program, theta, spec):
    if spec["kind"] == "elastic":
        top = bound_norm(program, theta, 2)
        program.at_least_zero([(-spec["share"], top)] + [(spec["share"] - 1, k) for k in theta], 1.0)
    elif spec["kind"] == "matrix":
        factor = np.linalg.cholesky(np.array(spec["matrix"]).reshape(len(theta), len(theta))).T
        program.cone(([], 1.0), *[([(value, k) for value, k in zip(row, theta)], 0.0) for row in factor])
    elif spec["kind"] == "penalty" and spec["p"] == 1:
        for k in theta:
            program.cost[k] = program.cost.get(k, 0.0) + spec["mu"]
    elif "mu" in spec:
        (square,) = program.variables()
        program.product([norm_of(program, theta, spec)], square, None)
        program.cost[square] = 0.5 * spec["mu"]
    else:
        program.at_least_zero([(-1.0, norm_of(program, theta, spec))], 1.0)
    if spec["kind"] == "bounded":
        for k, low, high in zip(theta, spec["lower"], spec["upper"]):
            program.at_least_zero([(1.0, k)], -low)
            program.at_least_zero([(-1.0, k)], high)


class WeightProgram(Program):
    """Gives the weights, not the optimum."""

    def solve(self, theta):
        def block(expressions):
            g, h = np.zeros((len(expressions), self.count)), np.zeros(len(expressions))
            for row, (terms, constant) in enumerate(expressions):
                for factor, k in terms:
                    g[row, k] -= factor
                h[row] = constant
            return g, h

        blocks = [block(self.rows)] + [block(cone) for cone in self.cones]
        c = np.zeros(self.count)
        for k, value in self.cost.items():
            c[k] += value
        dims = {"l": len(self.rows), "q": [len(cone) for cone in self.cones], "s": []}
        g, h = sparse(matrix(np.vstack([g for g, _ in blocks]))), matrix(np.concatenate([h for _, h in blocks]))
        for tolerance in (1e-10, 1e-9, 3e-9):
            solvers.options.update(show_progress=False, maxiters=100, abstol=tolerance, reltol=tolerance, feastol=1e-8)
            try:
                solution = solvers.conelp(matrix(c), g, h, dims)
            except (ValueError, ArithmeticError):  # the last digits are beyond it
                continue
            if solution["status"] == "optimal":
                return [round(float(solution["x"][k]), 9) for k in theta]
        return None


def solve(seed, kernels, C, spec):
    features, y = problem(seed, kernels)
    program = WeightProgram()
    (bias,) = program.variables()
    slack = program.variables(SAMPLES)
    parts = [program.variables(DIMENSIONS) for _ in range(kernels)]
    for i, k in enumerate(slack):
        program.cost[k] = C
        program.at_least_zero([(1.0, k)])
        outputs = [(y[i], bias)] + [(y[i] * features[i, m, j], parts[m][j]) for m in range(kernels) for j in range(DIMENSIONS)]
        program.at_least_zero(outputs + [(1.0, k)], -1.0)
    theta = weights(program, parts, kernels)
    constrain(program, theta, spec)
    return program.solve(theta)


def specs(random):
    kernels = 5
    root = random.normal(size=(kernels, kernels)) / np.sqrt(kernels)
    lower = np.round(random.uniform(0, 0.15, kernels), 3).tolist()
    upper = np.round(random.uniform(0.3, 0.8, kernels), 3).tolist()
    return ([{"kind": "norm", "p": p} for p in (1, 2, 4, "inf")]
            + [{"kind": "mixed", "p": p, "q": q} for p, q in ((1, 2), (2, 1), (2, 4), (1, "inf"), (4, 1))]
            + [{"kind": "penalty", "p": p, "mu": 0.7} for p in (1, 2, 4)]
            + [{"kind": "mixed", "p": 1, "q": 2, "mu": 0.5}]
            + [{"kind": "elastic", "share": 0.4}]
            + [{"kind": "matrix", "matrix": np.round(np.eye(kernels) + root @ root.T, 6).ravel().tolist()}]
            + [{"kind": "bounded", "p": p, "lower": lower, "upper": upper} for p in (1, 2)])


def main():
    cases = []
    for seed in range(1, 31):
        random = np.random.default_rng(seed)
        C = float(np.round(10 ** random.uniform(-1, 1.5), 3))
        for spec in specs(random):
            theta = solve(seed, 5, C, spec)
            if theta is not None:
                cases.append({"seed": seed, "C": C, **spec, "theta": theta})
    print(json.dumps({"groups": GROUPS, "samples": SAMPLES, "dimensions": DIMENSIONS, "cases": cases}, indent=0))


if __name__ == "__main__":
    main()
