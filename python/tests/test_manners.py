"""What a guest in somebody's interpreter must not do: block it, crash it, ignore Ctrl-C, leak, or answer differently when asked twice."""

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from conftest import SETTINGS, rows

import pymtds

LONG = {"code": 2, "refine_steps": 1_000_000, "patience": 0, "compare": False}


def now() -> np.ndarray:
    """Time by the clock, and that of the processor: others may want it, too."""
    return np.array([time.monotonic(), time.process_time()])


def until_interrupted(work, after=0.7):
    """How long after Ctrl-C the work ended, and what it raised."""
    sent = []

    def interrupt():
        sent.append(now())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, interrupt)
    timer.start()
    try:
        work()
    except KeyboardInterrupt as stopped:
        return min(now() - sent[0]), stopped
    finally:
        timer.cancel()
    pytest.fail("it was not interrupted")


def test_ctrl_c_ends_a_fit_within_a_second_and_it_goes_on_to_the_same_bits(frame, tmp_path):
    family = pymtds.Family(frame)
    late, stopped = until_interrupted(lambda: pymtds.fit(family, **LONG))
    assert late < 1.0
    assert isinstance(stopped, pymtds.FitInterrupted)
    assert len(stopped.fitting.checkpoint()) > 100

    steps = {"code": 1, "refine_steps": 300, "patience": 0, "compare": False}
    whole = pymtds.fit(family, **steps)
    heard = []

    def stop_once(stage, done, all, part, parts, bound):
        heard.append(stage)
        raise KeyboardInterrupt

    path = tmp_path / "checkpoint"
    calls = 0
    while True:
        calls += 1
        try:
            model = pymtds.fit(family, progress=stop_once if calls < 4 else False, checkpoint=path, **steps)
            break
        except pymtds.FitInterrupted:
            assert path.exists()
    assert not path.exists()
    assert dict(model._core.to_files()) == dict(whole._core.to_files())


def test_ctrl_c_ends_forecasts_and_evaluations(model):
    many = pymtds.Family.from_arrays(
        np.tile(rows()["y"].to_numpy().reshape(6, 30), (2000, 1)), output_names=["y"]
    )
    for work in (
        lambda: model.forecast(many, horizon=10),
        lambda: model.infer(many),
        lambda: model.evaluate(many, seen=[5, 10, 15]),
        lambda: model.forecast(many, horizon=10, method="nuts"),
        # One sequence, for minutes.
        lambda: model.infer(rows(1), method="nuts", draws=10_000_000),
    ):
        late, _ = until_interrupted(work)
        assert late < 1.0


def test_an_interrupted_fit_has_a_model(frame, tmp_path):
    family = pymtds.Family(frame)
    assert pymtds.Fitting(family, **LONG).so_far() is None

    def stop(stage, done, all, part, parts, bound):
        if stage == "learning" and done > 0:
            raise KeyboardInterrupt

    with pytest.raises(pymtds.FitInterrupted, match="so_far") as stopped:
        pymtds.fit(family, progress=stop, checkpoint=tmp_path / "checkpoint", **LONG)
    fitting = stopped.value.fitting
    model = fitting.so_far()
    assert np.isfinite(model.forecast(frame, horizon=3).mean).all()
    assert model.members == []
    model.save(tmp_path / "half")
    kept = pymtds.Fitting(family, checkpoint=(tmp_path / "checkpoint").read_bytes(), **LONG)
    elsewhere = pymtds.load(tmp_path / "half")
    for again in (kept.so_far(), elsewhere, pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.forecast(frame, horizon=3).mean, model.forecast(frame, horizon=3).mean)
    assert model.record["status"] == "interrupted"


def test_ctrl_c_ends_the_rivals_of_an_evaluation(model):
    random = np.random.default_rng(3)
    values = random.standard_normal((400, 120)).cumsum(axis=1)
    # Gaps of their own: a regression, and a matrix, for each member.
    values[random.random(values.shape) < 0.2] = np.nan
    many = pymtds.Family.from_arrays(values, output_names=["y"])
    few = pymtds.Family.from_arrays(values[:2], output_names=["y"])
    # Each of these takes a second or more of one thread.
    for rival in ("nearest", "ridge", "fpca", "gp", "gru", "single"):
        asked = {"seen": [40, 60, 80], "against": rival, "train": many, "threads": 1}
        late, _ = until_interrupted(lambda asked=asked: model.evaluate(few, **asked), after=0.3)
        assert late < 1.0, rival


