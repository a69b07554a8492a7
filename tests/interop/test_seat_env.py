"""One seat of a team as a Gymnasium environment, alone and as many copies at once."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import cobandit as cb
from cobandit.interop import SeatEnv, SeatVectorEnv

PAPER = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])
THREE = cb.Problem.bernoulli("random", [0.9, 0.3, 0.6], arms=(2, 3, 2), observation="missed-known", roles="random")
REALS = cb.Problem.gaussian("random", [0.1, 0.5], arms=(3, 2))
AWARE = cb.Team.of("partner-aware-ucb", window=3)
MIXED = cb.Team([cb.KnowledgeGradient(), cb.PartnerAwareUCB(), cb.PartnerAwareUCB(window=4, ties="random")])


@pytest.mark.filterwarnings("ignore:.*infinity")  # Gaussian rewards have no least and no largest one
@pytest.mark.parametrize("reward", ["seen", "team", "task"])
@pytest.mark.parametrize(("problem", "team", "seat"), [(PAPER, AWARE, 0), (THREE, MIXED, 1), (REALS, AWARE, 1)])
def test_it_passes_the_check_of_gymnasium(problem, team, seat, reward):
    check_env(SeatEnv(problem, team, seat, 20, reward=reward), skip_render_check=True)


def moves_of(rounds: int, copies: int, arms: int) -> np.ndarray:
    return np.random.default_rng(7).integers(0, arms, (rounds, copies))


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize(
    ("problem", "team", "seat"), [(PAPER, AWARE, 0), (PAPER.relabelled(), AWARE, 0), (THREE, MIXED, 1)]
)
def test_copies_play_what_single_ones_play(problem, team, seat, engine):
    """Copy c has the luck of run c: the runs of a lone environment, one after another, over two episodes."""
    rounds, copies = 12, 5
    envs = SeatVectorEnv(problem, team, seat, rounds, copies, engine=engine)
    assert envs.engine == engine
    moves = moves_of(rounds, copies, problem.arms[seat])
    first, _ = envs.reset(seed=11)
    steps = [envs.step(moves[k]) for k in range(rounds)]
    begun = envs.step(moves[0])
    again = envs.step(moves[0])
    assert steps[-1][3].all()
    assert not steps[-2][3].any()
    assert not begun[1].any()
    lone = SeatEnv(problem, team, seat, rounds)
    lone.reset(seed=11)
    for copy in range(2 * copies):
        if copy > 0:
            observation, _ = lone.reset()
            np.testing.assert_array_equal(observation, first[copy % copies])
        if copy >= copies:
            observation, reward, _, _, info = lone.step(int(moves[0, copy - copies]))
            np.testing.assert_array_equal(observation, again[0][copy - copies])
            assert reward == again[1][copy - copies]
            continue
        for k in range(rounds):
            observation, reward, _, truncated, info = lone.step(int(moves[k, copy]))
            np.testing.assert_array_equal(observation, steps[k][0][copy])
            assert reward == pytest.approx(steps[k][1][copy], abs=1e-15)
            assert truncated == steps[k][3][copy]
            np.testing.assert_array_equal(info["arms"], steps[k][4]["arms"][copy])
            assert info["round_regret"] == pytest.approx(steps[k][4]["round_regret"][copy], abs=1e-15)


def test_a_partner_in_the_environment_is_the_one_of_a_simulation():
    """Who plays, in the open seat, what the team's own leader played meets the very rounds of the simulation."""
    trajectory = cb.simulate(REALS, AWARE, 40, runs=1, seed=3, engine="reference").trajectory(0)
    env = SeatEnv(REALS, AWARE, 0, 40)
    env.reset(seed=3)
    for k in range(40):
        _, _, _, _, info = env.step(int(trajectory.actions[k, 0]))
        np.testing.assert_array_equal(info["arms"], trajectory.actions[k])
        assert info["seen"] == trajectory.seen[k, 0]


def test_agents_without_a_compiled_form_play_by_the_reference_engine():
    class Stubborn(cb.PartnerAwareUCB):
        def choose(self) -> int:
            return super().choose()

    envs = SeatVectorEnv(PAPER, cb.Team.of(Stubborn()), 0, 5, 3)
    assert envs.engine == "reference"
    assert "Stubborn has no compiled form" in envs.engine_reason
    envs.reset(seed=0)
    assert envs.step(np.zeros(3, dtype=int))[0].shape == envs.observation_space.shape
    with pytest.raises(cb.InvalidInput, match="Stubborn has no compiled form"):
        SeatVectorEnv(PAPER, cb.Team.of(Stubborn()), 0, 5, 3, engine="fast")


def test_wrappers_of_gymnasium_take_it():
    wrapped = gymnasium.wrappers.RecordEpisodeStatistics(SeatEnv(PAPER, AWARE, 0, 5))
    wrapped.reset(seed=0)
    ended = [wrapped.step(0) for _ in range(5)][-1]
    assert ended[4]["episode"]["l"] == 5
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(SeatVectorEnv(PAPER, AWARE, 0, 5, 4))
    envs.reset(seed=0)
    last = [envs.step(np.zeros(4, dtype=int)) for _ in range(5)][-1]
    assert last[4]["episode"]["l"].tolist() == [5, 5, 5, 5]


def test_refusals_are_clear():
    env: Any = SeatEnv(PAPER, AWARE, 0, 2)
    wrong: Any
    with pytest.raises(cb.InvalidInput, match="never reset"):
        env.step(0)
    env.reset(seed=0)
    for wrong in (2, -1, 0.5, None, "0", np.array([0, 1])):
        with pytest.raises(cb.InvalidInput, match="must be an integer from 0 to 1"):
            env.step(wrong)
    env.step(0)
    env.step(np.int64(1))
    with pytest.raises(cb.InvalidInput, match="ended after its 2 rounds"):
        env.step(0)
    with pytest.raises(cb.InvalidInput, match="one brain for the whole team"):
        SeatEnv(PAPER, cb.Team.of("centralised-ucb"), 0, 5)
    with pytest.raises(cb.InvalidInput, match=r"seat must be .*got 2"):
        SeatEnv(PAPER, AWARE, 2, 5)
    with pytest.raises(cb.InvalidInput, match=r"team must be a cobandit\.Team, .* got 3\."):
        SeatEnv(PAPER, 3, 0, 5)  # type: ignore[arg-type]
    with pytest.raises(cb.InvalidInput, match="3 agents, but the problem has 2"):
        SeatEnv(PAPER, MIXED, 0, 5)
    envs: Any = SeatVectorEnv(PAPER, AWARE, 0, 5, 3, engine="reference")
    with pytest.raises(cb.InvalidInput, match="never reset"):
        envs.step(np.zeros(3, dtype=int))
    with pytest.raises(cb.InvalidInput, match="seed must be one number"):
        envs.reset(seed=[1, 2, 3])
    envs.reset(seed=0)
    for wrong in (np.zeros(2, dtype=int), np.zeros(3), np.full(3, 2), [0, 0, -1], "000"):
        with pytest.raises(cb.InvalidInput, match="an array of 3 integers from 0 to 1"):
            envs.step(wrong)
    with pytest.raises(cb.InvalidInput, match=r"num_envs must be .*got 0"):
        SeatVectorEnv(PAPER, AWARE, 0, 5, 0)
