"""Trains in one process again and again: its memory does not grow.

Every fit is followed by predictions; every tenth model is written, read and compared; every seventh fit is refused, as errors must
not leak either. Memory is what the system counts as resident, of which the allocator keeps some: what is left after the first
tenth of the fits may not grow by more than ALLOWED.

Usage: PYTHONPATH=build/release/python soak_test.py [--count N]
"""
import gc
import pickle
import sys
import time
import unittest

import numpy as np

from kweave import MKLClassifier, MKLOneClass, MKLRegressor

COUNT = 300
ALLOWED = 4 << 20  # bytes: what one fit takes and gives back; a leak of 1 kB a fit shows at 10,000 fits and not at 300


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


class Soak(unittest.TestCase):
    def setUp(self):
        generator = np.random.default_rng(1)
        self.x = generator.normal(size=(40, 5))
        self.sign = np.where(self.x[:, 0] + 0.3 * generator.normal(size=40) > 0, "yes", "no")
        self.classes = np.array(["a", "b", "c"])[np.digitize(self.x[:, 1], [-0.5, 0.5])]
        self.value = self.x[:, 0] ** 2

    def fit_one(self, k):
        kinds = [(MKLClassifier, self.sign), (MKLRegressor, self.value), (MKLClassifier, self.classes), (MKLOneClass, None)]
        make, target = kinds[k % len(kinds)]
        options = {"norm": (1, 2, 4 / 3)[k % 3], "n_jobs": 1 + k % 2}
        if make is MKLOneClass:
            options["nu"] = 0.2
        else:
            options["C"] = float(2 ** (k % 5))
        if k % 7 == 0:
            with self.assertRaises(ValueError):
                make(**{**options, "norm": -1}).fit(self.x, target)
        model = make(**options).fit(self.x, target)
        predicted = model.predict(self.x)
        if k % 10 == 0:
            again = pickle.loads(pickle.dumps(model)).predict(self.x)
            np.testing.assert_array_equal(predicted, again)

    def test_memory_does_not_grow(self):
        begin, marks = time.monotonic(), []
        for k in range(COUNT):
            self.fit_one(k)
            if (k + 1) % max(1, COUNT // 10) == 0:
                gc.collect()
                marks.append(resident_bytes())
        print(f"{COUNT} fits in {time.monotonic() - begin:.0f} s; MB:", [round(mark / 2**20, 1) for mark in marks], file=sys.stderr)
        self.assertLess(marks[-1] - marks[0], ALLOWED)


if __name__ == "__main__":
    if "--count" in sys.argv:
        place = sys.argv.index("--count")
        COUNT = int(sys.argv[place + 1])
        del sys.argv[place:place + 2]
    unittest.main()
