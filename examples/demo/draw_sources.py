#!/usr/bin/env python3
"""Draws what each kernel contributes to a model, in groups by source.

Usage: draw_sources.py SUMMARY.json PICTURE.svg

The share of a kernel is its part theta_m q_m of the squared norm of the learned function, the share of a source the sum
over its kernels, as `kweave inspect` prints them. SUMMARY comes from `kweave train --summary`.
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
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        summary = json.load(file)
    with open(sys.argv[2], "w") as picture:
        picture.write(draw(shares(summary), "What each kernel contributes to the model"))


if __name__ == "__main__":
    main()
