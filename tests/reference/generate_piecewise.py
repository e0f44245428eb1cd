#!/usr/bin/env python3
"""Generates piecewise.json: the optima of lp-norm kernel learning with piecewise linear losses other than the plain hinge,
found by cvxopt on problems of lp_norm.json: regression with and without bias, the one-class machine with a threshold and
the one without, and the hinge without bias.

Solved in the dual, with beta = B z, 0 <= z <= u, q_m = beta' K_m beta and 1/p + 1/p* = 1:

    maximise  l' z - 1/2 ||q(B z)||_p*   subject to  sum beta = s (with a bias),

where a regression has two z for every beta. Every optimum is bracketed by its own primal and dual values, computed with
numpy alone; the script fails if a bracket is wider than 1e-7 relative. Run it only to change the problems:

    /usr/bin/python3 generate_piecewise.py > piecewise.json
"""

import json
import sys
from pathlib import Path

import numpy as np
from cvxopt import matrix, solvers

from generate_lp_norm import best_response, dual_norm, kernel_matrix

solvers.options.update(show_progress=False, abstol=1e-11, reltol=1e-11, feastol=1e-11, maxiters=500)
NORMS = [1.0, 4.0 / 3.0, 2.0, float("inf")]
PROBLEMS = ["two_widths", "each_8_sample_costs", "duplicates_6"]
EPSILON, NU = 0.1, 0.3


class Machine:
    """A dual in z, and the primal that goes with it."""

    def __init__(self, basis, linear, upper, loss, corners, has_bias, total=0.0):
        self.basis, self.linear, self.upper = basis, linear, upper
        self.loss, self.corners, self.has_bias, self.total = loss, corners, has_bias, total

    def dual(self, kernels, z, p):
        beta = self.basis @ z
        return self.linear @ z - 0.5 * dual_norm(np.einsum("i,mij,j->m", beta, kernels, beta), p)

    def primal(self, kernels, theta, z):
        beta = self.basis @ z
        f = np.einsum("m,mij,j->i", theta, kernels, beta)
        biases = self.corners(f) if self.has_bias else [0.0]
        return 0.5 * beta @ f + min(self.loss(f + b) + self.total * b for b in biases)

    def feasible(self, z):
        z = np.clip(z, 0, self.upper)
        if not self.has_bias:
            return z
        signs = self.basis.sum(0)
        for _ in range(50):  # rounding of the solver only: a few steps settle it
            missing = self.total - signs @ z
            room = np.where(signs * missing > 0, self.upper - z, z)
            z = np.clip(z + signs * missing * room / room.sum(), 0, self.upper)
        assert abs(self.total - signs @ z) < 1e-13 * (1 + z.sum())
        return z

    def constraints(self, extra=0):
        n = len(self.upper)
        rows = np.zeros((2 * n, n + extra))
        rows[:n, :n], rows[n:, :n] = -np.eye(n), np.eye(n)
        named = {"G": matrix(rows), "h": matrix(np.concatenate([np.zeros(n), self.upper]))}
        if self.has_bias:
            named["A"] = matrix(np.concatenate([self.basis.sum(0), np.zeros(extra)]), (1, n + extra))
            named["b"] = matrix(float(self.total))
        return named


def regression(y, c, has_bias):
    n = len(y)
    loss = lambda f: (c * np.maximum(0, np.abs(f - y) - EPSILON)).sum()
    corners = lambda f: np.concatenate([y - f - EPSILON, y - f + EPSILON])
    return Machine(np.hstack([np.eye(n), -np.eye(n)]), np.concatenate([y - EPSILON, -y - EPSILON]),
                   np.concatenate([c, c]), loss, corners, has_bias)


def one_class(c):
    n = len(c)
    upper = np.full(n, 1 / (NU * n))
    return Machine(np.eye(n), np.zeros(n), upper, lambda f: (upper * np.maximum(0, -f)).sum(), lambda f: -f, True, 1.0)


def hinge(y, c):
    return Machine(np.diag(y), np.ones(len(y)), c, lambda f: (c * np.maximum(0, 1 - y * f)).sum(), None, False)


def solve_inner(machine, kernel):
    k = machine.basis.T @ kernel @ machine.basis
    solution = solvers.qp(matrix(k), matrix(-machine.linear), **machine.constraints())
    return machine.feasible(np.array(solution["x"]).ravel())


