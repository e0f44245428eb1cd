"""What notebooks show of a fitted estimator, below scikit-learn's own diagram."""
from html import escape

import numpy as np

_ROWS = 8
_STYLE = "font-family:monospace;font-size:90%;border-collapse:collapse;margin:0.5em 0"


def _bar(share):
    return f'<div style="background:#4c72b0;height:0.8em;width:{100 * share:.1f}px"></div>'


def fitted_summary(estimator):
    """A small table: how good the answer is, and which kernels matter; nothing before `fit`."""
    weights = getattr(estimator, "kernel_weights_", None)
    if weights is None:
        return ""
    order = [m for m in np.argsort(-weights, kind="stable")[:_ROWS] if weights[m] > 0]
    rows = "".join(
        f"<tr><td>{escape(estimator.kernel_names_[m])}</td><td>{weights[m]:.3g}</td>"
        f"<td>{_bar(weights[m] / weights[order[0]])}</td></tr>"
        for m in order
    )
    more = int(np.count_nonzero(weights)) - len(order)
    if more > 0:
        rows += f"<tr><td colspan=3>and {more} more with a weight, of {len(weights)}</td></tr>"
    head = (
        f"{escape(estimator.status_)}, relative duality gap {estimator.duality_gap_:.2g}, "
        f"{len(estimator.support_)} support vectors"
    )
    return f'<div style="{_STYLE}">{head}<table style="{_STYLE}">{rows}</table></div>'
