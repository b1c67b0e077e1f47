"""Times of the Python package on this machine: frames of many rows, and forecasts of many series beside the program.

    python bench/python.py frames [--rows 10000000] [--times 7]
    python bench/python.py forecasts [--series 10000] [--times 3] [--method adais] [--program target/release/mtds]

What is compared takes turns, so that both meet the same neighbours; medians are printed, and their ratio.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import polars as pl

import pymtds

STEPS = 1000
"""Rows of a sequence where frames are read."""


def timed(work):
    """Seconds, and what came of it."""
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def processor():
    """Seconds of processors, all threads together: of this process, and of those that it waited for."""
    spent = os.times()
    return spent.user + spent.system, spent.children_user + spent.children_system


def shown(seconds):
    """Median, least and most in milliseconds."""
    low, middle, high = min(seconds), statistics.median(seconds), max(seconds)
    return f"{1e3 * middle:8.0f} ms ({1e3 * low:.0f} to {1e3 * high:.0f})"


def frames(n_rows):
    """Long tables of one size: what names a sequence, what a time is, and how many outputs there are."""
    n_seq = n_rows // STEPS
    random = np.random.default_rng(0)
    number, time_ = np.repeat(np.arange(n_seq), STEPS), np.tile(np.arange(STEPS), n_seq)
    outputs = {"y": random.standard_normal(n_seq * STEPS)}
    text = pl.Series("series", number).cast(pl.String)
    start = pl.datetime(2024, 1, 1)
    yield "text", pl.DataFrame({"series": "member " + text, "t": time_, **outputs})
    yield "integers", pl.DataFrame({"series": number, "t": time_, **outputs})
    yield "categories", pl.DataFrame({"series": text.cast(pl.Categorical), "t": time_, **outputs})
    hours = pl.DataFrame({"series": text, "t": time_, **outputs})
    yield "hours", hours.with_columns(t=start + pl.duration(hours="t"))
    known = pl.Series(random.random(n_seq * STEPS) > 0.1)
    nulls = pl.DataFrame({"series": text, "t": time_, **outputs})
    yield "nulls", nulls.with_columns(y=pl.when(known).then(pl.col("y")))
    four = {f"y{k}": np.roll(outputs["y"], k).astype("f4") for k in range(4)}
    yield "four", pl.DataFrame({"series": text, "t": time_, **four})


def peak(path):
    """In a process of its own: what the frame takes, all its buffers counted, and what reading it adds at most, in bytes."""
    code = f"""if True:
        import polars, pymtds
        def held(key):
            with open("/proc/self/status") as status:
                return next(1024 * int(line.split()[1]) for line in status if line.startswith(key))
        pymtds.Family(polars.DataFrame({{"series": ["a", "a"], "t": [0, 1], "y": [0.5, 1.0]}}))
        frame = polars.read_parquet({str(path)!r})
        with open("/proc/self/clear_refs", "w") as most:
            most.write("5")
        before = held("VmRSS")
        family = pymtds.Family(frame)
        added = held("VmHWM") - before
        # Polars' own estimate counts the letters of a text, not the 16 bytes of each row that say where they are.
        print(frame.to_arrow(compat_level=polars.CompatLevel.newest()).nbytes, added)
    """
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [int(word) for word in said.stdout.split()]


def compare_frames(asked):
    """Reading Parquet by polars, and a family from the frame."""
    print(f"{asked.rows} rows, sequences of {STEPS} steps, {os.cpu_count()} cores, medians of {asked.times}")
    with tempfile.TemporaryDirectory() as folder:
        for name, made in frames(asked.rows):
            if asked.only and name not in asked.only:
                continue
            path = pathlib.Path(folder, f"{name}.parquet")
            made.write_parquet(path)
            del made
            theirs, ours, worked = [], [], []
            for turn in range(asked.times + 1):
                start = time.process_time()
                reading, frame = timed(lambda: pl.read_parquet(path))
                between = time.process_time()
                taking, family = timed(lambda: pymtds.Family(frame))
                # The first turn warms the files up.
                if turn > 0:
                    theirs.append(reading)
                    ours.append(taking)
                    worked.append((between - start, time.process_time() - between))
                del family, frame
            ratio = statistics.median(ours) / statistics.median(theirs)
            # What others leave of the machine does not count in it.
            cores = [statistics.median(found) for found in zip(*worked, strict=True)]
            data, added = peak(path)
            print(f"{name:12} polars reads {shown(theirs)}   a family {shown(ours)}   ratio {ratio:.2f}")
            print(f"{'':12} processor {1e3 * cores[0]:.0f} ms and {1e3 * cores[1]:.0f} ms   ratio {cores[1] / cores[0]:.2f}")
            print(f"{'':12} frame {data / 2**20:.0f} MiB, added {added / 2**20:.0f} MiB, peak {1 + added / data:.2f} times the data")
            path.unlink()


def compare_forecasts(asked):
    """Forecasts of many series by the package and by the program, from the same Parquet file into one."""
    random = np.random.default_rng(0)
    n_time, n_seq = 30, asked.series
    rates = random.uniform(0.03, 0.3, n_seq)
    curves = np.exp(-rates[:, None] * np.arange(n_time)) + 0.02 * random.standard_normal((n_seq, n_time))
    frame = pl.DataFrame(
        {
            "series": np.repeat(np.array([f"decay {i}" for i in range(n_seq)]), n_time),
            "t": np.tile(np.arange(n_time), n_seq),
            "y": curves.reshape(-1),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        pymtds.fit(frame.head(20 * n_time), code=1, effort=0.05, compare=False).save(folder / "model")
        frame.write_parquet(folder / "new.parquet")

        def by_package():
            model = pymtds.load(folder / "model")
            new = pl.read_parquet(folder / "new.parquet")
            found = model.forecast(new, 10, level=80, method=asked.method, progress=False)
            found.frame.write_parquet(folder / "ours.parquet")

        def by_program():
            words = ["forecast", "model", "new.parquet", "--horizon", "10", "--quantiles", "0.1,0.9", "-q"]
            words += ["--method", asked.method]
            subprocess.run([asked.program, *words, "-o", "theirs.parquet"], cwd=folder, check=True)

        ours, theirs, worked = [], [], []
        # A turn that warms files up, where that counts for something.
        warm = 1 if n_seq < 1000 else 0
        for _ in range(asked.times + warm):
            before = processor()
            ours.append(timed(by_package)[0])
            theirs.append(timed(by_program)[0])
            worked.append([after - start for start, after in zip(before, processor(), strict=True)])
        ours, theirs = ours[warm:], theirs[warm:]
        # What others leave of the machine does not count in it.
        cores = [statistics.median(found) for found in zip(*worked[warm:], strict=True)]
        same = pl.read_parquet(folder / "ours.parquet")["mean"].equals(
            pl.read_parquet(folder / "theirs.parquet")["mean"]
        )
    ratio = statistics.median(ours) / statistics.median(theirs)
    print(f"{n_seq} series of {n_time} steps by {asked.method}, {os.cpu_count()} cores, medians of {asked.times}; the same bits: {same}")
    print(f"package {shown(ours)}   program {shown(theirs)}   ratio {ratio:.3f}")
    print(f"processor {1e3 * cores[0]:.0f} ms and {1e3 * cores[1]:.0f} ms   ratio {cores[0] / cores[1]:.3f}")


def main():
    """Read the words, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("frames", help="a frame of many rows, beside polars")
    verb.add_argument("--rows", type=int, default=10_000_000)
    verb.add_argument("--times", type=int, default=7)
    verb.add_argument("--only", nargs="*")
    verb.set_defaults(run=compare_frames)
    verb = verbs.add_parser("forecasts", help="many forecasts, beside the program")
    verb.add_argument("--series", type=int, default=10_000)
    verb.add_argument("--times", type=int, default=3)
    verb.add_argument("--method", default="adais", choices=["adais", "map", "nuts"])
    verb.add_argument("--program", default="target/release/mtds", type=lambda path: str(pathlib.Path(path).resolve()))
    verb.set_defaults(run=compare_forecasts)
    asked = parser.parse_args()
    asked.run(asked)


if __name__ == "__main__":
    main()
