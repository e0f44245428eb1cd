#!/usr/bin/env python3
"""Writes samples of which some features say something of the label and the others nothing: x.npy and y.txt.

    bench/noise_kernels.py FOLDER [SAMPLES [SIGNAL [NOISE]]]

A linear kernel for every feature, `--kernel 'each(linear)' --norm 1`, then asks which of them mattered: all coefficients of the
signal are 1, the label is the sign of their sum and of noise as large.
"""

import sys

import numpy as np


def main(folder, samples=1_000_000, signal=10, noise=10):
    random = np.random.default_rng(1)
    x = random.standard_normal((samples, signal + noise), dtype=np.float32)
    f = x[:, :signal].sum(axis=1) + np.sqrt(signal) * random.standard_normal(samples)
    np.save(f"{folder}/x.npy", x)
    np.savetxt(f"{folder}/y.txt", np.where(f > 0, 1, -1), fmt="%d")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
