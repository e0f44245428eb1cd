#!/usr/bin/env python3
"""Generates lp_norm.json: small problems with the optimum of lp-norm kernel learning, found by cvxopt.

Solved in the dual, with beta_i = y_i alpha_i, q_m = beta' K_m beta and 1/p + 1/p* = 1:

    maximise  y' beta - 1/2 ||q(beta)||_p*   subject to  0 <= y_i beta_i <= C_i,  sum beta = 0,

by cvxopt.solvers.cp for 1 < p < infinity, as a quadratically constrained program for p = 1 and as a quadratic program
for p = infinity. Every optimum is then bracketed by its own primal and dual values, computed with numpy alone; the
script fails if a bracket is wider than 1e-7 relative. Run it only to change the problems:

    /usr/bin/python3 generate_lp_norm.py > lp_norm.json
"""

import json
import sys

import numpy as np
from cvxopt import matrix, solvers, spmatrix

solvers.options.update(show_progress=False, abstol=1e-11, reltol=1e-11, feastol=1e-11, maxiters=2000)
NORMS = [1.0, 1.1, 4.0 / 3.0, 2.0, 4.0, float("inf")]


def kernel_matrix(features, kernel):
    x = features[:, kernel["columns"]]
    if kernel["kind"] == "rbf":
        squares = (x * x).sum(1)
        distances = np.maximum(squares[:, None] + squares[None, :] - 2 * x @ x.T, 0)
        np.fill_diagonal(distances, 0)
        k = np.exp(-kernel["gamma"] * distances)
    elif kernel["kind"] == "linear":
        k = x @ x.T
    else:
        k = (kernel["gamma"] * (x @ x.T) + kernel["coef0"]) ** kernel["degree"]
    return kernel["scale"] * k


def unit_variance(features, kernel):
    """The kernel with a scale that gives it unit variance in feature space, rounded: it is stored in the file."""
    kernel = dict(kernel, scale=1.0)
    k = kernel_matrix(features, kernel)
    kernel["scale"] = float("%.6g" % (1 / (np.trace(k) / len(k) - k.mean())))
    return kernel


def dual_norm(q, p):
    q = np.maximum(q, 0)
    top = q.max()
    if p == 1 or top == 0:
        return top
    if p == float("inf"):
        return q.sum()
    r = p / (p - 1)
    return top * ((q / top) ** r).sum() ** (1 / r)


def best_response(q, p):
    theta = np.maximum(q / q.max(), 0) ** (1 / (p - 1))
    return theta / (theta**p).sum() ** (1 / p)


def box(y, c):
    """G x <= h for 0 <= y_i beta_i <= C_i."""
    n = len(y)
    g = spmatrix(list(-y) + list(y), range(2 * n), list(range(n)) * 2, (2 * n, n))
    return g, matrix(np.concatenate([np.zeros(n), c]))


def solve_inner(k, y, c):
    g, h = box(y, c)
    solution = solvers.qp(matrix(k), matrix(-y), g, h, matrix(1.0, (1, len(y))), matrix(0.0))
    return np.array(solution["x"]).ravel()


def solve_smooth(kernels, y, c, p, start):
    """1 < p < infinity: theta is the gradient of the norm, so the Hessian is K(theta) plus a low-rank term."""
    n = len(y)
    r = p / (p - 1)

    def value(x=None, z=None):
        if x is None:
            return 0, matrix(start)
        beta = np.array(x).ravel()
        products = np.einsum("mij,j->mi", kernels, beta)
        q = products @ beta
        norm = dual_norm(q, p)
        theta = best_response(q, p)
        gradient = matrix(theta @ products - y, (1, n))
        f = matrix(0.5 * norm - y @ beta)
        if z is None:
            return f, gradient
        weights = np.einsum("m,mij->ij", theta, kernels)
        # d theta_m / d q_k = (r - 1) / ||q|| (delta_mk theta_m ||q|| / q_m - theta_m theta_k)
        inner = np.diag((r - 1) * theta / np.maximum(q, 1e-300)) - (r - 1) / norm * np.outer(theta, theta)
        hessian = weights + 2 * products.T @ inner @ products
        return f, gradient, matrix(z[0] * (hessian + hessian.T) / 2)

    g, h = box(y, c)
    solution = solvers.cp(value, g, h, A=matrix(1.0, (1, n)), b=matrix(0.0))
    beta = np.array(solution["x"]).ravel()
    return beta, best_response(np.einsum("i,mij,j->m", beta, kernels, beta), p)


def solve_l1(kernels, y, c, start):
    """p = 1: minimise t - y' beta subject to 1/2 q_m <= t; the multipliers are theta."""
    n, m = len(y), len(kernels)
    t = 0.6 * np.einsum("i,mij,j->m", start, kernels, start).max()

    def value(x=None, z=None):
        if x is None:
            return m, matrix(np.append(start, t))
        beta = np.array(x[:n]).ravel()
        products = np.einsum("mij,j->mi", kernels, beta)
        f = matrix(np.append(x[n] - y @ beta, 0.5 * products @ beta - x[n]))
        jacobian = np.zeros((m + 1, n + 1))
        jacobian[0, :n], jacobian[0, n] = -y, 1
        jacobian[1:, :n], jacobian[1:, n] = products, -1
        if z is None:
            return f, matrix(jacobian)
        hessian = np.zeros((n + 1, n + 1))
        hessian[:n, :n] = np.einsum("m,mij->ij", np.array(z[1:]).ravel(), kernels)
        return f, matrix(jacobian), matrix(hessian)

    g, h = box(y, c)
    g = spmatrix(g.V, g.I, g.J, (2 * n, n + 1))
    a = matrix(np.append(np.ones(n), 0.0), (1, n + 1))
    solution = solvers.cp(value, g, h, A=a, b=matrix(0.0))
    theta = np.maximum(np.array(solution["znl"]).ravel(), 0)
    return np.array(solution["x"][:n]).ravel(), theta / theta.sum()


