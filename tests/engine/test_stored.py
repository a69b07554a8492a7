"""Results that leave and come back: files, plain data, Arrow, xarray, pieces put together."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as arrow
import pytest
from pyarrow import parquet

import cobandit as cb

PROBLEM = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])
TEAM = cb.Team.of("partner-aware-ucb", window=3)


def played(runs: int = 50, **options: object) -> cb.Result:
    return cb.simulate(PROBLEM, TEAM, 120, runs, 1, checkpoints=[1, 7, 60, 120], **options)  # type: ignore[arg-type]


def assert_same(ours: cb.Result, other: cb.Result) -> None:
    assert (ours.problem, ours.team, ours.horizon, ours.seed) == (other.problem, other.team, other.horizon, other.seed)
    assert (ours.first_run, ours.runs, ours.keeps_runs) == (other.first_run, other.runs, other.keeps_runs)
    assert ours.summary() == other.summary()
    if ours.keeps_runs:
        assert np.array_equal(ours.task_regret, other.task_regret)
        assert np.array_equal(ours.team_regret, other.team_regret)


@pytest.mark.parametrize("keep", ["runs", "summary"])
def test_a_file_is_read_again(tmp_path: Path, keep: str) -> None:
    result = played(first_run=5, keep=keep)
    again = cb.Result.load(result.save(tmp_path / "result.parquet"))
    assert_same(again, result)
    assert (again.engine, again.engine_reason, again.seconds) == (result.engine, result.engine_reason, result.seconds)
    assert np.array_equal(again.trajectory(6).actions, result.trajectory(6).actions)


def _places(data: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of every entry of nested dicts, and of the first entry of lists, whose entries are alike."""
    entries = data.items() if isinstance(data, dict) else enumerate(data[:1]) if isinstance(data, list) else ()
    for name, value in entries:
        yield (*place, name)
        yield from _places(value, (*place, name))


def _damaged(data: Any, place: tuple[Any, ...], value: Any) -> bytes:
    """Return the data as JSON with another value at a place; the value ``...``: without the entry."""
    changed = inner = copy.deepcopy(data)
    for name in place[:-1]:
        inner = inner[name]
    if value is ...:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return json.dumps(changed).encode()


