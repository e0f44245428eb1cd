"""The kernels of the benchmarks, each list written twice: for Kweave (a specification) and for its rivals (numbers)."""
import dataclasses

# 2 sigma^2 = 5 * 1.2^k, k = 0..49, the widths of the run-time experiment of lp-norm multiple kernel learning.
WIDTHS = tuple(1 / (5 * 1.2 ** k) for k in range(50))


@dataclasses.dataclass(frozen=True)
class Kernels:
    """`options` are those of `kweave train`; `members` hold kind, parameter and feature (None: all) of every kernel."""
    options: tuple
    members: tuple = ()


def listed(values):
    return "[" + ",".join(f"{value:.10g}" for value in values) + "]"


def gaussians(gammas):
    return Kernels(("--kernel", f"rbf(gamma={listed(gammas)})"), tuple(("rbf", gamma, None) for gamma in gammas))


def around(gamma, count=50, factor=1.2):
    """Gaussians spaced like WIDTHS, with `gamma` in their middle."""
    return gaussians([gamma * factor ** (k - (count - 1) / 2) for k in range(count)])


def spread(count, scale=1.0, kind="rbf"):
    """`count` widths log-spaced over the range of WIDTHS, times `scale`."""
    low, high = min(WIDTHS) * scale, max(WIDTHS) * scale
    return Kernels(("--kernel", f"{kind}(gamma=logspace({low:.10g},{high:.10g},{count}))"))


def single_features_and_all(features):
    """Ten Gaussian widths and degrees 1 to 3, for every feature and for all together: 13 (d + 1) kernels."""
    gammas = [2.0 ** power for power in range(-7, 3)]
    specs = [f"each(rbf(gamma={listed(gammas)}))", "each(poly(degree=1..3))",
             f"rbf(gamma={listed([gamma / features for gamma in gammas])})", "poly(degree=1..3)"]
    members = []
    for feature in [*range(features), None]:
        members += [("rbf", gamma / (features if feature is None else 1), feature) for gamma in gammas]
        members += [("poly", degree, feature) for degree in (1, 2, 3)]
    return Kernels(tuple(word for spec in specs for word in ("--kernel", spec)), tuple(members))
