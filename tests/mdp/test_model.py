"""Markov problems: checked at the door, solved exactly, by name, from arrays, from TOML, and back from plain data."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from cobandit import Gaussian, InvalidInput, ModelError, TooLarge, UnknownName, mdp
from cobandit.mdp.planning import World

TWO_STATES = """
states = ["hall", "door"]
arms = [2, 2]
steps = 3
observability = [1.0, 0.5]
moves = [
  {state = "hall", action = [0, 0], mean = 0.1, to = {hall = 0.25, door = 0.75}},
  {state = "door", action = [1, 1], mean = 0.8, to = "door"},
]
"""


def instance(problem, seed=0):
    return problem.instance(np.random.default_rng(seed))


@pytest.mark.parametrize("name", mdp.DYNAMICS)
def test_a_problem_of_the_library(name):
    problem = mdp.make_problem(name)
    assert mdp.MarkovProblem.from_dict(json.loads(json.dumps(problem.describe()))) == problem
    drawn = instance(problem)
    assert drawn.values.q.shape == (problem.steps, problem.states, problem.cells)
    assert np.allclose(drawn.world.transitions.sum(axis=-1), 1.0)
    assert (drawn.values.gaps >= 0.0).all()
    assert (drawn.values.gaps.min(axis=2) == 0.0).all()
    assert len(problem.dynamics.state_names()) == problem.states
    assert [len(names) for names in problem.dynamics.arm_names()] == list(problem.arms)


def test_backward_induction_is_the_best_of_all_policies():
    problem = mdp.make_problem("random", states=2, steps=2, concentration=1.0)
    drawn = instance(problem, 5)
    policies = itertools.product(range(4), repeat=4)
    values = [mdp.policy_value(drawn.world, np.reshape(cells, (2, 2)), 2) for cells in policies]
    assert drawn.world.start @ drawn.values.v[0] == pytest.approx(max(values), abs=1e-12)


def test_regret_is_what_an_episode_lost_on_average():
    problem = mdp.make_problem("chain", states=3, steps=4)
    drawn = instance(problem, 1)
    cells = np.zeros((4, 3), dtype=int)
    at, lost = drawn.world.start, 0.0
    for h in range(4):
        lost += at @ drawn.values.gaps[h, np.arange(3), cells[h]]
        at = at @ drawn.world.transitions[np.arange(3), cells[h]]
    best = drawn.world.start @ drawn.values.v[0]
    assert lost == pytest.approx(best - mdp.policy_value(drawn.world, cells, 4), abs=1e-12)


def test_burgers_are_stacked_layer_by_layer():
    problem = mdp.make_problem("burger-line", steps=3)
    world = instance(problem).world
    names = problem.dynamics.state_names()
    assert problem.states == 21
    state = 0
    for cell in (1, 2):
        state = int(world.transitions[state, cell].argmax())
    assert names[state] == "bun, patty+lettuce, cheese+tomato"
    assert (world.means[:5] == 0.0).all()
    assert len(np.unique(world.means[5:])) == 64


def test_a_box_moves_only_if_all_push_the_same_way():
    world = instance(mdp.make_problem("box-push", agents=3)).world
    middle = world.transitions[2]
    assert sorted((middle[:, 2] < 1.0).tolist()) == [False] * 6 + [True] * 2


def test_no_draw_falls_behind_the_last_possible_state():
    world = World(np.full((1, 1, 3), [0.1, 0.9 - 1e-12, 0.0]), np.zeros((1, 1)), np.array([1.0, 0.0, 0.0]))
    assert world.next_limits[0, 0].tolist() == [0.1, 1.0, 1.0]


def test_arrays():
    transitions = np.full((2, 2, 3, 2), 0.5)
    means = np.zeros((2, 2, 3))
    problem = mdp.MarkovProblem.of(transitions, means, 4, observability=[1.0, 0.5], start=[0.25, 0.75])
    assert (problem.states, problem.steps, problem.arms, problem.team_factor) == (2, 4, (2, 3), 0.75)
    assert hash(problem) == hash(mdp.MarkovProblem.from_dict(problem.describe()))


def test_toml(tmp_path):
    problem = mdp.parse_problem(TWO_STATES)
    world = instance(problem).world
    assert world.transitions[0, 0].tolist() == [0.25, 0.75]
    assert world.transitions[0, 1].tolist() == [1.0, 0.0]
    assert world.means[1].tolist() == [0.0, 0.0, 0.0, 0.8]
    path = tmp_path / "line.toml"
    path.write_text('problem = "burger-line"\nsteps = 3\nobservability = [1.0, 1.0]\nsd = 0.2\n')
    loaded = mdp.load_problem(path)
    assert loaded.reward == Gaussian(0.2, 0.2)
    assert loaded.states == 21


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("steps = 3", "steps = 0"), "steps"),
        (('to = "door"', 'to = "dor"'), "Did you mean 'door'"),
        (("door = 0.75", "door = 0.7"), "sums to 0.95"),
        (("mean = 0.8", "mean = 1.8"), "ceiling"),
        (("action = [1, 1]", "action = [1, 2]"), "arms"),
        (("arms = [2, 2]", "arms = [2]"), "at least 2 agents|one for each"),
        (('states = ["hall", "door"]', 'states = ["hall", "hall"]'), "own name"),
        (("steps = 3", ""), "'steps'"),
        (("steps = 3", "step = 3"), "Did you mean 'steps'"),
    ],
)
def test_wrong_toml(change, words):
    with pytest.raises(InvalidInput, match=words):
        mdp.parse_problem(TWO_STATES.replace(*change))


def test_refusals():
    fair = np.full((2, 2, 2, 2), 0.5)
    means = np.zeros((2, 2, 2))
    with pytest.raises(InvalidInput, match="shape"):
        mdp.MarkovProblem.of(fair, means[0], 2)
    with pytest.raises(InvalidInput, match="sums to"):
        mdp.MarkovProblem.of(fair * 0.9, means, 2)
    with pytest.raises(InvalidInput, match="chance from 0 to 1"):
        mdp.MarkovProblem.of(np.full_like(fair, np.nan), means, 2)
    with pytest.raises(InvalidInput, match="means"):
        mdp.MarkovProblem.of(fair, means - 1.0, 2)
    with pytest.raises(InvalidInput, match="steps"):
        mdp.MarkovProblem.of(fair, means, 1.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="start"):
        mdp.MarkovProblem.of(fair, means, 2, start=[1.0])
    with pytest.raises(UnknownName, match="Did you mean 'burger-line'"):
        mdp.make_problem("burgerline")
    with pytest.raises(UnknownName, match="Did you mean 'steps'"):
        mdp.make_problem("burger-line", step=3)
    with pytest.raises(InvalidInput, match="from 1 to 4"):
        mdp.make_problem("burger-line", steps=9)
    with pytest.raises(TooLarge, match="transition"):
        mdp.make_problem("random", states=9000, arms=(3, 3))
    with pytest.raises(InvalidInput, match="Dynamics"):
        mdp.MarkovProblem(fair, observation=mdp.make_problem("chain").observation)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="cannot be read"):
        mdp.load_problem("nowhere.toml")
    with pytest.raises(UnknownName, match="part of a Markov problem"):
        mdp.MarkovProblem.from_dict({"dynamcs": {}})


def test_dynamics_of_ones_own_are_looked_at():
    class Broken(mdp.BurgerLine):
        name = "broken"

        def draw(self, rng):
            world = super().draw(rng)
            return World(world.transitions * 0.5, world.means, world.start)

    problem = mdp.MarkovProblem(Broken(), observation=mdp.make_problem("chain").observation)
    with pytest.raises(ModelError, match=r"Broken.draw gave a wrong world.*sums to 0.5"):
        mdp.simulate(problem, mdp.Team.of("naive-ucbvi"), 2, 1, 0)
