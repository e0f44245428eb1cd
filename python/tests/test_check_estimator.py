"""scikit-learn's own conformance suite, with nothing expected to fail."""
import unittest

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kweave import MKLClassifier


@parametrize_with_checks([MKLClassifier(), MKLClassifier(norm=1, C=10, kernels=["linear", "rbf"])])
def test_scikit_learn_checks(estimator, check):
    try:
        check(estimator)
    except unittest.SkipTest as reason:
        pytest.skip(str(reason))
