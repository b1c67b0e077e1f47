#!/usr/bin/env python3
"""Fits a family with defaults only and forecasts held-out members beside rivals, in folders that `families/run` has made.

    families/compute.py [--mtds PROGRAM] [--threads N] [--jobs N] FOLDER ...

A folder holds `learn.csv`, `test.csv` and `seen.txt`, the numbers of steps after which the rest is forecast; `found.json` is added, what
`mtds evaluate --json` prints and the seconds of the fit. Needs nothing but Python, so that another machine can do this part.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

#: What the model is compared with, in the words of the program.
RIVALS = ("last-value", "family-mean", "nearest", "ridge", "fpca", "gp")


@dataclass(frozen=True)
class Computer:
    """The program, and how many threads each of so many jobs has."""

    mtds: str
    threads: int
    jobs: int

    def compute(self, folder: Path) -> str | None:
        """Fills a folder that is not filled yet; what went wrong, if something did."""
        found = folder / "found.json"
        if found.exists():
            return None
        learn, test, model = folder / "learn.csv", folder / "test.csv", folder / "model"
        seen = (folder / "seen.txt").read_text().strip()
        begun = time.monotonic()
        try:
            self.run("fit", learn, "--out", model, "--force")
            secs = round(time.monotonic() - begun, 1)
            printed = self.run("evaluate", model, test, "--train", learn, "--seen", seen, "--against", ",".join(RIVALS), "--json")
        except subprocess.CalledProcessError as refused:
            return f"{folder}: {refused}"
        found.write_text(json.dumps(json.loads(printed) | {"fit_secs": secs}))
        print(f"{folder}: fitted in {secs} s", file=sys.stderr)
        return None

    def compute_all(self, folders: list[Path]) -> list[str]:
        """Fills folders side by side; what went wrong."""
        with ThreadPoolExecutor(self.jobs) as pool:
            return [wrong for wrong in pool.map(self.compute, folders) if wrong]

    def run(self, *words: object) -> str:
        command = [self.mtds, *map(str, words), "--threads", str(self.threads), "--quiet"]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mtds", default="mtds", help="the program")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of each job")
    parser.add_argument("--jobs", type=int, default=1, help="fits side by side")


def computer(arguments: argparse.Namespace) -> Computer:
    return Computer(arguments.mtds, arguments.threads, arguments.jobs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    add_options(parser)
    arguments = parser.parse_args()
    failed = computer(arguments).compute_all(arguments.folders)
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
