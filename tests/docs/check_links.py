#!/usr/bin/env python3
"""Checks that every relative link and picture in the repository's pages leads to a file.

Usage: check_links.py REPOSITORY
"""
import re
import sys
from pathlib import Path

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def broken_links(page):
    text = CODE.sub("", page.read_text())
    for link in LINK.findall(text):
        target = link.split("#")[0]
        if target and "://" not in target and not (page.parent / target).exists():
            yield link


def main():
    root = Path(sys.argv[1])
    pages = [*root.glob("*.md"), *(page for folder in ("docs", "examples", "experiments")
                                   for page in (root / folder).rglob("*.md"))]
    broken = [f"{page.relative_to(root)}: nothing at {link}" for page in sorted(pages) for link in broken_links(page)]
    print("\n".join(broken) or f"{len(pages)} pages")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
