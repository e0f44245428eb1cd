#!/usr/bin/env python3
"""Generates smooth.json: the optima of lp-norm kernel learning with smooth losses, found by cvxopt on problems of
lp_norm.json.

Solved in the dual, with q_m = beta' K_m beta and 1/p + 1/p* = 1:

    maximise  L(beta) - 1/2 ||q(beta)||_p*   subject to  sum beta = 0 (with a bias),

where L is minus the conjugate of the losses, infinite outside its domain, by cvxopt.solvers.cp; for p = 1 with one
constraint per kernel. Every optimum is bracketed by its own primal and dual values, computed with numpy alone; the script
fails if a bracket is wider than 1e-7 relative. Run it only to change the problems:

    /usr/bin/python3 generate_smooth.py > smooth.json
"""

import json
import sys
from pathlib import Path

import numpy as np
from cvxopt import matrix, solvers
from scipy.optimize import brentq

from generate_lp_norm import best_response, dual_norm, kernel_matrix

# Derivatives of entropies leave residuals of about 1e-10.
solvers.options.update(abstol=1e-9, reltol=1e-9, feastol=1e-9, maxiters=100)
NORMS = [1.0, 4.0 / 3.0, 2.0, float("inf")]
PROBLEMS = ["two_widths", "each_8_sample_costs", "mixed_10_large_c"]


class Squared:
    """1/2 (f - y)^2."""

    def value(self, f, y):
        return 0.5 * (f - y) ** 2

    def slope(self, f, y):
        return f - y

    def inside(self, beta, y, c):
        return True

    def dual(self, beta, y, c):
        """The dual term with its first two derivatives."""
        return y * beta - beta**2 / (2 * c), y - beta / c, -1 / c

    bounds = None


class SquaredHinge(Squared):
    """1/2 max(0, 1 - y f)^2."""

    def value(self, f, y):
        return 0.5 * np.maximum(0, 1 - y * f) ** 2

    def slope(self, f, y):
        return -y * np.maximum(0, 1 - y * f)

    bounds = "lower"


class Logistic:
    """log(1 + exp(sharpness (margin - y f))) / sharpness."""

    def __init__(self, sharpness=1.0, margin=0.0):
        self.sharpness, self.margin = sharpness, margin

    def value(self, f, y):
        return np.logaddexp(0, self.sharpness * (self.margin - y * f)) / self.sharpness

    def slope(self, f, y):
        return -y * np.exp(-np.logaddexp(0, -self.sharpness * (self.margin - y * f)))

    def inside(self, beta, y, c):
        return np.all((y * beta > 0) & (y * beta < c))

    def dual(self, beta, y, c):
        s = y * beta / c
        entropy = -(s * np.log(s) + (1 - s) * np.log1p(-s))
        return (self.margin * y * beta + c / self.sharpness * entropy,
                y * (self.margin + (np.log1p(-s) - np.log(s)) / self.sharpness),
                -1 / (self.sharpness * c * s * (1 - s)))

    bounds = None


LOSSES = {"least-squares": Squared(), "squared-hinge": SquaredHinge(), "smoothed-hinge": Logistic(10.0, 1.0),
          "logistic": Logistic()}


def linear_constraints(loss, y, has_bias, extra):
    """G x <= h and A x = b for cvxopt, x being beta and `extra` further variables."""
    n = len(y)
    constraints = {}
    if loss.bounds:
        constraints.update(G=matrix(np.hstack([-np.diag(y), np.zeros((n, extra))])), h=matrix(np.zeros(n)))
    if has_bias:
        constraints.update(A=matrix(np.append(np.ones(n), np.zeros(extra)), (1, n + extra)), b=matrix(0.0))
    return constraints


def solve_smooth(kernels, y, c, loss, p, has_bias, start):
    n = len(y)

    def value(x=None, z=None):
        if x is None:
            return 0, matrix(start)
        beta = np.array(x).ravel()
        if not loss.inside(beta, y, c):
            return None
        products = np.einsum("mij,j->mi", kernels, beta)
        q = products @ beta
        norm = dual_norm(q, p)
        theta = np.ones(len(kernels)) if p == float("inf") else best_response(q, p)
        terms, slopes, curvatures = loss.dual(beta, y, c)
        f, gradient = matrix(0.5 * norm - terms.sum()), matrix(theta @ products - slopes, (1, n))
        if z is None:
            return f, gradient
        hessian = np.einsum("m,mij->ij", theta, kernels) - np.diag(curvatures * np.ones(n))
        if p < float("inf"):
            r = p / (p - 1)
            inner = np.diag((r - 1) * theta / np.maximum(q, 1e-300)) - (r - 1) / norm * np.outer(theta, theta)
            hessian += 2 * products.T @ inner @ products
        return f, gradient, matrix(z[0] * (hessian + hessian.T) / 2)

    beta = np.array(solvers.cp(value, **linear_constraints(loss, y, has_bias, 0))["x"]).ravel()
    q = np.einsum("i,mij,j->m", beta, kernels, beta)
    return beta, np.ones(len(kernels)) if p == float("inf") else best_response(q, p)


