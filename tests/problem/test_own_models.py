"""Models of one's own: what a problem takes, what it refuses, and what it says of them."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
import pytest

import cobandit as cb
from cobandit.problem.observation import OBSERVATIONS

FIXED = [[0.8, 0.4], [0.2, 0.6]]
NAN = math.nan


@dataclass(frozen=True)
class Drift:
    """A random walk."""

    arms: tuple[int, ...] = (2, 2)
    step: float = 0.1

    changes: ClassVar[bool] = True

    def draw(self, t, previous, rng):
        if previous is None:
            return rng.random(self.arms)
        return previous + self.step * rng.standard_normal(self.arms)


@dataclass(frozen=True)
class Doubled:
    """Twice the mean or nothing."""

    name: ClassVar[str] = "doubled"
    binary: ClassVar[bool] = False

    def spreads(self, arms, rng):
        return None

    def draw(self, t, mean, spread, rng):
        return 2.0 * mean if rng.random() < 0.5 else 0.0


@dataclass(frozen=True)
class Dimmed:
    """Sees a share of the reward."""

    shares: tuple[float, ...] = (1.0, 0.5)

    name: ClassVar[str] = "dimmed"
    binary: ClassVar[bool] = False

    @property
    def levels(self):
        return self.shares

    def quality(self, agent):
        return self.shares[agent]

    def slope(self, t, agent):
        return self.shares[agent] / t

    def see(self, t, agent, reward, rng):
        return self.shares[agent] * reward / t


class Bare:
    """Not a dataclass."""

    arms = (2, 3)
    changes = False
    bounds = (0.0, 0.5)

    def draw(self, t, previous, rng):
        return 0.5 * rng.random(self.arms)


def with_members(base: type, **members: Any) -> Any:
    """An object of a class like ``base`` with some members replaced; None takes one away."""
    kind = type("Mine", (base,), {name: value for name, value in members.items() if value is not None})
    gone = [name for name, value in members.items() if value is None]
    if not gone:
        return kind()
    plain = {name: value for name, value in vars(base).items() if name not in gone and not name.startswith("__")}
    return type("Mine", (), plain)()


class TestTaken:
    def test_all_three_at_once(self):
        problem = cb.Problem.of(Drift(), Doubled(), Dimmed())
        assert problem == cb.Problem(Drift(), Doubled(), Dimmed())
        assert (problem.arms, problem.agents, problem.binary) == ((2, 2), 2, False)
        assert problem.known_ranks() == (0, 1)
        assert problem.custom_models == ("Drift", "Doubled", "Dimmed")

    def test_one_of_them_beside_ours(self):
        assert cb.Problem.bernoulli(Bare(), [1.0, 0.5]).arms == (2, 3)
        assert cb.Problem.gaussian(Drift(), sd=0.2).custom_models == ("Drift",)
        assert cb.Problem.bernoulli(FIXED, observation=Dimmed()).custom_models == ("Dimmed",)
        assert cb.Problem.of("random", Doubled(), "flipped", observability=[1, 0.5], arms=(2, 2)).arms == (2, 2)
        assert cb.Problem.of(FIXED, Doubled(), "noisy", noise=[0.1, 0.5]).observation == cb.Noisy((0.1, 0.5))

    def test_of_makes_what_the_others_make(self):
        assert cb.Problem.of(FIXED, cb.Bernoulli(), observability=[1, 0.5]) == cb.Problem.bernoulli(FIXED, [1, 0.5])
        noisy = cb.Problem.of(FIXED, cb.Gaussian(), "noisy", noise=[0.1, 0.5], roles=(1, 0), weights=[1, 0])
        assert noisy == cb.Problem.gaussian(FIXED, [0.1, 0.5], roles=(1, 0), weights=[1, 0])

    def test_ours_are_such_models_too(self):
        assert cb.Problem.bernoulli(FIXED).custom_models == ()
        assert isinstance(cb.FixedMeans.of(FIXED), cb.Means)
        assert isinstance(cb.RandomMeans((2, 2)), cb.Means)
        assert isinstance(cb.Bernoulli(), cb.Reward)
        assert isinstance(cb.Gaussian(), cb.Reward)
        assert all(isinstance(kind((1.0, 0.5)), cb.Observation) for kind in OBSERVATIONS.values())
        assert isinstance(Drift(), cb.Means)
        assert not isinstance(Drift(), cb.Reward)

    def test_a_subclass_of_ours_is_not_ours(self):
        class Lucky(cb.Bernoulli):
            def draw(self, t, mean, spread, rng):
                return 1.0

        assert cb.Problem.of(FIXED, Lucky()).custom_models == ("Lucky",)

    def test_a_protocol_may_be_subclassed_by_a_frozen_dataclass(self) -> None:
        @dataclass(frozen=True)
        class Told(cb.Means):
            arms: tuple[int, ...]
            changes: ClassVar[bool] = False

            def draw(self, t, previous, rng):
                return np.full(self.arms, 0.5)

        assert cb.Problem.bernoulli(Told((2, 3))).arms == (2, 3)
        with pytest.raises(TypeError, match="draw"):
            type("Untold", (cb.Means,), {})()

    def test_it_travels_and_is_described_in_plain_data(self):
        problem = cb.Problem.of(Drift(step=np.float64(0.2)), Doubled(), Dimmed())
        assert pickle.loads(pickle.dumps(problem)) == problem
        assert json.loads(json.dumps(problem.describe())) == {
            "arms": [2, 2],
            "means": {"class": "Drift", "arms": [2, 2], "step": 0.2},
            "reward": {"name": "doubled", "class": "Doubled"},
            "observation": {"name": "dimmed", "class": "Dimmed", "shares": [1.0, 0.5]},
            "weights": [0.5, 0.5],
            "roles": "observability",
        }
        assert cb.Problem.bernoulli(Bare()).describe()["means"] == {"class": "Bare"}

    def test_whatever_a_class_holds_becomes_plain(self) -> None:
        @dataclass(frozen=True)
        class Odd(Doubled):
            table: Any = None
            inner: Any = None
            thing: Any = None
            names: Any = None

        reward = Odd(np.array([[1, 2]]), Drift(), object, {1: (2.0, None)})
        told = cb.Problem.of(FIXED, reward).describe()["reward"]
        assert json.loads(json.dumps(told))["table"] == [[1, 2]]
        assert told["inner"]["step"] == 0.1
        assert told["thing"] == "<class 'object'>"
        assert told["names"] == {"1": [2.0, None]}

    def test_the_team_factor_is_that_of_the_round(self):
        problem = cb.Problem.bernoulli(FIXED, observation=Dimmed())
        assert problem.team_factor == problem.team_factor_at(1) == 0.75
        assert problem.team_factor_at(3) == 0.25

    def test_fixed_means_and_spreads_made_by_hand(self):
        assert cb.FixedMeans(cast("Any", [2, 2]), cast("Any", [1, 0, 0, 1])) == cb.FixedMeans.of([[1, 0], [0, 1]])
        assert cb.Gaussian(values=cast("Any", [0, 1, 2])).values == (0.0, 1.0, 2.0)


class TestRefused:
    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: cb.Problem.bernoulli(Drift), r"means is the class Drift; .* Call it: Drift\(\.\.\.\)"),  # type: ignore[arg-type]
            (lambda: cb.Problem.of(FIXED, Doubled), r"reward is the class Doubled"),  # type: ignore[arg-type]
            (lambda: cb.Problem.bernoulli(FIXED, observation=Dimmed), r"observation is the class Dimmed"),  # type: ignore[arg-type]
            (
                lambda: cb.Problem.of(FIXED, "poisson"),  # type: ignore[arg-type]
                r"reward must be an object with name, binary, spreads\(arms",
            ),
            (
                lambda: cb.Problem(FIXED, Doubled(), Dimmed()),  # type: ignore[arg-type]
                r"means must be an object with arms, changes",
            ),
            (
                lambda: cb.Problem(Drift(), Doubled(), "missed"),  # type: ignore[arg-type]
                r"observation must be an object with name",
            ),
            (
                lambda: cb.Problem.bernoulli(FIXED, [1.0, 0.5], observation=Dimmed()),
                r"observability was given, but Dimmed\(shares=\(1.0, 0.5\)\) describes the sight of the agents itself",
            ),
            (
                lambda: cb.Problem.bernoulli(Drift(), arms=(3, 3)),
                r"arms is \(3, 3\), but the means have shape \(2, 2\); leave arms out",
            ),
        ],
    )
    def test_what_is_no_model(self, make, message):
        with pytest.raises(cb.InvalidInput, match=message):
            make()

    WRONG: ClassVar[dict[str, dict[str, list[Any]]]] = {
        "means": {
            "arms": [None, (2,), [2, 2], (2, 0)],
            "changes": [None, "yes"],
            "draw": [lambda self, rng: rng],
            "bounds": [(1.0, 0.0), "all", (NAN, 1.0)],
        },
        "reward": {
            "name": [None, " "],
            "binary": [1],
            "spreads": [None, 0.5],
            "draw": [lambda self, mean, spread, rng: mean],
            "mean_bounds": [1.0],
        },
        "observation": {
            "levels": [(1.0, 0.5, 0.2), 1.0, ("good", "bad")],
            "quality": [lambda self, agent: NAN],
            "slope": [lambda self, t, agent: "steep", lambda self, agent: 1.0],
            "see": [lambda self, agent, reward, rng: reward],
            "binary": [None],
        },
    }

    @pytest.mark.parametrize("model", WRONG)
    def test_a_member_that_is_wrong_or_missing_is_named(self, model):
        base = {"means": Bare, "reward": Doubled, "observation": Dimmed}[model]
        more = {"levels": (1.0, 0.5)} if model == "observation" else {}  # a property is no member to replace
        for member, values in self.WRONG[model].items():
            for value in values:
                broken = {model: with_members(base, **(more | {member: value}))}
                with pytest.raises(cb.InvalidInput, match=rf"^Mine(\.| has no ){member}\b"):
                    cb.Problem.of(**({"means": FIXED, "reward": cb.Bernoulli()} | broken))

    def test_arguments_beyond_the_needed_ones_are_welcome_if_they_have_defaults(self):
        reward = with_members(Doubled, draw=lambda self, t, mean, spread, rng, scale=2.0: mean)
        assert cb.Problem.of(FIXED, reward).custom_models == ("Mine",)
        anything = with_members(Doubled, draw=lambda self, *given: 0.0)
        assert cb.Problem.of(FIXED, anything).custom_models == ("Mine",)

    def test_ours_made_by_hand(self):
        with pytest.raises(cb.InvalidInput, match=r"means has 3 values; arms \(2, 2\) make 4 team actions"):
            cb.FixedMeans((2, 2), (0.1, 0.2, 0.3))
        with pytest.raises(cb.InvalidInput, match=r"means\[1, 0\] is nan; finite numbers"):
            cb.FixedMeans((2, 2), (0.1, 0.2, NAN, 0.3))
        with pytest.raises(cb.InvalidInput, match=r"the lowest spread must be a finite number of at least 0"):
            cb.Gaussian(-1)
        with pytest.raises(cb.InvalidInput, match=r"the highest spread must be a finite number of at least 0.5"):
            cb.Gaussian(0.5, 0.1)
        with pytest.raises(cb.InvalidInput, match=r"values must be one finite number from 0"):
            cb.Gaussian(values=(0.1, -0.2))
        with pytest.raises(cb.InvalidInput, match=r"Gaussian has 2 spreads; there are 4 team actions"):
            cb.Problem.of(FIXED, cb.Gaussian(values=(0.1, 0.2)))
        with pytest.raises(cb.InvalidInput, match=r"noise\[1\] must be .*got inf"):
            cb.Noisy((0.1, math.inf))


class TestWhatTheyGive:
    @pytest.mark.parametrize(
        ("drawn", "message"),
        [
            (np.zeros((3, 2)), r"Mine.draw gave an array of shape \(3, 2\) in round 1; .* of shape \(2, 3\) is needed"),
            (0.5, r"Mine.draw gave an array of shape \(\) in round 1"),
            (None, r"Mine.draw gave None in round 1; an array of numbers of shape \(2, 3\) is needed"),
            ([["a"] * 3] * 2, r"Mine.draw gave \[\['a'"),
            ([[0.5, 0.5, NAN]] * 2, r"gave means in round 1 of which mean\[0, 2\] is nan; finite numbers from 0 to 1"),
            ([[0.5, 0.5, 1.5]] * 2, r"gave means in round 1 of which mean\[0, 2\] is 1.5; finite numbers from 0 to 1"),
        ],
    )
    def test_means(self, drawn, message):
        problem = cb.Problem.bernoulli(with_members(Bare, draw=lambda self, t, previous, rng: drawn))
        with pytest.raises(cb.ModelError, match=message):
            problem.instance(np.random.default_rng(0))

    def test_means_may_come_as_lists(self):
        problem = cb.Problem.bernoulli(with_members(Bare, draw=lambda self, t, previous, rng: [[0, 1, 0]] * 2))
        drawn = problem.instance(np.random.default_rng(0)).means
        assert drawn.dtype == np.float64
        assert drawn.tolist() == [[0.0, 1.0, 0.0]] * 2

    def test_a_model_may_change_the_means_it_is_given_in_place(self):
        def draw(self, t, previous, rng):
            if previous is None:
                return np.zeros(self.arms)
            previous += 1.0
            return previous

        problem = cb.Problem.gaussian(with_members(Bare, draw=draw, bounds=(0.0, 9.0), changes=True))
        first = problem.draw_means(1, None, np.random.default_rng(0))
        second = problem.draw_means(2, first, np.random.default_rng(0))
        assert (first.max(), second.min()) == (0.0, 1.0)

    @pytest.mark.parametrize(
        ("drawn", "message"),
        [
            (
                np.zeros(3),
                r"Mine.spreads gave an array of shape \(3,\); an array of numbers of shape \(2, 2\) is needed",
            ),
            ([[0.1, NAN], [0.1, 0.1]], r"Mine.spreads gave spreads of which spread\[0, 1\] is nan"),
            ("wide", r"Mine.spreads gave 'wide'; an array of numbers"),
        ],
    )
    def test_spreads(self, drawn, message):
        problem = cb.Problem.of(FIXED, with_members(Doubled, spreads=lambda self, arms, rng: drawn))
        with pytest.raises(cb.ModelError, match=message):
            problem.instance(np.random.default_rng(0))

    @pytest.mark.parametrize("wrong", [NAN, math.inf, "1", None, True, [1.0], 1j])
    def test_rewards(self, wrong):
        problem = cb.Problem.of(FIXED, with_members(Doubled, draw=lambda self, t, mean, spread, rng: wrong))
        with pytest.raises(cb.ModelError) as caught:
            problem.draw_reward(7, 0.5, 0.0, np.random.default_rng(0))
        assert str(caught.value) == f"Mine.draw gave {wrong!r} in round 7; a finite number is needed."

    @pytest.mark.parametrize("wrong", [NAN, "1", False, (1.0,)])
    def test_sight(self, wrong):
        sight = with_members(Dimmed, see=lambda self, t, agent, reward, rng: wrong)
        problem = cb.Problem.bernoulli(FIXED, observation=sight)
        with pytest.raises(cb.ModelError) as caught:
            problem.see(7, 0, 1.0, np.random.default_rng(0))
        assert str(caught.value) == f"Mine.see gave {wrong!r} in round 7; a finite number or None is needed."

    @pytest.mark.parametrize("number", [3, np.int64(3), np.float32(3.0)])
    def test_any_kind_of_number_becomes_a_float(self, number):
        problem = cb.Problem.of(FIXED, with_members(Doubled, draw=lambda self, t, mean, spread, rng: number))
        reward = problem.draw_reward(1, 0.5, 0.0, np.random.default_rng(0))
        assert type(reward) is float
        assert reward == 3.0

    def test_binary_is_a_promise(self):
        problem = cb.Problem.of(FIXED, with_members(Doubled, binary=True))
        with pytest.raises(cb.ModelError, match=r"Mine.draw gave 0.6 in round 2, but Mine.binary is True; 0 or 1"):
            problem.draw_reward(2, 0.3, 0.0, np.random.default_rng(2))
        sight = cb.Problem.bernoulli(FIXED, observation=with_members(Dimmed, binary=True))
        with pytest.raises(cb.ModelError, match=r"Mine.see gave 0.5 in round 1, but Mine.binary is True"):
            sight.see(1, 1, 1.0, np.random.default_rng(0))
        # Of rewards that are not 0 and 1 anything may be seen.
        assert replace(sight, reward=Doubled()).see(1, 1, 1.5, np.random.default_rng(0)) == 0.75

    def test_a_slope_that_gets_lost(self):
        sight = with_members(Dimmed, slope=lambda self, t, agent: 1.0 if t < 5 else NAN)
        problem = cb.Problem.bernoulli(FIXED, observation=sight)
        assert problem.team_factor_at(4) == 1.0
        with pytest.raises(cb.ModelError, match=r"Mine.slope gave nan in round 5; a finite number is needed"):
            problem.team_factor_at(5)
