"""Scores of forecasts as `mtds evaluate` defines them: per sequence first, then means and standard errors over sequences."""

import csv
import math

import numpy as np

import rivals

#: Half the width of the central 80 % interval of a normal distribution, in standard deviations.
HALF_80 = 1.2815515655446004


def read(path):
    """Sequences by name, each steps x outputs, NaN where nothing was seen."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    outputs = [name for name in rows[0] if name.startswith("y")]
    found = {}
    for row in rows:
        found.setdefault(row["series"], []).append([float(row[name] or "nan") for name in outputs])
    return {name: np.array(values) for name, values in found.items()}


def estimate(values):
    """Mean and standard error."""
    values = np.asarray(values, dtype=float)
    spread = values.std(ddof=1) / math.sqrt(len(values)) if len(values) > 1 else None
    return float(values.mean()), spread


def rmse(truth, mean):
    return math.sqrt(np.nanmean((truth - mean) ** 2))


def has_future(values, seen):
    return len(values) > seen and not np.all(np.isnan(values[seen:]))


def of_rival(rival, sequences, seen):
    """Scores of each sequence by name, and how many of its outputs the rival gave up on."""
    scores = {}
    for name, values in sequences.items():
        if not has_future(values, seen):
            continue
        truth, outputs = values[seen:], values.shape[1]
        ahead = [rivals.forecast(rival, values[:seen, c], len(truth)) for c in range(outputs)]
        mean = np.column_stack([m for m, _ in ahead])
        score = {"rmse": rmse(truth, mean), "gave_up": sum(s is None for _, s in ahead), "outputs": outputs}
        if score["gave_up"] == 0:
            inside = np.abs(truth - mean) <= HALF_80 * np.column_stack([s for _, s in ahead])
            score["cover80"] = float(np.mean(inside[~np.isnan(truth)]))
        scores[name] = score
    return scores


def of_forecasts(path, sequences, seen):
    """RMSE by sequence of the table that `mtds forecast --seen` writes."""
    means = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            means.setdefault(row["series"], []).append(float(row["mean"]))
    futures = {name: values[seen:] for name, values in sequences.items() if has_future(values, seen)}
    return {name: rmse(y, np.reshape(means[name], (-1, y.shape[1]))[: len(y)]) for name, y in futures.items()}


def row(seen, method, scores):
    """One row of the table."""
    found = {"seen": seen, "method": method, "n_seq": len(scores)}
    for key in ("rmse", "cover80"):
        values = [score[key] for score in scores.values() if key in score]
        if values:
            found[key], found[f"{key}_se"] = estimate(values)
    found["gave_up"] = sum(score["gave_up"] for score in scores.values())
    found["asked"] = sum(score["outputs"] for score in scores.values())
    return found
