"""Means that change while a team plays, heavy tails, rewards that hang together, and news that come late."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

import cobandit as cb
from cobandit.base.streams import Streams
from cobandit.engine.environment import Environment
from cobandit.engine.match import Match
from cobandit.engine.words import problem_lines
from cobandit.theory import bound, exact_limits, fact_one

FIRST, SECOND = [[0.8, 0.4], [0.2, 0.6]], [[0.1, 0.4], [0.2, 0.9]]
TURN = cb.PiecewiseMeans.of([FIRST, SECOND, FIRST], [4, 6])
MODELS = {
    "piecewise": cb.Problem.bernoulli(TURN, [1.0, 0.5]),
    "walk": cb.Problem.bernoulli(cb.RandomWalkMeans((2, 3, 2), 0.1), [1.0, 0.5, 0.7]),
    "walk from": cb.Problem.gaussian(cb.RandomWalkMeans.of([[5, 2], [0, 7]], 0.5, -10, 10), [0.1, 0.2]),
    "student": cb.Problem.of(FIRST, cb.StudentT(2.5, 0.1), observability=[1.0, 0.5]),
    "correlated": cb.Problem.of(FIRST, cb.CorrelatedGaussian(0.1, 0.5), observability=[1.0, 0.5]),
    "late": cb.Problem.bernoulli("random", [1.0, 0.5], arms=(2, 3), delay=4),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_problem_comes_back(name):
    problem = MODELS[name]
    assert cb.Problem.from_dict(json.loads(json.dumps(problem.describe()))) == problem
    assert not problem.custom_models


def test_both_engines_play_it_and_a_subclass_is_left_to_the_reference_engine():
    team = cb.Team.of("partner-aware-ucb")
    played = {
        engine: cb.simulate(MODELS["walk"], team, horizon=12, runs=2, seed=3, engine=engine)
        for engine in ("fast", "reference")
    }
    assert np.array_equal(played["fast"].task_regret, played["reference"].task_regret)

    class Tired(cb.RandomWalkMeans):
        pass

    with pytest.raises(cb.InvalidInput, match="the means are Tired, which has no compiled form"):
        cb.simulate(cb.Problem.bernoulli(Tired((2, 2))), team, horizon=12, runs=2, engine="fast")


def test_regret_goes_by_the_means_of_the_round():
    class Stays(cb.Agent):
        def choose(self):
            return 0

        def observe(self, team_action, reward):
            pass

    result = cb.simulate(MODELS["piecewise"], cb.Team([Stays(), Stays()]), horizon=8, runs=1, seed=0)
    assert result.trajectory(0).round_regret == pytest.approx([0, 0, 0, 0.8, 0.8, 0, 0, 0])
    oracle = cb.simulate(MODELS["walk"], cb.Team.of("optimal"), horizon=30, runs=2, seed=0)
    assert not oracle.task_regret.any()


def test_a_walk_goes_by_its_step_and_stays_inside():
    rng = np.random.default_rng(0)
    free = cb.RandomWalkMeans((40, 50), 0.5, -1e6, 1e6, tuple([0.0] * 2_000))
    steps = free.draw(2, free.draw(1, None, rng), rng)
    assert abs(steps.mean()) < 0.05
    assert steps.std() == pytest.approx(0.5, abs=0.03)
    narrow = cb.RandomWalkMeans((2, 2), 3.0, 0.2, 0.7)
    means = narrow.draw(1, None, rng)
    for t in range(2, 200):
        means = narrow.draw(t, means, rng)
        assert means.min() >= 0.2
        assert means.max() <= 0.7
    assert len(set(means.ravel())) == 4  # thrown back, not stuck at a wall
    wall = cb.RandomWalkMeans((2, 2), 0.1, 0.5, 0.5)
    assert (wall.draw(2, wall.draw(1, None, rng), rng) == 0.5).all()


def test_a_walk_is_reflected_at_the_walls():
    class Steps:
        def standard_normal(self, shape):
            return np.array([[0.5, -0.5], [1.5, 0.0]])

    walk = cb.RandomWalkMeans.of([[0.9, 0.2], [0.9, 0.3]], 1.0)
    # 1.4 is 0.4 beyond the wall at 1; -0.3 is 0.3 below 0; 2.4 comes back to 0 and goes on to 0.4
    assert walk.draw(2, walk.draw(1, None, Steps()), Steps()) == pytest.approx(np.array([[0.6, 0.3], [0.4, 0.3]]))  # type: ignore[arg-type]


def shocks(correlation, rounds=4_000, seed=0):
    problem = cb.Problem.of(FIRST, cb.CorrelatedGaussian(0.5, correlation))
    world = Environment(problem, Streams.of(seed, 0, 2))
    return np.array([world.step((t % 2, 0)).reward - FIRST[t % 2][0] for t in range(rounds)])


@pytest.mark.parametrize("correlation", [0.8, 0.0, -0.5])
def test_rewards_hang_together_as_asked(correlation):
    noise = shocks(correlation)
    assert noise.std() == pytest.approx(0.5, abs=0.04)
    assert abs(noise.mean()) < 0.08
    assert np.corrcoef(noise[1:], noise[:-1])[0, 1] == pytest.approx(correlation, abs=0.05)
    assert np.corrcoef(noise[2:], noise[:-2])[0, 1] == pytest.approx(correlation**2, abs=0.06)
    assert np.array_equal(noise[:20], shocks(correlation, 20))


def test_full_correlation_is_one_shock_for_the_whole_run():
    noise = shocks(1.0, 20)
    assert noise == pytest.approx(np.full(20, noise[0]))


def test_heavy_tails_are_heavy_and_have_the_mean():
    rng = np.random.default_rng(0)
    draws = np.array([cb.StudentT(3.0, 0.25).draw(1, 2.0, 0.0, rng) for _ in range(20_000)])
    assert draws.mean() == pytest.approx(2.0, abs=0.02)
    # P(|t_3| > 5.84) = 0.01; of a normal with the same spread it would be 0.0007
    assert np.mean(np.abs(draws - 2.0) > 5.84 * 0.25) == pytest.approx(0.01, abs=0.003)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: cb.PiecewiseMeans.of([FIRST], [3]), "changes_at has 1 rounds; there are 1 phases, so 0 are needed"),
        (lambda: cb.PiecewiseMeans.of([FIRST, SECOND], [1]), r"changes_at\[0\]"),
        (lambda: cb.PiecewiseMeans.of([FIRST, SECOND], 5), "must be a list of rounds"),  # type: ignore[arg-type]
        (lambda: cb.PiecewiseMeans.of([FIRST, SECOND, FIRST], [5, 5]), "rounds in ascending order"),
        (lambda: cb.PiecewiseMeans.of([FIRST, [[1, float("nan")], [0, 0]]], [5]), r"phases\[1\]\[0, 1\] is nan"),
        (lambda: cb.PiecewiseMeans.of(FIRST, [5]), "one matrix for each phase"),
        (lambda: cb.PiecewiseMeans.of([], []), "one matrix for each phase"),
        (lambda: cb.PiecewiseMeans.of([FIRST, [[1, 2]]], [5]), "phases"),
        (lambda: cb.PiecewiseMeans((2, 2), ((0.1, 0.2),), ()), "make 4 team actions"),
        (lambda: cb.Problem.bernoulli(cb.PiecewiseMeans.of([FIRST, [[1, 2], [3, 4]]], [5])), "means holds 4"),
        (lambda: cb.RandomWalkMeans((2, 2), -1), "step"),
        (lambda: cb.RandomWalkMeans((2, 2), float("nan")), "step"),
        (lambda: cb.RandomWalkMeans((2, 2), 0.1, 1, 0), "the highest mean of the walk"),
        (lambda: cb.RandomWalkMeans((2, 2), values=(0.1,)), "4 team actions"),
        (lambda: cb.RandomWalkMeans.of([[0.5, 2], [0, 0]]), r"values\[0, 1\] is 2.0"),
        (lambda: cb.RandomWalkMeans.of(0.5), "arms"),
        (lambda: cb.Problem.bernoulli(cb.RandomWalkMeans((2, 2), high=2.0)), "means holds 2"),
        (lambda: cb.StudentT(1), "would have no mean"),
        (lambda: cb.StudentT("3"), "df"),  # type: ignore[arg-type]
        (lambda: cb.StudentT(3, -1), "scale"),
        (lambda: cb.CorrelatedGaussian(-1), "sd"),
        (lambda: cb.CorrelatedGaussian(1, 1.5), "correlation"),
        (
            lambda: cb.Problem.from_dict({**MODELS["walk"].describe(), "means": {"name": "walks"}}),
            "There is no means model 'walks'",
        ),
    ],
)
def test_bad_models_are_refused_at_the_door(make, said):
    with pytest.raises(cb.InvalidInput, match=said):
        make()


def test_markov_problems_refuse_rewards_with_a_memory():
    with pytest.raises(cb.InvalidInput, match="are for bandits"):
        cb.mdp.MarkovProblem.of(np.ones((1, 2, 2, 1)), [FIRST], 1, reward=cb.CorrelatedGaussian())


def test_a_shock_of_ones_own_is_checked():
    class Old(cb.CorrelatedGaussian):
        def shock(self, rng):  # type: ignore[override]
            return 0.0

    class Wild(cb.CorrelatedGaussian):
        def shock(self, t, previous, rng):
            return float("inf") if t == 3 else 0.0

    with pytest.raises(cb.InvalidInput, match=r"Old.shock takes \(rng\); shock\(t, previous, rng\) is needed"):
        cb.Problem.of(FIRST, Old())
    with pytest.raises(cb.ModelError, match=r"Wild.shock gave inf in round 3"):
        cb.simulate(cb.Problem.of(FIRST, Wild()), cb.Team.of("naive-ucb"), horizon=5, runs=1)


def test_walking_means_have_a_name():
    assert cb.Problem.bernoulli("random-walk", arms=(3, 2)).means == cb.RandomWalkMeans((3, 2))


class Listener(cb.Agent):
    """Plays its arms in turn, and writes down in which round it was told of what."""

    def reset(self, briefing, rng):
        super().reset(briefing, rng)
        self.told_of, self.asked = [], []

    def choose(self):
        self.asked.append(self.round)
        return self.round % self.briefing.own_arms

    def observe(self, team_action, reward):
        self.told_of.append((self.round, team_action, reward))


def test_everybody_is_told_of_a_round_when_the_delay_is_over():
    match = Match(MODELS["late"], cb.Team([Listener(), Listener()]), 7, 5, 0)
    rounds = list(match.rounds())
    for seat, partner in enumerate(match.partners):
        agent = partner.agent
        assert isinstance(agent, Listener)
        assert agent.asked == [1, 2, 3, 4, 5, 6, 7]
        assert agent.told_of == [(t, rounds[t - 5][0], rounds[t - 5][1].seen[seat]) for t in (5, 6, 7)]
        assert agent.round == 8
    prompt = Match(dataclasses.replace(MODELS["late"], delay=0), cb.Team([Listener(), Listener()]), 7, 5, 0)
    assert list(prompt.rounds()) == rounds  # the same luck


def test_a_team_that_never_hears_anything_learns_nothing():
    problem = cb.Problem.bernoulli(FIRST, [1.0, 1.0], delay=30)
    result = cb.simulate(problem, cb.Team.of("naive-ucb"), horizon=30, runs=3, seed=0)
    assert not result.task_regret.any()  # the first of all untried team actions, which happens to be the best
    watched = cb.simulate(problem, cb.Team.of("centralised-ucb", index="companion"), horizon=6, runs=1, seed=0)
    assert watched.trajectory(0).actions[1:].max() == 0


@pytest.mark.parametrize("name", [name for name, kind in cb.AGENTS.items() if kind.needs_each_round])
@pytest.mark.parametrize("engine", ["reference", "fast"])
def test_a_protocol_needs_to_be_told_of_each_round(name, engine):
    with pytest.raises(cb.InvalidInput, match=f"a delay of 4 rounds, but {name} "):
        cb.simulate(MODELS["late"], cb.Team.of(name), horizon=9, runs=1, engine=engine)


@pytest.mark.parametrize("delay", [-1, 1.5, "2", None, float("nan"), 10**6 + 1])
def test_a_bad_delay_is_refused(delay):
    with pytest.raises(cb.InvalidInput, match="delay"):
        cb.Problem.bernoulli(FIRST, delay=delay)


def test_who_cannot_wait_says_so():
    late = cb.Problem.bernoulli(FIRST, [1.0, 0.5], delay=2)
    with pytest.raises(cb.InvalidInput, match="Theorem 1 is about a delay of 0"):
        bound(late, 100)
    with pytest.raises(cb.InvalidInput, match="the exact limits are for a delay of 0"):
        exact_limits(cb.Problem.bernoulli("random", delay=2), 5)
    with pytest.raises(cb.InvalidInput, match="Fact 1 is about a delay of 0"):
        fact_one(cb.Problem.bernoulli(FIRST, delay=2), [[0, 0]], [[1, 1, 1, 1]])
    with pytest.raises(cb.InvalidInput, match="delay must be 0"):
        cb.interop.SeatEnv(late, cb.Team.of("naive-ucb"), 0, 9)
    assert "feedback delayed by 2 rounds" in problem_lines(late)[1]
