"""The tables of docs/families.md, between their two marks, from results.json."""

from protocol import FAMILIES

BEGIN, END = "<!-- tables of families/results.json -->", "<!-- end of tables -->"
METHODS = ("this model", "last value", "family mean", "pooled", "auto-regression", "smoothing", "damped trend")
RIVALS = METHODS[4:]


def cell(row, key, digits):
    if key not in row:
        return "–"
    return f"{row[key]:.{digits}f} ± {row[f'{key}_se']:.{digits}f}".replace("-", "−")


def table(header, lines):
    rule = ["---"] * len(header)
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, rule, *lines])


def lines(results, key, methods, digits):
    for name, result in results.items():
        for seen in FAMILIES[name].seen:
            rows = {row["method"]: row for row in result["rows"] if row["seen"] == seen}
            cells = [cell(rows[method], key, digits) for method in methods]
            yield [FAMILIES[name].title, str(seen), str(rows["this model"]["n_seq"]), *cells]


def difference_lines(results):
    for name, result in results.items():
        for seen in FAMILIES[name].seen:
            rows = {row["method"]: row for row in result["rows"] if row["seen"] == seen}
            given_up = [f"{rows[rival]['gave_up']} of {rows[rival]['asked']}" for rival in RIVALS]
            cells = [cell(rows[rival], "model_less_rival", 2) for rival in RIVALS]
            yield [FAMILIES[name].title, str(seen), *cells, given_up[0]]


def tables(results):
    first = ["family", "steps seen", "members"]
    parts = [
        ("RMSE of the rest of each held-out sequence, mean ± standard error over sequences:",
         table([*first, *METHODS], lines(results, "rmse", METHODS, 2))),
        ("RMSE of this model less that of each rival, sequence by sequence; below 0 this model is better. The last column "
         "counts histories too short for a rival, which it answers with their last value:",
         table([*first[:2], *RIVALS, "given up"], difference_lines(results))),
        ("NLL, nats per value; rivals fitted to a few values are so sure of themselves that theirs says nothing, as the "
         "next table shows:", table([*first, *METHODS[:4]], lines(results, "nll", METHODS[:4], 2))),
        ("Share of values in the 80 % interval:", table([*first, *METHODS], lines(results, "cover80", METHODS, 2))),
    ]
    return "\n\n".join(f"{title}\n\n{body}" for title, body in parts)


def write(path, results):
    """Replaces what stands between the marks."""
    before, rest = path.read_text().split(BEGIN)
    after = rest.split(END)[1]
    path.write_text(f"{before}{BEGIN}\n\n{tables(results)}\n\n{END}{after}")
