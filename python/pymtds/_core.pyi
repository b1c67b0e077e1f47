"""
The compiled half of `pymtds`.
"""

from _typeshed import SupportsGetItem
from numpy import float64
from numpy.typing import NDArray
from os import PathLike
from pymtds._progress import Heard
from typing import Any, Final, SupportsFloat, SupportsIndex, final

__all__ = ["VERSION", "Family", "Fitting", "Forecast", "Model", "Posterior", "Table", "Tracker", "cards", "panic_for_tests", "settings"]

VERSION: Final[str]
"""
Version of the library.
"""

@final
class Family:
    """
    A family of sequences.
    """
    def __len__(self, /) -> int: ...
    def fingerprint(self, /) -> str:
        """
        The fingerprint of the data.
        """
    @staticmethod
    def from_arrays(ids: SupportsGetItem[int, str], outputs: SupportsGetItem[int, NDArray[float64]], inputs: SupportsGetItem[int, NDArray[float64]] | None, names: tuple[SupportsGetItem[int, str], SupportsGetItem[int, str]]) -> Family:
        """
        A family of arrays, steps × columns each; times are counted.
        """
    @staticmethod
    def from_frame(parts: SupportsGetItem[int, Any], columns: str, model: Model | None = None) -> Family:
        """
        Reads a frame, in parts, by its columns, a JSON object; columns that are not named are those that the model was learned from, and rows
        lie at its steps; the family must suit it then.
        """
    @property
    def ids(self, /) -> list[str]:
        """
        Names of the sequences, in order.
        """
    @property
    def index_names(self, /) -> tuple[str, str]:
        """
        Names of the columns of sequences and times.
        """
    @property
    def input_names(self, /) -> list[str]:
        """
        Names of the inputs.
        """
    def inputs(self, /, i: SupportsIndex) -> NDArray[float64] | None:
        """
        Inputs of sequence `i`, steps × inputs.
        """
    @property
    def labels(self, /) -> list[str | None]:
        """
        Labels of the sequences, in order.
        """
    @property
    def lengths(self, /) -> list[int]:
        """
        Number of steps of every sequence.
        """
    @property
    def n_observed(self, /) -> int:
        """
        Number of observed values.
        """
    @property
    def notes(self, /) -> list[str]:
        """
        What the reader noticed.
        """
    @property
    def output_names(self, /) -> list[str]:
        """
        Names of the outputs.
        """
    def outputs(self, /, i: SupportsIndex) -> NDArray[float64]:
        """
        Outputs of sequence `i`, steps × outputs.
        """
    def table(self, /) -> Table:
        """
        The family as a long table.
        """
    @property
    def time_step(self, /) -> str | None:
        """
        Length of a step, as files write it; nothing where times are only counted.
        """

@final
class Fitting:
    """
    A fit in progress.
    """
    def __new__(cls, /, family: Family, settings: str, select_code: SupportsGetItem[int, SupportsIndex], seed: SupportsIndex, device: str, checkpoint: SupportsGetItem[int, SupportsIndex] | None = None) -> Fitting:
        """
        Before its first step, or where a checkpoint of the same data was made; `settings` is a JSON object.
        """
    def checkpoint(self, /) -> bytes:
        """
        All that is needed to go on from here, in another process.
        """
    @property
    def reasons(self, /) -> list[tuple[str, str, str]]:
        """
        Every setting with its value and the reason for it.
        """
    def run(self, /, threads: SupportsIndex | None = None, progress: Heard | None = None) -> Model:
        """
        Goes on until the model is there.
        """
    @property
    def seed(self, /) -> int:
        """
        Seed of all randomness.
        """
    def so_far(self, /) -> Model | None:
        """
        The model as it stands; nothing before learning has got past its start.
        """
    @property
    def trouble(self, /) -> str | None:
        """
        What went wrong with the device, if anything did: the processor did the rest.
        """

