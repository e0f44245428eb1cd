#!/usr/bin/env python3
"""Generates joint.json: small problems with several classes and the optimum of joint kernel learning, found by cvxopt.

Solved in the dual (Zien, Ong 2007, eq. 9), with beta_iu over samples and classes, class after class, and joint kernels
K = A (x) K_X, A a kernel on the classes:

    maximise  sum_i l(beta_iy) - 1/2 ||q(beta)||_p*
    subject to  beta_iu <= 0 for u != y_i,  beta_iy <= C_i,  sum_u beta_iu = 0,  with biases sum_i beta_iu = 0,

where l(s) = s for the hinge and s - s^2 / (2 C_i), without the upper bound, for the squared hinge. Every optimum is
then bracketed by its own primal and dual values; the primal's biases come from a linear program (hinge) or a quadratic
one. The script fails if a bracket is wider than 1e-7 relative. Run it only to change the problems:

    /usr/bin/python3 generate_joint.py > joint.json
"""

import json
import sys

import numpy as np
from cvxopt import matrix, solvers, sparse, spmatrix

from generate_lp_norm import best_response, dual_norm, kernel_matrix, linear, poly, rbf, unit_variance

solvers.options.update(show_progress=False, abstol=1e-11, reltol=1e-11, feastol=1e-11, maxiters=2000)
NORMS = [1.0, 4.0 / 3.0, 2.0, float("inf")]


