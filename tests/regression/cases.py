"""What is recorded, and how it is played: games of teams, rehearsals and crowds of studies, power analyses.

Every case is a literal or follows from literals by counting, so that it is the same on any machine. A case is played
through the public interface alone but for one function, `compiled_rounds`.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

import cobandit as cb
from cobandit.analysis import power_analysis
from cobandit.studies import StudyDesign, make_behaviour, rehearse, simulate_participants

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
            engine=engine,
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
            engine=engine,
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
            self.design, self.behaviours, self.sizes, self.simulations, self.seed, engine=engine, threads=threads
        )
        points = {curve.hypothesis.id: [point.to_dict() for point in curve.points] for curve in made.curves}
        text = np.frombuffer(json.dumps(points, sort_keys=True).encode(), dtype=np.uint8)
        shown = {name: [[point["power"], point["effect_d_z"]] for point in row] for name, row in points.items()}
        return Outcome({"points": text}, {"power and d_z": shown})


Case = Game | Rehearsal | Company | Power


def _arms(actions: Any) -> str:
    """Rounds as a short text: the arms of a round joined by a dot."""
    return " ".join(".".join(str(int(arm)) for arm in row) for row in actions)


# Teams and problems

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "partner-aware-ucb": [
        {},
        {"window": 1, "repeat": 2},
        {"window": 7, "repeat": 3, "index": "companion"},
        {"window": 3, "index": "anytime"},
        {"index": "anytime", "ties": "random"},
        {"index": "companion", "ties": "random", "window": 2},
        {"ties": "random", "exploration": 0.5},
        {"exploration": 0.0, "ties": "random", "repeat": 4},
        {"window": 10**6, "exploration": 2.0},
        {"repeat": 10**6, "index": "anytime", "exploration": 1.0},
        {"window": 40, "repeat": 5, "index": "companion", "exploration": 0.2},
    ],
    "partner-aware-ts": [
        {},
        {"window": 2, "repeat": 2, "prior_sd": 2.0, "noise_sd": 0.1},
        {"ties": "random", "window": 1},
        {"prior_mean": -1.0, "prior_sd": 0.1, "repeat": 3},
        {"window": 10**6, "noise_sd": 3.0, "prior_mean": 2.0},
    ],
    "naive-ucb": [
        {},
        {"index": "companion", "ties": "random"},
        {"index": "companion", "exploration": 0.3},
        {"index": "anytime"},
        {"index": "anytime", "ties": "random", "exploration": 1.0},
        {"exploration": 0.0},
        {"ties": "random"},
    ],
    "naive-ts": [{}, {"ties": "random", "prior_mean": 0.1}, {"noise_sd": 2.0}, {"prior_sd": 3.0, "prior_mean": -0.5}],
    "very-naive-ucb": [
        {},
        {"index": "companion"},
        {"index": "companion", "ties": "random", "exploration": 0.1},
        {"index": "anytime"},
        {"index": "anytime", "ties": "random"},
        {"ties": "random", "exploration": 0.4},
    ],
    "knowledge-gradient": [
        {},
        {"discount": 0.9},
        {"discount": 0.0},
        {"ties": "random"},
        {"discount": 0.99, "ties": "random", "prior_sd": 2.0},
        {"prior_mean": 0.9, "noise_sd": 0.1},
    ],
    "centralised-ucb": [
        {},
        {"index": "companion"},
        {"index": "companion", "ties": "random"},
        {"index": "anytime"},
        {"index": "anytime", "ties": "random", "exploration": 0.5},
        {"ties": "random"},
    ],
    "centralised-ts": [{}, {"ties": "random"}, {"prior_sd": 2.0, "noise_sd": 0.2, "prior_mean": 0.0}],
    "optimal": [{}],
    "mucb-intervals": [{}, {"exploration": 0.02}, {"exploration": 0.0}],
    "mdsee": [{}, {"sweeps": 2, "ties": "random"}, {"sweeps": 3}, {"ties": "random"}],
}
"""Every registered agent with many options."""

ROWS = [(name, options) for name, rows in OPTIONS.items() for options in rows]


def _problem(arms: tuple[int, ...], sight: str = "missed", reward: str = "bernoulli", **more: Any) -> cb.Problem:
    """Random means unless given; levels of sight that differ between the agents unless given."""
    levels = more.pop("levels", [round(1.0 - 0.17 * ((2 * i + 1) % len(arms)), 2) for i in range(len(arms))])
    described = {"noise": levels} if sight == "noisy" else {"observability": levels}
    make = cb.Problem.bernoulli if reward == "bernoulli" else cb.Problem.gaussian
    means = more.pop("means", "random")
    size = {"arms": arms} if isinstance(means, str) else {}
    return make(means, observation=sight, **size, **described, **more)


def _slope(arms: tuple[int, ...]) -> Any:
    """Fixed means that differ everywhere."""
    cells = np.arange(np.prod(arms)).reshape(arms)
    return ((cells * 7 + 3) % 29) / 29.0


PROBLEMS: list[tuple[str, cb.Problem]] = [
    ("2x2 fixed", _problem((2, 2), means=[[0.8, 0.4], [0.2, 0.6]], levels=[1.0, 0.5])),
    ("2x2 random noisy", _problem((2, 2), "noisy")),
    ("3x2 known", _problem((3, 2), "missed-known", levels=[0.3, 0.9])),
    ("2x4 flipped roles 1,0", _problem((2, 4), "flipped", roles=(1, 0))),
    ("2x2 Gaussian", _problem((2, 2), "noisy", "gaussian", levels=[0.2, 0.0], sd=0.3)),
    ("2x3x2 random roles", _problem((2, 3, 2), roles="random")),
    ("3x4 weights", _problem((3, 4), weights=(0.9, 0.1), levels=[0.4, 1.0])),
    ("2x2x2x2 corners", _problem((2,) * 4, means=cb.two_corners(4), levels=[0.25, 0.5, 0.75, 1.0])),
    ("3x3 Gaussian known", _problem((3, 3), "missed-known", "gaussian", levels=[0.5, 0.8], sd=(0.0, 0.2))),
    ("3x1x2 flipped", _problem((3, 1, 2), "flipped", roles=(2, 0, 1))),
    ("4x4 optima", _problem((4, 4), means=cb.local_optima(4), levels=[0.7, 0.7])),
    ("2x2 Gaussian missed random roles", _problem((2, 2), "missed", "gaussian", roles="random")),
    ("2x2 ties everywhere", _problem((2, 2), means=[[0.5, 0.5], [0.5, 0.5]], levels=[0.0, 1.0])),
    ("1x2x3x2 noisy", _problem((1, 2, 3, 2), "noisy", levels=[0.3, 0.1, 0.0, 1.5], roles=(3, 1, 0, 2))),
    ("2x2 sure rewards", _problem((2, 2), means=[[1.0, 0.0], [0.0, 1.0]], levels=[1.0, 1.0])),
    ("5x3 Gaussian flipped", _problem((5, 3), "flipped", "gaussian", means=_slope((5, 3)) * 4.0 - 2.0, sd=0.1)),
    ("2x2x2 known random roles", _problem((2, 2, 2), "missed-known", roles="random", weights=(1.0, 2.0, 0.0))),
    ("3x2 Gaussian own spreads", _problem((3, 2), "noisy", "gaussian", means=_slope((3, 2)), sd=_slope((3, 2)))),
    ("2x5 roles 0,1", _problem((2, 5), levels=[0.2, 0.9], roles=(0, 1))),
    ("1x1 noisy", _problem((1, 1), "noisy", "gaussian")),
    ("6x6 random", _problem((6, 6))),
    ("2x3x4 flipped", _problem((2, 3, 4), "flipped", levels=[0.9, 0.95, 0.6])),
    ("3x3x2x2 Gaussian noisy", _problem((3, 3, 2, 2), "noisy", "gaussian", roles="random")),
]

SEEDS = (
    0,
    1,
    2**31 - 1,
    2**32 - 1,
    2**32,
    2**32 + 12345,
    2**63,
    2**64 - 1,
    2**64,
    2**64 + 7,
    2**96 + 2**33,
    2**127 + 1,
    2**128 - 1,
    2**128,
    2**128 + 99,
    2**160 + 3,
    2**256 - 1,
    2**521 - 1,
)
"""Around every number of 32-bit words at which a seed is taken in differently."""


def _words(options: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in options.items()) or "as shipped"


def _each_option() -> list[Game]:
    """Every agent with every row of options on two of the problems, in turn."""
    games = []
    for number, (name, options) in enumerate(ROWS):
        for turn in range(2):
            label, problem = PROBLEMS[(3 * number + 10 * turn + number // 7) % len(PROBLEMS)]
            horizon = (60, 97, 33, 128)[(number + turn) % 4]
            games.append(
                Game(
                    f"{name} ({_words(options)}), {label}",
                    problem,
                    cb.Team.of(name, **options),
                    horizon,
                    runs=3,
                    seed=SEEDS[(5 * number + turn) % len(SEEDS)],
                    first_run=(0, 0, 7, 2**31 + 5)[(number + 3 * turn) % 4],
                    checkpoints=(1, 2, horizon // 2, horizon) if turn else 3,
                    watched=(0, 2) if turn else (1,),
                    ways=(("fast", 1), ("fast", 2), ("reference", 1)) if number % 6 == 0 else BOTH,
                )
            )
    return games


def _mixed() -> list[Game]:
    """Teams of several kinds: each place takes the next row of options, joint controllers left out."""
    rows = [row for row in ROWS if not row[0].startswith("centralised")]
    games = []
    for number in range(24):
        label, problem = PROBLEMS[(7 * number + 2) % len(PROBLEMS)]
        chosen = [rows[(5 * number + 13 * place) % len(rows)] for place in range(problem.agents)]
        team = cb.Team([cast("cb.Agent", cb.make_agent(name, **options)) for name, options in chosen])
        games.append(
            Game(
                f"mixed team {number}, {label}",
                problem,
                team,
                horizon=(45, 80, 110)[number % 3],
                runs=4,
                seed=SEEDS[(7 * number + 3) % len(SEEDS)],
                first_run=(0, 1000, 2**32 - 6)[number % 3],
                checkpoints=(1, 10, 44) if number % 2 else 5,
                watched=(0, 3),
            )
        )
    return games


def _small_sizes() -> list[Game]:
    """The shortest horizons, the largest number of a run, many checkpoints."""
    aware, thompson = cb.Team.of("partner-aware-ucb", window=4), cb.Team.of("partner-aware-ts", window=4)
    pair, trio = _problem((2, 2)), _problem((2, 3, 2))
    return [
        Game("one round, aware", trio, aware, 1, 5, 4, checkpoints=1),
        Game("one round, companion", trio, cb.Team.of("partner-aware-ucb", index="companion"), 1, 5, 4, checkpoints=1),
        Game("two rounds, Thompson", trio, thompson, 2, 5, 2**40, checkpoints=(1, 2)),
        Game("two rounds, gradient", pair, cb.Team.of("knowledge-gradient"), 2, 5, 8, checkpoints=(2,)),
        Game("the last run there is", pair, aware, 50, 1, 3, first_run=2**32 - 2),
        Game("every checkpoint", pair, aware, 120, 2, 9, checkpoints=120),
        Game("one checkpoint before the end", pair, thompson, 120, 2, 9, checkpoints=(77,)),
    ]


def _in_step() -> list[Game]:
    """Enough runs and rounds for the kernels that play many runs in step, threads included."""
    aware, flipped = {"window": 25}, _problem((2, 2), "flipped", levels=[0.9, 0.6])
    made: list[tuple[str, cb.Problem, cb.Team, int, int]] = [
        ("2x2 aware", PROBLEMS[0][1], cb.Team.of("partner-aware-ucb", **aware), 2000, 505),
        ("2x2 random means", _problem((2, 2)), cb.Team.of("partner-aware-ucb", window=3, repeat=2), 1000, 1001),
        ("2x2 companion", PROBLEMS[0][1], cb.Team.of("partner-aware-ucb", index="companion"), 5000, 203),
        ("2x2 anytime", PROBLEMS[0][1], cb.Team.of("partner-aware-ucb", index="anytime", window=5), 2500, 401),
        ("2x2 flipped", flipped, cb.Team.of("partner-aware-ucb", exploration=0.3), 2000, 510),
        ("2x2 naive", PROBLEMS[0][1], cb.Team.of("naive-ucb"), 2000, 500),
        ("2x2 naive companion", _problem((2, 2)), cb.Team.of("naive-ucb", index="companion"), 2000, 500),
        ("2x2 just enough runs", PROBLEMS[0][1], cb.Team.of("partner-aware-ucb"), 62_500, 16),
        ("2x2 too few runs", PROBLEMS[0][1], cb.Team.of("partner-aware-ucb"), 70_000, 15),
        ("2x2 ties everywhere", PROBLEMS[12][1], cb.Team.of("partner-aware-ucb", exploration=0.0), 2000, 505),
        ("1x3", _problem((1, 3)), cb.Team.of("partner-aware-ucb", window=1), 4000, 260),
        ("2x4 roles 1,0", PROBLEMS[3][1], cb.Team.of("partner-aware-ucb", index="anytime"), 2000, 505),
        ("2x2x2", _problem((2, 2, 2)), cb.Team.of("partner-aware-ucb", window=9, repeat=3), 2000, 505),
        ("2x2x2x2 corners", PROBLEMS[7][1], cb.Team.of("partner-aware-ucb", **aware), 2000, 505),
        ("3x4", _problem((3, 4)), cb.Team.of("partner-aware-ucb", **aware), 2000, 505),
        ("4x4 companion", PROBLEMS[10][1], cb.Team.of("partner-aware-ucb", index="companion"), 2000, 505),
        (
            "2x2 of two kinds",
            PROBLEMS[0][1],
            cb.Team([cb.NaiveUCB(exploration=0.1), cb.PartnerAwareUCB(window=6, repeat=2)]),
            2000,
            505,
        ),
        (
            "2x2 of two indices",
            PROBLEMS[0][1],
            cb.Team([cb.PartnerAwareUCB(index="anytime"), cb.PartnerAwareUCB(window=6)]),
            2000,
            505,
        ),
        (
            "2x2 with one companion",
            PROBLEMS[0][1],
            cb.Team([cb.NaiveUCB(index="companion"), cb.PartnerAwareUCB(window=6)]),
            2000,
            505,
        ),
        ("6x6", _problem((6, 6)), cb.Team.of("partner-aware-ucb", window=10), 3000, 340),
        ("9x7 roles 1,0", _problem((9, 7), roles=(1, 0)), cb.Team.of("partner-aware-ucb", repeat=2), 4000, 250),
        ("5x3x6 flipped", _problem((5, 3, 6), "flipped"), cb.Team.of("partner-aware-ucb", window=4), 2500, 410),
        ("16x16 naive", _problem((16, 16)), cb.Team.of("naive-ucb"), 5000, 205),
        ("30x30", _problem((30, 30)), cb.Team.of("partner-aware-ucb", **aware), 10_000, 100),
        ("64x64", _problem((64, 64)), cb.Team.of("partner-aware-ucb", **aware), 12_000, 85),
        ("2^6", _problem((2,) * 6), cb.Team.of("partner-aware-ucb", window=5), 2000, 505),
        ("2^6 corners", _problem((2,) * 6, means=cb.two_corners(6)), cb.Team.of("partner-aware-ucb"), 2000, 505),
        ("3^6", _problem((3,) * 6), cb.Team.of("partner-aware-ucb", **aware), 4000, 250),
        ("3^4 random ties", _problem((3,) * 4), cb.Team.of("partner-aware-ucb", ties="random"), 2000, 505),
        ("2x2 Thompson", PROBLEMS[0][1], cb.Team.of("partner-aware-ts"), 2000, 505),
        ("2x2 random roles", _problem((2, 2), roles="random"), cb.Team.of("partner-aware-ucb"), 2000, 505),
    ]
    return [
        Game(
            f"in step: {label}",
            problem,
            team,
            horizon,
            runs,
            SEEDS[(4 * number + 1) % len(SEEDS)],
            first_run=(0, 3, 64)[number % 3],
            checkpoints=(1, 17, horizon // 3, horizon),
            watched=(),
            ways=THREADS if number % 3 == 0 else FAST,
        )
        for number, (label, problem, team, horizon, runs) in enumerate(made)
    ]


def _large() -> list[Game]:
    """Many team actions, where an arg-max is no longer a scan, round by round."""
    games = []
    indices: list[dict[str, Any]] = [{}, {"index": "anytime"}, {"index": "companion"}, {"ties": "random"}]
    for number, (arms, options) in enumerate(
        itertools.product([(30, 30), (12, 9), (5, 3, 6), (3,) * 6, (2,) * 6], indices)
    ):
        games.append(
            Game(
                f"{arms} partner-aware-ucb ({_words(options)})",
                _problem(arms, roles="random" if number % 5 == 3 else "observability"),
                cb.Team.of("partner-aware-ucb", window=6, repeat=1 + number % 2, **options),
                1500 if options.get("ties") != "random" else 400,
                runs=2,
                seed=SEEDS[(2 * number + 1) % len(SEEDS)],
                first_run=number,
                checkpoints=4,
            )
        )
    others = ("partner-aware-ts", "naive-ucb", "knowledge-gradient", "centralised-ucb", "mucb-intervals", "mdsee")
    for number, name in enumerate(others):
        arms = ((30, 30), (3,) * 6)[number % 2]
        games.append(Game(f"{arms} {name}", _problem(arms), cb.Team.of(name), 250, runs=2, seed=number, checkpoints=4))
    for name in ("partner-aware-ucb", "naive-ucb", "centralised-ucb"):
        problem = _problem((20, 17), "noisy", "gaussian")
        games.append(Game(f"(20, 17) Gaussian {name}", problem, cb.Team.of(name), 1200, runs=2, seed=5, checkpoints=4))
    return games


# Studies

PEOPLE: list[tuple[str, dict[str, Any]]] = [
    ("softmax", {}),
    ("softmax", {"memory": 1}),
    ("softmax", {"memory": 32, "temperature": 0.3}),
    ("softmax", {"memory": 33, "temperature": 0.05}),
    ("softmax", {"memory": 10**6, "temperature": 0.02}),
    ("softmax", {"temperature": 1e-3}),
    ("win-stay-lose-shift", {}),
    ("win-stay-lose-shift", {"slip": 0.0}),
    ("win-stay-lose-shift", {"slip": 1.0}),
    ("epsilon-greedy", {}),
    ("epsilon-greedy", {"epsilon": 0.0}),
    ("epsilon-greedy", {"epsilon": 0.7}),
]
AGENTS_AS_PEOPLE = [row for row in ROWS if not row[0].startswith("centralised")]


def _with_arms(design: StudyDesign, rows: int, columns: int) -> StudyDesign:
    labels = tuple(tuple(f"{side} {arm}" for arm in range(n)) for side, n in (("row", rows), ("column", columns)))
    return replace(design, arms=(rows, columns), task=replace(design.task, arms=labels))


def _with_ais(design: StudyDesign, *rows: tuple[str, dict[str, Any]]) -> StudyDesign:
    first = design.conditions[0]  # like a warm start, it reads its options from a plain dict, hence the casts
    made = [replace(first, name=f"ai-{i}", agent=a, options=cast("Any", o)) for i, (a, o) in enumerate(rows)]
    return replace(design, conditions=tuple(made))


def _short(designs: Designs) -> StudyDesign:
    casino = designs["casino"]
    assert casino.practice is not None
    return replace(casino, rounds=60, episodes=2, practice=replace(casino.practice, rounds=5))


def _rehearsals(designs: Designs) -> list[Rehearsal]:
    """Every person in every shipped study, agents as participants, every agent as the AI and in its warm start."""
    short, burger = _short(designs), designs["burger"]
    assert burger.warm_start is not None
    shipped = [("burger", burger), ("short casino", short), ("three-by-three", designs["three-by-three"])]
    made = []
    for number, (name, options) in enumerate([*PEOPLE, *AGENTS_AS_PEOPLE[::4]]):
        for turn in range(3 if number < len(PEOPLE) else 1):
            label, design = shipped[(number + turn) % 3]
            seed = (number, 2**32 + number, 2**64 - 1 - number)[turn]
            person = make_behaviour(name, **options)
            order = (number + turn) % len(design.orders)
            made.append(Rehearsal(f"{name} ({_words(options)}) in {label}", design, person, seed, order))
    for number, (name, options) in enumerate(AGENTS_AS_PEOPLE[::3]):
        design = replace(
            _with_ais(_with_arms(burger, 2 + number % 3, 2 + number % 2), (name, options), AGENTS_AS_PEOPLE[number]),
            observation=("missed", "missed-known", "flipped")[number % 3],
            observability=((1.0, 0.5), (0.4, 0.9), (0.7, 0.7))[number % 3],
            shared_luck=number % 2 == 0,
            swap_labels=number % 4 < 2,
            warm_start=replace(burger.warm_start, agent=name, options=cast("Any", options), rounds=7 + number),
        )
        person = make_behaviour(*PEOPLE[number % len(PEOPLE)][:1])
        made.append(Rehearsal(f"AI {name} ({_words(options)})", design, person, 2**40 + number, number % 2))
    person = make_behaviour("softmax", memory=40)
    made.append(Rehearsal("softmax in the whole casino", designs["casino"], person, 3, 0, ways=FAST))
    made.append(Rehearsal("a seed of 100 bits", burger, make_behaviour("softmax"), 2**100 + 1, 1, ways=PLAIN))
    return made


def _companies(designs: Designs) -> list[Company]:
    """Crowds of one kind and of several, small ones on both engines."""
    short, burger, three = _short(designs), designs["burger"], designs["three-by-three"]
    everyone = [(make_behaviour(name, **options), 1.0 + i % 3) for i, (name, options) in enumerate(PEOPLE)]
    agents = [(make_behaviour(name, **options), 1.0) for name, options in AGENTS_AS_PEOPLE]
    three_people = [("softmax", 0.5), ("win-stay-lose-shift", 0.3), ("knowledge-gradient", 0.2)]
    fixed = type(short.means).read("means", {"draw": "fixed", "values": [[[0.9, 0.1], [0.3, 0.5]]]})
    all_three: Ways = (("fast", 1), ("fast", 2), ("reference", 1))
    return [
        Company("everyone at the burgers", burger, everyone, 30, 1, checkpoints=20, ways=all_three),
        Company("agents at the burgers", burger, agents, 40, 2**33, checkpoints=20, ways=all_three),
        Company("everyone at the short casino", short, everyone, 8, 2**64 + 1, checkpoints=60, ways=all_three),
        Company("agents at the short casino", short, agents, 12, 4, checkpoints=(1, 7, 59), ways=all_three),
        Company("everyone at three by three", three, everyone, 10, 5, checkpoints=7, ways=all_three),
        Company("agents at three by three", three, agents, 12, 2**128, ways=all_three),
        Company("one participant", burger, "softmax", 1, 0, checkpoints=20),
        Company("a weight of nothing", burger, [("softmax", 0), ("optimal", 2), ("naive-ts", 1)], 12, 8),
        Company("fixed means", replace(short, means=fixed), three_people, 8, 9, checkpoints=60),
        Company("no practice", replace(short, practice=None), three_people, 8, 10, checkpoints=60),
        Company("no warm start", replace(burger, warm_start=None), three_people, 12, 11, checkpoints=20),
        Company("known misses", replace(burger, observation="missed-known"), everyone, 24, 12, checkpoints=20),
        Company("flips", replace(three, observation="flipped"), everyone, 10, 13, checkpoints=5),
        Company("own luck", replace(burger, shared_luck=False, swap_labels=False), three_people, 12, 14),
        Company("four AIs", _with_ais(burger, *AGENTS_AS_PEOPLE[:4]), three_people, 12, 15, checkpoints=20),
        Company("Thompson AIs", _with_ais(short, *AGENTS_AS_PEOPLE[11:14]), three_people, 6, 16, checkpoints=60),
        Company("4x5", _with_arms(burger, 4, 5), three_people, 12, 17, checkpoints=20),
        Company("long memories", short, make_behaviour("softmax", memory=50), 6, 18, checkpoints=60),
        Company("the whole casino", designs["casino"], three_people, 24, 19, checkpoints=10, ways=THREADS),
        Company("many burgers", burger, three_people, 3000, 20, ways=THREADS),
        Company("many at three by three", three, everyone, 600, 21, checkpoints=3, ways=THREADS),
        Company("many agents", burger, agents, 1500, 22, checkpoints=2, ways=THREADS),
    ]


def _powers(designs: Designs) -> list[Power]:
    people = [("softmax", 0.5), ("win-stay-lose-shift", 0.3), ("knowledge-gradient", 0.2)]
    plain: Ways = (("fast", 1), ("fast", 2), ("reference", 1))
    return [
        Power("burger, three kinds", designs["burger"], people, (10, 20, 40), 60, 0),
        Power("burger, epsilon-greedy", designs["burger"], "epsilon-greedy", (12, 58), 40, 2**65),
        Power("burger, tiny", designs["burger"], people, (2, 5), 4, 3, plain),
        Power("short casino", _short(designs), people, (6, 12), 25, 1),
        Power("short casino, agents", _short(designs), "partner-aware-ts", (8,), 20, 2),
        Power("three-by-three", designs["three-by-three"], people, (8, 16), 25, 4),
    ]


def all_cases(designs: Designs) -> list[Case]:
    """Every case, with the shipped designs as they were recorded."""
    return [
        *_each_option(),
        *_mixed(),
        *_small_sizes(),
        *_in_step(),
        *_large(),
        *_rehearsals(designs),
        *_companies(designs),
        *_powers(designs),
    ]