def solve_l1(kernels, y, c, loss, has_bias, start):
    n, m = len(y), len(kernels)
    t = 0.6 * np.einsum("i,mij,j->m", start, kernels, start).max()

    def value(x=None, z=None):
        if x is None:
            return m, matrix(np.append(start, t))
        beta = np.array(x[:n]).ravel()
        if not loss.inside(beta, y, c):
            return None
        products = np.einsum("mij,j->mi", kernels, beta)
        terms, slopes, curvatures = loss.dual(beta, y, c)
        f = matrix(np.append(x[n] - terms.sum(), 0.5 * products @ beta - x[n]))
        jacobian = np.zeros((m + 1, n + 1))
        jacobian[0, :n], jacobian[0, n] = -slopes, 1
        jacobian[1:, :n], jacobian[1:, n] = products, -1
        if z is None:
            return f, matrix(jacobian)
        hessian = np.zeros((n + 1, n + 1))
        hessian[:n, :n] = np.einsum("m,mij->ij", np.array(z[1:]).ravel(), kernels) - z[0] * np.diag(
            curvatures * np.ones(n))
        return f, matrix(jacobian), matrix(hessian)

    solution = solvers.cp(value, **linear_constraints(loss, y, has_bias, 1))
    theta = np.maximum(np.array(solution["znl"]).ravel(), 0)
    return np.array(solution["x"][:n]).ravel(), theta / theta.sum()


def primal(kernels, y, c, loss, theta, beta, has_bias):
    f = np.einsum("m,mij->ij", theta, kernels) @ beta
    bias = 0.0
    if has_bias:
        bias = brentq(lambda b: (c * loss.slope(f + b, y)).sum(), -1e3, 1e3, xtol=1e-14)
    return 0.5 * beta @ f + (c * loss.value(f + bias, y)).sum()


def bracket(kernels, y, c, loss, p, has_bias):
    alpha = np.full(len(y), 0.1 * c.min())  # the same sum on both sides
    alpha[y > 0] *= min(1, (y < 0).sum() / (y > 0).sum())
    alpha[y < 0] *= min(1, (y > 0).sum() / (y < 0).sum())
    start = y * alpha
    if p == 1:
        beta, theta = solve_l1(kernels, y, c, loss, has_bias, start)
    else:
        beta, theta = solve_smooth(kernels, y, c, loss, p, has_bias, start)
    if loss.bounds:
        beta = y * np.maximum(y * beta, 0)
    lower = loss.dual(beta, y, c)[0].sum() - 0.5 * dual_norm(np.einsum("i,mij,j->m", beta, kernels, beta), p)
    if has_bias:  # what sum beta = 0 is short of, at an output of at most 100
        lower -= 100 * abs(beta.sum())
    return lower, primal(kernels, y, c, loss, theta, beta, has_bias)


def main():
    stored = json.loads((Path(__file__).parent / "lp_norm.json").read_text())["problems"]
    optima = []
    for problem in (one for one in stored if one["name"] in PROBLEMS):
        y, c = np.array(problem["y"], float), np.array(problem["C"], float)
        features = np.array(problem["features"])
        kernels = np.array([kernel_matrix(features, kernel) for kernel in problem["kernels"]])
        for name, loss in LOSSES.items():
            for has_bias in (True, False):
                for p in NORMS:
                    lower, upper = bracket(kernels, y, c, loss, p, has_bias)
                    width = (upper - lower) / upper
                    where = f"{problem['name']} {name} bias={has_bias} p={p:.4g}"
                    print(f"{where} {lower:.10g} {upper:.10g} {width:.1e}", file=sys.stderr)
                    if not -1e-10 <= width <= 1e-7:
                        sys.exit("bracket too wide")
                    optima.append({"problem": problem["name"], "loss": name, "has_bias": has_bias,
                                   "norm": "inf" if p == float("inf") else p, "lower": lower, "upper": upper})
    print(json.dumps({"optima": optima}, indent=1))


if __name__ == "__main__":
    main()
