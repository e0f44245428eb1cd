"""
Outliers
========

One class of normal samples, seen through two sensors. What is unusual in either is found without a single label.
"""
import numpy as np

from kweave import MKLOneClass, Views

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 300)
ring = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(scale=0.08, size=(300, 2))
load = rng.normal(size=(300, 3))
normal = Views({"position": ring, "load": load})

machine = MKLOneClass("rbf", nu=0.05).fit(normal)
print(f"{np.mean(machine.predict(normal) == -1):.3f} of the training samples are outliers, asked for were 0.05 at most")
print(", ".join(f"{name} {weight:.2f}" for name, weight in zip(machine.kernel_names_, machine.kernel_weights_)))

in_the_middle = Views({"position": np.zeros((1, 2)), "load": np.zeros((1, 3))})
overloaded = Views({"position": ring[:1], "load": np.full((1, 3), 6.0)})
print("in the middle of the ring:", machine.predict(in_the_middle), "overloaded:", machine.predict(overloaded))
assert machine.predict(overloaded) == -1
