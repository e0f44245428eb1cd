"""What the rivals in Python share: the problem as a file describes it, its kernel matrices, the report at the end."""
import json
import sys
import time

import numpy
from sklearn.datasets import load_svmlight_file
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.svm import SVC


class Problem:
    """Samples in memory; the clock starts when they are."""

    def __init__(self, path):
        options = json.load(open(path))
        samples, self.labels = load_svmlight_file(options["data"])
        self.samples = samples.toarray()
        self.test_samples = self.test_labels = None
        if options["test"]:
            test, self.test_labels = load_svmlight_file(options["test"], n_features=samples.shape[1])
            self.test_samples = test.toarray()
        self.kernels, self.c, self.gap = options["kernels"], options["C"], options["gap"]
        self.normalize = options["normalize"]
        self.norm = float(options["norm"])
        self.start, self.cpu_start = time.monotonic(), time.process_time()

    def matrices(self):
        """All kernel matrices, normalised: M x n x n."""
        values = numpy.empty((len(self.kernels), len(self.samples), len(self.samples)))
        self.scales = []
        for m, matrix in enumerate(self._evaluated(self.samples, self.samples)):
            diagonal = matrix.diagonal().mean()
            # `trace`: mean diagonal 1. `multiplicative`: variance 1 in feature space.
            scale = diagonal if self.normalize == "trace" else diagonal - matrix.mean()
            self.scales.append(1 / scale if scale > 1e-12 * diagonal else 0.0)
            values[m] = matrix * self.scales[-1]
        return values

    def _evaluated(self, left, right):
        """The matrices of all kernels between two sets of samples; those of one feature share its differences."""
        feature_of_base, distances, products = (), None, None
        for kind, parameter, feature in self.kernels:
            if feature_of_base != (feature,):
                columns = slice(None) if feature is None else [feature]
                distances = euclidean_distances(left[:, columns], right[:, columns], squared=True)
                products = left[:, columns] @ right[:, columns].T
                feature_of_base = (feature,)
            yield numpy.exp(-parameter * distances) if kind == "rbf" else (products + 1) ** parameter

    def report(self, machine, weights, **more):
        """Stops the clock; scores the machine on the test samples; prints one line of JSON."""
        result = {"seconds": time.monotonic() - self.start, "cpu_seconds": time.process_time() - self.cpu_start, **more}
        if self.test_samples is not None:
            test = sum(weight * scale * matrix for weight, scale, matrix in
                       zip(weights, self.scales, self._evaluated(self.test_samples, self.samples)) if weight)
            result["accuracy"] = float(numpy.mean(machine.predict(test) == self.test_labels))
        print(json.dumps(result))


class Machine:
    """The support vector machine on a weighted sum of kernel matrices, by scikit-learn."""

    def __init__(self, problem, matrices):
        self.matrices, self.labels, self.c = matrices, problem.labels, problem.c
        self.solves = 0

    def solve(self, weights):
        """Trains at the weights: the dual objective, all quadratics alpha' Q_m alpha, and sum of alpha."""
        kernel = numpy.tensordot(weights, self.matrices, axes=1)
        self.svc = SVC(kernel="precomputed", C=self.c, cache_size=1000).fit(kernel, self.labels)
        self.solves += 1
        support, signed = self.svc.support_, self.svc.dual_coef_[0]
        rows = self.matrices[:, support[:, None], support]
        self.quadratics = rows @ signed @ signed
        self.linear = numpy.abs(signed).sum()
        return self.linear - 0.5 * weights @ self.quadratics


def main(train):
    """Runs `train` on the problem that the command line names."""
    train(Problem(sys.argv[1]), *sys.argv[2:])
