"""What frames of every kind may hold, and what is refused with which words."""

import datetime as dt
import uuid

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import SETTINGS, rows

import pymtds

DAY = dt.date(2024, 1, 1)


def dated(frame: pl.DataFrame, kind) -> pl.DataFrame:
    days = [DAY + dt.timedelta(days=int(t)) for t in frame["t"]]
    return frame.with_columns(t=pl.Series(days).cast(kind))


@pytest.mark.parametrize(
    "kind",
    [
        pl.Date,
        pl.Datetime("ns"),
        pl.Datetime("us"),
        pl.Datetime("ms"),
        pl.Datetime("us", "Europe/Berlin"),
        pl.String,
    ],
)
def test_times_come_out_in_the_type_that_went_in(kind):
    frame = dated(rows(), pl.Date)
    if isinstance(kind, pl.Datetime) and kind.time_zone:
        # A day of Berlin's winter is a day of UTC.
        frame = frame.with_columns(
            pl.col("t").cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
        ).with_columns(pl.col("t").dt.convert_time_zone(kind.time_zone))
    else:
        frame = frame.with_columns(pl.col("t").cast(kind))
    model = pymtds.fit(frame, **SETTINGS)
    assert model.time_step == "1d"
    for family in (frame, frame.to_pandas(), frame.to_arrow()):
        found = model.forecast(family, horizon=2).frame
        came, went = nw.from_native(family, eager_only=True)["t"], nw.from_native(found, eager_only=True)["t"]
        assert went.dtype == came.dtype
        last = frame.filter(pl.col("series") == "a")["t"].max()
        first = nw.from_native(found, eager_only=True)["t"].to_list()[0]
        if kind == pl.String:
            assert str(first) == (dt.date.fromisoformat(last) + dt.timedelta(days=1)).isoformat()
        else:
            assert pd.Timestamp(first) == pd.Timestamp(last) + pd.Timedelta(days=1)


@pytest.mark.parametrize("kind", [pl.Int64, pl.Int32, pl.UInt16, pl.Categorical, pl.String])
def test_ids_come_out_in_the_type_that_went_in(model, kind):
    numbered = {letter: str(i + 1) for i, letter in enumerate("abcdef")}
    frame = rows().with_columns(pl.col("series").replace_strict(numbered).cast(kind))
    for family in (frame, frame.to_pandas()):
        found = nw.from_native(model.forecast(family, horizon=1).frame, eager_only=True)["series"]
        assert found.dtype == nw.from_native(family, eager_only=True)["series"].dtype
        assert [str(one) for one in found.to_list()] == list("123456")


def test_categories_may_be_numbers_and_numbers_may_be_fractions(model):
    numbered = {letter: i for i, letter in enumerate("abcdef")}
    frame = rows().with_columns(pl.col("series").replace_strict(numbered)).to_pandas()
    for kind in ("category", "float64", "float32"):
        family = frame.astype({"series": kind, "t": "float32"})
        found = model.forecast(family, horizon=2).frame
        assert found.dtypes[["series", "t"]].equals(family.dtypes[["series", "t"]])
        assert found["series"].tolist() == [i for i in range(6) for _ in range(2)]
        assert pymtds.Family(family).to_frame()["series"].tolist() == frame["series"].tolist()


def test_times_that_grow_out_of_their_type_get_a_wider_one(model):
    frame = rows().with_columns((pl.col("t") + 225).cast(pl.UInt8))
    for family in (frame, frame.to_pandas()):
        found = nw.from_native(model.forecast(family, horizon=3).frame, eager_only=True)["t"]
        assert found.to_list()[:3] == [255, 256, 257]


def test_a_column_of_the_frame_with_the_name_of_a_result_does_no_harm(model, frame):
    named = frame.with_columns(mean=pl.lit(1, pl.Int64), sd=pl.lit("x"), output=pl.lit(2))
    for family in (named, named.to_pandas()):
        found = nw.from_native(model.forecast(family, horizon=2).frame, eager_only=True)
        assert found["mean"].to_list() == model.forecast(frame, horizon=2).mean.reshape(-1).tolist()
    with pytest.raises(pymtds.DataError, match="other names than results, found `mean`"):
        _ = model.forecast(frame.rename({"series": "mean"}), horizon=2, series="mean").frame


