#!/usr/bin/env python3
"""Runs the commands of the documentation and compares what they print with what it shows.

Usage: run_commands.py --program KWEAVE --root REPOSITORY FILE.md...

Every fenced block called `console` is run: a line that starts with `$ ` is a command (a line that ends in a backslash
goes on in the next), the lines after it are its output. An output line `...` stands for any number of lines, `...` inside
a line for any text; spaces count once. A command without output lines is checked for exit status 0 only. The blocks of
one file share a scratch folder, which sees the repository's examples/ and finds the program by its name.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(text):
    """Yields (line number, command, expected output lines)."""
    for block in BLOCK.finditer(text):
        first_line = text.count("\n", 0, block.start(1)) + 1
        lines = list(enumerate(block[1].splitlines(), first_line))
        while lines:
            number, line = lines.pop(0)
            if not line.startswith("$ "):
                raise ValueError(f"line {number}: a console block starts with a command, not {line!r}")
            command = line[2:]
            while command.endswith("\\") and lines:
                command = command[:-1] + lines.pop(0)[1].strip()
            output = []
            while lines and not lines[0][1].startswith("$ "):
                output.append(lines.pop(0)[1])
            yield number, command, output


def pattern(expected):
    """The regular expression that the whole output, spaces counted once, has to match."""
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            words = " ".join(line.split())
            parts.append(".*?".join(re.escape(piece) for piece in words.split("...")) + r"\n")
    return re.compile("".join(parts))


def normalized(output):
    return "".join(" ".join(line.split()) + "\n" for line in output.splitlines())


def run_file(path, program, root):
    """Returns (commands run, messages about those that failed)."""
    count, failures = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "examples").symlink_to(root / "examples")
        environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
        for number, command, expected in commands(path.read_text()):
            count += 1
            result = subprocess.run(["bash", "-c", command], cwd=scratch, env=environment, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if result.returncode != 0:
                problem = f"exit status {result.returncode}"
            elif expected and not pattern(expected).fullmatch(normalized(result.stdout)):
                problem = "printed something else than shown"
            else:
                continue
            failures.append(f"{path}:{number}: {problem}: {command}\n{result.stdout}")
    return count, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("files", type=Path, nargs="+")
    arguments = parser.parse_args()
    total, failed = 0, 0
    for path in arguments.files:
        count, failures = run_file(path, arguments.program.resolve(), arguments.root.resolve())
        total, failed = total + count, failed + len(failures)
        for failure in failures:
            print(failure)
    print(f"{total} commands, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
