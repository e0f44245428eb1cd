#!/usr/bin/env python3
"""Says which source a model relies on, and draws it.

Usage: show_sources.py SUMMARY.json SCORES.json PICTURE.svg

The share of a kernel is its part theta_m q_m of the squared norm of the learned function, the share of a source the sum
over its kernels. SUMMARY comes from `kweave train --summary`, SCORES from `kweave predict --summary`.
"""
import json
import sys
from html import escape

COLORS = ["#2a6f97", "#e07a1f", "#7f7f7f", "#5b8c5a", "#8e5ea2"]
ROW, LEFT, WIDTH = 18, 250, 420


def shares(summary):
    """{source: {kernel: share}}, in the order of the summary."""
    contributions = [(kernel["name"], kernel["weight"] * kernel["quadratic"]) for kernel in summary["kernels"]]
    total = sum(value for _, value in contributions)
    sources = {}
    for name, value in contributions:
        kernel, _, source = name.partition("@")
        sources.setdefault(source or "data", {})[kernel] = value / total
    return sources


def draw(sources, title):
    """The picture as SVG text: one bar per kernel, in groups by source."""
    body, y = [], 50
    largest = max(share for kernels in sources.values() for share in kernels.values())
    for color, (source, kernels) in zip(COLORS * len(sources), sources.items()):
        body.append(f'<text x="16" y="{y + 12}" font-weight="bold" fill="{color}">{escape(source)}, '
                    f"{sum(kernels.values()):.0%}</text>")
        for kernel, share in kernels.items():
            width = max(1, WIDTH * share / largest)
            body.append(f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(kernel)}</text>'
                        f'<rect x="{LEFT}" y="{y + 2}" width="{width:.1f}" height="{ROW - 6}" fill="{color}"/>'
                        f'<text x="{LEFT + width + 6:.1f}" y="{y + 12}">{share:.0%}</text>')
            y += ROW
        y += 8
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 60}" height="{y + 8}" '
            f'font-family="sans-serif" font-size="12" fill="#222">'
            f'<rect width="100%" height="100%" fill="#fff"/>'
            f'<text x="16" y="26" font-size="15">{escape(title)}</text>{"".join(body)}</svg>\n')


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(sys.argv[1]) as summary_file, open(sys.argv[2]) as scores_file:
        summary, scores = json.load(summary_file), json.load(scores_file)
    sources = shares(summary)
    for source, kernels in sources.items():
        share = sum(kernels.values())
        print(f"{source:12} {share:6.1%}  {'#' * round(40 * share)}")
    print(f"\n{scores['accuracy']:.1%} of the new patients are predicted correctly; the training problem is solved to within "
          f"{summary['relative_gap']:.1e} of its optimum, certified.")
    with open(sys.argv[3], "w") as picture:
        picture.write(draw(sources, f"What each kernel contributes ({scores['accuracy']:.1%} of new patients correct)"))
    print(f"The same as a picture: {sys.argv[3]}")


if __name__ == "__main__":
    main()
