"""The recorded games: every agent with many options, mixed teams, problems of every kind and size."""

import itertools
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

import cobandit as cb
from cobandit.problem.observation import ObservationName
from tests.regression.kinds import BOTH, FAST, THREADS, Game

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


def _problem(
    arms: tuple[int, ...], sight: ObservationName = "missed", reward: str = "bernoulli", **more: Any
) -> cb.Problem:
    """Random means unless given; levels of sight that differ between the agents unless given."""
    levels = more.pop("levels", [round(1.0 - 0.17 * ((2 * i + 1) % len(arms)), 2) for i in range(len(arms))])
    described: dict[str, Any] = {"noise": levels} if sight == "noisy" else {"observability": levels}
    make = cb.Problem.bernoulli if reward == "bernoulli" else cb.Problem.gaussian
    means = more.pop("means", "random")
    size: dict[str, Any] = {"arms": arms} if isinstance(means, str) else {}
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


def words(options: Mapping[str, Any]) -> str:
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
                    f"{name} ({words(options)}), {label}",
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
                f"{arms} partner-aware-ucb ({words(options)})",
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


def games() -> list[Game]:
    """All of them."""
    return [*_each_option(), *_mixed(), *_small_sizes(), *_in_step(), *_large()]
