#!/usr/bin/env python3
"""Generates regularizers.json: optima of kernel learning with penalties, block, mixed, matrix and elastic norms and bounds on
single weights, as second-order cone programs by cvxopt.

The kernels are those of lp_norm.json on its first samples, as explicit features X_m with K_m = X_m X_m'. Solved is the
primal itself, in the parts w_m: minimise R(u) + sum_i C_i xi_i subject to u_m >= ||w_m||, y_i (sum_m X_m w_m + b)_i >= 1 - xi_i,
xi >= 0, where R is written in cones. Nothing here knows of weights theta except where R is defined by them. Run it
only to change the problems:

    /usr/bin/python3 generate_regularizers.py > regularizers.json
"""

import json
import os
import sys

import numpy as np
from cvxopt import matrix, solvers, sparse

from generate_lp_norm import kernel_matrix

solvers.options.update(show_progress=False, maxiters=200)
SAMPLES = 60
GROUPS = {"each_8_sample_costs": [0, 0, 1, 1, 2, 2, 2, 2], "mixed_10_large_c": [0] * 7 + [1, 2, 2]}


class Program:
    """minimise c'x subject to G x + s = h, s in a product of half-lines and second-order cones."""

    def __init__(self):
        self.count, self.cost, self.rows, self.cones = 0, {}, [], []

    def variables(self, count=1):
        self.count += count
        return list(range(self.count - count, self.count))

    def at_least_zero(self, terms, constant=0.0):
        """sum of factor * x + constant >= 0."""
        self.rows.append((terms, constant))

    def cone(self, *members):
        """||(members[1:])|| <= members[0]; every member is (terms, constant)."""
        self.cones.append(members)

    def norm(self, inside, bound):
        self.cone(([(1.0, bound)], 0.0), *[([(1.0, k)], 0.0) for k in inside])

    def product(self, inside, a, b):
        """||inside||^2 <= a b, with a or b None for the constant 1."""
        plus, minus, constant = [], [], 0.0
        for k, sign in ((a, 1.0), (b, -1.0)):
            if k is None:
                constant += 1.0 * sign
            else:
                plus.append((1.0, k))
                minus.append((sign, k))
        self.cone((plus, abs(constant)), *[([(2.0, k)], 0.0) for k in inside], (minus, constant))

    def solve(self):
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
        for tolerance in (1e-9, 1e-8, 1e-7, 1e-6):
            solvers.options.update(abstol=tolerance, reltol=tolerance, feastol=tolerance)
            try:
                solution = solvers.conelp(matrix(c), g, h, dims)
            except (ValueError, ArithmeticError):  # the last digits are beyond it
                continue
            if solution["status"] == "optimal":
                return solution["dual objective"], solution["primal objective"]
        sys.exit("not solved")


def bound_norm(program, inside, exponent):
    """A variable at least as large as the norm of the inside, all of which are >= 0."""
    (top,) = program.variables()
    if exponent == 1:
        program.at_least_zero([(1.0, top)] + [(-1.0, k) for k in inside])
    elif exponent == 2:
        program.norm(inside, top)
    elif exponent == 4:
        squares = program.variables(len(inside))
        for k, square in zip(inside, squares):
            program.product([k], square, top)
        program.norm(squares, top)
    else:
        for k in inside:
            program.at_least_zero([(1.0, top), (-1.0, k)])
    return top


def half_square(program, k):
    (square,) = program.variables()
    program.product([k], square, None)
    program.cost[square] = program.cost.get(square, 0.0) + 0.5


def weights(program, parts, count):
    """Variables theta with 1/2 sum_m ||w_m||^2 / theta_m in the objective."""
    theta = program.variables(count)
    for part, k in zip(parts, theta):
        (ratio,) = program.variables()
        program.product(part, ratio, k)
        program.cost[ratio] = 0.5
        program.at_least_zero([(1.0, k)])
    return theta


