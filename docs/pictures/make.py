"""Makes the pictures of the README: every one by the program's own verbs, drawn by Chromium.

    cargo build --release -p mtds-cli
    python3 docs/pictures/make.py target/release/mtds docs/pictures [WORK]

Families and models are left in WORK, and taken from there the next time.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# Pixels of a drawing unit: sharp on good screens, small as a file.
SCALE = "1.05"


def figure_of(page, heading):
    """The first figure of a section, with the page's style sheet, on a page of its own."""
    style = re.search(r"<style>.*?</style>", page, re.S).group(0)
    section = re.search(rf"<h2>{re.escape(heading)}</h2>.*?</section>", page, re.S).group(0)
    figure = re.search(r"<figure.*?</figure>", section, re.S).group(0)
    figure = re.sub(r"<figcaption>.*?</figcaption>", "", figure, flags=re.S)
    return framed(style, figure)


def framed(style, content):
    plain = "<style>body{margin:0}main{max-width:none;padding:10px;margin:0}figure{margin:0}</style>"
    return (
        f'<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">{style}{plain}</head>'
        f"<body><main>{content}</main></body></html>"
    )


def draw(html, size, out, work):
    page = work / "figure.html"
    page.write_text(html, encoding="utf-8")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--user-data-dir={work / 'profile'}", f"--force-device-scale-factor={SCALE}"]
    command += [f"--window-size={size[0]},{size[1]}", f"--screenshot={out}", f"file://{page}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else name).resolve()

        def mtds(line):
            made = line.split(" -o ")[1].split()[0]
            if not line.startswith("report ") and (work / made).exists():
                return
            print(f"mtds {line}", flush=True)
            subprocess.run([program, *line.split(), "--quiet"], cwd=work, check=True, stdout=subprocess.DEVNULL)

        def report(line, heading):
            mtds(f"report {line} -o report.html")
            return figure_of((work / "report.html").read_text(encoding="utf-8"), heading)

        mtds("data oscillators -o family.csv --sequences 128")
        mtds("data oscillators -o new.csv --sequences 8 --seed 7")
        mtds("fit family.csv -o model")
        mtds("data oscillators -o streamed.csv --sequences 1 --seed 8")
        four = (860, 578)
        draw(report("model new.csv --seen 10,20 --shown 2", "Forecasts"), four, folder / "forecast.png", work)
        draw(report("model streamed.csv --seen 5,10,20,40 --shown 1", "Forecasts"), four, folder / "stream.png", work)

        mtds("data pharmacodynamics -o patients.csv --sequences 64")
        mtds("data pharmacodynamics -o others.csv --sequences 8 --seed 7")
        adapted = "--adapt decay,uptake,effect,offset --share slope,threshold,noise --fix rest"
        mtds(f"fit patients.csv -o patients --base pd --state 1 {adapted} --learn iwae")
        draw(report("patients others.csv --seen 5,20 --shown 2", "Forecasts"), four, folder / "patients.png", work)

        mtds("data gait -o walks --styles old,proud --walks 1 --frames 150")
        mtds("mocap prepare walks -o walks.csv")
        for style in ["old", "proud"]:
            mtds(f"mocap export walks.csv --series {style}_01 -o {style}.png")
        rows = "".join(f'<img src="{work / style}.png" style="width:100%;display:block">' for style in ["old", "proud"])
        draw(framed("", rows), (860, 420), folder / "motion.png", work)


if __name__ == "__main__":
    main()
