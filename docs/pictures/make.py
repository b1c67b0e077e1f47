"""Makes the pictures of the README and of docs/animators.md: every one by the program's own verbs, drawn by Chromium.

    cargo build --release -p mtds-cli
    python3 docs/pictures/make.py target/release/mtds docs/pictures [WORK [oscillators] [patients] [motions]]

Families and models are left in WORK, and taken from there the next time.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# Pixels of a drawing unit: sharp on good screens, small as a file.
SCALE = "1.05"
# Width and height of four forecasts.
FOUR = (860, 578)


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


class Work:
    """A folder in which the program is run; what is there already is taken."""

    def __init__(self, program, folder, work):
        self.program, self.folder, self.work = program, folder, work

    def mtds(self, line):
        made = line.split(" -o ")[1].split()[0]
        if not line.startswith("report ") and (self.work / made).exists():
            return
        print(f"mtds {line}", flush=True)
        subprocess.run([self.program, *line.split(), "--quiet"], cwd=self.work, check=True, stdout=subprocess.DEVNULL)

    def report(self, line, heading):
        self.mtds(f"report {line} -o report.html")
        return figure_of((self.work / "report.html").read_text(encoding="utf-8"), heading)

    def draw(self, html, size, name):
        draw(html, size, self.folder / f"{name}.png", self.work)

    def rows(self, *named):
        """Rows of poses that the program left, each with a word, without the air above and below."""
        row = "width:100%;aspect-ratio:1200/270;object-fit:cover;object-position:0 100%;display:block"
        label = "position:absolute;left:4px;top:2px;font:15px sans-serif;color:#444"
        one = '<div style="position:relative"><img src="{}" style="{}"><span style="{}">{}</span></div>'
        return framed("", "".join(one.format(self.work / f"{file}.png", row, label, word) for file, word in named))


def oscillators(work):
    work.mtds("data oscillators -o family.csv --sequences 128")
    work.mtds("data oscillators -o new.csv --sequences 8 --seed 7")
    work.mtds("fit family.csv -o model")
    work.mtds("data oscillators -o streamed.csv --sequences 1 --seed 8")
    work.draw(work.report("model new.csv --seen 10,20 --shown 2", "Forecasts"), FOUR, "forecast")
    work.draw(work.report("model streamed.csv --seen 5,10,20,40 --shown 1", "Forecasts"), FOUR, "stream")


def patients(work):
    work.mtds("data pharmacodynamics -o patients.csv --sequences 64")
    work.mtds("data pharmacodynamics -o others.csv --sequences 8 --seed 7")
    adapted = "--adapt decay,uptake,effect,offset --share slope,threshold,noise --fix rest"
    work.mtds(f"fit patients.csv -o patients --base pd --state 1 {adapted} --learn iwae")
    work.draw(work.report("patients others.csv --seen 5,20 --shown 2", "Forecasts"), FOUR, "patients")


def motions(work):
    work.mtds("data gait -o walks --styles neutral,proud --walks 1 --frames 240")
    work.mtds("mocap prepare walks -o walks.csv")
    work.mtds("mocap export walks.csv --series neutral_01 -o clip.png")
    restyle = "mocap restyle walks/neutral/neutral_01.bvh --picture"
    for style in ["zombie", "proud", "marching", "depressed"]:
        work.mtds(f"{restyle} --style {style} -o {style}.bvh")
    work.mtds(f"{restyle} --style depressed --style proud -o change.bvh")
    styles = [("clip", "the clip"), ("zombie", "zombie"), ("proud", "proud"), ("marching", "marching")]
    work.draw(work.rows(*styles, ("depressed", "depressed")), (860, 965), "styles")
    work.draw(work.rows(*styles[:3]), (860, 587), "motion")
    work.draw(work.rows(("change", "from depressed to proud")), (860, 209), "change")


PARTS = [oscillators, patients, motions]


def main():
    program, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    asked = sys.argv[4:] or [part.__name__ for part in PARTS]
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else name).resolve()
        work.mkdir(parents=True, exist_ok=True)
        for part in PARTS:
            if part.__name__ in asked:
                part(Work(program, folder, work))


if __name__ == "__main__":
    main()