def with_diets() -> pl.DataFrame:
    """The family with a label and an input that does not change within a sequence."""
    is_even = pl.col("series").is_in(["a", "c", "e"])
    return rows().with_columns(
        label=pl.col("series").str.to_uppercase(),
        diet=pl.when(is_even).then(pl.lit("hay")).otherwise(pl.lit("oats")),
    )


CODED = ["series", "label", "diet"]


def in_arrow(frame: pl.DataFrame, codes: pa.DataType, texts: pa.DataType) -> pa.Table:
    """Columns of text as dictionaries with these types."""
    table = frame.to_arrow()
    for name in CODED:
        coded = table.column(name).cast(pa.string()).combine_chunks().dictionary_encode()
        coded = pa.DictionaryArray.from_arrays(coded.indices.cast(codes), coded.dictionary.cast(texts))
        table = table.set_column(table.schema.get_field_index(name), name, coded)
    return table


def in_duckdb(frame: pl.DataFrame) -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    connection.register("family", frame.to_arrow())
    for name in CODED:
        connection.execute(
            f"create type kind_of_{name} as enum (select distinct {name} from family order by {name})"
        )
    casts = ", ".join(f"{name}::kind_of_{name} as {name}" for name in CODED)
    return connection.sql(f"select t, y, {casts} from family")


