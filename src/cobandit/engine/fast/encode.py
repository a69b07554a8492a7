"""Problem and team as the arrays and codes that the compiled kernels take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.agents import (
    MDSEE,
    Agent,
    CentralisedTS,
    CentralisedUCB,
    Controller,
    KnowledgeGradient,
    MUCBIntervals,
    NaiveTS,
    NaiveUCB,
    Optimal,
    PartnerAwareTS,
    PartnerAwareUCB,
    Team,
    VeryNaiveUCB,
)
from cobandit.agents.beliefs import COMPANION_FLOOR, INDICES, Posterior, UpperConfidence
from cobandit.engine.fast import codes
from cobandit.engine.fast.random import gamma_steps
from cobandit.problem import Bernoulli, FixedMeans, Gaussian, Problem

KINDS: dict[type[Agent] | type[Controller], int] = {
    PartnerAwareUCB: codes.BLOCK_UCB,
    PartnerAwareTS: codes.BLOCK_TS,
    NaiveUCB: codes.BLOCK_UCB,
    NaiveTS: codes.BLOCK_TS,
    VeryNaiveUCB: codes.OWN_UCB,
    KnowledgeGradient: codes.GRADIENT,
    CentralisedUCB: codes.BLOCK_UCB,
    CentralisedTS: codes.BLOCK_TS,
    Optimal: codes.ORACLE,
    MUCBIntervals: codes.INTERVALS,
    MDSEE: codes.PHASES,
}

SIGHTS = {
    "missed": codes.MISSED,
    "missed-known": codes.MISSED_KNOWN,
    "flipped": codes.FLIPPED,
    "noisy": codes.NOISY,
}

SMALL = 8
"""Up to so many team actions a scan is quicker than a tournament."""

MOST_LANE_CELLS = 16
"""Up to so many (padded) team actions lock-step runs scan; their code is made for each number anew."""

MOST_FOREST_CELLS = 4096
"""Beyond so many (padded) team actions the tournaments of all lanes together outgrow the caches."""

WASTE = 8
"""A tournament pads every agent's arms to a power of two; beyond this factor a scan is kept instead."""


@dataclass(frozen=True)
class Encoded:
    """Everything the kernels need to know, apart from seed and runs."""

    horizon: int
    arms: NDArray[np.int64]
    fixed_means: NDArray[np.float64]
    mean_range: NDArray[np.float64]
    reward_model: int
    fixed_spreads: NDArray[np.float64]
    spread_range: NDArray[np.float64]
    sight: int
    levels: NDArray[np.float64]
    role_rule: int
    ranks: NDArray[np.int64]
    joint: bool
    best_observer: int
    binary: bool
    options: NDArray[np.int64]
    numbers: NDArray[np.float64]
    scales: NDArray[np.float64]
    bonuses: NDArray[np.float64]
    roots: NDArray[np.float64]
    steps: NDArray[np.float64]
    ring_size: int
    leaf_bits: int

    @property
    def padded_cells(self) -> int:
        """The number of team actions with every agent's arms padded to a power of two."""
        return 1 << sum((int(size) - 1).bit_length() for size in self.arms)

    @property
    def kernel(self) -> str:
        """The quickest kernel that can play this: ``lanes``, ``forest`` or, for everything, ``general``."""
        companion = self.options[:, codes.INDEX] == codes.COMPANION
        in_step = (
            not self.joint
            and self.reward_model == codes.BERNOULLI
            and self.sight in (codes.MISSED, codes.FLIPPED)
            and self.role_rule == codes.ROLES_GIVEN
            and bool((self.options[:, codes.KIND] == codes.BLOCK_UCB).all())
            and not self.options[:, codes.RANDOM_TIES].any()
        )
        if in_step and self.padded_cells <= MOST_LANE_CELLS and bool(companion.all() or not companion.any()):
            return "lanes"
        grown = bool((self.options[:, codes.SEARCH] == codes.TOURNAMENT).all())
        if in_step and grown and self.padded_cells <= MOST_FOREST_CELLS:
            return "forest"
        return "general"

    @property
    def arguments(self) -> tuple[Any, ...]:
        """In the order of `kernel.play_runs`, from ``horizon`` on."""
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)


