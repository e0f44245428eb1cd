"""Kweave's own estimator on the same terms as its rivals in Python: samples in memory, kernels included."""
from problem import main

from kweave import MKLClassifier


def train(problem):
    kernels = [f"rbf(gamma={gamma!r})" for kind, gamma, feature in problem.kernels if (kind, feature) == ("rbf", None)]
    assert len(kernels) == len(problem.kernels)
    clf = MKLClassifier(kernels, C=problem.c, norm=problem.norm, gap=problem.gap, normalize=problem.normalize)
    clf.fit(problem.samples, problem.labels)
    problem.scales = None
    accuracy = None if problem.test_samples is None else clf.score(problem.test_samples, problem.test_labels)
    problem.test_samples = None
    problem.report(clf, clf.kernel_weights_, objective=clf.objective_, gap=clf.duality_gap_, accuracy=accuracy)


main(train)