CATEGORIES = {
    "polars categorical": lambda frame: frame.with_columns(pl.col(CODED).cast(pl.Categorical)),
    "polars enum": lambda frame: frame.with_columns(
        pl.col(name).cast(pl.Enum(sorted(set(frame[name]), reverse=True))) for name in CODED
    ),
    "pandas category": lambda frame: frame.to_pandas().astype(dict.fromkeys(CODED, "category")),
    "pandas ordered": lambda frame: frame.to_pandas().astype(
        {name: pd.CategoricalDtype(sorted(set(frame[name]), reverse=True), ordered=True) for name in CODED}
    ),
    "pyarrow": lambda frame: in_arrow(frame, pa.int32(), pa.string()),
    "pyarrow narrow": lambda frame: in_arrow(frame, pa.int8(), pa.large_string()),
    "duckdb enum": in_duckdb,
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_categories_of_every_library_are_ids_labels_and_inputs(model, frame, name):
    family = CATEGORIES[name](with_diets())
    read = pymtds.Family(family, inputs=["diet"])
    assert (read.ids, read.labels) == (list("abcdef"), list("ABCDEF"))
    assert read.input_names == ["diet=oats"]
    assert [read.inputs(id)[0, 0] for id in read.ids] == [0.0, 1.0] * 3
    found = model.forecast(family, horizon=2)
    assert np.array_equal(found.mean, model.forecast(frame, horizon=2).mean)
    if name.startswith("p"):
        came, went = (nw.from_native(one, eager_only=True)["series"] for one in (family, found.frame))
        assert went.dtype == came.dtype or (name.startswith("pyarrow") and went.dtype == nw.String)
        assert went.to_list() == [id for id in "abcdef" for _ in range(2)]


def zoned(kind: str, unit: str, zone: str):
    """Hours across the night in which clocks in Berlin go back, with the time zone of a frame."""
    start = dt.datetime(2024, 10, 26, 12, tzinfo=dt.UTC)
    hours = pl.Series([start + dt.timedelta(hours=int(t)) for t in rows()["t"]])
    times = hours.cast(pl.Datetime(unit, "UTC")).dt.convert_time_zone(zone)
    frame = rows().with_columns(t=times)
    match kind:
        case "polars":
            return frame
        case "pandas":
            return frame.to_pandas()
        case "pyarrow":
            return frame.to_arrow()
    connection = duckdb.connect()
    connection.execute(f"set timezone = '{zone}'")
    connection.register("hours", frame.to_arrow())
    return connection.sql("select series, t::timestamptz as t, y from hours")


@pytest.mark.parametrize(
    ("kind", "unit", "zone"),
    [
        ("polars", "ms", "Europe/Berlin"),
        ("polars", "ns", "America/St_Johns"),
        ("pandas", "us", "Europe/Berlin"),
        ("pyarrow", "us", "UTC"),
        ("duckdb", "us", "Europe/Berlin"),
    ],
)
def test_hours_go_on_across_a_night_when_clocks_change(model, frame, kind, unit, zone):
    family = zoned(kind, unit, zone)
    learned = pymtds.fit(family, **SETTINGS)
    assert learned.time_step == "1h"
    found = learned.forecast(family, horizon=3).frame
    if kind == "duckdb":
        found = found.to_arrow_table() if hasattr(found, "to_arrow_table") else found.arrow()
    found = nw.from_native(found, eager_only=True)
    if kind != "duckdb":
        assert found.schema["t"] == nw.from_native(family, eager_only=True).schema["t"]
    moments = [moment.astimezone(dt.UTC) for moment in found["t"].to_list()[:3]]
    start = dt.datetime(2024, 10, 27, 18, tzinfo=dt.UTC)
    assert moments == [start + dt.timedelta(hours=k) for k in range(3)]
    # The numbers are those of steps that are only counted.
    counted = model.forecast(frame, horizon=3).mean
    assert found["mean"].to_list() == counted.reshape(-1).tolist()


def test_days_of_a_zone_are_given_as_dates_where_clocks_change(frame):
    local = pl.datetime_range(
        dt.datetime(2024, 10, 10), dt.datetime(2024, 11, 8), "1d", time_zone="Europe/Berlin", eager=True
    )
    frame = frame.with_columns(t=pl.Series(local.to_list() * 6, dtype=local.dtype))
    for family in (frame, frame.to_pandas(), frame.to_arrow()):
        with pytest.raises(pymtds.DataError, match=r"row 19, column `t`.* but for 1h more .* give dates"):
            pymtds.Family(family)
    dates = frame.with_columns(pl.col("t").dt.date())
    assert pymtds.Family(dates).time_step == "1d"
    assert pymtds.Family(dates).notes == []


@pytest.mark.parametrize(
    "kind", [pl.Float32, pl.Float64, pl.Int64, pl.Int8, pl.UInt32, pl.Boolean, pl.Decimal(10, 2)]
)
def test_numbers_of_every_type_are_outputs(kind):
    frame = rows().with_columns((pl.col("y") * 50).round(0).abs().cast(pl.Int64))
    frame = (
        frame.with_columns(pl.col("y") > 20)
        if kind == pl.Boolean
        else frame.with_columns(pl.col("y").cast(kind))
    )
    expected = frame["y"].cast(pl.Float64).to_numpy()[:30]
    for family in (frame, frame.to_arrow()):
        assert np.array_equal(pymtds.Family(family).outputs("a")[:, 0], expected)


def test_nulls_and_nans_are_missing_outputs():
    values = [0.5, None, float("nan"), 2.0]
    polars = pl.DataFrame({"series": ["a"] * 4, "t": [1, 2, 3, 4], "y": values}, strict=False)
    pandas = polars.to_pandas()
    frames = {
        "polars": polars,
        "pandas": pandas,
        "nullable": pandas.astype({"y": "Float64"}),
        "arrow-backed": pandas.astype({"y": "double[pyarrow]"}),
        "pyarrow": polars.to_arrow(),
        "duckdb": duckdb.sql("select * from polars"),
        "object": pandas.astype({"y": object}),
        "text": pandas.assign(y=["0.5", None, "NA", "2.0"]),
    }
    for name, frame in frames.items():
        found = pymtds.Family(frame).outputs("a")[:, 0]
        assert np.array_equal(found, [0.5, np.nan, np.nan, 2.0], equal_nan=True), name


def test_frames_in_many_chunks_are_what_they_are_in_one(frame):
    whole = pymtds.Family(frame)
    pieces = [frame[:1], frame[1:1], frame[1:31], frame[31:100], frame[100:]]
    chunked = pl.concat(pieces, rechunk=False)
    assert chunked.n_chunks() > 2
    # Columns that are cut differently.
    mixed = chunked.with_columns(y=frame["y"])
    texts = chunked.with_columns(pl.col("series").cast(pl.Categorical))
    arrow = pa.concat_tables([piece.to_arrow() for piece in pieces])
    for family in (chunked, mixed, texts, arrow, chunked.lazy()):
        assert pymtds.Family(family).fingerprint == whole.fingerprint
    # What is refused is named by its row in the whole frame.
    spoiled = pl.concat([frame[:40], frame[40:].with_columns(y=pl.lit(float("inf")))], rechunk=False)
    with pytest.raises(pymtds.DataError, match="row 41, column `y`"):
        pymtds.Family(spoiled)


def test_long_frames_are_read_on_all_threads_to_the_same_bits():
    lengths = np.arange(4000) % 90 + 100
    series = np.repeat(np.arange(4000), lengths)
    t = np.concatenate([np.arange(n) for n in lengths])
    y = np.sin(0.1 * t) + 0.01 * series
    frame = pl.DataFrame({"series": [f"member {i}" for i in series], "t": t, "y": y})
    frame = frame.with_columns(y=pl.when(pl.col("t") % 7 > 0).then(pl.col("y")))
    assert frame.height > 500_000
    # A part at a time it is as short as what one thread reads.
    parts = [pymtds.Family(frame.filter(series // 1000 == k)) for k in range(4)]
    expected = {id: part.outputs(id) for part in parts for id in part}
    chunked = pl.concat([frame[k : k + 9973] for k in range(0, frame.height, 9973)], rechunk=False)
    coded = chunked.with_columns(pl.col("series").cast(pl.Categorical))
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)
    for kind in (frame, chunked, coded, frame.to_pandas(), chunked.to_arrow(), shuffled):
        family = pymtds.Family(kind)
        assert sorted(family) == sorted(expected)
        found = zip(family.ids, map(family._core.outputs, range(len(family))), strict=True)
        assert all(np.array_equal(y, expected[id], equal_nan=True) for id, y in found)
    # Far from each other: the first is named.
    odd = np.isin(series, [series[250_000], series[500_000]]) & (t == 50)
    spoiled = [
        part.with_columns(y=pl.when(pl.Series(odd[k : k + 9973])).then(float("inf")).otherwise(pl.col("y")))
        for k in range(0, frame.height, 9973)
        for part in [frame[k : k + 9973]]
    ]
    with pytest.raises(pymtds.DataError, match=f"row {np.flatnonzero(odd)[0] + 1}, column `y`"):
        pymtds.Family(pl.concat(spoiled, rechunk=False))


def test_rows_in_any_order_with_gaps_and_labels():
    frame = rows().with_columns(label=pl.col("series").str.to_uppercase())
    shuffled = frame.filter((pl.col("t") != 5) | (pl.col("series") != "b")).sample(
        fraction=1.0, shuffle=True, seed=1
    )
    family = pymtds.Family(shuffled)
    assert sorted(family.labels) == list("ABCDEF")
    assert np.isnan(family.outputs("b")[5, 0])
    assert any("gap" in note for note in family.notes)
    back = family.to_frame().sort("series", "t")
    assert back.drop_nulls()["y"].is_nan().sum() == 1
    assert back.height == frame.height


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda frame: frame.drop("t"), "expected a column `t` for the times, found `series`, `y`"),
        (lambda frame: frame.drop("series"), "expected a column `series`"),
        (lambda frame: frame.drop("y"), "expected output columns"),
        (lambda frame: frame.head(0), "expected rows of data"),
        (lambda frame: frame.with_columns(y=pl.lit("soon")), "row 1, column `y`: expected a number"),
        (lambda frame: frame.with_columns(y=pl.lit(float("inf"))), "column `y`: expected a finite number"),
        (lambda frame: frame.with_columns(t=pl.lit("soon")), "column `t`: expected a time"),
        (lambda frame: frame.with_columns(t=pl.lit(None, pl.Int64)), "column `t`: expected a time"),
        (lambda frame: frame.with_columns(t=pl.duration(days="t")), "column `t`: expected a time"),
        (lambda frame: frame.with_columns(series=pl.lit(None, pl.String)), "expected the name of a sequence"),
        (lambda frame: pl.concat([frame, frame]), "expected each time of sequence `a` once"),
        (lambda frame: frame.with_columns(u=pl.lit(None, pl.Float64)), "inputs cannot be missing"),
        (lambda frame: frame.with_columns(y=pl.lit(b"x")), "expected a number"),
        (lambda frame: frame.with_columns(y=pl.col("t").cast(pl.Date)), "expected a number"),
    ],
)
def test_what_cannot_be_read_is_said_in_the_words_of_the_program(spoil, said):
    spoiled = spoil(rows())
    kinds = [spoiled, spoiled.to_pandas(), spoiled.to_arrow(), duckdb.sql("select * from spoiled")]
    for frame in kinds:
        with pytest.raises(pymtds.DataError) as refused:
            pymtds.fit(frame, **SETTINGS)
        assert said in str(refused.value)
        assert isinstance(refused.value, ValueError)


