#!/usr/bin/env python3
"""Generates common.json: optima of one machine per class against the rest, with kernel weights common to all of them, for
the problems of joint.json with the hinge loss and no kernels on the classes, found by cvxopt.

Solved in the dual, with beta_iu over samples and classes, class after class, and s_iu = 1 where u is the class of sample i,
else -1:

    maximise  sum_iu s_iu beta_iu - 1/2 ||sum_u q(beta_u)||_p*
    subject to  0 <= s_iu beta_iu <= C_i,  with biases sum_i beta_iu = 0 for every u.

Every optimum is then bracketed by its own primal and dual values. The script fails if a bracket is wider than 1e-7
relative. Run it only to change the problems:

    /usr/bin/python3 generate_common.py > common.json
"""

import json
import pathlib
import sys

import numpy as np
from cvxopt import matrix, sparse, spmatrix

import generate_joint
from generate_lp_norm import dual_norm, kernel_matrix

NORMS = [1.0, 4.0 / 3.0, 2.0, float("inf")]


class Common(generate_joint.Problem):
    def __init__(self, kernels, y, c, classes, bias):
        n = len(y)
        self.kernels, self.y, self.c, self.classes, self.bias = kernels, y, c, classes, bias
        self.signs = np.where(np.arange(classes)[:, None] == y, 1.0, -1.0).ravel()
        self.costs = np.tile(c, classes)
        self.linear, self.curvature = self.signs, np.zeros(n * classes)
        size = n * classes
        signed = spmatrix(self.signs, range(size), range(size))
        self.g = sparse([signed, -signed])
        self.h = matrix(np.append(self.costs, np.zeros(size)))
        rows = np.kron(np.eye(classes), np.ones(n)) if bias else np.zeros((0, size))
        self.a, self.b = matrix(rows), matrix(0.0, (len(rows), 1))

    def start(self, p):
        beta = np.zeros((self.classes, len(self.y)))
        for u in range(self.classes):
            own = self.y == u
            beta[u] = np.where(own, 1 / own.sum(), -1 / (~own).sum())
        beta = 0.5 * self.c.min() * beta.ravel()
        return beta * min(1, self.linear @ beta / dual_norm(self.quadratics(beta), p))

    def feasible(self, beta):
        return self.signs * np.clip(self.signs * beta, 0, self.costs)

    def primal(self, theta, beta):
        f = np.einsum("m,mij->ij", theta, self.kernels) @ beta
        value = 0.5 * theta @ self.quadratics(beta)
        n = len(self.y)
        for u in range(self.classes):
            part = slice(u * n, (u + 1) * n)
            s, own = self.signs[part], f[part]
            # The loss is piecewise linear in the bias, so one of its corners is best.
            biases = s - own if self.bias else np.zeros(1)
            value += min(self.c @ np.maximum(0, 1 - s * (own + b)) for b in biases)
        return value


def optima_of(problem):
    features = np.array(problem["features"])
    joint = [np.kron(np.eye(problem["classes"]), kernel_matrix(features, kernel)) for kernel in problem["kernels"]]
    common = Common(np.array(joint), np.array(problem["y"]), np.array(problem["C"]), problem["classes"], problem["bias"])
    optima = []
    for p in NORMS if len(joint) > 1 else [2.0]:
        lower, upper = common.bracket(p)
        width = (upper - lower) / upper
        print(f"{problem['name']} p={p:.4g} {lower:.10g} {upper:.10g} {width:.1e}", file=sys.stderr)
        if not -1e-9 <= width <= 1e-7:
            sys.exit("bracket too wide")
        optima.append({"norm": "inf" if p == float("inf") else p, "lower": lower, "upper": upper})
    return optima


if __name__ == "__main__":
    stored = json.loads((pathlib.Path(__file__).parent / "joint.json").read_text())["problems"]
    print(json.dumps({problem["name"]: optima_of(problem) for problem in stored
                      if problem["loss"] == "hinge" and not problem["class_kernels"] and problem["classes"] > 2}))
