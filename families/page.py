"""The tables of docs/families.md and of the README, between their marks, from the rows of results.json."""

import math
from pathlib import Path

from compute import RIVALS as TYPED
from data import FAMILIES

BEGIN, END = "<!-- tables of families/results.json -->", "<!-- end of tables -->"
MODEL = "this model"
#: As the program prints them.
RIVALS = tuple(name.replace("-", " ") for name in TYPED)
PUBLISHED = ("Magma", "GPFDA", "one GP")

#: A mean and its standard error; neither where a number is missing, no error over one member.
Estimate = tuple[float | None, float | None]


def over(values: list[float]) -> Estimate:
    n, mean = len(values), sum(values) / len(values)
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / (n * (n - 1))) if n > 1 else None


def pooled(rows: list[dict], key: str) -> Estimate:
    """Over the members of all splits, from the mean and the standard error over those of each."""
    if not rows or any(row[key] is None for row in rows):
        return None, None
    n = sum(row["n_seq"] for row in rows)
    mean = sum(row["n_seq"] * row[key] for row in rows) / n
    within = sum(row["n_seq"] * (row["n_seq"] - 1) * (row.get(f"{key}_se") or 0.0) ** 2 for row in rows)
    between = sum(row["n_seq"] * (row[key] - mean) ** 2 for row in rows)
    return mean, math.sqrt((within + between) / (n * (n - 1))) if n > 1 else None


def verdict(difference: Estimate) -> str:
    mean, error = difference
    if mean is None or error is None:
        return "–"
    return "level" if abs(mean) <= error else "better" if mean < 0 else "worse"


def text(estimate: Estimate, digits: int) -> str:
    mean, error = estimate
    if mean is None:
        return "–"
    plain = f"{mean:.{digits}f}" + ("" if error is None else f" ± {error:.{digits}f}")
    return plain.replace("-", "−")


def percent(estimate: Estimate) -> str:
    return "–" if estimate[0] is None else f"{100 * estimate[0]:.0f}"


def table(header: list[str], lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *lines])


class Question:
    """A family after some steps: what the model and its rivals scored, over the members of all splits."""

    def __init__(self, name: str, seen: int, rows: list[dict]) -> None:
        self.first = [FAMILIES[name].title, str(seen)]
        self.is_middle = seen == FAMILIES[name].seen[1]
        of = {method: [row for row in rows if row["method"] == method] for method in (MODEL, *RIVALS)}
        self.crps = {method: pooled(own, "crps") for method, own in of.items()}
        self.n_seq = sum(row["n_seq"] for row in of[MODEL])
        scored = [rival for rival in RIVALS if self.crps[rival][0] is not None]
        self.best = min(scored, key=lambda rival: self.crps[rival][0])
        self.less = pooled(of[self.best], "model_less_crps")
        self.cover80, self.cover95 = pooled(of[MODEL], "cover80"), pooled(of[MODEL], "cover95")
        self.rival_cover80 = pooled(of[self.best], "cover80")
        # Three figures of the best score.
        self.digits = max(0, 2 - math.floor(math.log10(self.crps[self.best][0])))

    def scores(self) -> list[str]:
        cells = {method: text((mean, None), self.digits) for method, (mean, _) in self.crps.items()}
        lowest = min((MODEL, self.best), key=lambda method: self.crps[method][0])
        cells[lowest] = f"**{cells[lowest]}**"
        return [*self.first, str(self.n_seq), *cells.values()]

    def compared(self) -> list[str]:
        covers = [percent(cover) for cover in (self.cover80, self.cover95, self.rival_cover80)]
        return [*self.first, self.best, text(self.less, self.digits), verdict(self.less), *covers]

    def short(self) -> list[str]:
        crps = [text((self.crps[method][0], None), self.digits) for method in (MODEL, self.best)]
        return [*self.first, *crps, self.best, text(self.less, self.digits), verdict(self.less)]