def test_frames_that_are_none_and_columns_that_come_twice():
    for wrong in (5, "family.csv", None, np.zeros(3), [1, 2]):
        with pytest.raises(pymtds.DataError, match="expected a frame"):
            pymtds.fit(wrong)
    twice = pd.concat([rows().to_pandas()] * 2, axis=1)
    with pytest.raises(pymtds.DataError, match="found `series` twice"):
        pymtds.Family(twice)
    for series in (rows()["y"], rows().to_pandas()["y"]):
        with pytest.raises(pymtds.DataError, match="found a Series of p"):
            pymtds.Family(series)
    with pytest.raises(pymtds.DataError, match="cast the column"):
        pymtds.Family(rows().with_columns(pl.col("t").cast(pl.Int128)))
    for odd in (rows().to_pandas()["y"] + 1j, pd.arrays.SparseArray(rows()["y"].to_numpy())):
        with pytest.raises(pymtds.DataError, match="give it one plain type"):
            pymtds.Family(rows().to_pandas().assign(y=odd))
    mixed = rows().to_pandas().astype({"y": object})
    mixed.loc[3, "y"] = "x"
    with pytest.raises(pymtds.DataError):
        pymtds.Family(mixed)


def test_what_is_made_of_a_frame_is_none(frame):
    pandas = frame.to_pandas()
    for wrong in (frame.group_by("series"), pandas.groupby("series"), pandas.columns):
        with pytest.raises(pymtds.DataError, match="expected a frame, found "):
            pymtds.Family(wrong)


