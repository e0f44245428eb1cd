#!/usr/bin/env python3
"""Writes the tables of docs/performance.md from the results of bench/points.py, between its markers.

    bench/report.py RESULTS.json [docs/performance.md]

Everything between <!-- point NAME --> and <!-- end NAME --> is replaced by what was measured for that point; the words
around it stay. Points without results keep their tables.
"""
import argparse
import json
import math
import pathlib
import re
import sys

import measure

COLUMNS = ("case", "program", "seconds", "cpu s", "peak MB", "gap", "accuracy", "ratio", "cpu ratio", "bound", "")


def as_row(stored):
    """A row from its JSON, where what was not measured is null."""
    return measure.Row(**{name: math.nan if value is None and name != "is_met" else value
                          for name, value in stored.items()})


def limited_by(row):
    """Where the time went, largest first, by the summary's phases."""
    phases = {name: value for name, value in row.details.get("phases", {}).items() if name != "total"}
    total = row.details.get("phases", {}).get("total")
    if not total:
        return ""
    largest = sorted(phases.items(), key=lambda item: -item[1])[:2]
    return ", ".join(f"{name} {100 * value / total:.0f} %" for name, value in largest if value > 0.05 * total)


def table(rows):
    """A Markdown table; columns in which nothing was measured are left out."""
    header = [*COLUMNS, "where the time goes"]
    lines = []
    for row in rows:
        texts = dict(zip(measure.HEADER, measure.cells(row)))
        lines.append([*(texts[name] for name in COLUMNS), limited_by(row)])
    used = [column for column in range(len(header)) if any(line[column] for line in lines)]
    rule = ["---" if name in ("case", "program", "bound", "", "where the time goes") else "---:" for name in header]
    return "\n".join("| " + " | ".join(line[column] for column in used) + " |" for line in [header, rule, *lines])


def loops_table(rows):
    """Point 9 has rates instead of times."""
    lines = ["| loop | measured | beside | fraction |", "| --- | ---: | ---: | ---: |"]
    for row in rows:
        details = row.details
        if "measured" in details:
            lines.append(f"| {row.case} | {details['measured']} | {details['beside']} | {row.ratio:.2f} |")
        else:
            lines.append(f"| {row.case} | {row.seconds:.2f} s | {details['ideal_seconds']:.2f} s | {row.ratio:.2f} |")
    return "\n".join(lines)


def section(point, result):
    rows = [as_row(stored) for stored in result["rows"]]
    record = result["record"]
    bounded = [row for row in rows if row.is_met is not None]
    met = sum(row.is_met for row in bounded)
    return (f"{(loops_table if point == '9' else table)(rows)}\n\n"
            f"Measured on {record['date']} at commit {record['commit']}: {met} of {len(bounded)} bounds hold; "
            f"judged by {record['judged_by']} seconds, load {record['load']:.1f} on {record['cores']} cores of {record['processor']}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path, nargs="?", default=measure.ROOT / "docs" / "performance.md")
    arguments = parser.parse_args()
    results = json.loads(arguments.results.read_text())
    page = arguments.page
    text = page.read_text()
    for point, result in results.items():
        marked = re.compile(rf"(<!-- point {point} -->\n).*?(<!-- end {point} -->)", re.DOTALL)
        if not marked.search(text):
            sys.exit(f"{page}: no markers for point {point}")
        text = marked.sub(lambda match: match[1] + section(point, result) + "\n" + match[2], text)
    page.write_text(text)


if __name__ == "__main__":
    main()
