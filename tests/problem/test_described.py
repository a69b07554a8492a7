"""Problems made again from their descriptions, also after a way through JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest

import cobandit as cb

PROBLEMS = {
    "fixed": cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5]),
    "random": cb.Problem.bernoulli("random", [0.3, 0.7], arms=[4, 3], observation="missed-known", weights=[1, 2]),
    "flipped": cb.Problem.bernoulli("random", [0.9, 0.6, 0.8], arms=[2, 3, 2], observation="flipped", roles=[2, 0, 1]),
    "gaussian": cb.Problem.gaussian("random", [0.1, 0.2, 0.3], arms=[2, 3, 2], roles="random"),
    "spreads": cb.Problem.gaussian([[0.1, 0.2], [0.3, 0.4]], [0.1, 0.2], sd=[[0.1, 0.2], [0.3, 0.4]]),
}


@dataclass(frozen=True)
class CoinReward:
    """A reward of one's own."""

    sides: tuple[int, ...] = (1, 2)
    name: ClassVar[str] = "coin"
    binary: ClassVar[bool] = True

    def spreads(self, arms: tuple[int, ...], rng: np.random.Generator) -> None:
        return None

    def draw(self, t: int, mean: float, spread: float, rng: np.random.Generator) -> float:
        return float(rng.random() < mean)


def through_json(problem: cb.Problem) -> dict[str, Any]:
    described: dict[str, Any] = json.loads(json.dumps(problem.describe()))
    return described


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_comes_back(name: str) -> None:
    assert cb.Problem.from_dict(PROBLEMS[name].describe()) == PROBLEMS[name]
    assert cb.Problem.from_dict(through_json(PROBLEMS[name])) == PROBLEMS[name]


def test_a_class_of_ones_own_is_handed_in() -> None:
    problem = cb.Problem.of([[0.8, 0.4], [0.2, 0.6]], CoinReward((3, 4)), observability=[1.0, 0.5])
    with pytest.raises(cb.InvalidInput, match=r"class 'CoinReward', which is not one of ours; hand it in: own="):
        cb.Problem.from_dict(through_json(problem))
    assert cb.Problem.from_dict(through_json(problem), own=[CoinReward]) == problem
    with pytest.raises(cb.InvalidInput, match="classes are needed"):
        cb.Problem.from_dict(through_json(problem), own=[CoinReward()])  # type: ignore[list-item]


@dataclass(frozen=True)
class Change:
    """What is wrong with a description, and what is said."""

    parts: dict[str, Any] = field(default_factory=dict)
    drop: str = ""
    said: str = ""


@pytest.mark.parametrize(
    "change",
    [
        Change(drop="roles", said="lacks 'roles'"),
        Change({"mean": 1}, said="Did you mean 'means'"),
        Change({"means": {"loww": 1}}, said="Did you mean 'low'"),
        Change({"means": [1, 2]}, said="4 team actions"),
        Change({"means": None}, said="a list of numbers"),
        Change({"arms": 3}, said="number of arms"),
        Change({"reward": {"name": "bernouli"}}, said="Did you mean 'bernoulli'"),
        Change({"reward": "bernoulli"}, said="a dict with the fields"),
        Change({"observation": {"name": "missed"}}, said="does not describe a Missed"),
        Change({"roles": [0, 0]}, said="each rank"),
    ],
    ids=lambda change: change.said,
)
def test_a_wrong_description_is_told(change: Change) -> None:
    described = PROBLEMS["fixed"].describe() | change.parts
    described.pop(change.drop, None)
    with pytest.raises(cb.InvalidInput, match=change.said):
        cb.Problem.from_dict(described)


@pytest.mark.parametrize("description", [None, 3, "fixed", []])
def test_what_is_no_description_is_told(description: Any) -> None:
    with pytest.raises(cb.InvalidInput, match="must be a dict"):
        cb.Problem.from_dict(description)