def test_names_of_columns_come_as_any_kind_of_list(frame):
    pandas = frame.to_pandas().assign(a=1.0, b=2.0)
    for names in (["a", "b"], ("a", "b"), np.array(["a", "b"]), pandas.columns[3:], pl.Series(["a", "b"])):
        assert pymtds.Family(pandas, outputs=names).output_names == ["a", "b"]
        assert pymtds.Family(pandas, outputs="y", inputs=names).input_names == ["a", "b"]
        model = pymtds.fit(pandas, outputs=names, **SETTINGS)
        assert model.forecast(pandas, horizon=1, outputs=names).output_names == ["a", "b"]


def test_a_column_of_polars_that_knows_nothing_but_nulls_does_no_harm(frame):
    noted = frame.with_columns(note=pl.lit(None), label=pl.lit(None))
    assert pymtds.Family(noted).fingerprint == pymtds.Family(frame).fingerprint
    with pytest.raises(pymtds.DataError, match=r"every output of its 6 sequence.* is missing"):
        pymtds.Family(frame.with_columns(y=pl.lit(None)))
    with pytest.raises(pymtds.DataError, match="column `series`: expected the name of a sequence"):
        pymtds.Family(frame.with_columns(series=pl.lit(None)))


def test_ids_that_are_large_numbers_stay_apart(model, frame):
    # As hashes are: numbers of double precision could not tell them apart.
    hashes = {letter: 2**64 - 1 - i for i, letter in enumerate("abcdef")}
    hashed = frame.with_columns(pl.col("series").replace_strict(hashes, return_dtype=pl.UInt64))
    expected = model.forecast(frame, horizon=2).mean
    for family in (hashed, hashed.to_pandas(), hashed.to_arrow(), duckdb.sql("select * from hashed")):
        assert pymtds.Family(family).ids == [str(one) for one in hashes.values()]
        found = model.forecast(family, horizon=2)
        assert np.array_equal(found.mean, expected)
        if not isinstance(family, duckdb.DuckDBPyRelation):
            ids = nw.from_native(found.frame, eager_only=True)["series"]
            assert ids.dtype == nw.UInt64
            assert ids.to_list()[::2] == list(hashes.values())


def test_ids_and_labels_without_text_are_refused_instead_of_being_one(frame):
    arrow = frame.to_arrow()
    bytes_ = arrow.column("series").cast(pa.binary())
    # Times that differ, so that nothing else gives it away.
    apart = frame.with_columns(pl.col("t") + 30 * pl.col("series").rank("dense").cast(pl.Int64)).to_arrow()
    for spoiled in (
        apart.set_column(0, "series", bytes_),
        arrow.append_column("label", bytes_),
        frame.to_pandas().assign(series=[uuid.UUID(int=ord(id)) for id in frame["series"]]),
        frame.with_columns(pl.col("series").cast(pl.Binary)),
    ):
        with pytest.raises(pymtds.DataError, match=r"expected a name, found a value of type .*Binary"):
            pymtds.Family(spoiled)


