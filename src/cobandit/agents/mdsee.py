"""mDSEE (arXiv 2109.03818): agreed phases of exploration, then each agent commits to its private best."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.agents.beliefs import TIES, Memory, best, cell_at
from cobandit.agents.mucb import with_own_arm
from cobandit.base.checks import MOST, one_of, whole


@dataclass
class MDSEE(Agent):
    """Phase k sweeps F(k) = ``sweeps`` * k times over all team actions in row-major order, then commits.

    The commitment is to the own coordinate of the best mean of the own seen rewards, and lasts until the
    number of rounds played reaches the next power of two, where the next phase starts. "Next" is strict: every
    phase commits for at least one round. If actions are hidden, as in its original setting, rewards of sweeps are
    credited to the scheduled team action, and those of commitments to none: no agent knows what the others play.
    """

    name: ClassVar[str] = "mdsee"
    label: ClassVar[str] = "mDSEE"
    paper: ClassVar[str] = "later literature: arXiv 2109.03818"
    needs_each_round: ClassVar[bool] = True
    needs_actions: ClassVar[bool] = False
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.mdsee:mdsee"

    sweeps: int = option(1, "sweeps per phase number: F(k) = sweeps * k", whole(1, MOST))
    ties: str = option("first", "which of equal means wins: " + ", ".join(TIES), one_of(TIES, "tie rule"))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Phase 1 starts with a sweep."""
        super().reset(briefing, rng)
        self._cells = math.prod(briefing.arms)
        self._memory = Memory(briefing.arms)
        self._commitment: int | None = None
        self._start_phase(1)

    def choose(self) -> int:
        """Return the scheduled own arm while sweeping, the private best's own arm afterwards."""
        if self._explored < self._to_explore:
            return self.part_of(self._scheduled())
        if self._commitment is None:
            counts, sums = self._memory.counts, self._memory.sums
            means = np.where(counts > 0, sums / np.maximum(counts, 1), -math.inf)
            self._commitment = self.part_of(best(means, self.ties, self.rng))
        return self._commitment

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Remember the round; a commitment that reaches a power of two starts a new phase."""
        played, sweeping = self.round, self._explored < self._to_explore
        if self.briefing.actions == "observed":
            self._memory.record(team_action, reward)
        elif sweeping:
            self._memory.record(with_own_arm(self._scheduled(), team_action, self.briefing.agent), reward)
        if sweeping:
            self._explored += 1
        elif played & (played - 1) == 0:
            self._start_phase(self._phase + 1)

    def _scheduled(self) -> TeamAction:
        """Return the team action of this round of a sweep."""
        return cell_at(self._explored % self._cells, self.briefing.arms)

    def _start_phase(self, phase: int) -> None:
        self._phase = phase
        self._to_explore = self.sweeps * phase * self._cells
        self._explored = 0
        self._commitment = None