def feasible(beta, y, c):
    alpha = np.clip(y * beta, 0, c)
    positive, negative = alpha[y > 0].sum(), alpha[y < 0].sum()
    alpha[y > 0] *= min(1, negative / positive)
    alpha[y < 0] *= min(1, positive / negative)
    return y * alpha


def primal(kernels, y, c, theta, beta):
    k = np.einsum("m,mij->ij", theta, kernels)
    f = k @ beta
    return 0.5 * beta @ f + min((c * np.maximum(0, 1 - y * (f + b))).sum() for b in y - f)


def bracket(kernels, y, c, p):
    start = feasible(y * c, y, c) / 2
    start *= min(1, y @ start / dual_norm(np.einsum("i,mij,j->m", start, kernels, start), p))
    if p == float("inf"):
        theta = np.ones(len(kernels))
        beta = solve_inner(kernels.sum(0), y, c)
    elif p == 1:
        beta, theta = solve_l1(kernels, y, c, start)
    else:
        beta, theta = solve_smooth(kernels, y, c, p, start)
    beta = feasible(beta, y, c)
    lower = y @ beta - 0.5 * dual_norm(np.einsum("i,mij,j->m", beta, kernels, beta), p)
    machine = solve_inner(np.einsum("m,mij->ij", theta, kernels), y, c)
    upper = min(primal(kernels, y, c, theta, b) for b in (beta, machine))
    return lower, upper


def make_problem(name, seed, n, d, kernels, c, positive=0.5, per_sample=False):
    random = np.random.default_rng(seed)
    y = np.where(np.arange(n) < round(positive * n), 1.0, -1.0)
    random.shuffle(y)
    features = random.normal(size=(n, d))
    features[:, 0] += 0.8 * y
    features[:, 1] = features[:, 1] * np.where(y > 0, 1.6, 0.7)
    features = np.round(features, 3)
    upper = np.full(n, c)
    if per_sample:
        upper = np.round(c * 10 ** random.uniform(-1, 1, n), 4)
    kernels = [unit_variance(features, kernel) for kernel in kernels]
    matrices = np.array([kernel_matrix(features, kernel) for kernel in kernels])
    optima = []
    for p in NORMS:
        lower, upper_bound = bracket(matrices, y, upper, p)
        width = (upper_bound - lower) / upper_bound
        print(f"{name} p={p:.4g} {lower:.10g} {upper_bound:.10g} {width:.1e}", file=sys.stderr)
        if not -1e-10 <= width <= 1e-7:
            sys.exit("bracket too wide")
        optima.append({"norm": "inf" if p == float("inf") else p, "lower": lower, "upper": upper_bound})
    return {"name": name, "features": features.tolist(), "y": y.astype(int).tolist(), "C": upper.tolist(),
            "kernels": kernels, "optima": optima}


def rbf(gammas, columns):
    return [{"kind": "rbf", "gamma": float("%.6g" % g), "columns": list(columns)} for g in gammas]


def linear(columns):
    return [{"kind": "linear", "columns": list(columns)}]


def poly(degree, columns):
    return [{"kind": "poly", "degree": degree, "gamma": 0.5, "coef0": 1.0, "columns": list(columns)}]


def main():
    every = range(5)
    each = [k for j in range(5) for k in linear([j]) + poly(2, [j]) + rbf(np.logspace(-2, 1, 6), [j])]
    mixed = each + rbf(np.logspace(-3, 1.5, 16), every) + linear(every) + poly(2, every) + poly(3, every) + linear([0, 1])
    problems = [
        make_problem("two_widths", 1, 100, 3, rbf([0.1, 1], range(3)), 1.0),
        make_problem("mixed_10_large_c", 2, 150, 4,
                     rbf(np.logspace(-2, 1, 7), range(4)) + linear(range(4)) + poly(2, range(4)) + poly(3, range(4)), 100.0),
        make_problem("widths_20_small_c_unbalanced", 3, 200, 5, rbf(np.logspace(-3, 2, 20), every), 0.1, positive=0.15),
        make_problem("mixed_60", 4, 300, 5, mixed, 1.0, positive=0.3),
        make_problem("mixed_60_large_c", 5, 120, 5, mixed, 100.0),
        make_problem("each_8_sample_costs", 6, 100, 4,
                     [k for j in range(4) for k in linear([j]) + rbf([1.0], [j])], 1.0, positive=0.4, per_sample=True),
        make_problem("duplicates_6", 7, 100, 3,
                     rbf([0.3], range(3)) * 3 + linear(range(3)) * 2 + rbf([3.0], range(3)), 1.0),
    ]
    json.dump({"problems": problems}, sys.stdout, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