def test_the_interpreter_is_free_meanwhile(model, frame):
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    model.infer(frame.head(30), method="nuts", threads=1)
    stop.set()
    thread.join()
    assert max(np.diff(ticks)) < 0.5


def test_no_panic_crosses_into_python():
    for at_once in (True, False):
        with pytest.raises(pymtds.InternalError, match="a deliberate fault"):
            pymtds._core.panic_for_tests(at_once)


def test_no_panic_of_an_array_crosses_into_python(model, frame):
    found = model.forecast(frame, horizon=2, level=80)
    with pytest.raises(pymtds.InternalError, match="report it"):
        found._core.quantiles(7)


def test_progress_is_heard_and_what_it_raises_is_raised(frame):
    heard = []
    pymtds.fit(frame, progress=lambda *told: heard.append(told), code=1, refine_steps=2000, patience=0)
    assert {stage for stage, *_ in heard} & {"starting", "learning"}
    assert all(0 <= done <= all_ for _, done, all_, *_ in heard)

    def fail(*_):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        pymtds.fit(frame, progress=fail, **LONG)


def test_a_bar_appears_after_two_seconds(capsys, monkeypatch):
    from pymtds._progress import Progress

    with Progress() as bar:
        bar("learning", 1, 10, 0, 1, None)
        assert capsys.readouterr().err == ""
        monkeypatch.setattr("pymtds._progress._PATIENCE", 0.0)
        bar("learning", 5, 10, 0, 2, -1.25)
        drawn = capsys.readouterr().err
    assert "learning 1/2" in drawn
    assert "5/10, bound -1.250" in drawn


class Kernel:
    """A notebook, as far as the bar looks: IPython with a display that can be updated."""

    config: ClassVar = {"IPKernelApp": {}}

    def __init__(self):
        self.shown = []

    def get_ipython(self):
        return self

    def display(self, data, *, raw, display_id):
        assert raw
        assert display_id
        self.shown.append(data["text/plain"])
        return self

    def update(self, data, *, raw):
        self.shown.append(data["text/plain"])


def test_a_bar_in_a_notebook_is_one_display_that_is_updated(capsys, monkeypatch, frame):
    kernel = Kernel()
    module = types.ModuleType("IPython")
    module.get_ipython = kernel.get_ipython
    inner = types.ModuleType("IPython.display")
    inner.display = kernel.display
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", inner)
    monkeypatch.setattr("pymtds._progress._PATIENCE", 0.0)
    pymtds.fit(frame, code=1, refine_steps=2000, patience=0, compare=False)
    assert len(kernel.shown) > 1
    assert any("learning" in line for line in kernel.shown)
    assert capsys.readouterr().err == ""
    kernel.shown.clear()
    pymtds.fit(frame, progress=False, **SETTINGS)
    assert kernel.shown == []


def test_threads_change_no_bit_and_must_make_sense(model, frame):
    one, two = (model.forecast(frame, horizon=5, threads=n, draws=7) for n in (1, 2))
    assert np.array_equal(one.mean, two.mean)
    assert np.array_equal(one.draws, two.draws)
    for wrong in (0, 5000):
        with pytest.raises(pymtds.SettingError, match=f"found {wrong}"):
            model.forecast(frame, horizon=5, threads=wrong)


def test_ten_threads_ask_one_model(model, frame):
    expected = model.forecast(frame, horizon=5).mean
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: model.forecast(frame, horizon=5, threads=2).mean, range(20)))
    assert all(np.array_equal(answer, expected) for answer in answers)


def forecast_elsewhere(pickled: bytes) -> np.ndarray:
    return pickle.loads(pickled).forecast(rows(), horizon=5).mean


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_model_is_pickled_into_another_process(model, method):
    # Codes of members are stored in single precision; what forecasts is stored as it is.
    expected = model.forecast(rows(), horizon=5).mean
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert np.array_equal(pool.apply(forecast_elsewhere, [pickle.dumps(model)]), expected)


