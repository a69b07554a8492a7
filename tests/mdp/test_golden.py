"""Short plays by hand: two steps, one state behind the other, the partner's arms in, own arms out.

A line of two states and H = 2: step 0 is made in state 0, step 1 in state 1 (every action leads on), so that each
(h, s) is visited once an episode. Two arms each; cells are numbered 00, 01, 10, 11.

The index is "paper" with c = .025 and T = 2000, so the bonus of the last step is .616 / sqrt(n). At step 0 there is one
more step behind it, so the bonus is .616 sqrt((1 + Var V + 1/n) / n):

    n                     1      2
    last step           .616   .436
    step 0, Var V = 0   .872   .534
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cobandit import AgentError, mdp

BRIEF: dict[str, Any] = {"arms": (2, 2), "ranks": (0, 1), "horizon": 2000, "states": 2, "steps": 2}


class Script:
    """A random stream that gives what it is told."""

    def __init__(self, draws):
        self.draws = list(draws)

    def random(self):
        return self.draws.pop(0)


class Posteriors(Script):
    """A random stream that gives the worlds it is told, and keeps what they were drawn from."""

    def __init__(self, worlds):
        self.rewards = [np.array(rewards) for rewards, _ in worlds]
        self.moves = [np.array(moves, dtype=float) for _, moves in worlds]
        super().__init__([])
        self.drawn_from: list[Any] = []

    def beta(self, successes, failures):
        self.drawn_from.append((successes.tolist(), failures.tolist()))
        return self.rewards.pop(0)

    def standard_gamma(self, shapes):
        self.drawn_from.append(shapes.tolist())
        return self.moves.pop(0)


def play(agent, place, partner, seen, draws):
    """The own arms of an agent in each step, the partner's arms and the seen rewards being given by episode."""
    rng = Script(draws)
    agent.reset(mdp.MarkovBriefing(agent=place, **BRIEF), rng)
    own, values = [], []
    for arms, looks in zip(partner, seen, strict=True):
        agent.plan()
        values.append(agent._q.copy())
        for step in range(2):
            arm = agent.choose(step, step)
            own.append(arm)
            team_action = (arm, arms[step]) if place == 0 else (arms[step], arm)
            agent.observe(team_action, float(looks[step]), step, step, 1)
    assert not rng.draws
    return own, values


def test_leader():
    # episode 1: all untried: 00 at both steps; partner plays 0 and 1: cells 00 and 01, seen 0 and 1
    # episode 2, step 0: 00 tried, the others infinite: the first of them, 01: row 0; step 1: 00 is infinite: row 0
    #   partner 1, 0: cells 01 and 00, seen 0, 0
    # episode 3, step 0: 10 is infinite: row 1; step 1: 10 infinite: row 1
    own, _ = play(
        mdp.PartnerAwareUCBVI(index="paper"),
        0,
        partner=[(0, 1), (1, 0), (0, 0)],
        seen=[(0, 1), (0, 0), (0, 0)],
        draws=[],
    )
    assert own == [0, 0, 0, 0, 1, 1]


def test_follower_backs_up_over_what_it_predicts():
    # The leader plays row 0 at both steps. Predictions take one draw each; the first at each step is of a uniform arm.
    # episode 1: .2 -> row 0 foreseen at step 0: 00, 01 infinite: 0. Step 1: .9 -> row 1: 10, 11 infinite: 0.
    #   cells 00 and 00, seen 0 and 0
    # episode 2, step 1, row 0 foreseen: 00: 0 + .616; 01 infinite: 1. Step 0: 01 infinite: 1.
    #   cells 01 and 01, seen 0 and 1
    # episode 3, step 1, row 0: 00: .616, 01: 1 + .616 -> 1.
    #   V_1(1) = min(1, 1.616) = 1 by row 0 alone. Step 0: 00: 0 + 1 + .872 = 1.872, 01: the same: the first, 0
    own, values = play(
        mdp.PartnerAwareUCBVI(index="paper"),
        1,
        partner=[(0, 0), (0, 0), (0, 0)],
        seen=[(0, 0), (0, 1), (0, 0)],
        draws=[0.2, 0.9, 0.5, 0.5, 0.5, 0.5],
    )
    assert own == [0, 0, 1, 1, 0, 1]
    assert values[2][0, 0, :2] == pytest.approx([1.872, 1.872], abs=1e-3)
    assert values[2][1, 1, :2] == pytest.approx([0.616, 1.616], abs=1e-3)


