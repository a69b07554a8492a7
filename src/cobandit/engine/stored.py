"""Results read back from their Parquet files: every run, or the summary of runs that were not kept."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol

import numpy as np

from cobandit.agents.team import Team
from cobandit.base.checks import numeric, short_repr, whole
from cobandit.base.errors import CobanditError, InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.files import checked_path
from cobandit.base.json_types import JsonObject
from cobandit.base.lazy import provided
from cobandit.base.parquet import pyarrow_modules
from cobandit.engine.diagnostics import Diagnostics
from cobandit.engine.runs_file import DIAGNOSTICS, SUMMARY
from cobandit.problem import Problem
from cobandit.problem.described import classes_by_name
from cobandit.stats import StreamedSummary, worth_streaming

Keep = Literal["auto", "runs", "summary"]
KEEPS = ("auto", "runs", "summary")
"""What a result may hold: as it fits, every run, or a summary of them."""

COLUMNS = ["run", "t", "task_regret", "team_regret"]
FACTS = ("horizon", "seed", "first_run", "runs", "engine", "engine_reason", "seconds")
"""The facts about a result in its file, under the same names."""


def stored_fields(path: str | os.PathLike[str], own: Iterable[type], keep: str) -> dict[str, Any]:
    """Return the fields of the `Result` in a file that `Result.save`, ``simulate(out=...)`` or a sweep wrote."""
    require_extras("Reading a result", parquet=True)
    _, parquet = pyarrow_modules()
    source = checked_path("path", path)
    if source.is_dir():
        raise InvalidInput(f"{str(source)!r} is a folder; the name of a Parquet file is needed.")
    if not source.is_file():
        raise InvalidInput(f"There is no file {str(source)!r}; Result.save writes one.")
    try:
        with parquet.ParquetFile(source) as file:
            metadata = file.schema_arrow.metadata or {}
            if b"cobandit" not in metadata:
                raise InvalidInput(f"{str(source)!r} is a Parquet file, but not one of a simulation.")
            fields = described_facts(json.loads(metadata[b"cobandit"]), own)
            if DIAGNOSTICS.encode() in metadata:
                fields["counted"] = Diagnostics.from_dict(json.loads(metadata[DIAGNOSTICS.encode()]))
            packed = metadata.get(SUMMARY.encode())
            if packed is not None:
                with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
                    summary: Any = StreamedSummary.from_arrays(dict(arrays))
                return fields | {"checkpoints": np.array(file.read(["t"])["t"]), "kept": summary}
            if list(file.schema_arrow.names) != COLUMNS:
                raise InvalidInput(
                    f"{str(source)!r} has the columns {', '.join(file.schema_arrow.names)}; "
                    f"{', '.join(COLUMNS)} are needed, or a summary that was written by this version."
                )
            return fields | _read_runs(file, fields, keep)
    except (CobanditError, MemoryError):
        raise
    except Exception as error:  # damage can show as almost any error of NumPy, zipfile, json or pyarrow
        reason = str(error) or type(error).__name__
        raise InvalidInput(f"{str(source)!r} cannot be read as the Parquet file of a simulation: {reason}") from error


def described_facts(description: Mapping[str, Any], own: Iterable[type]) -> JsonObject:
    """Return the facts of a result's provenance, without the numbers themselves."""
    if not isinstance(description, Mapping):
        raise InvalidInput(f"The description of a result must be a dict, got {short_repr(description)}.")
    classes = tuple(classes_by_name(own).values())
    missing = [key for key in ("problem", "team", *FACTS) if key not in description]
    if missing:
        raise InvalidInput(f"The description of a result lacks {missing[0]!r}; `Result.provenance` has it.")
    facts = {key: description[key] for key in FACTS}
    for name, least in (("horizon", 1), ("first_run", 0), ("runs", 1)):
        whole(least)(name, facts[name])
    if facts["seconds"] is None:  # runs that were written while they were played
        facts["seconds"] = float("nan")
    problem, team = Problem, Team
    if isinstance(description["problem"], Mapping) and "dynamics" in description["problem"]:
        kinds = markov_kinds()
        problem, team = kinds.MarkovProblem, kinds.Team
    return {
        "problem": problem.from_dict(description["problem"], classes),
        "team": team.from_dict(description["team"], classes),
        "agents": description.get("agents"),
        **facts,
    }


class MarkovKinds(Protocol):
    """The classes of Markov decision problems, whose results are stored like those of bandits; `cobandit.mdp`."""

    MarkovProblem: Any
    MarkovResult: Any
    Team: type[Team]


def markov_kinds() -> MarkovKinds:
    """Return the classes of Markov decision problems."""
    kinds: MarkovKinds = provided("mdp")
    return kinds


