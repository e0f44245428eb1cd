"""Every model that a test trains is verified: its primal, dual and gap are found again by plain loops."""
import json

import numpy as np
import pytest
from kweave import _core

#: Values of kernels between all pairs of samples: some seconds.
MOST_VALUES = 1e9


@pytest.fixture(autouse=True, scope="session")
def verified_models():
    plain_train = _core.train

    def train(samples, targets, classes, options, run, start=None):
        model = plain_train(samples, targets, classes, options, run, start)
        if np.shape(targets)[0] ** 2 * json.loads(model.summary)["kernels_total"] <= MOST_VALUES:
            quiet = {**run, "progress": None, "log": None, "time_limit": 0}
            found = json.loads(model.verify(samples, targets, classes, quiet))
            assert found["holds"], found
        return model

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "train", train)
        yield
