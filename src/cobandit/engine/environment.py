"""The world of one run: it takes a team action and answers with the reward and what each agent saw of it."""

from __future__ import annotations

from dataclasses import dataclass

from cobandit.agents.base import TeamAction
from cobandit.base.errors import InvalidInput
from cobandit.base.streams import Streams
from cobandit.problem import Problem
from cobandit.problem.labels import to_agents, to_problem
from cobandit.problem.means import Tensor


@dataclass(frozen=True)
class Outcome:
    """One round's answer: r*_t(a_t), what each agent saw (None: it knows it saw nothing), and mu_* - mu_a."""

    reward: float
    seen: tuple[float | None, ...]
    round_regret: float = 0.0


def run_streams(problem: Problem, seed: int, run: int) -> Streams:
    """Return the random streams of one run of a problem."""
    return Streams.of(seed, run, problem.agents, problem.relabel)


class Environment:
    """Nature for one run of a problem. ``round`` is the round to be played next, ``means`` are its means.

    Team actions, ``means`` and ``instance`` are in the agents' labels where the problem is relabelled.
    """

    def __init__(self, problem: Problem, streams: Streams) -> None:
        self.problem = problem
        self.instance = problem.instance(streams.setup)
        if problem.relabel:
            if streams.labels is None:
                raise InvalidInput(
                    "streams must have labels for a relabelled problem, got None; Streams.of(..., relabel=True)."
                )
            self.instance = self.instance.relabelled(problem.draw_labels(streams.labels))
        self.round = 1
        self._streams = streams
        self._shock: float | None = None
        self._set_means(self.instance.means)

    def begin_round(self) -> bool:
        """Draw the means of the next round before any agent chooses; return whether they are new ones.

        Nothing happens if the means do not change, or are already drawn. `step` begins a round that was not begun.
        """
        if not self.problem.means.changes or self._drawn == self.round:
            return False
        self._set_means(self._next_means())
        return True

    def _next_means(self) -> Tensor:
        """Draw the means of the next round; a model of means sees its own labels only."""
        problem, rng, labels = self.problem, self._streams.setup, self.instance.labels
        if labels is None:
            return problem.draw_means(self.round, self.means, rng)
        return to_agents(problem.draw_means(self.round, to_problem(self.means, labels), rng), labels)

    def step(self, team_action: TeamAction) -> Outcome:
        """Play one round. The number of draws from the reward stream and each observation stream is independent of the
        actions.
        """
        # Draws never depend on the action: two teams, or two conditions, with one seed then face the same luck, and
        # the difference between them has a smaller variance than with independent draws.
        self.begin_round()
        t, problem, spreads = self.round, self.problem, self.instance.spreads
        spread = 0.0 if spreads is None else float(spreads[team_action])
        self._shock = problem.draw_shock(t, self._shock or 0.0, self._streams.rewards)
        if self._shock is not None:
            spread = self._shock
        reward = problem.draw_reward(t, float(self.means[team_action]), spread, self._streams.rewards)
        seen = tuple(problem.see(t, i, reward, rng) for i, rng in enumerate(self._streams.observations))
        self.round += 1
        return Outcome(reward, seen, float(self._best - self.means[team_action]))

    def _set_means(self, means: Tensor) -> None:
        self.means = means
        self._best = means.max()
        self._drawn = self.round