def encode(problem: Problem, team: Team, horizon: int) -> Encoded:
    """The problem and the team for the kernels."""
    players = team.players(problem.agents)
    means, reward = problem.means, problem.reward
    gaussian = reward if isinstance(reward, Gaussian) else Gaussian()
    random_roles = problem.roles == "random"
    leaf_bits = sum((size - 1).bit_length() for size in problem.arms)
    grows = problem.cells > SMALL and (1 << leaf_bits) <= WASTE * problem.cells
    options = np.zeros((len(players), codes.INTS), dtype=np.int64)
    numbers = np.zeros((len(players), codes.FLOATS))
    for i, player in enumerate(players):
        _encode_player(player, options[i], numbers[i], horizon, grows)
    windows = [options[i, codes.WINDOW] for i in range(len(players))]
    return Encoded(
        horizon=horizon,
        arms=np.array(problem.arms, dtype=np.int64),
        fixed_means=np.array(means.values if isinstance(means, FixedMeans) else ()),
        mean_range=np.array([0.0, 0.0] if isinstance(means, FixedMeans) else [means.low, means.high]),
        reward_model=codes.BERNOULLI if isinstance(reward, Bernoulli) else codes.GAUSSIAN,
        fixed_spreads=np.array(gaussian.values or ()),
        spread_range=np.array([gaussian.low, gaussian.high]),
        sight=SIGHTS[problem.observation.name],
        levels=np.array(problem.observation.levels, dtype=np.float64),
        role_rule=codes.ROLES_RANDOM if random_roles else codes.ROLES_GIVEN,
        ranks=np.array(range(problem.agents) if random_roles else problem.known_ranks(), dtype=np.int64),
        joint=team.controller is not None,
        best_observer=problem.best_observer,
        binary=problem.binary,
        options=options,
        numbers=numbers,
        scales=_scales(players, horizon),
        bonuses=_bonuses(players, horizon),
        roots=_roots(horizon),
        steps=gamma_steps(horizon + 1 if (options[:, codes.KIND] == codes.BLOCK_TS).any() else 0),
        ring_size=int(max(1, min(horizon, max(windows)))),
        leaf_bits=leaf_bits if (options[:, codes.SEARCH] == codes.TOURNAMENT).any() else 0,
    )


def _encode_player(
    player: Agent | Controller, ints: NDArray[np.int64], reals: NDArray[np.float64], horizon: int, grows: bool
) -> None:
    ints[codes.KIND] = KINDS[type(player)]
    if isinstance(player, (PartnerAwareUCB, PartnerAwareTS)):
        ints[codes.FORESEES] = 1
        ints[codes.WINDOW] = min(player.window, horizon)
        ints[codes.REPEAT] = min(player.repeat, horizon)
    if isinstance(player, (UpperConfidence, Posterior, MDSEE)):
        ints[codes.RANDOM_TIES] = player.ties == "random"
    if isinstance(player, UpperConfidence):
        ints[codes.INDEX] = INDICES.index(player.index)
        kept = codes.TOURNAMENT if grows and player.ties == "first" else codes.SCAN
        whole = not isinstance(player, VeryNaiveUCB)
        ints[codes.SEARCH] = codes.FRESH if player.index != "paper" else kept if whole else codes.SCAN
    if isinstance(player, Posterior):
        reals[codes.PRIOR_MEAN] = player.prior_mean
        reals[codes.PRIOR_WEIGHT] = 1.0 / (player.prior_sd * player.prior_sd)
        reals[codes.NOISE_WEIGHT] = 1.0 / (player.noise_sd * player.noise_sd)
    if isinstance(player, KnowledgeGradient):
        gamma = player.discount
        reals[codes.REMAINING] = -1.0 if gamma is None else gamma / (1.0 - gamma)
    if isinstance(player, MUCBIntervals):
        reals[codes.SCALE] = math.sqrt(2.0 * player.exploration * math.log(horizon))
    if isinstance(player, MDSEE):
        ints[codes.SWEEPS] = player.sweeps


def _roots(horizon: int) -> NDArray[np.float64]:
    """1 / sqrt(n) for n = 0 .. T, with the companion code's stand-in at 0."""
    return np.asarray(1.0 / np.sqrt(np.maximum(np.arange(horizon + 1), COMPANION_FLOOR)))


def _scales(players: tuple[Agent | Controller, ...], horizon: int) -> NDArray[np.float64]:
    """scale_t of each player for t = 1 .. T where it varies with time; the constant one in column 0."""
    family = [player if isinstance(player, UpperConfidence) else None for player in players]
    varies = any(player is not None and player.index != "paper" for player in family)
    table = np.zeros((len(players), horizon + 1 if varies else 1))
    for i, player in enumerate(family):
        if player is None:
            continue
        if player.index == "paper":
            table[i, 0] = player.scale(horizon, horizon)
        else:
            first = 2 if player.index == "companion" else 1
            table[i, first:] = [player.scale(t, horizon) for t in range(first, horizon + 1)]
    return table


def _bonuses(players: tuple[Agent | Controller, ...], horizon: int) -> NDArray[np.float64]:
    """scale / sqrt(n) for n = 0 .. T of each player with the paper's index; empty where nobody has it."""
    fixed = [p if isinstance(p, UpperConfidence) and p.index == "paper" else None for p in players]
    table = np.zeros((len(players), horizon + 1 if any(fixed) else 0))
    for i, player in enumerate(fixed):
        if player is not None:
            table[i] = player.scale(horizon, horizon) * _roots(horizon)
            table[i, 0] = math.inf
    return table
