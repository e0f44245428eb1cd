"""Takes the files of a recipe out of its page: `extract_recipe.py PAGE ROOT FOLDER`.

A block whose fence names a language and a path, as in ```cpp src/kernel/x.cc, is that file; a block of diff says what is added to
the file of that path under ROOT: lines that begin with '+' go in front of the line after them. The files are written under FOLDER with
their paths, and left alone where they would not change, so that nothing is compiled without need.
"""
import re
import sys
from pathlib import Path


def blocks(text):
    """(language, path, body) of every block that names a path."""
    return re.findall(r"^```(\w+) (\S+)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def apply(text, diff):
    """The text with the added lines, each in front of the line that follows it in the diff, which must be there, once."""
    lines = text.splitlines(keepends=True)
    added = []
    for line in diff.splitlines(keepends=True):
        if line[0] == "+":
            added.append(line[1:])
            continue
        if lines.count(line[1:]) != 1:
            raise ValueError(f"the file has {line[1:]!r} {lines.count(line[1:])} times, expected once")
        place = lines.index(line[1:])
        lines[place:place] = added
        added = []
    if added:
        raise ValueError(f"nothing follows {added!r}")
    return "".join(lines)


def extract(page, root, folder):
    """Writes the files and returns their paths."""
    written = []
    for language, path, body in blocks(Path(page).read_text()):
        text = apply((Path(root) / path).read_text(), body) if language == "diff" else body
        target = Path(folder) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != text:
            target.write_text(text)
        written.append(target)
    return written


if __name__ == "__main__":
    extract(*sys.argv[1:])
