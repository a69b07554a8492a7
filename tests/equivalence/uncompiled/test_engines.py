"""The fast engine's kinds play the reference engine's very trajectories: every agent, every model, any mix of them."""

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cobandit as cb
from cobandit.engine import fast, reference
from cobandit.engine.fast import lockstep
from cobandit.engine.fast.game import make_game
from cobandit.problem.observation import ObservationName
from tests.agent_table import COMPILED as CASES
from tests.agent_table import OPTIONS, label
from tests.equivalence.comparing import assert_same_counts

HORIZON = 90

SIGHTS: tuple[ObservationName, ...] = ("missed", "missed-known", "flipped", "noisy")
ARMS = ((2, 2), (3, 2), (2, 4), (2, 3, 2), (3, 1, 2), (2, 2, 2, 2), (1, 2, 3, 2))


def a_problem(
    arms: tuple[int, ...], sight: ObservationName, reward: str = "bernoulli", roles="observability"
) -> cb.Problem:
    levels = [round(1.0 - 0.17 * ((2 * i + 1) % len(arms)), 2) for i in range(len(arms))]
    described: dict[str, Any] = {"noise": levels} if sight == "noisy" else {"observability": levels}
    make = cb.Problem.bernoulli if reward == "bernoulli" else cb.Problem.gaussian
    return make("random", arms=arms, observation=sight, roles=roles, **described)


def assert_same(problem: cb.Problem, team: cb.Team, horizon: int, seed: int, run: int) -> None:
    obstacle = fast.obstacle(problem, team, horizon)
    if obstacle is not None:
        assert "softmax" in team.label
        assert not problem.binary
        return
    plain = reference.run_trajectory(problem, team, horizon, seed, run)
    quick = fast.run_trajectory(problem, team, horizon, seed, run)
    assert plain.ranks == quick.ranks
    np.testing.assert_array_equal(plain.means, quick.means)
    np.testing.assert_array_equal(plain.actions, quick.actions)
    np.testing.assert_array_equal(plain.rewards, quick.rewards)
    np.testing.assert_array_equal(plain.seen, quick.seen)
    np.testing.assert_array_equal(plain.predictions, quick.predictions)
    np.testing.assert_array_equal(plain.task_regret, quick.task_regret)


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda value: str(value))
def test_what_went_on_is_counted_alike(name: str, options: dict) -> None:
    """Aims, predictions and all that follows from them."""
    team, points = cb.Team.of(name, **options), np.array([1, 4, 40])
    for arms in ((2, 2), (2, 3, 2)):
        problem = a_problem(arms, "missed")
        game, setting = make_game(problem, team, 40), (5, range(2, 5), points)
        plain = reference.play_runs(problem, team, 40, *setting, lambda more: None, diagnose=True)
        for kernel in ["general"] + ["lockstep"] * lockstep.can_play(game):
            quick = fast.play_runs(game, *setting, 1, lambda more: None, kernel, diagnose=True)
            assert_same_counts(plain, quick)


def test_every_registered_agent_is_covered() -> None:
    assert set(OPTIONS) == set(cb.AGENTS)