def test_masked_numbers_are_missing_and_complex_ones_no_numbers():
    masked = np.ma.masked_equal(np.arange(10.0).reshape(2, 5), 3)
    expected = [0.0, 1.0, 2.0, np.nan, 4.0]
    for given in (masked, list(masked), {"1": masked[0]}, masked.astype(int)):
        found = pymtds.Family.from_arrays(given).outputs("1")[:, 0]
        assert np.array_equal(found, expected, equal_nan=True)
    for odd in (np.zeros((2, 5), complex), np.zeros((2, 5), "M8[D]"), None, 5, "abc"):
        with pytest.raises(pymtds.DataError, match="outputs: expected"):
            pymtds.Family.from_arrays(odd)


def test_a_model_refuses_other_columns_and_steps(model, frame):
    with pytest.raises(pymtds.DataError, match="expected a column `y` for an output"):
        model.forecast(frame.rename({"y": "x"}), horizon=1)
    with pytest.raises(
        pymtds.DataError, match="expected steps of 1, as the model was learned with, found steps of 2"
    ):
        model.forecast(frame.with_columns(pl.col("t") * 2), horizon=1)
    other = model.forecast(frame.rename({"series": "who", "t": "when"}), horizon=1, series="who", time="when")
    assert other.frame.columns[:2] == ["who", "when"]
    assert np.array_equal(other.mean, model.forecast(frame, horizon=1).mean)


def test_a_named_index_of_pandas_is_a_column(model, frame):
    indexed = frame.to_pandas().set_index(["series", "t"])
    assert np.array_equal(model.forecast(indexed, horizon=2).mean, model.forecast(frame, horizon=2).mean)


def test_arrays_make_a_family(frame):
    curves = frame["y"].to_numpy().reshape(6, 30)
    family = pymtds.Family.from_arrays(curves, ids=list("abcdef"), output_names=["y"])
    assert np.array_equal(family.outputs("c")[:, 0], curves[2])
    from_frame = pymtds.Family(frame)
    assert family.fingerprint == from_frame.fingerprint
    ours, theirs = pymtds.fit(family, **SETTINGS), pymtds.fit(from_frame, **SETTINGS)
    assert np.array_equal(ours.codes, theirs.codes)
    ragged = pymtds.Family.from_arrays(
        {"x": [1.0, 2.0], "y": [[1.0], [2.0], [3.0]]}, {"x": [1, 2], "y": [1, 2, 3]}
    )
    assert (ragged.ids, ragged.input_names) == (["x", "y"], ["u"])
    for wrong in ([], [[["a"]]], np.zeros((2, 3, 4, 5)), {"x": ["a"]}):
        with pytest.raises(pymtds.DataError):
            pymtds.Family.from_arrays(wrong)
    with pytest.raises(pymtds.DataError):
        pymtds.Family.from_arrays(np.zeros((2, 5)), np.zeros((3, 5)))


def test_periods_of_pandas_are_the_moments_at_which_they_begin(model, frame):
    months = pd.period_range("2024-01", periods=30, freq="M")
    family = pymtds.Family(frame.to_pandas().assign(t=[*months] * 6))
    assert family.time_step == "1mo"
    assert list(family.to_frame()["t"][:30]) == list(months.to_timestamp())


def test_anything_that_speaks_arrow_goes_in(model, frame):
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return frame.__arrow_c_stream__(requested_schema)

    found = model.forecast(Stream(), horizon=2).frame
    assert pl.DataFrame(found).equals(model.forecast(frame, horizon=2).frame)
    assert pa.table(found).num_rows == 12


def test_frames_of_narwhals_come_out_as_they_went_in(model, frame):
    expected = model.forecast(frame, horizon=2).frame
    for native in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
        found = model.forecast(nw.from_native(native), horizon=2).frame
        assert isinstance(found, nw.DataFrame)
        alone = model.forecast(native, horizon=2).frame
        assert type(found.to_native()) is type(alone)
        assert found["mean"].to_list() == expected["mean"].to_list()
    found = model.forecast(nw.from_native(duckdb.sql("select * from frame")), horizon=2).frame
    assert isinstance(found.to_native(), duckdb.DuckDBPyRelation)
    with pytest.raises(pymtds.DataError, match="found a Series of narwhals"):
        pymtds.Family(nw.from_native(frame)["y"])


def test_no_panic_where_a_stream_is_a_lie():
    class Lie:
        def __arrow_c_stream__(self, requested_schema=None):
            return 5

    with pytest.raises(TypeError):
        pymtds.fit(Lie())
