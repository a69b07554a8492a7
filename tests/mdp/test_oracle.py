"""What the agents choose, judged step by step by an implementation that shares nothing with theirs."""

from __future__ import annotations

import numpy as np
import pytest

from cobandit import mdp
from cobandit.mdp.match import MarkovMatch
from tests.mdp.oracle import Oracle, Past, regret_of

EPISODES = 60
TEAMS = {
    "naive": "naive-ucbvi",
    "very naive": "very-naive-ucbvi",
    "partner-aware": "partner-aware-ucbvi",
    "joint-max": "joint-max-ucbvi",
    "steered": "steered-ucbvi",
}
PROBLEMS = {
    "random": mdp.make_problem("random", states=3, steps=3, arms=(3, 2), concentration=0.6),
    "burger line": mdp.make_problem("burger-line", steps=2),
    "chain": mdp.make_problem("chain", states=2, steps=3),
    "three agents": mdp.make_problem("random", states=2, steps=2, arms=(2, 2, 2), observability=(1.0, 0.7, 0.5)),
}


@pytest.mark.parametrize("algorithm", TEAMS)
def test_choices_and_regret(algorithm):
    judged = 0
    for title, problem in PROBLEMS.items():
        if algorithm == "steered" and problem.agents > 2:
            continue
        match = MarkovMatch(problem, mdp.Team.of(TEAMS[algorithm]), EPISODES * problem.steps, seed=11, run=2)
        oracle = Oracle(algorithm, problem.arms, problem.states, problem.steps, EPISODES)
        world = match.nature.instance.world
        gap = regret_of(world.transitions.tolist(), world.means.tolist(), problem.steps)
        for action, outcome in match.steps():
            place = outcome.step, outcome.state
            if outcome.step == 0:
                oracle.begin_episode()
            if algorithm == "steered" or len(oracle.past) >= problem.steps:  # the companion draws the first episode
                for agent, arm in enumerate(action):
                    expected = oracle.arm(agent, *place, dict(match.players[agent].predictions))
                    assert arm == expected, (title, agent, place, len(oracle.past))
                    judged += 1
            cell = int(np.ravel_multi_index(action, problem.arms))
            assert outcome.round_regret == pytest.approx(gap(*place, cell), abs=1e-12)
            seen = tuple(float(look) for look in outcome.seen if look is not None)
            oracle.past.append(Past(*place, action, seen, outcome.next_state))
    assert judged > 800