class Problem:
    """minimise 1/2 ||q||_p* - linear' beta + 1/2 beta' diag(curvature) beta subject to G beta <= h, A beta = 0."""

    def __init__(self, kernels, y, c, classes, bias, loss):
        n = len(y)
        self.kernels, self.y, self.c, self.classes, self.bias, self.loss = kernels, y, c, classes, bias, loss
        own = y * n + np.arange(n)
        self.linear = np.zeros(n * classes)
        self.linear[own] = 1
        self.curvature = np.zeros(n * classes)
        cap = np.zeros(n * classes)
        cap[own] = c
        if loss == "squared-hinge":
            self.curvature[own] = 1 / c
            cap[own] = np.inf
        self.cap = cap
        self.capped = np.flatnonzero(np.isfinite(cap)).tolist()
        self.g = spmatrix(1.0, range(len(self.capped)), self.capped, (len(self.capped), n * classes))
        self.h = matrix(cap[self.capped])
        rows = np.kron(np.ones(classes), np.eye(n))
        if bias:  # the last class follows from the others
            rows = np.vstack([rows, np.kron(np.eye(classes), np.ones(n))[:-1]])
        self.a, self.b = matrix(rows), matrix(0.0, (len(rows), 1))

    def quadratics(self, beta):
        return np.einsum("i,mij,j->m", beta, self.kernels, beta)

    def dual(self, beta, p):
        return self.linear @ beta - 0.5 * self.curvature @ beta**2 - 0.5 * dual_norm(self.quadratics(beta), p)

    def start(self, p):
        n = len(self.y)
        counts = np.bincount(self.y, minlength=self.classes)
        beta = np.zeros((self.classes, n))
        for u in range(self.classes):  # every class gives and takes the same from every other
            for v in range(self.classes):
                if u != v:
                    beta[v, self.y == u] -= 1 / counts[u]
                    beta[u, self.y == u] += 1 / counts[u]
        beta *= 0.5 * (self.c.min() * counts.min() / self.classes)
        beta = beta.ravel()
        value = self.linear @ beta
        slope = dual_norm(self.quadratics(beta), p) + self.curvature @ beta**2
        return beta * min(1, value / slope)

    def solve_inner(self, theta):
        k = np.einsum("m,mij->ij", theta, self.kernels) + np.diag(self.curvature)
        solution = solvers.qp(matrix(k), matrix(-self.linear), self.g, self.h, self.a, self.b)
        return np.array(solution["x"]).ravel()

    def solve_smooth(self, p):
        r = p / (p - 1)

        def value(x=None, z=None):
            if x is None:
                return 0, matrix(self.start(p))
            beta = np.array(x).ravel()
            products = np.einsum("mij,j->mi", self.kernels, beta)
            q = products @ beta
            norm, theta = dual_norm(q, p), best_response(q, p)
            gradient = matrix(theta @ products - self.linear + self.curvature * beta, (1, len(beta)))
            f = matrix(-self.dual(beta, p))
            if z is None:
                return f, gradient
            weights = np.einsum("m,mij->ij", theta, self.kernels) + np.diag(self.curvature)
            inner = np.diag((r - 1) * theta / np.maximum(q, 1e-300)) - (r - 1) / norm * np.outer(theta, theta)
            hessian = weights + 2 * products.T @ inner @ products
            return f, gradient, matrix(z[0] * (hessian + hessian.T) / 2)

        beta = np.array(solvers.cp(value, self.g, self.h, A=self.a, b=self.b)["x"]).ravel()
        return beta, best_response(self.quadratics(beta), p)

    def solve_l1(self):
        size, m = len(self.linear), len(self.kernels)
        start = self.start(1)
        t = 0.6 * self.quadratics(start).max()

        def value(x=None, z=None):
            if x is None:
                return m, matrix(np.append(start, t))
            beta = np.array(x[:size]).ravel()
            products = np.einsum("mij,j->mi", self.kernels, beta)
            loss = self.linear @ beta - 0.5 * self.curvature @ beta**2
            f = matrix(np.append(x[size] - loss, 0.5 * products @ beta - x[size]))
            jacobian = np.zeros((m + 1, size + 1))
            jacobian[0, :size], jacobian[0, size] = self.curvature * beta - self.linear, 1
            jacobian[1:, :size], jacobian[1:, size] = products, -1
            if z is None:
                return f, matrix(jacobian)
            hessian = np.zeros((size + 1, size + 1))
            hessian[:size, :size] = np.einsum("m,mij->ij", np.array(z[1:]).ravel(), self.kernels)
            hessian[:size, :size] += z[0] * np.diag(self.curvature)
            return f, matrix(jacobian), matrix(hessian)

        g = sparse([[self.g], [spmatrix([], [], [], (self.g.size[0], 1))]])
        a = matrix(np.hstack([np.array(self.a), np.zeros((self.a.size[0], 1))]))
        solution = solvers.cp(value, g, self.h, A=a, b=self.b)
        theta = np.maximum(np.array(solution["znl"]).ravel(), 0)
        return np.array(solution["x"][:size]).ravel(), theta / theta.sum()

    def feasible(self, beta):
        """Bounds and sums of each sample; the sums of the classes are left as they are, right to about 1e-10."""
        beta = beta.reshape(self.classes, -1).copy()
        for i, own in enumerate(self.y):
            others = np.minimum(beta[:, i], 0)
            others[own] = 0
            others *= min(1, self.cap[own * len(self.y) + i] / max(-others.sum(), 1e-300))
            beta[:, i] = others
            beta[own, i] = -others.sum()
        return beta.ravel()

    def best_biases(self, f):
        """The last is zero; the other variables are one slack for each sample."""
        n, m = len(self.y), self.classes
        rows, right = [], []
        for i, own in enumerate(self.y):
            for u in range(m):
                if u != own:  # 1 + f_u + b_u - f_own - b_own <= xi_i
                    row = np.zeros(m + n)
                    row[u], row[own], row[m + i] = 1, -1, -1
                    rows.append(np.delete(row, m - 1))
                    right.append(f[own, i] - f[u, i] - 1)
        g = matrix(np.vstack([np.array(rows), np.hstack([np.zeros((n, m - 1)), -np.eye(n)])]))
        h = matrix(np.append(right, np.zeros(n)))
        costs = np.append(np.zeros(m - 1), self.c)
        if self.loss == "hinge":
            x = solvers.lp(matrix(costs), g, h)["x"]
        else:
            x = solvers.qp(matrix(np.diag(costs)), matrix(0.0, (m - 1 + n, 1)), g, h)["x"]
        return np.append(np.array(x[: m - 1]).ravel(), 0)

    def primal(self, theta, beta):
        """At the best biases."""
        n, m = len(self.y), self.classes
        f = (np.einsum("m,mij->ij", theta, self.kernels) @ beta).reshape(m, n)
        h = f + (self.best_biases(f) if self.bias else np.zeros(m))[:, None]
        own = h[self.y, np.arange(n)].copy()
        h[self.y, np.arange(n)] = -np.inf
        slack = np.maximum(0, 1 - own + h.max(0))
        loss = self.c @ slack if self.loss == "hinge" else 0.5 * self.c @ slack**2
        return 0.5 * theta @ self.quadratics(beta) + loss

    def bracket(self, p):
        if p == float("inf") or len(self.kernels) == 1:
            theta = np.ones(len(self.kernels))
            beta = self.solve_inner(theta)
        else:
            beta, theta = self.solve_l1() if p == 1 else self.solve_smooth(p)
        beta = self.feasible(beta)
        machine = self.solve_inner(theta)
        return self.dual(beta, p), min(self.primal(theta, b) for b in (beta, machine))