def test_what_is_not_pickled_says_what_to_send_instead(model, frame):
    for found, said in (
        (pymtds.Family(frame), "send the frame"),
        (model.forecast(frame, horizon=2), "send its `frame`"),
        (model.infer(frame, draws=5), "send its `frame`"),
        (model.track(), "send the model"),
        (pymtds.Fitting(frame, **SETTINGS), "send `checkpoint()`"),
    ):
        with pytest.raises(TypeError, match="cannot be pickled; send") as refused:
            pickle.dumps(found)
        assert said in str(refused.value)


def long_table() -> pa.Table:
    n_seq = 600
    return pa.table(
        {
            "series": np.repeat(np.arange(n_seq), 1000),
            "t": np.tile(np.arange(1000), n_seq),
            "y": np.arange(1000.0 * n_seq),
        }
    )


def fingerprint_elsewhere(_) -> str:
    return pymtds.Family(long_table()).fingerprint


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_long_frame_is_read_in_a_process_that_was_forked():
    # Threads that were left behind here would not be there, and be waited for.
    expected = fingerprint_elsewhere(None)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(fingerprint_elsewhere, [None]).get(timeout=60) == expected


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as text:
        return int(text.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is measured by /proc")
def test_nothing_leaks(model):
    short = rows(1, 5)
    forecasts = int(os.environ.get("MTDS_FORECASTS", "200"))

    def ask(n):
        for _ in range(n):
            assert len(model.forecast(short, horizon=2, threads=1).frame) == 2
        gc.collect()
        return resident()

    before, after = ask(forecasts // 4), ask(forecasts)
    assert after - before < 8e6


def said_by(code: str) -> list[str]:
    """The words that a program prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_import_brings_nothing_else():
    found = said_by("import sys, pymtds; print(*sorted({m.partition('.')[0] for m in sys.modules}))")
    assert not {"pandas", "polars", "pyarrow", "matplotlib", "arviz", "sktime", "narwhals"} & set(found)


def test_import_is_quick():
    # Time of the processor: others may want it, too.
    code = "import time; began = time.process_time(); import pymtds; print(time.process_time() - began)"
    taken = [float(said_by(code)[0]) for _ in range(3)]
    assert min(taken) <= 0.15, taken


def test_ctrl_c_in_a_terminal_leaves_a_traceback_and_no_panic(tmp_path):
    code = f"""
        import pymtds, sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from conftest import rows
        print("begin", flush=True)
        pymtds.fit(rows(), **{LONG})
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "begin\n"
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    # It would go on for an hour.
    _, said = process.communicate(timeout=20)
    assert "FitInterrupted" in said
    assert "panicked" not in said


def test_settings_that_do_not_exist_are_named(frame):
    for settings, said in (
        ({"coed": 3}, "no setting `coed`; there are: base, recipe, code"),
        ({"code": "three"}, "setting `code`: "),
        ({"effort": -1}, "setting `effort`: found -1; expected above 0"),
        ({"base": "steam"}, "no base model `steam`"),
        ({"learn": "mcmc"}, "setting `learn`: "),
        ({"seed": -1}, "setting `seed`"),
        ({"code": object()}, "expected a number, a name"),
    ):
        with pytest.raises(pymtds.SettingError) as refused:
            pymtds.fit(frame, **settings)
        assert said in str(refused.value)
    assert pymtds.fit(frame, code=np.int64(1), effort=np.float64(0.02), hidden=np.array([4])).d_code == 1


def test_a_fit_goes_on_only_with_the_same_data(frame):
    begun = pymtds.Fitting(pymtds.Family(frame), **SETTINGS)
    kept = begun.checkpoint()
    assert begun.reasons["code"][0] == 1
    with pytest.raises(pymtds.Error):
        pymtds.Fitting(pymtds.Family(rows(seed=5)), checkpoint=kept, **SETTINGS)
    with pytest.raises(pymtds.Error):
        pymtds.Fitting(pymtds.Family(frame), checkpoint=b"nonsense", **SETTINGS)