@final
class Forecast:
    """
    Forecasts of the sequences of a family.
    """
    def draws(self, /) -> list[NDArray[float64]]:
        """
        Futures of each sequence, draws × steps × outputs.
        """
    def far_outside(self, /) -> tuple[list[str], str | None]:
        """
        Ids of the sequences that are far outside of what the family does, and what to say of them.
        """
    @property
    def ids(self, /) -> list[str]:
        """
        Ids of the sequences that are forecast.
        """
    def means(self, /) -> list[NDArray[float64]]:
        """
        Means of each sequence, steps × outputs.
        """
    def quantiles(self, /, k: SupportsIndex) -> list[NDArray[float64]]:
        """
        Quantiles of level number `k` of each sequence, steps × outputs.
        """
    def std_devs(self, /) -> list[NDArray[float64]]:
        """
        Standard deviations of each sequence, steps × outputs.
        """
    def table(self, /, names: SupportsGetItem[int, str]) -> Table:
        """
        A row per sequence, step and output; quantiles under these names.
        """

@final
class Model:
    """
    A multi-task dynamical system that was learned.
    """
    @property
    def attributes(self, /) -> list[tuple[str, list[str]]]:
        """
        Input columns that do not change within a sequence, with the levels of categories.
        """
    @property
    def base(self, /) -> str:
        """
        Name of the base model.
        """
    @property
    def d_code(self, /) -> int:
        """
        Length of a code.
        """
    @property
    def device(self, /) -> str:
        """
        The device: `cpu`, or number and name of a card.
        """
    def evaluate(self, /, family: Family, seen: SupportsGetItem[int, SupportsIndex], *, horizon: SupportsIndex | None = None, against: SupportsGetItem[int, str] = ..., train: Family | None = None, seed: SupportsIndex = 1, threads: SupportsIndex | None = None, progress: Heard | None = None) -> Table:
        """
        Scores of its forecasts, and of baselines, as a table.
        """
    def forecast(self, /, family: Family, horizon: SupportsIndex | None, seen: SupportsIndex | None, levels: SupportsGetItem[int, SupportsFloat | SupportsIndex], *, draws: SupportsIndex = 0, method: str = "adais", seed: SupportsIndex = 1, threads: SupportsIndex | None = None, progress: Heard | None = None) -> Forecast:
        """
        Forecasts of every sequence of a family; quantiles at `levels`.
        """
    @staticmethod
    def from_files(files: SupportsGetItem[int, tuple[str, SupportsGetItem[int, SupportsIndex]]], device: str) -> Model:
        """
        A model from the bytes of its directory.
        """
    def generate(self, /, codes: NDArray[float64], n_time: SupportsIndex, inputs: NDArray[float64] | None = None, noise_seed: SupportsIndex | None = None) -> NDArray[float64]:
        """
        Sequences of codes, n × d_code; n × n_time × d_obs.
        """
    @property
    def has_attributes_only(self, /) -> bool:
        """
        Whether the inputs are attributes, all of them.
        """
    def infer(self, /, family: Family, seen: SupportsIndex | None, *, draws: SupportsIndex = 1000, method: str = "adais", seed: SupportsIndex = 1, threads: SupportsIndex | None = None, progress: Heard | None = None) -> Posterior:
        """
        Posteriors of the codes of every sequence of a family.
        """
    @property
    def input_names(self, /) -> list[str]:
        """
        Names of the inputs.
        """
    @staticmethod
    def load(path: str | PathLike[str], device: str) -> Model:
        """
        Reads a model directory.
        """
    def member_codes(self, /, std_dev: bool) -> NDArray[float64]:
        """
        Posterior means, or standard deviations, of the codes of the members, n × d_code.
        """
    @property
    def members(self, /) -> list[tuple[str, str | None]]:
        """
        Ids and labels of the members.
        """
    def morph(self, /, codes: NDArray[float64], n_time: SupportsIndex, inputs: NDArray[float64] | None = None) -> NDArray[float64]:
        """
        The sequence of a system that changes along a path of codes.
        """
    @property
    def n_systems(self, /) -> int:
        """
        Systems that forecast together.
        """
    def on(self, /, device: str) -> Model:
        """
        The same model on another device.
        """
    @property
    def output_names(self, /) -> list[str]:
        """
        Names of the outputs.
        """
    @property
    def record(self, /) -> str | None:
        """
        How it was learned, as a JSON document; nothing for a model that was put together by hand.
        """
    def sample_codes(self, /, n: SupportsIndex, seed: SupportsIndex) -> NDArray[float64]:
        """
        Codes drawn from what is believed of new members, n × d_code.
        """
    def save(self, /, path: str | PathLike[str]) -> None:
        """
        Writes a model directory, whole or not at all.
        """
    @property
    def scores(self, /) -> list[tuple[str, str, float, float | None, int]]:
        """
        What its card reports: measure, condition, mean, standard error, number of sequences.
        """
    @property
    def seed(self, /) -> int:
        """
        Seed of all randomness in learning.
        """
    @property
    def time_step(self, /) -> str | None:
        """
        Length of a step, as files write it.
        """
    def to_files(self, /) -> list[tuple[str, bytes]]:
        """
        The files of its directory, by name.
        """
    def track(self, /, i: SupportsIndex) -> Tracker:
        """
        A tracker before its first observation, number `i` of many.
        """
    def transfer(self, /, family: Family, content: str, style: str, *, seed: SupportsIndex = 1, threads: SupportsIndex | None = None) -> NDArray[float64]:
        """
        The inputs of one sequence of a family, answered with the code of another or of a member.
        """
    @property
    def trouble(self, /) -> str | None:
        """
        What went wrong with the device so far, if anything did: the processor did the rest.
        """