def described_fields(description: Any, own: Iterable[type]) -> dict[str, Any]:
    """Return the fields of the `Result` that `Result.describe` has described."""
    fields = described_facts(description, own)
    if "diagnostics" in description:
        fields["counted"] = Diagnostics.from_dict(description["diagnostics"])
    checkpoints = numeric("checkpoints", description.get("checkpoints"), "a list of rounds").astype(np.int64)
    if "summary" in description:
        summary: Any = StreamedSummary.from_arrays(_arrays(description["summary"], len(checkpoints)))
        return fields | {"checkpoints": checkpoints, "kept": summary}
    shape = (fields["runs"], len(checkpoints))
    regrets = {}
    for name in ("task_regret", "team_regret"):
        if name in description:
            regrets[name] = numeric(name, description[name], "a list of lists of numbers")
            if regrets[name].shape != shape:
                raise InvalidInput(f"{name} has the shape {regrets[name].shape}; {shape}, runs x rounds, is needed.")
    if "task_regret" not in regrets:
        raise InvalidInput("The description of a result lacks 'task_regret'; `Result.describe` has it.")
    return fields | {
        "checkpoints": checkpoints,
        "kept": regrets["task_regret"],
        "summed_team_regret": regrets.get("team_regret"),
    }


def _arrays(packed: Any, columns: int) -> dict[str, Any]:
    """Return the arrays of a summary from the lists that JSON has; an empty list has lost its shape and type."""
    arrays = {name: np.array(values) for name, values in packed.items()}
    for name in ("above_counts", "below_counts"):
        arrays[name] = arrays[name].reshape(columns, -1).astype(np.int64)
    return arrays


def joined_fields(results: list[Any]) -> dict[str, Any]:
    """Return the fields of the `Result` that holds the runs of all of these."""
    if not results:
        raise InvalidInput("results is empty; at least one result is needed.")
    for place, result in enumerate(results):
        if not all(hasattr(result, name) for name in ("first_run", "kept", "checkpoints")):
            raise InvalidInput(f"results[{place}] must be a Result, got {short_repr(result)}.")
    ordered = sorted(results, key=lambda result: result.first_run)
    first = ordered[0]
    for other in ordered[1:]:
        for name in ("horizon", "seed", "problem", "team", "checkpoints"):
            mine, theirs = getattr(first, name), getattr(other, name)
            if not (np.array_equal(mine, theirs) if name == "checkpoints" else mine == theirs):
                raise InvalidInput(
                    f"The results differ in {name}: {short_repr(mine)} and {short_repr(theirs)}; "
                    "only runs of one job can be put together."
                )
    expected = first.first_run
    for result in ordered:
        if result.first_run != expected:
            problem = "are missing" if result.first_run > expected else "are there twice"
            span = sorted((expected, result.first_run))
            raise InvalidInput(f"Runs {span[0]:,} to {span[1] - 1:,} {problem}; consecutive runs are needed.")
        expected += result.runs
    if all(result.keeps_runs for result in ordered):
        regrets: Any = np.concatenate([result.kept for result in ordered])
    else:
        regrets = StreamedSummary(len(first.checkpoints))
        for result in ordered:
            if result.keeps_runs:
                regrets.add(result.first_run, result.kept)
            else:
                regrets.merge(result.kept)
    summed = [result.summed_team_regret for result in ordered]
    counted = [result.counted for result in ordered]
    return {
        **{name: getattr(first, name) for name in ("problem", "team", "horizon", "seed", "first_run", "checkpoints")},
        "runs": expected - first.first_run,
        "engine": " and ".join(dict.fromkeys(result.engine for result in ordered)),
        "engine_reason": "; ".join(dict.fromkeys(result.engine_reason for result in ordered)),
        "seconds": sum(result.seconds for result in ordered),
        "kept": regrets,
        "summed_team_regret": None if summed[0] is None else np.concatenate(summed),
        "counted": None if any(part is None for part in counted) else Diagnostics.joined(counted),
    }


def _read_runs(file: Any, fields: Mapping[str, Any], keep: str) -> dict[str, Any]:
    """Regret of runs x checkpoints, or, where that is too much to hold, its summary, row group by row group."""
    rows, runs = file.metadata.num_rows, int(fields["runs"])
    if not runs or rows % runs:
        raise InvalidInput(f"The file has {rows:,} rows, which {runs:,} runs do not share evenly; it is not whole.")
    columns = rows // runs
    checkpoints = np.array(next(file.iter_batches(columns, columns=["t"]))["t"])
    streams = keep == "summary" or (keep == "auto" and worth_streaming(runs, columns))
    if not streams or not fields["problem"].steady_sight:
        table = file.read(["task_regret", "team_regret"])
        task, team = (np.array(table[name]).reshape(runs, columns) for name in ("task_regret", "team_regret"))
        summed = None if fields["problem"].steady_sight else team
        return {"checkpoints": checkpoints, "kept": task, "summed_team_regret": summed}
    summary, done = StreamedSummary(columns), 0
    for batch in file.iter_batches(columns * max(1, (1 << 20) // columns), columns=["task_regret"]):
        task = np.array(batch["task_regret"]).reshape(-1, columns)
        summary.add(int(fields["first_run"]) + done, task)
        done += len(task)
    return {"checkpoints": checkpoints, "kept": summary}