@pytest.mark.parametrize("keep", ["runs", "summary"])
def test_damaged_metadata_gives_an_error_of_ours(tmp_path: Path, keep: str) -> None:
    """Damage every entry of the metadata; some damage, such as another engine's name, can be read."""
    path = played(keep=keep, diagnose=True).save(tmp_path / "result.parquet")
    table = parquet.read_table(path)
    stored = dict(table.schema.metadata)
    assert {b"cobandit", b"cobandit.diagnostics"} <= set(stored)
    raw = (b"", b"[]", b"3", b"null", b"\xff\xfe", b"{}", b"NaN", b"PK\x03\x04", b"[" * 100_000)
    cases = [(name, damage) for name in stored for damage in (*raw, stored[name][: len(stored[name]) // 2])]
    for name in (b"cobandit", b"cobandit.diagnostics"):
        data = json.loads(stored[name])
        wrong: tuple[Any, ...] = (..., None, [], {}, "x", -1, 10**30, True)
        cases += [(name, _damaged(data, place, value)) for place in _places(data) for value in wrong]
    refused = 0
    for name, damage in cases:
        parquet.write_table(table.replace_schema_metadata(stored | {name: damage}), path)
        try:
            cb.Result.load(path).summary()
        except cb.CobanditError:
            refused += 1
    assert refused > len(cases) // 2


@pytest.mark.parametrize("value", [None, "x", -1, 1.5, True])
@pytest.mark.parametrize("fact", ["horizon", "first_run", "runs"])
def test_a_fact_of_the_wrong_kind_is_named(tmp_path: Path, fact: str, value: Any) -> None:
    path = played().save(tmp_path / "result.parquet")
    table = parquet.read_table(path)
    about = json.loads(table.schema.metadata[b"cobandit"]) | {fact: value}
    parquet.write_table(table.replace_schema_metadata({b"cobandit": json.dumps(about).encode()}), path)
    with pytest.raises(cb.InvalidInput, match=fact):
        cb.Result.load(path)


def test_a_file_of_runs_is_summarised_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played(keep="summary", out=tmp_path / "runs.parquet")
    assert_same(cb.Result.load(tmp_path / "runs.parquet"), played())
    assert_same(cb.Result.load(tmp_path / "runs.parquet", keep="summary"), played(keep="summary"))
    monkeypatch.setattr("cobandit.engine.stored.worth_streaming", lambda rows, columns: True)
    assert not cb.Result.load(tmp_path / "runs.parquet").keeps_runs
    assert cb.Result.load(tmp_path / "runs.parquet", keep="runs").keeps_runs


def test_a_summary_takes_more_runs_after_it_was_read(tmp_path: Path) -> None:
    first = cb.Result.load(played(30, keep="summary").save(tmp_path / "first.parquet"))
    assert_same(cb.Result.concat([played(20, first_run=30), first]), played(keep="summary"))


@pytest.mark.parametrize("keep", ["runs", "summary"])
def test_plain_data_comes_back(keep: str) -> None:
    result = played(keep=keep)
    assert_same(cb.Result.from_dict(json.loads(json.dumps(result.describe()))), result)


def test_pieces_in_any_order_are_the_whole() -> None:
    pieces = [played(20, first_run=30), played(10, engine="reference"), played(20, first_run=10)]
    joined = cb.Result.concat(pieces)
    assert_same(joined, played())
    assert joined.seconds == pytest.approx(sum(piece.seconds for piece in pieces))


def test_the_arrow_stream_is_taken_by_others() -> None:
    import pandas
    import polars

    result = played()
    table = result.to_arrow()
    assert table.column_names == ["run", "t", "task_regret", "team_regret"]
    assert json.loads(table.schema.metadata[b"cobandit"])["seed"] == 1
    frame = polars.DataFrame(result)
    assert frame["task_regret"].to_numpy().tolist() == result.task_regret.ravel().tolist()
    # pandas has a door of its own since version 3; before, it goes through pyarrow.
    from_arrow = getattr(pandas.DataFrame, "from_arrow", lambda stream: arrow.table(stream).to_pandas())
    assert from_arrow(result)["t"].tolist() == [1, 7, 60, 120] * 50
    assert arrow.table(played(keep="summary"))["task_regret_mean"].to_pylist() == pytest.approx(
        result.summary().task_regret.mean.tolist()
    )


def test_xarray_has_the_dimensions_of_the_arrays() -> None:
    result = played(first_run=5)
    data = result.to_xarray()
    assert float(data.task_regret.sel(run=7, t=60)) == result.task_regret[2, 2]
    assert json.loads(data.attrs["cobandit"])["team"]["window"] == 3
    with pytest.raises(cb.RunsNotKept):
        played(keep="summary").to_xarray()


def _spoiled(**changes: object) -> Callable[[Path], object]:
    return lambda folder: cb.Result.from_dict(played().describe() | changes)


def _foreign(folder: Path) -> object:
    parquet.write_table(arrow.table({"a": [1]}), folder / "foreign.parquet")
    return cb.Result.load(folder / "foreign.parquet")


def _other_columns(folder: Path) -> object:
    table = arrow.table({"a": [1]}).replace_schema_metadata({"cobandit": json.dumps(played().provenance())})
    parquet.write_table(table, folder / "other.parquet")
    return cb.Result.load(folder / "other.parquet")


def _torn(folder: Path) -> object:
    whole = played().save(folder / "result.parquet").read_bytes()
    (folder / "torn.parquet").write_bytes(whole[: len(whole) // 2])
    return cb.Result.load(folder / "torn.parquet")


def _cut(folder: Path) -> object:
    table = played().to_arrow().slice(0, 199)
    parquet.write_table(table, folder / "cut.parquet")
    return cb.Result.load(folder / "cut.parquet")


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a folder": (lambda folder: cb.Result.load(folder), "is a folder"),
    "no file": (lambda folder: cb.Result.load(folder / "none.parquet"), "There is no file"),
    "not one of ours": (_foreign, "not one of a simulation"),
    "other columns": (_other_columns, "has the columns a;"),
    "torn": (_torn, "cannot be read as the Parquet file"),
    "cut": (_cut, "it is not whole"),
    "keep": (lambda folder: cb.Result.load(played().save(folder / "r.parquet"), keep="all"), "no keep 'all'"),  # type: ignore[arg-type]
    "nothing": (lambda folder: cb.Result.concat([]), "results is empty"),
    "twice": (lambda folder: cb.Result.concat([played(20), played(20, first_run=10)]), "Runs 10 to 19 are there twice"),
    "a gap": (lambda folder: cb.Result.concat([played(20), played(20, first_run=30)]), "Runs 20 to 29 are missing"),
    "another seed": (
        lambda folder: cb.Result.concat([played(5), cb.simulate(PROBLEM, TEAM, 120, 5, 2, first_run=5)]),
        "differ in seed: 1 and 2",
    ),
    "no dict": (lambda folder: cb.Result.from_dict([]), "must be a dict"),  # type: ignore[arg-type]
    "nothing in it": (lambda folder: cb.Result.from_dict({}), "lacks 'problem'"),
    "wrong shape": (_spoiled(task_regret=[[1.0]]), r"has the shape \(1, 1\)"),
    "words": (_spoiled(checkpoints="often"), "a list of rounds"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_cannot_be_read_is_told(tmp_path: Path, fault: str) -> None:
    attempt, said = FAULTS[fault]
    with pytest.raises(cb.InvalidInput, match=said):
        attempt(tmp_path)
