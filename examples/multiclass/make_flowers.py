#!/usr/bin/env python3
"""Makes a set of flowers of four kinds, and one of songs with several moods each, as CSV files.

Usage: make_flowers.py FOLDER

Writes flowers.csv and new-flowers.csv: a column `class`, two lengths that tell some kinds apart, two colours that lie on
rings around the origin and tell the others, and two numbers that say nothing; songs.csv and new-songs.csv: a column
`class` with any of the moods calm, loud and sad (several with a bar between them, or none), and three features.
"""
import csv
import math
import random
import sys
from pathlib import Path

CENTRES = {"daisy": (0, 0), "lily": (2.2, 0), "poppy": (0, 2.2), "rose": (2.2, 2.2)}
RADII = {"daisy": 1, "lily": 1, "poppy": 2, "rose": 2}


def flower(kind, source):
    angle = source.uniform(0, 2 * math.pi)
    radius = RADII[kind] + source.gauss(0, 0.3)
    lengths = [centre + source.gauss(0, 0.7) for centre in CENTRES[kind]]
    return [*lengths, radius * math.cos(angle), radius * math.sin(angle), source.gauss(0, 1), source.gauss(0, 1)]


def write_flowers(path, count, source):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["class", "petal", "stem", "red", "blue", "noise1", "noise2"])
        for i in range(count):
            kind = list(CENTRES)[i % 4]
            writer.writerow([kind, *(f"{value:.5g}" for value in flower(kind, source))])


def write_songs(path, count, source):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["class", "tempo", "volume", "key"])
        for _ in range(count):
            tempo, volume, key = (source.uniform(-1, 1) for _ in range(3))
            noise = [source.gauss(0, 0.15) for _ in range(3)]
            is_mood = {"calm": tempo + noise[0] < -0.2, "loud": volume + noise[1] > 0.2, "sad": tempo * key + noise[2] > 0.1}
            moods = "|".join(mood for mood, holds in is_mood.items() if holds)
            writer.writerow([moods, f"{tempo:.5g}", f"{volume:.5g}", f"{key:.5g}"])


def main():
    folder = Path(sys.argv[1])
    source = random.Random(5)
    write_flowers(folder / "flowers.csv", 240, source)
    write_flowers(folder / "new-flowers.csv", 160, source)
    write_songs(folder / "songs.csv", 240, source)
    write_songs(folder / "new-songs.csv", 160, source)


if __name__ == "__main__":
    main()
