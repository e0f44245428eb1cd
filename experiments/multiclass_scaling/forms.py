#!/usr/bin/env python3
"""Two forms of one semi-infinite program, the unfolded and the compact dual, by a general solver: do both end as Kweave?

    experiments/multiclass_scaling/forms.py KWEAVE [--folder FOLDER]

Needs NumPy, SciPy and CVXOPT. README.md beside this file says what is shown.
"""
import math
import sys
import time
from pathlib import Path

import cvxopt
import numpy as np
from scipy import optimize, sparse

import run as scaling

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common  # noqa: E402

C = 1.0
AXES = {"samples": [30, 45], "classes": [3, 4], "kernels": [2, 3]}
BASE = {"samples": 60, "classes": 3, "kernels": 3}
MOST_CUTS = 100


def kernels_of(points, classes, count):
    """Gaussian kernels around the quantile rule, with unit variance in feature space."""
    distances = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    pairs = np.sqrt(distances[np.triu_indices(len(points), 1)])
    width = np.quantile(pairs, 1 / classes)
    found = []
    for factor in scaling.factors(count):
        kernel = np.exp(-distances / (width * factor) ** 2)
        found.append(kernel / (np.trace(kernel) / len(kernel) - kernel.mean()))
    return found


def to_cvxopt(matrix):
    matrix = sparse.coo_matrix(matrix)
    return cvxopt.spmatrix(matrix.data.tolist(), matrix.row.tolist(), matrix.col.tolist(), matrix.shape)


class Form:
    """A dual as a quadratic program: the least 1/2 x'Px - <gain, x> within limits; to_alpha x is class after class."""

    def __init__(self, labels, classes, is_compact):
        n = len(labels)
        own = np.array([labels[i] * n + i for i in range(n)])
        others = np.setdiff1d(np.arange(n * classes), own)
        sums = sparse.kron(np.ones((1, classes)), sparse.identity(n))  # over the classes of a sample
        class_sums = sparse.kron(sparse.identity(classes), np.ones((1, n))).tocsr()[1:]  # the first follows
        if is_compact:
            rows = np.concatenate([others, own[others % n]])
            columns = np.tile(np.arange(len(others)), 2)
            signs = np.repeat([-1.0, 1.0], len(others))
            self.to_alpha = sparse.csr_matrix((signs, (rows, columns)), (n * classes, len(others)))
            limits = [-sparse.identity(len(others)), self.to_alpha[own]]
            equal = class_sums @ self.to_alpha
        else:
            self.to_alpha = sparse.identity(n * classes, format="csr")
            limits = [self.to_alpha[others], self.to_alpha[own]]
            equal = sparse.vstack([sums, class_sums])
        self.is_compact, self.classes, self.own = is_compact, classes, own
        self.limits = to_cvxopt(sparse.vstack(limits))
        self.bounds = cvxopt.matrix(np.concatenate([np.zeros(len(others)), np.full(n, C)]))
        self.equal, self.zeros = to_cvxopt(equal), cvxopt.matrix(0.0, (equal.shape[0], 1))
        self.gain = np.asarray(self.to_alpha[own].sum(axis=0)).ravel()

    def solve(self, kernel):
        """The best alpha at one kernel, n x m, and the objective."""
        joint = self.to_alpha.T @ sparse.kron(sparse.identity(self.classes), kernel, format="csr") @ self.to_alpha
        quadratic = cvxopt.matrix(joint.toarray()) if self.is_compact else to_cvxopt(joint)
        found = cvxopt.solvers.qp(quadratic, cvxopt.matrix(-self.gain), self.limits, self.bounds, self.equal,
                                  self.zeros, options={"show_progress": False})
        alpha = self.to_alpha @ np.array(found["x"]).ravel()
        return alpha.reshape(self.classes, -1), -found["primal objective"]


def column_generation(form, kernels):
    """Eq. (11) of the paper to the relative gap: the smallest objective over the weights, and the number of cuts."""
    weights, best, cuts = np.full(len(kernels), 1 / len(kernels)), math.inf, []
    while len(cuts) < MOST_CUTS:
        alpha, objective = form.solve(sum(w * k for w, k in zip(weights, kernels)))
        best = min(best, objective)
        quadratics = [np.sum((alpha @ kernel) * alpha) for kernel in kernels]
        cuts.append([*(-0.5 * q for q in quadratics), -1.0, -alpha.ravel()[form.own].sum()])
        program = np.array(cuts)  # each: -1/2 <weights, quadratics> - bound <= -sum of the own alphas
        found = optimize.linprog([*np.zeros(len(kernels)), 1], program[:, :-1], program[:, -1],
                                 [[*np.ones(len(kernels)), 0]], [1], [*[(0, 1)] * len(kernels), (None, None)])
        weights = found.x[:-1]
        if best - found.x[-1] <= scaling.GAP * best:
            return best, len(cuts)
    raise RuntimeError(f"the gap is still {best - found.x[-1]:.1e} after {MOST_CUTS} cuts")


def main():
    chosen = common.arguments(__doc__, "multiclass_scaling")
    kweave = common.Kweave(chosen.kweave, chosen.folder)
    rows, differences = [], []
    for axis, values in AXES.items():
        for value in values:
            setting = {**BASE, axis: value}
            samples = scaling.make_samples(setting["samples"], setting["classes"], seed=0)
            kernels = kernels_of(np.array([x for _, x in samples]), setting["classes"], setting["kernels"])
            labels = [int(label[1:]) for label, _ in samples]
            ours = scaling.run(kweave, **setting, seed=0)["primal"]
            for name, is_compact in (("unfolded", False), ("compact", True)):
                start = time.process_time()
                objective, cuts = column_generation(Form(labels, setting["classes"], is_compact), kernels)
                seconds = time.process_time() - start
                differences.append(abs(objective - ours) / max(objective, ours))
                rows.append([axis, value, name, f"{seconds:.3f}", cuts, f"{objective:.5g}", f"{ours:.5g}"])
                print(*rows[-1], flush=True)
    common.print_table(["axis", "value", "form", "seconds", "cuts", "objective", "Kweave's"], rows)
    claims = common.Claims()
    claims.check("both forms end at Kweave's objective", max(differences) <= scaling.GAP,
                 f"up to {max(differences):.1e}")
    claims.exit()


if __name__ == "__main__":
    main()
