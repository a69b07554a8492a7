"""The reference engine: the plain round loop, for any agent."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.base import Agent, TeamAction
from cobandit.agents.checks import checked_action
from cobandit.agents.team import Team
from cobandit.base.checks import short_repr
from cobandit.base.errors import AgentError, InvalidInput
from cobandit.engine.match import Match
from cobandit.engine.tally import NONE, Counted, make_tally, note_round
from cobandit.engine.trajectory import Trajectory
from cobandit.problem import Problem
from cobandit.problem.labels import original_action

Played = tuple[NDArray[np.float64], Counted | None]


def regret_of(counts: NDArray[np.int64], gaps: NDArray[np.float64]) -> float:
    """Sum of n_a Delta_a in row-major order, term by term, as the compiled kernel adds them."""
    total = 0.0
    for n, gap in zip(counts.ravel().tolist(), gaps.ravel().tolist(), strict=True):
        total += n * gap
    return total


def play_runs(
    problem: Problem,
    team: Team,
    horizon: int,
    seed: int,
    runs: range,
    checkpoints: NDArray[np.int64],
    done: Callable[[int], None],
    team_regrets: NDArray[np.float64] | None = None,
    diagnose: bool = False,
) -> tuple[NDArray[np.float64], Counted | None]:
    """Return the task regret of each run at each checkpoint and, with ``diagnose``, what was counted of every round.

    ``team_regrets``, of the same shape, is filled with the team regret as it adds up round by round: for sight that
    may change, where no one factor makes it of the task regret.
    """
    regrets = np.zeros((len(runs), len(checkpoints)))
    counter = _RoundCounter(problem, horizon, checkpoints, len(runs)) if diagnose else None
    for row, run in enumerate(runs):
        match = Match(problem, team, horizon, seed, run)
        gaps = match.environment.instance.gaps
        counts = np.zeros(problem.arms, dtype=np.int64)
        at = 0
        task_lost = team_lost = 0.0
        for t, (action, outcome) in enumerate(match.rounds(), start=1):
            if counter is not None:
                counter.note(t, match, action)
            counts[action] += 1
            task_lost += outcome.round_regret
            if team_regrets is not None:
                team_lost += problem.team_factor_at(t) * outcome.round_regret
            if t == checkpoints[at]:
                # Counts times gaps is what the compiled kernel adds up; it will do as long as the gaps stay.
                regrets[row, at] = task_lost if problem.means.changes else regret_of(counts, gaps)
                if team_regrets is not None:
                    team_regrets[row, at] = team_lost
                at = min(at + 1, len(checkpoints) - 1)
        done(1)
    return regrets, None if counter is None else counter.counted(regrets.shape)


def play_at_once(
    threads: int, runs: range, play: Callable[[range, Callable[[int], None]], Played], done: Callable[[int], None]
) -> Played:
    """Return what ``play`` gives for all runs; with several threads, runs that wait for answers overlap."""
    if threads == 1:
        return play(runs, done)
    pieces = []
    with ThreadPoolExecutor(threads, "cobandit-run") as pool:
        try:
            for piece in pool.map(lambda run: play(range(run, run + 1), lambda _: None), runs):
                pieces.append(piece)
                done(1)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    regrets = np.concatenate([piece[0] for piece in pieces])
    parts = [piece[1] for piece in pieces if piece[1] is not None]
    if not parts:
        return regrets, None
    overall = np.maximum.reduce([part.overall for part in parts])
    overall[0] = sum(part.overall[0] for part in parts)
    totals = np.sum([part.totals for part in parts], axis=0)
    return regrets, Counted(totals, overall, np.concatenate([part.lost for part in parts]))


class _RoundCounter:
    """Counts every round of some runs for `Diagnostics`."""

    def __init__(self, problem: Problem, horizon: int, checkpoints: NDArray[np.int64], runs: int) -> None:
        self._problem, self._means = problem, [0.0]
        self._tally = make_tally(problem.arms, horizon, checkpoints.tolist(), runs, problem.means.changes, list)

    def note(self, t: int, match: Match, action: TeamAction) -> None:
        """Count the round just played."""
        problem, agents = self._problem, self._problem.agents
        if t == 1 or problem.means.changes:
            self._means = match.environment.means.ravel().tolist()
        aims, predictions = [NONE] * agents, [NONE] * (agents * agents)
        for i, partner in enumerate(match.partners):
            aim = partner.agent.aimed_at
            if aim is not None:
                aims[i] = _cell(aim, problem.arms, partner.agent)
            for j, arm in partner.predictions.items():
                predictions[i * agents + j] = arm
        played = int(np.ravel_multi_index(action, problem.arms))
        labels = match.environment.instance.labels
        own = action if labels is None else original_action(action, labels)
        original = int(np.ravel_multi_index(own, problem.arms))
        best = self._means.index(max(self._means))
        note_round(self._tally, t, played, original, best, self._means, aims, predictions)

    def counted(self, shape: tuple[int, ...]) -> Counted:
        """Return all counts; ``shape`` is runs x checkpoints."""
        tally = self._tally
        lost = np.array(tally.lost_at).reshape(*shape, self._problem.agents + 3)
        totals = np.array(tally.totals, dtype=np.int64).reshape(shape[1], -1)
        return Counted(totals, np.array(tally.overall, dtype=np.int64), lost)


def _cell(aim: TeamAction, arms: tuple[int, ...], agent: Agent) -> int:
    """Return the number of the team action at which an agent says to have aimed."""
    try:
        return int(np.ravel_multi_index(checked_action(aim, arms), arms))
    except InvalidInput:
        raise AgentError(
            f"{agent} aimed at {short_repr(aim)}; aimed_at must be None or a tuple of {len(arms)} arms."
        ) from None


def run_trajectory(problem: Problem, team: Team, horizon: int, seed: int, run: int) -> Trajectory:
    """Return one run with all its rounds."""
    match = Match(problem, team, horizon, seed, run)
    instance = match.environment.instance
    trajectory = Trajectory.of_instance(run, instance, horizon, changing=problem.means.changes)
    for t, (action, outcome) in enumerate(match.rounds()):
        foreseen = [partner.predictions for partner in match.partners]
        trajectory.write_round(t, action, outcome.reward, outcome.seen, outcome.round_regret, foreseen)
    return dataclasses.replace(trajectory, ranks=match.ranks)
