"""Every agent of Markov problems keeps the contract: reproducible, cloneable, legal arms, nothing left from before."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from cobandit import AgentError, InvalidInput, UnknownName, mdp
from cobandit.mdp.match import MarkovMatch
from tests.mdp.agent_table import CASES, OPTIONS

PROBLEM = mdp.make_problem("random", states=3, steps=2, arms=(2, 3, 2), observability=(1.0, 0.5, 0.7))


def test_every_agent_is_in_the_table():
    assert set(OPTIONS) == set(mdp.AGENTS)


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda part: str(part))
def test_contract(name, options):
    team = mdp.Team.of(name, **options)
    assert mdp.Team.from_dict(team.describe()) == team
    first = mdp.run_trajectory(PROBLEM, team, 24, 3, 0)
    assert first.same_as(mdp.run_trajectory(PROBLEM, pickle.loads(pickle.dumps(team)), 24, 3, 0))
    assert ((first.actions >= 0) & (first.actions < PROBLEM.arms)).all()
    match = MarkovMatch(PROBLEM, team, 24, 3, 0)
    for _ in match.steps():
        pass
    again = MarkovMatch(PROBLEM, team, 24, 3, 0)
    for player, used in zip(again.players, match.players, strict=True):
        used.reset(player.briefing, copy.deepcopy(player.rng))
    again.players = match.players
    assert [action for action, _ in again.steps()] == [tuple(row) for row in first.actions.tolist()]


def test_the_same_luck_for_every_team():
    runs = [mdp.run_trajectory(PROBLEM, mdp.Team.of(name), 24, 3, 0) for name in mdp.AGENTS]
    for run in runs[1:]:
        assert np.array_equal(run.means, runs[0].means)
        assert run.states[0] == runs[0].states[0]
    chain = mdp.make_problem("chain")
    a, b = (MarkovMatch(chain, mdp.Team.of(name), 40, 3, 0) for name in ("naive-ucbvi", "optimal"))
    assert len(list(a.steps())) == len(list(b.steps())) == 40
    streams = ((match.nature._moves, match.nature._streams.rewards) for match in (a, b))
    for mine, theirs in zip(*streams, strict=True):
        assert mine.random() == theirs.random()


def test_the_optimal_team_loses_nothing():
    for name in mdp.DYNAMICS:
        result = mdp.simulate(mdp.make_problem(name), mdp.Team.of("optimal"), 5, 2, 0)
        assert result.task_regret[:, -1].tolist() == [0.0, 0.0]


class Stubborn(mdp.MarkovAgent):
    """Plays an arm of one's choice."""

    def __init__(self, arm=0):
        self.arm = arm

    def choose(self, state, step):
        return self.arm

    def observe(self, team_action, reward, state, step, next_state):
        self.last = team_action, reward, state, step, next_state


def test_an_agent_of_ones_own():
    problem = mdp.make_problem("burger-line")
    team = mdp.Team([mdp.make_agent("partner-aware-ucbvi"), Stubborn(1)])
    run = mdp.run_trajectory(problem, team, 20, 0, 0)
    assert (run.actions[:, 1] == 1).all()
    rows = list(run.rows())
    assert [rows[3][key] for key in ("t", "episode", "step")] == [4, 1, 1]
    assert mdp.simulate(problem, team, 10, 1, 0).engine_reason
    with pytest.raises(AgentError, match="chose 5 in round 1"):
        mdp.run_trajectory(problem, mdp.Team([mdp.make_agent("naive-ucbvi"), Stubborn(5)]), 4, 0, 0)


def test_refusals():
    problem = mdp.make_problem("chain")
    with pytest.raises(UnknownName, match="Did you mean 'naive-ucbvi'"):
        mdp.make_agent("naive-ucbv")
    with pytest.raises(UnknownName, match="Did you mean 'window'"):
        mdp.Team.of("partner-aware-ucbvi", windw=3)
    with pytest.raises(InvalidInput, match="MarkovProblem"):
        mdp.simulate(None, mdp.Team.of("optimal"), 3)  # type: ignore[arg-type]
    import cobandit as cb

    with pytest.raises(InvalidInput, match=r"cobandit\.mdp\.Team"):
        mdp.simulate(problem, cb.Team.of("naive-ucb"), 3)
    with pytest.raises(InvalidInput, match=r"problem must be .*got MarkovProblem"):
        cb.simulate(problem, cb.Team.of("naive-ucb"), 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="must be an agent, its class or its registry name"):
        mdp.Team([cb.make_agent("naive-ucb"), cb.make_agent("naive-ucb")])
    with pytest.raises(InvalidInput, match="episodes"):
        mdp.simulate(problem, mdp.Team.of("optimal"), 0)
    with pytest.raises(InvalidInput, match="3 agents, but the problem has 2"):
        mdp.simulate(problem, mdp.Team([Stubborn(), Stubborn(), Stubborn()]), 3)
    with pytest.raises(InvalidInput, match="MarkovBriefing"):
        Stubborn().reset(cb.Briefing(0, (2, 2), (0, 1), 10), np.random.default_rng(0))