def solve_smooth(machine, kernels, p, start):
    n, r = len(start), p / (p - 1)
    based = np.einsum("ik,mij,jl->mkl", machine.basis, kernels, machine.basis)

    def value(x=None, z=None):
        if x is None:
            return 0, matrix(start)
        products = based @ np.array(x).ravel()
        q = products @ np.array(x).ravel()
        theta, norm = best_response(q, p), dual_norm(q, p)
        f = matrix(0.5 * norm - machine.linear @ np.array(x).ravel())
        gradient = matrix(theta @ products - machine.linear, (1, n))
        if z is None:
            return f, gradient
        inner = np.diag((r - 1) * theta / np.maximum(q, 1e-300)) - (r - 1) / norm * np.outer(theta, theta)
        hessian = np.einsum("m,mij->ij", theta, based) + 2 * products.T @ inner @ products
        return f, gradient, matrix(z[0] * (hessian + hessian.T) / 2)

    solution = solvers.cp(value, **machine.constraints())
    z = machine.feasible(np.array(solution["x"]).ravel())
    beta = machine.basis @ z
    return z, best_response(np.einsum("i,mij,j->m", beta, kernels, beta), p)


def solve_l1(machine, kernels, start):
    n, m = len(start), len(kernels)
    based = np.einsum("ik,mij,jl->mkl", machine.basis, kernels, machine.basis)
    t = 0.6 * np.einsum("i,mij,j->m", start, based, start).max()

    def value(x=None, z=None):
        if x is None:
            return m, matrix(np.append(start, t))
        products = based @ np.array(x[:n]).ravel()
        f = matrix(np.append(x[n] - machine.linear @ np.array(x[:n]).ravel(),
                             0.5 * products @ np.array(x[:n]).ravel() - x[n]))
        jacobian = np.zeros((m + 1, n + 1))
        jacobian[0, :n], jacobian[0, n] = -machine.linear, 1
        jacobian[1:, :n], jacobian[1:, n] = products, -1
        if z is None:
            return f, matrix(jacobian)
        hessian = np.zeros((n + 1, n + 1))
        hessian[:n, :n] = np.einsum("m,mij->ij", np.array(z[1:]).ravel(), based)
        return f, matrix(jacobian), matrix(hessian)

    solution = solvers.cp(value, **machine.constraints(extra=1))
    theta = np.maximum(np.array(solution["znl"]).ravel(), 0)
    return machine.feasible(np.array(solution["x"][:n]).ravel()), theta / theta.sum()


def bracket(machine, kernels, p):
    """Lower and upper bound on the optimum."""
    share = machine.total / machine.upper.sum() if machine.total else 0.1
    start = share * machine.upper
    if p == float("inf"):
        theta = np.ones(len(kernels))
        z = solve_inner(machine, kernels.sum(0))
    elif p == 1:
        z, theta = solve_l1(machine, kernels, start)
    else:
        # Both variables of a regression at the same value make beta zero, where the norm has no derivative.
        tilt = 1 + 0.5 * np.sign(machine.linear)
        start = machine.feasible(start * tilt) if machine.total == 0 else start
        z, theta = solve_smooth(machine, kernels, p, start)
    again = solve_inner(machine, np.einsum("m,mij->ij", theta, kernels))
    return machine.dual(kernels, z, p), min(machine.primal(kernels, theta, point) for point in (z, again))


def main():
    stored = json.loads(Path(__file__).with_name("lp_norm.json").read_text())["problems"]
    optima, targets = [], {}
    for problem in (p for p in stored if p["name"] in PROBLEMS):
        features = np.array(problem["features"])
        y, c = np.array(problem["y"], float), np.array(problem["C"])
        values = np.round(np.sin(2 * features[:, 0]) + 0.5 * features[:, 1] ** 2, 3)
        targets[problem["name"]] = values.tolist()
        kernels = np.array([kernel_matrix(features, kernel) for kernel in problem["kernels"]])
        machines = {("epsilon-insensitive", "targets", True): regression(values, c, True),
                    ("epsilon-insensitive", "targets", False): regression(values, c, False),
                    ("one-class", "ones", True): one_class(c), ("hinge", "ones", False): hinge(np.ones(len(y)), c),
                    ("hinge", "labels", False): hinge(y, c)}
        for (loss, kind, has_bias), machine in machines.items():
            for p in NORMS:
                lower, upper = bracket(machine, kernels, p)
                width = (upper - lower) / abs(upper)
                print(f"{problem['name']} {loss} {kind} bias={has_bias} p={p:.4g} {lower:.10g} {upper:.10g} {width:.1e}",
                      file=sys.stderr, flush=True)
                if not -1e-10 <= width <= 1e-7:
                    sys.exit("bracket too wide")
                optima.append({"problem": problem["name"], "loss": loss, "y": kind, "has_bias": has_bias,
                               "norm": "inf" if p == float("inf") else p, "lower": lower, "upper": upper})
    json.dump({"epsilon": EPSILON, "nu": NU, "targets": targets, "optima": optima}, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
