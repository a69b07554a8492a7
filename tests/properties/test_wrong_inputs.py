"""Wrong values for every argument of the public functions: errors are our own, never Python's or a library's."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot

import cobandit as cb
from cobandit import mdp

PROBLEM = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
CHAIN = mdp.make_problem("chain")
RESULT = cb.simulate(PROBLEM, "naive-ucb", 20, 2, seed=0, engine="reference")
SIZES: dict[str, Any] = {"horizon": 20, "runs": 2, "seed": 0, "engine": "reference"}
EPISODES: dict[str, Any] = {"episodes": 3, "runs": 2, "seed": 0, "engine": "reference"}

WRONG: tuple[Any, ...] = (
    None, True, -1, 0, 1.5, float("nan"), float("inf"), 10**400, "", "zero", "a\0b", b"bytes", [], ["a"],
    [[1.0], [2.0, 3.0]], {}, {"a": 1}, {1, 2}, (), (None,), object(), cb.NaiveUCB(), np.array("x"),
    np.array([np.nan]), np.zeros((0, 2)), 3 + 4j, RESULT, PROBLEM,
)  # fmt: skip

CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "simulate": (
        cb.simulate,
        {"problem": PROBLEM, "team": "naive-ucb", **SIZES, "threads": 1, "checkpoints": 3, "first_run": 0}
        | {"keep": "runs", "out": None, "progress": None, "diagnose": False},
    ),
    "bernoulli": (
        cb.Problem.bernoulli,
        {"means": [[0.8, 0.4], [0.2, 0.6]], "observability": [1.0, 0.5], "arms": None, "observation": "missed"}
        | {"noise": None, "weights": (), "roles": "observability", "delay": 0},
    ),
    "gaussian": (cb.Problem.gaussian, {"means": [[0.8, 0.4], [0.2, 0.6]], "noise": [0.1, 0.5], "sd": 0.2}),
    "of": (cb.Problem.of, {"means": "random", "reward": cb.Bernoulli(), "observation": "missed"}),
    "from_dict": (cb.Problem.from_dict, {"description": PROBLEM.describe(), "own": ()}),
    "Team": (cb.Team, {"members": ["naive-ucb", "naive-ts"]}),
    "Team.of": (cb.Team.of, {"kind": "naive-ucb", "exploration": 0.5}),
    "Team.from_dict": (cb.Team.from_dict, {"description": {"agent": "naive-ucb"}, "own": ()}),
    "make_agent": (cb.make_agent, {"name": "naive-ucb", "exploration": 0.5}),
    "Partner": (
        cb.Partner,
        {"agent": "naive-ucb", "arms": (2, 2), "seat": 1, "horizon": 9, "observability": (1.0, 0.4)}
        | {"observation": "missed", "noise": None, "roles": "observability", "binary": None, "means": None, "seed": 0},
    ),
    "from_state": (cb.Partner.from_state, {"state": cb.Partner("naive-ucb", (2, 2), 0, 9).state(), "agent": None}),
    "from_log": (
        cb.Partner.from_log,
        {"agent": "naive-ucb", "rounds": [((0, 0), 1.0)], "arms": (2, 2), "seat": 0, "horizon": 9, "seed": 0},
    ),
    "observe": (
        lambda **given: cb.Partner("naive-ucb", (2, 2), 0, 9, seed=0).observe(**given),
        {"team_action": (0, 0), "seen": 1.0},
    ),
    "load": (cb.Result.load, {"path": "runs.parquet", "own": (), "keep": "auto"}),
    "save": (RESULT.save, {"path": "runs.parquet"}),
    "Result.from_dict": (cb.Result.from_dict, {"description": RESULT.describe(), "own": ()}),
    "concat": (cb.Result.concat, {"results": [RESULT]}),
    "trajectory": (RESULT.trajectory, {"run": 0}),
    "of_regret": (RESULT.summary().of_regret, {"regret": "task"}),
    "watch": (RESULT.watch, {"run": 0, "path": "watch.html"}),
    "plot": (RESULT.plot, {"ax": None, "regret": "task", "band": "se", "label": None, "color": "red", "lw": 1.0}),
    "compare_teams": (
        cb.experiments.compare_teams,
        {"problem": PROBLEM, "teams": ["naive-ucb"], **SIZES, "threads": 1, "progress": None, "diagnose": False},
    ),
    "TeamComparison.save": (
        lambda **given: cb.experiments.TeamComparison((RESULT,)).save(**given),
        {"path": "teams.csv", "regret": "task"},
    ),
    "read_manifest": (cb.experiments.read_manifest, {"out": "folder"}),
    "panel": (cb.experiments.panel, {"name": "sim1-left"}),
    "parse_sweep": (cb.experiments.parse_sweep, {"text": "", "where": "the sweep"}),
    "Settings": (cb.experiments.Settings, {"runs": 2, "seed": 0, "horizon": 20, "index": "paper", "chunk_runs": 5}),
    "Job.stored": (cb.experiments.Job.stored, {"folder": "folder"}),
    "bound": (cb.theory.bound, {"problem": PROBLEM, "horizon": 20}),
    "exact_limits": (cb.theory.exact_limits, {"problem": PROBLEM, "horizon": 2}),
    "lai_robbins": (cb.theory.lai_robbins, {"problem": PROBLEM}),
    "one_brain": (cb.theory.one_brain, {"cells": 4, "horizon": 2, "sight": 1.0}),
    "steered_team": (cb.theory.steered_team, {"horizon": 2, "sight": 1.0}),
    "blind_team": (cb.theory.blind_team, {"horizon": 2, "sight": 1.0}),
    "proof_covers": (cb.theory.proof_covers, {"window": 1, "repeat": 1}),
    "mdp.simulate": (mdp.simulate, {"problem": CHAIN, "team": "optimal", **EPISODES, "progress": None, "out": None}),
    "mdp.make_problem": (
        mdp.make_problem,
        {"name": "chain", "observability": [1.0, 0.5], "observation": "missed", "noise": None, "reward": None},
    ),
    "mdp.of": (
        mdp.MarkovProblem.of,
        {"transitions": np.ones((1, 2, 2, 1)), "means": np.full((1, 2, 2), 0.5), "steps": 1, "start": 0},
    ),
    "mdp.load_problem": (mdp.load_problem, {"path": "chain.toml"}),
    "mdp.parse_problem": (mdp.parse_problem, {"text": "", "where": "the text"}),
    "load_design": (cb.studies.load_design, {"name_or_path": "burger"}),
    "parse_design": (cb.studies.parse_design, {"toml": "", "where": "the design"}),
    "draw_comparison": (cb.report.draw_comparison, {"results": [RESULT], "path": "teams.svg", "regret": "task"}),
    "SeatEnv": (
        cb.interop.SeatEnv,
        {"problem": PROBLEM, "team": "naive-ucb", "seat": 0, "horizon": 9, "reward": "seen"},
    ),
    "TeamEnv": (
        cb.interop.TeamEnv, {"problem": PROBLEM, "horizon": 9, "observation": "statistics", "reward": "seen"}
    ),
}  # fmt: skip


def mistakes(name: str) -> Iterator[dict[str, Any]]:
    """Every wrong value for every argument, and some pairs of them, drawn from a seed."""
    _, right = CALLS[name]
    for argument in right:
        for value in WRONG:
            yield right | {argument: value}
    draw = random.Random(name)
    for _ in range(20):
        yield right | {argument: draw.choice(WRONG) for argument in draw.choices(list(right), k=2)}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", CALLS)
def test_wrong_inputs_get_an_error_of_our_own(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    function, right = CALLS[name]
    foreign = []
    for given in mistakes(name):
        changed = {key: value for key, value in given.items() if value is not right[key]}
        try:
            function(**given)
        except cb.CobanditError:
            continue
        except Exception as error:
            foreign.append(f"{str(changed)[:200]}: {type(error).__name__}: {error}")
        finally:
            if name == "plot":
                pyplot.close("all")
    assert not foreign, f"{len(foreign)} foreign exceptions\n" + "\n".join(foreign[:20])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cb.simulate(PROBLEM, "naive-ucb", 20, 2, progress=True), "progress must be a function of"),  # type: ignore[arg-type]
        (lambda: cb.simulate(PROBLEM, "naive-ucb", 20, 2, out="a\0b"), r"path must be the path .*, got 'a\\x00b'\."),
        (lambda: RESULT.save(5), r"path must be the path of a file or folder, got 5\."),  # type: ignore[arg-type]
        (lambda: cb.Result.load(None), r"path must be the path of a file or folder, got None\."),  # type: ignore[arg-type]
        (lambda: RESULT.plot(colr="red"), r"no option of a line called 'colr'\. Did you mean 'color'"),
        (lambda: RESULT.plot(color="rde"), r"options must fit a line of matplotlib, got \{'color': 'rde'\}"),
        (lambda: cb.experiments.compare_teams(PROBLEM, ["nobody"], 20, 2), "There is no agent 'nobody'"),
        (lambda: cb.experiments.compare_teams(PROBLEM, [3], 20, 2), r"teams\[0\] must be a cobandit\.Team"),  # type: ignore[list-item]
        (lambda: cb.Result.concat(["a"]), r"results\[0\] must be a Result, got 'a'\."),  # type: ignore[list-item]
    ],
)  # fmt: skip
def test_messages_name_the_argument_and_the_value(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(cb.InvalidInput, match=message):
        call()


def test_names_are_taken_for_teams() -> None:
    compared = cb.experiments.compare_teams(PROBLEM, ["naive-ucb", cb.NaiveTS, "naive-ucb+naive-ts"], 20, 2)
    assert sorted(compared.labels) == ["naive-ts", "naive-ucb", "naive-ucb + naive-ts"]