def test_joint_max_hopes_for_the_other_row():
    # Three episodes in row 0 of the leader, nothing seen: at step 1 row 0 was tried (00 twice, 01 once), row 1 never.
    # predicted: V_1(1) = max(.436, .616) = .616;  joint-max: V_1(1) = min(1, infinite) = 1
    # step 0, cell 00, n = 2: 0 + V + .616 sqrt((1 + 0 + 1/2) / 2) = V + .534
    draws = [0.2, 0.2, *[0.5] * 6]
    plays = {
        kind: play(kind(index="paper"), 1, partner=[(0, 0)] * 4, seen=[(0, 0)] * 4, draws=draws)
        for kind in (mdp.PartnerAwareUCBVI, mdp.JointMaxUCBVI)
    }
    for kind, worth in ((mdp.PartnerAwareUCBVI, 0.616), (mdp.JointMaxUCBVI, 1.0)):
        own, values = plays[kind]
        assert own == [0, 0, 1, 1, 0, 0, 1, 1]
        assert values[3][0, 0, 0] == pytest.approx(worth + 0.534, abs=1e-3)


def test_leader_keeps_an_arm_for_two_visits_of_a_state():
    own, _ = play(mdp.PartnerAwareUCBVI(index="paper", repeat=2), 0, partner=[(0, 0)] * 4, seen=[(0, 0)] * 4, draws=[])
    # step 0: 00 twice; then 01 is infinite: row 0, kept; the partner answers 0 all the time
    assert own == [0] * 8


def test_very_naive_knows_its_own_arms_alone():
    # episode 1: 0, 0. episode 2: 1 is infinite: 1, 1. episode 3, step 1: 0: 1 + .616, 1: 0 + .616 -> 0;
    # V_1(1) = 1; step 0: 0: 0 + 1 + .872, 1: the same -> 0
    own, values = play(
        mdp.VeryNaiveUCBVI(index="paper"), 1, partner=[(0, 0), (1, 0), (1, 1)], seen=[(0, 1), (0, 0), (0, 0)], draws=[]
    )
    assert own == [0, 0, 1, 1, 0, 0]
    assert values[2][0, 0] == pytest.approx([1.872, 1.872], abs=1e-3)


def test_naive_plays_its_part_of_the_best_team_action():
    # episode 2, step 0: 01, 10, 11 infinite: the first, 01: own part 1
    own, _ = play(mdp.NaiveUCBVI(index="paper"), 1, partner=[(0, 0), (0, 0)], seen=[(1, 1), (0, 0)], draws=[])
    assert own == [0, 0, 1, 1]


def test_companion_draws_the_first_episode():
    own, values = play(mdp.NaiveUCBVI(), 0, partner=[(0, 0), (0, 0)], seen=[(0, 1), (0, 0)], draws=[0.6, 0.2])
    # episode 2 is planned at t = 3: scale = sqrt(.05 log 2) = .186. Step 1: 00: 2/3 + .186 = .853; untried: .5 + 186
    # -> 01: row 0. Step 0: 10 was tried; 00 untried: .5 + 1 + 186 -> row 0
    assert own == [1, 0, 0, 0]
    assert values[1][1, 1, 0] == pytest.approx(0.853, abs=1e-3)


def test_a_steered_follower_moves_as_the_leader_has_moved():
    # Slots at each (h, s): free, mine, free, mine ... The leader's rows at step 0: 0 0 1 1 1, at step 1: 1 0 0 1.
    # step 0: in episode 2 (mine) it moved 0 -> 0: stay at 0; episode 3 is free; episode 4 (mine) 1 -> 1: stay.
    # step 1: in episode 2 (mine) it moved 1 -> 0, by -1: arm 1 from episode 3 on; episode 4 (mine) 0 -> 1: back to 0.
    own, _ = _steered([(0, 1), (0, 0), (1, 0), (1, 1), (1, 1)])
    assert own == [(0, 0), (0, 0), (0, 1), (0, 1), (0, 0)]


def _steered(rows):
    agent = mdp.SteeredUCBVI()
    agent.reset(mdp.MarkovBriefing(agent=1, **BRIEF), np.random.default_rng(0))
    own = []
    for arms in rows:
        agent.plan()
        pair = []
        for step in range(2):
            pair.append(agent.choose(step, step))
            agent.observe((arms[step], pair[-1]), 0.0, step, step, 1)
        own.append(tuple(pair))
    return own, agent


# Two drawn worlds for posterior sampling. In the first, state 0 leads to states (0, 1) with chances 1/4 and 3/4 after
# 00, 3/4 and 1/4 after 01, 1/2 and 1/2 after 10, 1 and 0 after 11. In the last step V = (.4, .9), so at step 0
#   00: .1 + .25 (.4) + .75 (.9) = .875;  01: .2 + .3 + .225 = .725;  10: .3 + .65 = .95;  11: .4 + .4 = .8
# The best are 10, and 00 at step 1. In the second, all chances are 1/2 and V = (.6, .7): .65 for all; 11 and 01.
FIRST = ([[0.1, 0.2, 0.3, 0.4], [0.9, 0.1, 0.1, 0.5]], [[[1, 3], [3, 1], [1, 1], [4, 0]], [[0, 1]] * 4])
SECOND = ([[0.5, 0.5, 0.5, 0.6], [0.2, 0.7, 0.1, 0.3]], [[[1, 1]] * 4] * 2)
ONES = [[1.0] * 4] * 2
NO_MOVES = [[[0.5, 0.5]] * 4] * 2


