#!/usr/bin/env python3
"""Writes two FASTA files of made splice sites, train.fa and test.fa, to a folder.

Usage: make_data.py FOLDER [--train N] [--test N]. A site has a run of pyrimidines in front of AG and a G behind it more often
than a decoy has; all sequences have AG at letters 30 and 31 of 60, on a background in which each letter depends on the one
before. The same every time.
"""
import argparse
import random
from pathlib import Path

LENGTH, SITE = 60, 29
# How often each letter follows A, C, G and T.
NEXT = {"A": (38, 16, 18, 28), "C": (34, 19, 17, 30), "G": (32, 19, 19, 30), "T": (22, 17, 20, 41)}


def background(generator):
    letters = ["A"]
    while len(letters) < LENGTH:
        letters += generator.choices("ACGT", NEXT[letters[-1]])
    return letters


def sequence(generator, is_site):
    letters = background(generator)
    if is_site:
        for at in range(SITE - 14, SITE - 2):
            if generator.random() < 0.45:
                letters[at] = generator.choice("TTTC")
        if generator.random() < 0.5:
            letters[SITE - 1] = "C"
        if generator.random() < 0.5:
            letters[SITE + 2] = "G"
    letters[SITE : SITE + 2] = "AG"
    return "".join(letters)


def write(path, count, generator):
    lines = []
    for i in range(count):
        is_site = i % 3 == 0
        lines.append(f">s{i} label={'site' if is_site else 'decoy'}\n{sequence(generator, is_site)}\n")
    path.write_text("".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--train", type=int, default=600)
    parser.add_argument("--test", type=int, default=300)
    arguments = parser.parse_args()
    generator = random.Random(7)
    write(arguments.folder / "train.fa", arguments.train, generator)
    write(arguments.folder / "test.fa", arguments.test, generator)


if __name__ == "__main__":
    main()
