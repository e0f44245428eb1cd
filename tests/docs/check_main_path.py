#!/usr/bin/env python3
"""Follows the main path that docs/dev/architecture.md lists, from the command line to the loop over pairs of samples.

Usage: check_main_path.py REPOSITORY

Every row of the table under "The main path" has a number, a file in backticks and, in backticks, the name by which the file before it
calls into it. A path holds when all files exist, there are at most twelve, it starts in app/train.cc and ends in src/compute, and
each name occurs as a call in the file before and as a call or definition in its own.
"""
import re
import sys
from pathlib import Path

PAGE = "docs/dev/architecture.md"
FIRST, LAST = "app/train.cc", "src/compute/"
MOST_FILES = 12
ROW = re.compile(r"^\| *\d+ *\| *`([^`]+)` *\| *`([^`]+)` *\|", re.MULTILINE)


def main_path(page):
    """[(file, name)] of the table."""
    section = page.partition("## The main path")[2].partition("\n## ")[0]
    return ROW.findall(section)


def uses(text, name):
    """Whether the name stands there with arguments, as a template or braced, in code rather than in a comment."""
    code = re.sub(r"//[^\n]*", "", text)
    return re.search(rf"\b{re.escape(name)}\s*(?:<[^;{{}}()]*>)?\s*\w*\s*[({{]", code) is not None


def broken_steps(root):
    """Yields a sentence for every step that does not hold."""
    path = main_path((root / PAGE).read_text())
    if not path:
        yield f"{PAGE} has no table of the main path (rows: | 1 | `file` | `name it is entered by` | ... |)"
        return
    if len(path) > MOST_FILES:
        yield f"the path has {len(path)} files; {MOST_FILES} are the most"
    if path[0][0] != FIRST:
        yield f"the path starts in {path[0][0]}, not in {FIRST}"
    if not path[-1][0].startswith(LAST):
        yield f"the path ends in {path[-1][0]}, not in {LAST}"
    before = None
    for number, (file, name) in enumerate(path, 1):
        text = (root / file).read_text() if (root / file).is_file() else None
        if text is None:
            yield f"step {number}: there is no file {file}; name the file that has {name} now"
        elif not uses(text, name):
            yield f"step {number}: {file} has no {name}; name what step {number - 1} calls there now"
        if before is not None and before[1] is not None and not uses(before[1], name):
            yield f"step {number}: {before[0]} does not call {name}, by which {file} is said to be entered"
        before = (file, text)


def main():
    broken = list(broken_steps(Path(sys.argv[1]).resolve()))
    for sentence in broken:
        print(f"{PAGE}, the main path: {sentence}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