def make_problem(name, seed, n, kernels, c, classes, norms=NORMS, per_sample=False, bias=True, loss="hinge",
                 class_kernels=None, shares=None):
    random = np.random.default_rng(seed)
    shares = np.full(classes, 1 / classes) if shares is None else np.array(shares)
    y = np.repeat(np.arange(classes), np.round(shares * n).astype(int))[:n]
    y = np.append(y, np.full(n - len(y), 0)).astype(int)
    random.shuffle(y)
    centres = 1.3 * random.normal(size=(classes, 3))
    features = random.normal(size=(n, 4))
    features[:, :3] += centres[y]
    features = np.round(features, 3)
    costs = np.full(n, float(c))
    if per_sample:
        costs = np.round(c * 10 ** random.uniform(-1, 1, n), 4)
    kernels = [unit_variance(features, kernel) for kernel in kernels]
    matrices = class_kernels or [np.eye(classes).tolist()]
    joint = [np.kron(np.array(a), kernel_matrix(features, kernel)) for kernel in kernels for a in matrices]
    problem = Problem(np.array(joint), y, costs, classes, bias, loss)
    optima = []
    for p in norms:
        lower, upper = problem.bracket(p)
        width = (upper - lower) / upper
        print(f"{name} p={p:.4g} {lower:.10g} {upper:.10g} {width:.1e}", file=sys.stderr)
        if not -1e-9 <= width <= 1e-7:
            sys.exit("bracket too wide")
        optima.append({"norm": "inf" if p == float("inf") else p, "lower": lower, "upper": upper})
    return {"name": name, "features": features.tolist(), "y": y.tolist(), "C": costs.tolist(), "classes": classes,
            "bias": bias, "loss": loss, "kernels": kernels, "class_kernels": class_kernels or [], "optima": optima}


def blocks(classes):
    """Matrices that are zero but for a 2 x 2 block with 1 on its diagonal and +1 or -1 off it."""
    found = []
    for u in range(classes):
        for v in range(u):
            for sign in (1.0, -1.0):
                a = np.zeros((classes, classes))
                a[u, u] = a[v, v] = 1
                a[u, v] = a[v, u] = sign
                found.append(a.tolist())
    return found


if __name__ == "__main__":
    every = range(4)
    tree = np.eye(4) + np.kron(np.eye(2), np.ones((2, 2)))
    problems = [
        make_problem("one_kernel", 1, 90, rbf([0.3], every), 1, 4, norms=[2.0]),
        make_problem("one_kernel_costs", 2, 100, poly(2, every), 1, 3, norms=[2.0], per_sample=True,
                     shares=[0.6, 0.3, 0.1]),
        make_problem("one_kernel_no_bias", 3, 80, rbf([0.3], every), 3, 4, norms=[2.0], bias=False),
        make_problem("one_kernel_squared", 4, 80, rbf([0.3], every), 1, 3, norms=[2.0], loss="squared-hinge"),
        make_problem("two_classes", 5, 60, rbf([0.1, 1], every) + linear(every), 1, 2),
        make_problem("three_classes", 6, 60, rbf([0.1, 1], every), 1, 3),
        make_problem("four_classes", 7, 90, rbf([0.1, 1], [0, 1]) + rbf([0.3], [2, 3]) + linear(every), 10, 4),
        make_problem("five_classes", 8, 150, rbf([0.1, 0.5, 2], every) + linear([0]) + linear([1, 2]) + linear([3]),
                     1, 5, per_sample=True),
        make_problem("three_squared", 9, 60, rbf([0.1, 1], every) + linear(every), 1, 3, loss="squared-hinge"),
        make_problem("tree", 10, 60, rbf([0.1, 1], every), 1, 4, class_kernels=[np.eye(4).tolist(), tree.tolist()]),
        make_problem("blocks", 11, 60, linear(every), 1, 3, class_kernels=blocks(3)),
        make_problem("no_bias", 12, 60, rbf([0.1, 1], every) + linear(every), 1, 3, bias=False),
    ]
    print(json.dumps({"problems": problems}))