@pytest.mark.parametrize("place", range(len(CASES)), ids=[label(case) for case in CASES])
def test_each_agent_under_each_observation_model(place: int) -> None:
    """Each meets every sight and every shape; every pair of the two is met by many."""
    name, options = CASES[place]
    team = cb.Team.of(name, **options)
    for step in range(2 * len(SIGHTS)):
        number = (place + step) % len(ARMS)
        reward = "gaussian" if number % 2 else "bernoulli"
        assert_same(a_problem(ARMS[number], SIGHTS[step // 2], reward), team, HORIZON, seed=number, run=2)


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda value: str(value))
def test_each_role_rule(name: str, options: dict) -> None:
    for run, roles in enumerate(["random", (1, 0), "random", (0, 1)]):
        assert_same(a_problem((3, 4), "missed", roles=roles), cb.Team.of(name, **options), HORIZON, 5, run)


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda value: str(value))
def test_told_late_while_means_drift(name: str, options: dict) -> None:
    if cb.AGENTS[name].needs_each_round:
        return
    turn = cb.PiecewiseMeans.of([[[0.8, 0.4], [0.2, 0.6]], [[0.1, 0.4], [0.2, 0.9]]], [9])
    late = cb.Problem.bernoulli(turn, [0.9, 0.4], observation="missed-known", delay=3)
    moods = cb.Problem.of(cb.RandomWalkMeans((2, 3), 0.1), cb.CorrelatedGaussian(), "noisy", noise=[0.1, 0.5], delay=1)
    for problem in (late, moods):
        assert_same(problem, cb.Team.of(name, **options), HORIZON, 5, 1)


def test_large_problems_where_the_tournament_decides() -> None:
    team = cb.Team.of("partner-aware-ucb", window=3)
    for arms, levels in (((9, 7), [0.4, 0.9]), ((5, 3, 6), [0.2, 0.9, 0.5])):
        problem = cb.Problem.bernoulli("random", arms=arms, observability=levels)
        assert_same(problem, team, 900, 1, 0)
        assert_same(problem, cb.Team.of("naive-ucb"), 900, 1, 0)


def test_a_single_round_and_a_single_cell() -> None:
    for name, options in CASES:
        assert_same(a_problem((2, 3), "missed"), cb.Team.of(name, **options), 1, 0, 0)
        assert_same(a_problem((1, 1), "noisy", "gaussian"), cb.Team.of(name, **options), 12, 0, 0)


members = st.sampled_from([case for case in CASES if not case[0].startswith("centralised")])


@settings(derandomize=True, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_mix_on_any_problem(data: st.DataObject) -> None:
    arms = data.draw(st.lists(st.integers(1, 5), min_size=2, max_size=4).map(tuple), label="arms")
    sight = data.draw(st.sampled_from(SIGHTS), label="sight")
    reward = data.draw(st.sampled_from(["bernoulli", "gaussian"]), label="reward")
    roles = data.draw(st.sampled_from(["observability", "random"]) | st.permutations(range(len(arms))).map(tuple))
    levels = data.draw(st.lists(st.floats(0, 1), min_size=len(arms), max_size=len(arms)), label="levels")
    described: dict[str, Any] = {"noise": levels} if sight == "noisy" else {"observability": levels}
    make = cb.Problem.bernoulli if reward == "bernoulli" else cb.Problem.gaussian
    problem = make("random", arms=arms, observation=sight, roles=roles, **described)  # type: ignore[arg-type]
    chosen = data.draw(st.lists(members, min_size=len(arms), max_size=len(arms)), label="members")
    agents = [cast("cb.Agent", cb.make_agent(name, **options)) for name, options in chosen]  # no controllers
    team = cb.Team(agents, check_protocol=False)
    seed = data.draw(st.integers(0, 2**80), label="seed")
    assert_same(
        problem, team, data.draw(st.integers(1, 60), label="horizon"), seed, data.draw(st.integers(0, 2**32 - 2))
    )


def test_what_can_be_played_in_lock_step() -> None:
    def steps(problem: cb.Problem, team: cb.Team) -> bool:
        return lockstep.can_play(make_game(problem, team, 100))

    small = cb.Problem.bernoulli(cb.local_optima(2), [1, 0.5])
    large = cb.Problem.bernoulli("random", [1, 0.5], arms=(9, 9))
    aware, companion = cb.Team.of("partner-aware-ucb"), cb.Team.of("partner-aware-ucb", index="companion")
    assert steps(small, aware)
    assert steps(small, companion)
    assert not steps(large, aware)
    assert not steps(small, cb.Team.of("partner-aware-ucb", ties="random"))
    assert not steps(small, cb.Team.of("partner-aware-ts"))
    assert not steps(small, cb.Team([cb.NaiveUCB(), cb.NaiveUCB(index="companion")]))
    assert not steps(cb.Problem.bernoulli(cb.local_optima(2), [1, 0.5], roles="random"), aware)
    assert not steps(cb.Problem.gaussian(cb.local_optima(2), [0.1, 0.5]), aware)
    assert not steps(cb.Problem.bernoulli(cb.local_optima(2), [1, 0.5], observation="missed-known"), aware)


@pytest.mark.parametrize("name", dict(CASES))
def test_regrets_agree_at_every_checkpoint(name: str) -> None:
    problem = a_problem((2, 3), "missed")
    team = cb.Team.of(name)
    points = np.array([1, 2, 50, 64, 100])
    plain, _ = reference.play_runs(problem, team, 100, 9, range(3, 8), points, lambda more: None)
    quick, _ = fast.play_runs(make_game(problem, team, 100), 9, range(3, 8), points, 1, lambda more: None)
    np.testing.assert_array_equal(plain, quick)
