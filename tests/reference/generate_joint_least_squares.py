#!/usr/bin/env python3
"""Generates joint_least_squares.json: problems as in joint.json with the loss 1/2 (1 - t)^2, which grows on either side.

A sample costs what its worst margin costs, the smallest or the largest. In the dual every pair of a sample and a class that
is not its own has two variables, for margins that are too small and too large (alpha of theorem 1, Zien, Ong 2007, taken apart):

    maximise  sum_iu (a_iu - c_iu) - sum_i (sum_u a_iu + c_iu)^2 / (2 C_i) - 1/2 ||q(beta)||_p*
    subject to  a, c >= 0 and, with biases, sum_i beta_iu = 0,   beta_iu = c_iu - a_iu,   beta_iy = sum_u (a_iu - c_iu).

Optima are bracketed as in generate_joint.py. Run it only to change the problems:

    /usr/bin/python3 generate_joint_least_squares.py > joint_least_squares.json
"""

import json

import numpy as np
from cvxopt import matrix, solvers

import generate_joint
from generate_lp_norm import dual_norm, linear, rbf


class TwoSidedProblem(generate_joint.Problem):
    """The same problem over x = (a, c); `curvature` is a matrix here."""

    def __init__(self, kernels, y, c, classes, bias, loss):
        n = len(y)
        self.y, self.c, self.classes, self.bias, self.loss = y, c, classes, bias, loss
        self.joint_kernels = kernels
        others = [(i, u) for i in range(n) for u in range(classes) if u != y[i]]
        to_beta = np.zeros((n * classes, 2 * len(others)))
        of_sample = np.zeros((n, 2 * len(others)))
        for k, (i, u) in enumerate(others):
            for at, sign in ((k, 1.0), (len(others) + k, -1.0)):
                to_beta[u * n + i, at], to_beta[y[i] * n + i, at] = -sign, sign
                of_sample[i, at] = 1
        self.to_beta = to_beta
        self.kernels = np.array([to_beta.T @ k @ to_beta for k in kernels])
        self.linear = np.repeat([1.0, -1.0], len(others))
        self.curvature = of_sample.T @ np.diag(1 / c) @ of_sample
        size = 2 * len(others)
        self.g, self.h = matrix(-np.eye(size)), matrix(0.0, (size, 1))
        rows = (np.kron(np.eye(classes), np.ones(n)) @ to_beta)[:-1] if bias else np.zeros((0, size))
        self.a, self.b = matrix(rows), matrix(0.0, (len(rows), 1))

    def dual(self, x, p):
        return self.linear @ x - 0.5 * x @ self.curvature @ x - 0.5 * dual_norm(self.quadratics(x), p)

    def solve_inner(self, theta):
        k = np.einsum("m,mij->ij", theta, self.kernels) + self.curvature
        return np.array(solvers.qp(matrix(k), matrix(-self.linear), self.g, self.h, self.a, self.b)["x"]).ravel()

    def solve_smooth(self, p):
        """Alternates between the machine and its best weights, with steps that shrink until the bracket is narrow."""
        theta = np.full(len(self.kernels), len(self.kernels) ** (-1 / p))
        for _ in range(400):
            x = self.solve_inner(theta)
            # The analytic update of the norms of all f_m; it lowers the objective for every p.
            norms = theta**2 * self.quadratics(x)
            theta = norms ** (1 / (p + 1))
            theta /= (theta**p).sum() ** (1 / p)
            if self.primal(theta, x) - self.dual(x, p) < 1e-9:
                break
        return x, theta

    def solve_l1(self):
        """The largest of the quadratics as a variable t: a program with one quadratic constraint for each kernel."""
        size, m = len(self.linear), len(self.kernels)
        start = np.full(size, 1e-2)
        if self.bias:  # to the nearest point with the right sums
            a = np.array(self.a)
            start -= a.T @ np.linalg.solve(a @ a.T, a @ start)
        t = 0.6 * self.quadratics(start).max()

        def value(z=None, w=None):
            if z is None:
                return m, matrix(np.append(start, t))
            x = np.array(z[:size]).ravel()
            products = np.einsum("mij,j->mi", self.kernels, x)
            bend = self.curvature @ x
            f = matrix(np.append(z[size] - self.linear @ x + 0.5 * x @ bend, 0.5 * products @ x - z[size]))
            jacobian = np.zeros((m + 1, size + 1))
            jacobian[0, :size], jacobian[0, size] = bend - self.linear, 1
            jacobian[1:, :size], jacobian[1:, size] = products, -1
            if w is None:
                return f, matrix(jacobian)
            hessian = np.zeros((size + 1, size + 1))
            hessian[:size, :size] = np.einsum("m,mij->ij", np.array(w[1:]).ravel(), self.kernels)
            hessian[:size, :size] += w[0] * self.curvature
            return f, matrix(jacobian), matrix(hessian)

        def widened(rows):
            return matrix(np.hstack([np.array(rows), np.zeros((rows.size[0], 1))]))

        solution = solvers.cp(value, widened(self.g), self.h, A=widened(self.a), b=self.b)
        theta = np.maximum(np.array(solution["znl"]).ravel(), 0)
        return np.array(solution["x"][:size]).ravel(), theta / theta.sum()

    def feasible(self, x):
        return np.maximum(x, 0)

    def best_biases(self, f):
        """The last is zero; the other variables are one slack for each sample."""
        n, m = len(self.y), self.classes
        rows, right = [], []
        for i, own in enumerate(self.y):
            for u in range(m):
                for sign in (1.0, -1.0) if u != own else ():  # sign (1 - t_iu) <= xi_i
                    row = np.zeros(m + n)
                    row[u], row[own], row[m + i] = sign, -sign, -1
                    rows.append(np.delete(row, m - 1))
                    right.append(sign * (f[own, i] - f[u, i] - 1))
        costs = np.append(np.zeros(m - 1), self.c)
        x = solvers.qp(matrix(np.diag(costs)), matrix(0.0, (m - 1 + n, 1)), matrix(np.array(rows)), matrix(right))["x"]
        return np.append(np.array(x[: m - 1]).ravel(), 0)

    def primal(self, theta, x):
        n, m = len(self.y), self.classes
        f = (np.einsum("m,mij->ij", theta, self.joint_kernels) @ self.to_beta @ x).reshape(m, n)
        h = f + (self.best_biases(f) if self.bias else np.zeros(m))[:, None]
        own = h[self.y, np.arange(n)]
        off = np.abs(1 - own[None, :] + h)
        off[self.y, np.arange(n)] = 0
        return 0.5 * theta @ self.quadratics(x) + 0.5 * self.c @ off.max(0) ** 2


if __name__ == "__main__":
    generate_joint.Problem = TwoSidedProblem
    every = range(4)
    tree = np.eye(4) + np.kron(np.eye(2), np.ones((2, 2)))

    def make(*arguments, **options):
        return generate_joint.make_problem(*arguments, **options, loss="least-squares")

    problems = [
        make("one_kernel_both_sides", 21, 60, rbf([0.3], every), 1, 4, norms=[2.0]),
        make("costs_both_sides", 22, 60, rbf([0.3], every), 1, 3, norms=[2.0], per_sample=True, shares=[0.6, 0.3, 0.1]),
        make("three_both_sides", 23, 60, rbf([0.1, 1], every) + linear(every), 1, 3),
        make("no_bias_both_sides", 24, 50, rbf([0.1, 1], every), 3, 4, bias=False),
        make("tree_both_sides", 25, 50, rbf([0.3], every), 1, 4, class_kernels=[np.eye(4).tolist(), tree.tolist()]),
    ]
    print(json.dumps({"problems": problems}))
