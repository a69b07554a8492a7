"""Simulations with models of one's own: means that change, regret by the round, sight that changes."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow.parquet as parquet
import pytest

import cobandit as cb
from cobandit.base.streams import Streams
from cobandit.engine.environment import Environment
from cobandit.engine.match import Match
from cobandit.testing import check_agent

FIXED = [[0.8, 0.4], [0.2, 0.6]]
TEAM = cb.Team.of("partner-aware-ucb", window=5)
ORACLES = cb.Team.of("optimal")


@dataclass(frozen=True)
class Walk:
    """Each mean walks at random within [0, 1]."""

    arms: tuple[int, ...] = (2, 2)
    step: float = 0.2

    changes: ClassVar[bool] = True

    def draw(self, t, previous, rng):
        if previous is None:
            return rng.random(self.arms)
        return np.clip(previous + self.step * rng.standard_normal(self.arms), 0.0, 1.0)


@dataclass(frozen=True)
class Turn:
    """The fixed means, upside down from one round on."""

    at: int

    arms: ClassVar[tuple[int, ...]] = (2, 2)
    changes: ClassVar[bool] = True

    def draw(self, t, previous, rng):
        return np.array(FIXED)[::-1] if t >= self.at else np.array(FIXED)


@dataclass(frozen=True)
class Same:
    """The fixed means in another class: of runs of our own in all but name."""

    changes: bool = False

    arms: ClassVar[tuple[int, ...]] = (2, 2)

    def draw(self, t, previous, rng):
        return np.array(FIXED)


class Coin(cb.Bernoulli):
    """Bernoulli rewards in another class."""


class Eyes(cb.Missed):
    """Missed observation in another class."""


@dataclass(frozen=True)
class Tiring(cb.Missed):
    """Sees less and less."""

    def slope(self, t, agent):
        return self.observability[agent] / t

    def see(self, t, agent, reward, rng):
        return reward if rng.random() < self.slope(t, agent) else 0.0


@dataclass(frozen=True)
class Clock:
    """A reward that is the number of the round, and a sight that is the agent and the round."""

    name: ClassVar[str] = "clock"
    binary: ClassVar[bool] = False
    levels: ClassVar[tuple[float, ...]] = (1.0, 1.0)

    def spreads(self, arms, rng):
        return None

    def draw(self, t, mean, spread, rng):
        return t

    def quality(self, agent):
        return 1.0

    def slope(self, t, agent):
        return 1.0

    def see(self, t, agent, reward, rng):
        return 1000 * agent + t


@dataclass
class Listed(cb.Agent):
    """Plays one arm and then the other, by the list."""

    plan: tuple[int, ...] = ()

    def choose(self):
        return self.plan[(self.round - 1) % len(self.plan)]

    def observe(self, team_action, reward):
        pass


@pytest.mark.parametrize("name", ["partner-aware-ucb", "naive-ts", "optimal", "centralised-ucb"])
def test_our_models_in_other_classes_play_the_very_same_rounds(name):
    ours = cb.Problem.bernoulli(FIXED, [1.0, 0.5])
    theirs = cb.Problem.of(Same(), Coin(), Eyes((1.0, 0.5)))
    team = cb.Team.of(name)
    expected = cb.simulate(ours, team, 200, 4, seed=3, engine="fast")
    came = cb.simulate(theirs, team, 200, 4, seed=3)
    assert (expected.engine, came.engine) == ("fast", "reference")
    np.testing.assert_array_equal(came.task_regret, expected.task_regret)
    np.testing.assert_allclose(came.team_regret, expected.team_regret)
    assert came.trajectory(2).same_as(expected.trajectory(2))


def test_means_that_could_change_but_do_not():
    steady = cb.simulate(cb.Problem.bernoulli(Same(), [1.0, 0.5]), TEAM, 150, 3, seed=1)
    drawn = cb.simulate(cb.Problem.bernoulli(Same(changes=True), [1.0, 0.5]), TEAM, 150, 3, seed=1)
    np.testing.assert_allclose(steady.task_regret, drawn.task_regret)
    assert steady.trajectory(0).round_regret is None
    assert drawn.trajectory(0).same_as(drawn.trajectory(0))


def test_models_are_told_the_round():
    problem = cb.Problem.of(FIXED, Clock(), Clock())
    played = cb.simulate(problem, TEAM, 4, 1, seed=0).trajectory(0)
    assert played.rewards.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert played.seen.tolist() == [[1.0, 1001.0], [2.0, 1002.0], [3.0, 1003.0], [4.0, 1004.0]]


def test_the_round_and_the_means_before_reach_the_means() -> None:
    calls = []

    @dataclass(frozen=True)
    class Noted:
        changes: ClassVar[bool] = True
        arms: ClassVar[tuple[int, ...]] = (2, 2)

        def draw(self, t, previous, rng):
            calls.append((t, None if previous is None else previous.tolist()))
            return np.full((2, 2), t / 10)

    cb.simulate(cb.Problem.bernoulli(Noted()), TEAM, 3, 1, seed=0)
    assert calls == [(1, None), (2, [[0.1, 0.1], [0.1, 0.1]]), (3, [[0.2, 0.2], [0.2, 0.2]])]


def test_regret_is_counted_by_the_means_of_the_round():
    """Arms (0, 0) always: .8 is best and played; from round 4 on .8 is at (1, 0) and (0, 0) pays .2."""
    problem = cb.Problem.bernoulli(Turn(at=4), [1.0, 0.5])
    result = cb.simulate(problem, cb.Team.of(Listed(plan=(0,))), 6, 2, seed=0, checkpoints=[3, 4, 6])
    np.testing.assert_allclose(result.task_regret, [[0.0, 0.6, 1.8]] * 2)
    np.testing.assert_allclose(result.team_regret, [[0.0, 0.45, 1.35]] * 2)
    played = result.trajectory(1)
    assert played.round_regret is not None
    np.testing.assert_allclose(played.round_regret, [0, 0, 0, 0.6, 0.6, 0.6])
    np.testing.assert_allclose(played.columns()["task_regret"], [0, 0, 0, 0.6, 1.2, 1.8])
    assert played.means.tolist() == FIXED
    assert list(played.columns()) == ["run", "t", "arm_0", "arm_1", "reward", "seen_0", "seen_1", "task_regret"]


def test_trajectories_and_results_agree_while_the_means_walk():
    result = cb.simulate(cb.Problem.bernoulli(Walk(), [1.0, 0.5]), TEAM, 80, 3, seed=5)
    for run in range(3):
        played = result.trajectory(run)
        assert played.round_regret is not None
        np.testing.assert_array_equal(played.task_regret[result.checkpoints - 1], result.task_regret[run])
        assert (played.round_regret >= 0.0).all()


def test_two_runs_that_differ_in_regret_alone_are_not_the_same():
    played = cb.simulate(cb.Problem.bernoulli(Walk()), TEAM, 20, 1, seed=5).trajectory(0)
    assert played.round_regret is not None
    other = dataclasses.replace(played, round_regret=played.round_regret + 0.1)
    assert not played.same_as(other)


@pytest.mark.parametrize("means", [Walk(), Walk((2, 3, 2), 0.5), Turn(at=7)])
def test_an_oracle_knows_the_means_of_the_round(means):
    result = cb.simulate(cb.Problem.bernoulli(means), ORACLES, 60, 3, seed=2)
    assert (result.task_regret == 0.0).all()
    assert len(set(map(tuple, result.trajectory(0).actions.tolist()))) > 1


def test_a_joint_oracle_knows_them_too():
    class Seer(cb.Controller):
        oracle = True

        def choose(self):
            best = int(self.briefing.means.argmax())  # type: ignore[union-attr]
            return tuple(int(i) for i in np.unravel_index(best, self.briefing.arms))

        def observe(self, team_action, rewards):
            pass

    result = cb.simulate(cb.Problem.bernoulli(Walk()), cb.Team.of(Seer()), 60, 2, seed=2)
    assert (result.task_regret == 0.0).all()


def test_what_an_oracle_does_to_its_means_is_its_own_affair():
    class Vandal(cb.Optimal):
        def observe(self, team_action, reward):
            self.briefing.means[:] = 0.0  # type: ignore[index]

    result = cb.simulate(cb.Problem.bernoulli(Walk()), cb.Team([Vandal(), cb.Optimal()]), 30, 1, seed=2)
    assert (result.task_regret == 0.0).all()


def test_an_oracle_keeps_its_contract_while_the_means_change():
    check_agent(cb.Optimal(), problems=[cb.Problem.bernoulli(Walk(), [1.0, 0.5])], horizon=20)


def test_nobody_else_is_told_the_means():
    match = Match(cb.Problem.bernoulli(Walk()), TEAM, 5, 0, 0)
    for _ in match.rounds():
        assert [partner.briefing.means for partner in match.partners] == [None, None]


def test_all_teams_meet_the_same_means_and_the_same_luck():
    problem = cb.Problem.of(Walk(), cb.Bernoulli(), Tiring((1.0, 1.0)))
    seen = {}
    for arm in (0, 1):
        environment = Environment(problem, Streams.of(7, 0, 2))
        draws = []
        for _ in range(30):
            environment.begin_round()
            draws.append(environment.means.tolist())
            environment.step((arm, arm))
        seen[arm] = draws, [rng.random() for rng in (environment._streams.rewards, *environment._streams.observations)]
    assert seen[0] == seen[1]


def test_a_round_begins_once_whoever_begins_it():
    problem = cb.Problem.bernoulli(Walk())
    begun, alone = (Environment(problem, Streams.of(7, 0, 2)) for _ in range(2))
    assert not begun.begin_round()  # the means of round 1 are there
    for _ in range(5):
        begun.begin_round()
        assert not begun.begin_round()
        assert begun.step((0, 1)) == alone.step((0, 1))
    assert begun.round == alone.round == 6
    steady = Environment(cb.Problem.bernoulli(FIXED), Streams.of(7, 0, 2))
    steady.step((0, 0))
    assert not steady.begin_round()


def test_team_regret_goes_by_the_sight_of_the_round():
    """Gap .6 in each round; slopes (1, .5) / t, so the factor is .75 / t."""
    problem = cb.Problem.bernoulli(FIXED, observation=Tiring((1.0, 0.5)))
    result = cb.simulate(problem, cb.Team([Listed(plan=(1,)), Listed(plan=(0,))]), 3, 2, seed=0, checkpoints=3)
    np.testing.assert_allclose(result.task_regret, [[0.6, 1.2, 1.8]] * 2)
    np.testing.assert_allclose(result.team_regret[0], np.cumsum(0.6 * 0.75 / np.array([1, 2, 3])))
    assert result.summary().team_regret.mean[0] == pytest.approx(0.45)


def test_only_the_reference_engine_plays_them():
    for problem, name in [
        (cb.Problem.bernoulli(Walk()), "Walk"),
        (cb.Problem.of(FIXED, Coin()), "Coin"),
        (cb.Problem.bernoulli(FIXED, observation=Eyes((1.0, 0.5))), "Eyes"),
    ]:
        assert cb.simulate(problem, TEAM, 10, 1, seed=0).engine == "reference"
        with pytest.raises(cb.InvalidInput, match=rf"cannot play this: .* {name}, which has no compiled form"):
            cb.simulate(problem, TEAM, 10, 1, seed=0, engine="fast")


def test_a_model_that_goes_wrong_in_mid_run():
    @dataclass(frozen=True)
    class Astray(Walk):
        def draw(self, t, previous, rng):
            return np.full(self.arms, 0.5 if t < 4 else 1.5)

    with pytest.raises(cb.ModelError, match=r"Astray.draw gave means in round 4 of which mean\[0, 0\] is 1.5"):
        cb.simulate(cb.Problem.bernoulli(Astray()), TEAM, 10, 1, seed=0)


def test_they_stand_in_the_provenance(tmp_path):
    result = cb.simulate(cb.Problem.bernoulli(Walk(), observation=Tiring((1.0, 0.5))), TEAM, 10, 1, seed=0)
    told = json.loads(json.dumps(result.provenance()))["problem"]
    assert told["means"] == {"class": "Walk", "arms": [2, 2], "step": 0.2}
    assert told["observation"] == {"name": "missed", "class": "Tiring", "observability": [1.0, 0.5]}
    kept = parquet.read_table(result.save(tmp_path / "runs.parquet"))
    np.testing.assert_array_equal(kept["team_regret"].to_numpy(), result.team_regret.ravel())


def test_the_theory_is_not_about_them():
    from cobandit.theory import bound, fact_one, lai_robbins

    problem = cb.Problem.bernoulli(FIXED, observation=Eyes((1.0, 1.0)))
    with pytest.raises(cb.InvalidInput, match="a model of its own, Eyes; Theorem 1"):
        bound(problem, 100)
    with pytest.raises(cb.InvalidInput, match="a model of its own, Eyes; the lower bound"):
        lai_robbins(problem)
    with pytest.raises(cb.InvalidInput, match="a model of its own, Eyes; Fact 1"):
        fact_one(problem, [[0, 0]], [[1, 0, 0, 0]])
