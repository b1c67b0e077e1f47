"""Tables of sequences as CSV, the way `mtds` reads them: one row per sequence and time, empty where nothing was seen."""

import csv


def write(path, header, rows):
    """Writes rows of text, numbers and None."""
    def text(value):
        return "" if value is None else f"{value:.6g}" if isinstance(value, float) else value

    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        out.writerows([text(value) for value in row] for row in rows)
