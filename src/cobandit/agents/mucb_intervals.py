"""mUCB-Intervals (arXiv 2311.06210): elimination by a visible deviation from an agreed schedule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.agents.beliefs import Memory
from cobandit.base.checks import real


@dataclass
class MUCBIntervals(Agent):
    """All agents cycle through the active team actions in row-major order.

    An agent whose interval for the scheduled action is completely below its interval for another active one plays a
    different arm instead; all agents see this, and the scheduled action is dropped. The last active action is never
    dropped. An agent with a single arm cannot give this signal. An interval is the mean of the agent's own seen rewards
    +- sqrt(c log(1/delta) / n) with delta = 1/T^2.
    """

    name: ClassVar[str] = "mucb-intervals"
    label: ClassVar[str] = "mUCB-Intervals"
    paper: ClassVar[str] = "later literature: arXiv 2311.06210"
    needs_each_round: ClassVar[bool] = True
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.mucb_intervals:mucb_intervals"

    exploration: float = option(0.5, "c of the interval's half-width sqrt(c log(1/delta) / n)", real(0.0))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start with all team actions active and the schedule at the first."""
        super().reset(briefing, rng)
        self._memory = Memory((math.prod(briefing.arms),))
        self._active = np.ones(math.prod(briefing.arms), dtype=bool)
        self._scheduled = 0
        self._scale = math.sqrt(2.0 * self.exploration * math.log(briefing.horizon))

    def choose(self) -> int:
        """Return the scheduled own arm, or the next one of the own arms as the sign that it should go."""
        me = self.briefing
        arm = self.part_of(tuple(int(own) for own in np.unravel_index(self._scheduled, me.arms)))
        if self._beaten():
            self._aim = None
            return (arm + 1) % me.own_arms
        return arm

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Drop the scheduled action if anybody deviated; move on to the next active one."""
        played = int(np.ravel_multi_index(team_action, self.briefing.arms))
        self._memory.record(played, reward)
        if played != self._scheduled and self._active.sum() > 1:
            self._active[self._scheduled] = False
        following = (self._scheduled + 1 + np.arange(self._active.size)) % self._active.size
        self._scheduled = int(following[self._active[following].argmax()])

    def _beaten(self) -> bool:
        counts, sums = self._memory.counts, self._memory.sums
        if counts[self._scheduled] == 0:
            return False
        known = self._active & (counts > 0)
        half_width = self._scale * (1.0 / np.sqrt(counts[known]))
        lower = sums[known] / counts[known] - half_width
        mine = self._scheduled
        upper = sums[mine] / counts[mine] + self._scale * (1.0 / np.sqrt(counts[mine]))
        return bool(upper < lower.max())