def test_naive_psrl_plays_its_part_in_a_drawn_world():
    # agent 1: 0 of 10 and 0 of 00; the partner plays 0 and 1: cells 00 and 10, seen 0 and 1, both lead to state 1.
    # Then 00 of state 0 has Beta(1, 2), 10 of state 1 has Beta(2, 1), both Dirichlet(.5, 1.5); 1 of 11 and 1 of 01.
    agent, rng = mdp.NaivePSRL(), Posteriors([FIRST, SECOND])
    agent.reset(mdp.MarkovBriefing(agent=1, **BRIEF), rng)  # type: ignore[arg-type]
    own = []
    for rows, looks in (((0, 1), (0.0, 1.0)), ((1, 0), (0.0, 0.0))):
        agent.plan()
        for step in range(2):
            own.append(agent.choose(step, step))
            agent.observe((rows[step], own[-1]), looks[step], step, step, 1)
        if len(own) == 2:
            assert agent._q[0, 0] == pytest.approx([0.875, 0.725, 0.95, 0.8])
    assert own == [0, 0, 1, 1]
    assert rng.drawn_from[:2] == [(ONES, ONES), NO_MOVES]
    assert rng.drawn_from[2] == ([[1, 1, 1, 1], [1, 1, 2, 1]], [[2, 1, 1, 1], [1, 1, 1, 1]])
    assert rng.drawn_from[3] == [[[0.5, 1.5], *[[0.5, 0.5]] * 3], [*[[0.5, 0.5]] * 2, [0.5, 1.5], [0.5, 0.5]]]


@pytest.mark.parametrize(("eyes", "seen"), [("all", 1), ("best", 0)])
def test_centralised_psrl(eyes, seen):
    # 10 and 00, then 11 and 01. At step 1 agent 1 alone saw a reward: with all eyes 00 of state 1 has Beta(2, 1),
    # with the best observer's, agent 0's, Beta(1, 2).
    brain, rng = mdp.CentralisedPSRL(eyes=eyes), Posteriors([FIRST, SECOND])
    brain.reset(mdp.MarkovBriefing(agent=0, best_observer=0, **BRIEF), rng)  # type: ignore[arg-type]
    played = []
    for _ in range(2):
        brain.plan()
        for step in range(2):
            played.append(brain.choose(step, step))
            brain.observe(played[-1], (0.0, float(step)), step, step, 1)
    assert played == [(1, 0), (0, 0), (1, 1), (0, 1)]
    assert rng.drawn_from[2][0][1] == [1 + seen, 1, 1, 1]
    assert rng.drawn_from[2][1] == [[1, 1, 2, 1], [2 - seen, 1, 1, 1]]


@pytest.mark.parametrize(("eyes", "last", "value"), [("all", (1, 0), 1.872), ("best", (0, 0), 1.488)])
def test_centralised_ucbvi(eyes, last, value):
    # Untried cells are infinite: 00, 01, 10, 11 in turn at both steps. Nothing is seen but in 10 at step 1, by agent 1.
    # With all eyes: step 1: 10: 1 + .616, the others .616: V_1(1) = 1; step 0: all 0 + 1 + .872: the first, 00.
    # With the best observer's eyes nothing was seen: step 1: all .616: the first, 00; step 0: all 0 + .616 + .872.
    brain = mdp.CentralisedUCBVI(index="paper", eyes=eyes)
    brain.reset(mdp.MarkovBriefing(agent=0, best_observer=0, **BRIEF), np.random.default_rng(0))
    played = []
    for _ in range(5):
        brain.plan()
        for step in range(2):
            played.append(brain.choose(step, step))
            brain.observe(played[-1], (0.0, float(step == 1 and played[-1] == (1, 0))), step, step, 1)
    assert played[::2] == [(0, 0), (0, 1), (1, 0), (1, 1), (0, 0)]
    assert played[1::2] == [(0, 0), (0, 1), (1, 0), (1, 1), last]
    assert brain._q[0, 0] == pytest.approx([value] * 4, abs=1e-3)


def test_optimal_plays_its_part_of_the_first_best():
    # step 0 in state 0: 01 and 10 are equal: 01. step 1 in state 1: 11.
    values = np.zeros((2, 2, 4))
    values[0, 0] = 0.1, 0.9, 0.9, 0.2
    values[1, 1] = 0.2, 0.1, 0.1, 0.4
    for seat, arms in enumerate([[0, 1], [1, 1]]):
        agent = mdp.OptimalAgent()
        agent.reset(mdp.MarkovBriefing(agent=seat, optimal=values, **BRIEF), np.random.default_rng(0))
        assert [agent.choose(step, step) for step in range(2)] == arms
    with pytest.raises(AgentError, match="does not know the values"):
        mdp.OptimalAgent().reset(mdp.MarkovBriefing(agent=0, **BRIEF), np.random.default_rng(0))
