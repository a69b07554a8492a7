"""Centralised Gittins: one brain for the whole team, by the index of `steered`. What steering is measured against."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Briefing, Controller, TeamAction, option
from cobandit.agents.centralised import fused
from cobandit.agents.gittins import INDICES
from cobandit.agents.steered import best_cell, make_steering, take_in
from cobandit.agents.steering import NOBODY
from cobandit.base.checks import one_of, real


@dataclass
class CentralisedGittins(Controller):
    """Plays the team action with the highest index, with the observations of all agents; no agent needs to be
    steered.
    """

    name: ClassVar[str] = "centralised-gittins"
    label: ClassVar[str] = "Centralised Gittins"
    paper: ClassVar[str] = "beyond the paper: one brain with the index of steered teams"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.centralised_gittins:centralised_gittins"

    index: str = option("gittins-horizon", "index of a team action: " + ", ".join(INDICES), one_of(INDICES))
    exploration: float = option(0.025, "exploration constant c (index ucb only)", real(0.0))
    sight: float = option(1.0, "probability that any agent sees a reward, the prior's bound", real(0.0, 1.0))
    prior_mean: float = option(0.5, "mean of the prior (Gaussian settings only)", real(-1e6, 1e6))
    prior_sd: float = option(0.3, "standard deviation of the prior (Gaussian settings only)", real(1e-6, 1e6))
    noise_sd: float = option(0.35, "assumed noise of a seen reward (Gaussian settings only)", real(1e-6, 1e6))

    stay: ClassVar[int] = 1

    @property
    def leader_sight(self) -> float:
        """What bounds the prior."""
        return self.sight

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start without observations."""
        super().reset(briefing, rng)
        self._steering = make_steering(self, briefing, list)
        self._steering.movers[0] = NOBODY

    def choose(self) -> TeamAction:
        """Return the team action of the highest index."""
        cell = best_cell(self._steering, self.round)
        return tuple(int(arm) for arm in np.unravel_index(cell, self.briefing.arms))

    def observe(self, team_action: TeamAction, rewards: tuple[float | None, ...]) -> None:
        """Remember what anybody saw."""
        look = fused(rewards, self.briefing)
        played = int(np.ravel_multi_index(team_action, self.briefing.arms))
        take_in(self._steering, played, math.nan if look is None else look)
