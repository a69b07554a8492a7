"""What a simulation of a Markov problem gives back: the bandit's `Result`, of episodes and states."""

from __future__ import annotations

from typing import Any, Self, cast

from cobandit.base.errors import InvalidInput
from cobandit.engine.choice import can_play_fast
from cobandit.engine.result import Result
from cobandit.engine.trajectory import Trajectory
from cobandit.mdp import match
from cobandit.mdp.model import MarkovProblem
from cobandit.mdp.team import Team
from cobandit.mdp.trajectory import MarkovTrajectory


class MarkovResult(Result):
    """A `Result` whose rounds are the steps of all episodes, and whose runs know their states."""

    problem: MarkovProblem  # type: ignore[assignment]  # a Markov problem is no bandit; all else is shared
    team: Team

    def trajectory(self, run: int) -> MarkovTrajectory:
        """Return the steps of one run, played again from the seed (so nothing had to be kept)."""
        return cast(MarkovTrajectory, super().trajectory(run))

    def _played_again(self, number: int) -> Trajectory:
        setting = self.problem, self.team, self.horizon, self.seed, number
        if self.engine == "fast" and can_play_fast():  # both engines play the same steps
            from cobandit.mdp import fast

            return fast.run_trajectory(*setting)
        return match.run_trajectory(*setting)

    @classmethod
    def _of_problem(cls, fields: dict[str, Any]) -> Self:
        if not isinstance(fields["problem"], MarkovProblem):
            raise InvalidInput("This is the result of a bandit, which has no states; cobandit.Result takes it.")
        return cls(**fields)
