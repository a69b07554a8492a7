"""What is recorded of a case, and how it is played: a game of a team, a rehearsal, a crowd, a power analysis.

A case is played through the public interface alone but for one function, `compiled_rounds`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import cobandit as cb
from cobandit.analysis import power_analysis
from cobandit.studies import StudyDesign, rehearse, simulate_participants

SHIPPED = ("burger", "casino", "three-by-three")
"""The designs that are recorded as they were: a participant's luck hangs on every word of a design."""

Designs = Mapping[str, StudyDesign]
Ways = tuple[tuple[str, int], ...]

BOTH: Ways = (("fast", 1), ("reference", 1))
FAST: Ways = (("fast", 1),)
THREADS: Ways = (("fast", 1), ("fast", 2))
PLAIN: Ways = (("reference", 1),)


@dataclass(frozen=True)
class Outcome:
    """What came out: arrays that must agree to the last bit, and a few readable numbers for whoever looks for why."""

    arrays: dict[str, Any]
    shown: dict[str, Any]

    def digests(self) -> dict[str, str]:
        """The SHA-256 of each array's shape and bytes, cut to 128 bits."""
        return {name: _digest(array) for name, array in self.arrays.items()}


def _digest(values: Any) -> str:
    array = np.asarray(values)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array)  # one NaN is as good as another
    kind = {"f": "<f8", "i": "<i8", "u": "<u8", "b": "<i8"}[array.dtype.kind]
    return hashlib.sha256(repr(array.shape).encode() + array.astype(kind).tobytes()).hexdigest()[:32]


@dataclass(frozen=True)
class Game:
    """A team on a problem: regret of all runs at some checkpoints, and all rounds of the ``watched`` runs."""

    name: str
    problem: cb.Problem
    team: cb.Team
    horizon: int
    runs: int
    seed: int
    first_run: int = 0
    checkpoints: int | tuple[int, ...] = 3
    watched: tuple[int, ...] = (0,)
    ways: Ways = BOTH

    def play(self, engine: str, threads: int) -> Outcome:
        """By `cobandit.simulate`."""
        made = cb.simulate(
            self.problem,
            self.team,
            self.horizon,
            self.runs,
            self.seed,
            engine=engine,  # type: ignore[arg-type]
            threads=threads,
            checkpoints=self.checkpoints,
            first_run=self.first_run,
        )
        arrays: dict[str, Any] = {"task_regret": made.task_regret, "team_regret": made.team_regret}
        shown: dict[str, Any] = {"last_regrets": made.task_regret[:4, -1].tolist()}
        for place in self.watched:
            run = self.first_run + place
            rounds = made.trajectory(run)
            for part in ("means", "ranks", "actions", "rewards", "seen", "predictions"):
                arrays[f"run {run}: {part}"] = getattr(rounds, part)
            shown[f"run {run}: actions"] = _arms(rounds.actions[:20])
        return Outcome(arrays, shown)


@dataclass(frozen=True)
class Rehearsal:
    """One simulated participant of a study, round by round."""

    name: str
    design: StudyDesign
    behaviour: cb.Agent
    seed: int
    order: int
    ways: Ways = BOTH

    def play(self, engine: str, threads: int) -> Outcome:
        """By `cobandit.studies.rehearse`; compiled, the practice is left out."""
        if engine == "fast":
            arrays = compiled_rounds(self.design, self.behaviour, self.seed, self.order)
        else:
            episodes = rehearse(self.design, self.behaviour, self.seed, self.order)
            names = [condition.name for condition in self.design.conditions]
            counted = [episode for episode in episodes if not episode.plan.practice]
            counted.sort(key=lambda episode: (names.index(episode.plan.condition), episode.plan.number))
            arrays = _rounds(counted)
            practised = [episode for episode in episodes if episode.plan.practice]
            arrays |= {f"practice: {part}": array for part, array in _rounds(practised).items()}
        return Outcome(arrays, {"arms": [_arms(arms[:20]) for arms in arrays["arms"]]})


def compiled_rounds(design: StudyDesign, behaviour: cb.Agent, seed: int, order: int) -> dict[str, Any]:
    """The rounds of one participant as the fast engine plays them. The one place here that knows its inside."""
    from cobandit.engine.fast.studies import run_rounds
    from cobandit.studies.crowd import compiled_study, participant_keys

    keys = participant_keys(design, np.array([seed], dtype=np.uint64))
    made = run_rounds(compiled_study(design, [behaviour]), keys[0], seed, order, 0)

    def listed(array: Any) -> Any:  # conditions x episodes become one axis
        return array.reshape(-1, *array.shape[2:])

    foreseen = made.predictions[..., 1, 0]
    return {
        "arms": listed(made.arms),
        "rewards": listed(made.rewards),
        "seen": listed(made.seen),
        "predicted": listed(foreseen),
    }


def _rounds(episodes: Sequence[Any]) -> dict[str, Any]:
    """The columns of some episodes of equal length, their warm starts first."""
    rows = [[*episode.warm_start, *episode.rounds] for episode in episodes]

    def number(value: float | None) -> float:
        return np.nan if value is None else float(value)

    return {
        "arms": np.array([[(r.arms[0], r.arms[1]) for r in row] for row in rows], dtype=np.int64),
        "rewards": np.array([[float(r.reward) for r in row] for row in rows]),
        "seen": np.array([[(number(r.seen[0]), number(r.seen[1])) for r in row] for row in rows]),
        "predicted": np.array(
            [[-1 if r.predictions[1][0] is None else r.predictions[1][0] for r in row] for row in rows], dtype=np.int64
        ),
    }


@dataclass(frozen=True)
class Company:
    """A crowd of simulated participants."""

    name: str
    design: StudyDesign
    behaviours: Any
    participants: int
    seed: int
    checkpoints: int | tuple[int, ...] = 1
    ways: Ways = BOTH

    def play(self, engine: str, threads: int) -> Outcome:
        """By `cobandit.studies.simulate_participants`."""
        made = simulate_participants(
            self.design,
            self.behaviours,
            self.participants,
            self.seed,
            engine=engine,  # type: ignore[arg-type]
            threads=threads,
            checkpoints=self.checkpoints,
        )
        parts = ("seeds", "orders", "kinds", "checkpoints", "regret_curves", "good")
        return Outcome(
            {part: getattr(made, part) for part in parts},
            {"regrets": made.task_regret[:3].reshape(-1)[:8].tolist(), "good": made.good[:3].reshape(-1)[:8].tolist()},
        )


@dataclass(frozen=True)
class Power:
    """A small power analysis."""

    name: str
    design: StudyDesign
    behaviours: Any
    sizes: tuple[int, ...]
    simulations: int
    seed: int
    ways: Ways = THREADS

    def play(self, engine: str, threads: int) -> Outcome:
        """By `cobandit.analysis.power_analysis`."""
        made = power_analysis(
            self.design,
            self.behaviours,
            self.sizes,
            self.simulations,
            self.seed,
            engine=engine,  # type: ignore[arg-type]
            threads=threads,
        )
        points = {curve.hypothesis.id: [point.to_dict() for point in curve.points] for curve in made.curves}
        text = np.frombuffer(json.dumps(points, sort_keys=True).encode(), dtype=np.uint8)
        shown = {name: [[point["power"], point["effect_d_z"]] for point in row] for name, row in points.items()}
        return Outcome({"points": text}, {"power and d_z": shown})


Case = Game | Rehearsal | Company | Power


def _arms(actions: Any) -> str:
    """Rounds as a short text: the arms of a round joined by a dot."""
    return " ".join(".".join(str(int(arm)) for arm in row) for row in actions)