def questions(rows: list[dict]) -> list[Question]:
    found = []
    for name, family in FAMILIES.items():
        for seen in family.seen:
            own = [row for row in rows if row["family"] == name and row["seen"] == seen]
            found += [Question(name, seen, own)] if own else []
    return found


def count(asked: list[Question]) -> str:
    words = [verdict(question.less) for question in asked]
    said = ", ".join(f"{word} in {words.count(word)}" for word in ("better", "level", "worse"))
    return f"Over all families and histories, {len(asked)} in number, the model is {said}, beside the best rival of each."


def fits(rows: list[dict]) -> str:
    """Seconds of a fit by family, each split once."""
    lines = []
    titles = {name: family.title for name, family in FAMILIES.items()} | {"magma": "simulated curves"}
    for name, title in titles.items():
        own = {row["split"]: row["fit_secs"] for row in rows if row["family"] == name and "fit_secs" in row}
        secs = sorted(own.values())
        lines += [[title, str(len(secs)), f"{secs[len(secs) // 2]:.0f}", f"{secs[-1]:.0f}"]] if secs else []
    return table(["family", "fits", "median, s", "longest, s"], lines)


def simulated(rows: list[dict]) -> str:
    """MSE and intervals over the simulated sets, each of one forecast member."""
    methods = (MODEL, *RIVALS, *PUBLISHED)
    of = {method: {row["split"]: row for row in rows if row["method"] == method} for method in methods}
    mse = {method: {split: row["rmse"] ** 2 for split, row in own.items()} for method, own in of.items()}
    lines = []
    for method in filter(of.get, methods):
        own = of[method].values()
        crps = pooled(list(own), "crps") if method not in PUBLISHED else (None, None)
        less = over([mse[MODEL][split] - value for split, value in mse[method].items()])
        compared = ["", ""] if method == MODEL else [text(less, 1), verdict(less)]
        cover = f"{100 * over([row['cover95'] for row in own])[0]:.1f}"
        lines.append([method, text(over(list(mse[method].values())), 1), *compared, cover, text(crps, 2)])
    return table(["method", "MSE", "this model less it", "verdict", "in the 95 % interval, %", "CRPS"], lines)


def tables(rows: list[dict]) -> str:
    asked = questions(rows)
    first = ["family", "steps seen"]
    parts = []
    if asked:
        covers = ["in its 80 % interval, %", "in its 95 %", "in the rival's 80 %"]
        parts = [
            "CRPS of the rest of each held-out sequence, mean over members, the lowest in bold:",
            table([*first, "members", MODEL, *RIVALS], [question.scores() for question in asked]),
            "The model beside the rival with the lowest CRPS: its CRPS less that rival's, member by member, and the shares of "
            "values in intervals:",
            table([*first, "best rival", "CRPS less", "verdict", *covers], [question.compared() for question in asked]),
            count(asked),
        ]
    sets = [row for row in rows if row["family"] == "magma"]
    if sets:
        number = len({row["split"] for row in sets})
        title = f"The simulated curves, mean ± standard error over {number} sets; the last three as published:"
        parts += [title, simulated(sets)]
    if rows:
        parts += ["The time of `mtds fit`, which depends on the machine:", fits(rows)]
    return "\n\n".join(parts)


def short(rows: list[dict]) -> str:
    """The middle history of each family, for the README."""
    asked = questions(rows)
    header = ["family", "steps seen", MODEL, "best rival", "which is", "model less rival", "verdict"]
    lines = [question.short() for question in asked if question.is_middle]
    return f"{table(header, lines)}\n\n{count(asked)}" if asked else ""


def write(root: Path, rows: list[dict]) -> None:
    """Replaces what stands between the marks."""
    for path, body in {root / "docs" / "families.md": tables(rows), root / "README.md": short(rows)}.items():
        before, rest = path.read_text().split(BEGIN)
        path.write_text(f"{before}{BEGIN}\n\n{body}\n\n{END}{rest.split(END)[1]}")