@final
class Posterior:
    """
    Posteriors of the codes of the sequences of a family.
    """
    def draws(self, /) -> list[NDArray[float64]]:
        """
        Draws of equal weight of each sequence, chains × draws × d_code.
        """
    def far_outside(self, /) -> tuple[list[str], str | None]:
        """
        Ids of the sequences that are far outside of what the family does, and what to say of them.
        """
    @property
    def ids(self, /) -> list[str]:
        """
        Ids of the sequences.
        """
    def log_weights(self, /) -> list[NDArray[float64]]:
        """
        Logarithms of the weights that the draws had, chains × draws.
        """
    def mean(self, /) -> NDArray[float64]:
        """
        Means, sequences × d_code.
        """
    def std_dev(self, /) -> NDArray[float64]:
        """
        Standard deviations, sequences × d_code.
        """
    def table(self, /) -> Table:
        """
        A row per sequence: what is known of its code, and how well.
        """

@final
class Table:
    """
    A table that frames of all kinds can be made from.
    """
    def __arrow_c_stream__(self, /, requested_schema: Any | None = None) -> Any:
        """
        The table as an Arrow stream; frames ask for it.
        """
    def __len__(self, /) -> int: ...
    def columns(self, /) -> list[tuple[str, Any]]:
        """
        Columns by name: arrays of numbers and moments, lists of text.
        """

@final
class Tracker:
    """
    A sequence that is followed, one observation at a time.
    """
    def code(self, /) -> tuple[list[float], list[float]] | None:
        """
        Mean and standard deviation of the code; nothing before the first update.
        """
    def forecast(self, /, horizon: SupportsIndex, levels: SupportsGetItem[int, SupportsFloat | SupportsIndex], inputs: NDArray[float64] | None = None) -> tuple[NDArray[float64], NDArray[float64], list[NDArray[float64]]]:
        """
        The steps after the last one that was observed; inputs that do not change go on by themselves.
        """
    def log_evidence(self, /) -> float | None:
        """
        log p of all that was observed, in the units of the data.
        """
    @property
    def n_observed(self, /) -> int:
        """
        Steps that were observed.
        """
    def observe(self, /, outputs: NDArray[float64], inputs: NDArray[float64] | None = None) -> int:
        """
        Takes in steps, n × d_obs with NaN where a value is missing, and their inputs; how often the posterior was updated.
        """

def cards() -> tuple[list[tuple[int, str, int, tuple[int, int], str | None]], str | None]:
    """
    The cards of this machine, and why none can be used.
    """

def panic_for_tests(at_once: bool) -> None:
    """
    Panics where work is done, for the test that no panic reaches Python as one.
    """

def settings() -> list[tuple[str, str, str, str]]:
    """
    The settings of a fit: name, type, topic, meaning.
    """