def regularize(program, parts, groups, spec):
    count, kind = len(parts), spec["kind"]
    if kind in ("block", "mixed", "part-matrix"):
        u = program.variables(count)
        for part, k in zip(parts, u):
            program.norm(part, k)
        if kind == "part-matrix":
            for k in u:
                program.at_least_zero([(1.0, k)])
            factor = np.linalg.cholesky(np.array(spec["matrix"]).reshape(count, count)).T
            (top,) = program.variables()
            program.cone(([(1.0, top)], 0.0), *[([(value, k) for value, k in zip(row, u)], 0.0) for row in factor])
            half_square(program, top)
        elif kind == "block":
            half_square(program, bound_norm(program, u, spec["P"]))
        else:
            tops = [bound_norm(program, [u[m] for m in range(count) if groups[m] == g], spec["Q"])
                    for g in range(max(groups) + 1)]
            half_square(program, bound_norm(program, tops, spec["P"]))
        return
    theta = weights(program, parts, count)
    if kind == "weight-matrix":
        factor = np.linalg.cholesky(np.array(spec["matrix"]).reshape(count, count)).T
        program.cone(([], 1.0), *[([(value, k) for value, k in zip(row, theta)], 0.0) for row in factor])
    elif kind == "elastic":
        top = bound_norm(program, theta, 2)
        program.at_least_zero([(-spec["share"], top)] + [(spec["share"] - 1, k) for k in theta], 1.0)
    elif kind == "bounded":
        top = bound_norm(program, theta, spec["p"])
        program.at_least_zero([(-1.0, top)], 1.0)
        for k, low, high in zip(theta, spec["lower"], spec["upper"]):
            program.at_least_zero([(1.0, k)], -low)
            program.at_least_zero([(-1.0, k)], high)
    elif kind == "penalty" and spec["p"] == 1:
        for k in theta:
            program.cost[k] = program.cost.get(k, 0.0) + spec["mu"]
    elif kind == "penalty":
        top = bound_norm(program, theta, spec["p"])
        (square,) = program.variables()
        program.product([top], square, None)
        program.cost[square] = 0.5 * spec["mu"]
    else:
        sys.exit(f"no regulariser {kind}")


def solve(problem, spec):
    y, c = np.array(problem["y"], float)[:SAMPLES], np.array(problem["C"], float)[:SAMPLES]
    features = np.array(problem["features"])[:SAMPLES]
    program = Program()
    (bias,) = program.variables()
    slack = program.variables(len(y))
    outputs = [[(1.0, bias)] for _ in y]
    parts = []
    for kernel in problem["kernels"]:
        values, vectors = np.linalg.eigh(kernel_matrix(features, kernel))
        keep = values > 1e-12 * values.max()
        x = vectors[:, keep] * np.sqrt(values[keep])
        part = program.variables(x.shape[1])
        parts.append(part)
        for i, row in enumerate(x):
            outputs[i] += list(zip(row, part))
    for i, k in enumerate(slack):
        program.cost[k] = c[i]
        program.at_least_zero([(1.0, k)])
        program.at_least_zero([(y[i] * value, v) for value, v in outputs[i]] + [(1.0, k)], -1.0)
    regularize(program, parts, GROUPS[problem["name"]], spec)
    return program.solve()


def specs(name, count):
    random = np.random.default_rng(len(name))
    root = random.normal(size=(count, count)) / np.sqrt(count)
    matrices = [np.eye(count) + root @ root.T, np.eye(count) * 0.3 + np.abs(root @ root.T)]
    links = np.triu((random.uniform(size=(count, count)) < 0.4).astype(float), 1)
    links += links.T
    matrices.append(np.diag(links.sum(1)) - links + 0.2 * np.eye(count))
    matrices.append(np.diag(np.round(random.uniform(0.2, 3, count), 2)))
    result = [{"kind": "block", "P": P} for P in (1, 2, 4, "inf")]
    for P in (1, 2, 4, "inf"):
        result += [{"kind": "mixed", "P": P, "Q": Q} for Q in (1, 2, 4, "inf") if Q != P]
    for E in matrices:
        flat = [float("%.6g" % value) for value in E.ravel()]
        result += [{"kind": kind, "matrix": flat} for kind in ("weight-matrix", "part-matrix")]
    result += [{"kind": "elastic", "share": share} for share in (0.05, 0.3, 1.0)]
    lower, upper = [0.0] * count, [1.0] * count
    lower[1], upper[0], upper[-1] = 0.15, 0.1, 0.02
    result += [{"kind": "bounded", "p": p, "lower": lower, "upper": upper} for p in (1, 2, 4)]
    result += [{"kind": "penalty", "mu": mu, "p": p} for mu in (0.5, 5.0) for p in (1, 2, 4)]
    return result


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "lp_norm.json"), encoding="utf-8") as file:
        problems = {problem["name"]: problem for problem in json.load(file)["problems"]}
    cases = []
    for name, groups in GROUPS.items():
        for spec in specs(name, len(groups)):
            exact = {k: float(v) if k in "PQ" else v for k, v in spec.items()}
            lower, upper = solve(problems[name], exact)
            width = (upper - lower) / abs(upper)
            print(name, spec["kind"], spec.get("P"), spec.get("Q"), spec.get("p"), f"{upper:.9g} {width:.1e}",
                  file=sys.stderr)
            if abs(width) > 2e-6:
                sys.exit("bracket too wide")
            cases.append({"problem": name, "samples": SAMPLES, "groups": groups, **spec, "optimum": 0.5 * (lower + upper)})
    json.dump({"cases": cases}, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
