"""Agents that each break one rule: the check names what happened, and the right rule catches it."""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass

import numpy as np
import pytest

from cobandit import Agent, AgentError, Controller, InvalidInput, NaiveUCB, Problem
from cobandit.testing import RULES, AgentContract, check_agent, contract_problems


class Steady(Agent):
    """A well-behaved agent to break: it plays the own arm that paid most so far, the first where several did."""

    def reset(self, briefing, rng):
        super().reset(briefing, rng)
        self.paid = [0.0] * briefing.own_arms

    def choose(self):
        return self.paid.index(max(self.paid))

    def observe(self, team_action, reward):
        self.paid[team_action[self.briefing.agent]] += (0.0 if reward is None else reward) - 0.5


class OneTooMany(Steady):
    def choose(self):
        return self.briefing.own_arms if self.round == 3 else 0


class Impatient(Steady):
    """Cannot stand a round in which it saw nothing."""

    def observe(self, team_action, reward):
        self.paid[team_action[self.briefing.agent]] += reward - 0.5


class Stubborn(Steady):
    """Trusts that the partners play arm 0."""

    def observe(self, team_action, reward):
        super().observe(team_action, reward)
        {0: "as agreed"}[team_action[self.briefing.agent - 1]]


class Meddler(Steady):
    """Draws from a stream of its own making."""

    def reset(self, briefing, rng):
        super().reset(briefing, rng)
        self.rng = np.random.default_rng(0)


class Hasty(Steady):
    def observe(self, team_action, reward):
        super().observe(team_action, reward)
        self.round += 1


class Timeless(Steady):
    round = 1


class Seer(Steady):
    @property
    def predictions(self):
        return {1 - self.briefing.agent: 7}


class Nostalgic(Steady):
    """Keeps what it learnt in earlier runs."""

    def reset(self, briefing, rng):
        learnt = getattr(self, "paid", [])
        super().reset(briefing, rng)
        if len(learnt) == len(self.paid):
            self.paid = learnt


class Loner(Steady):
    def clone(self):
        return self


class Impostor(Steady):
    def clone(self):
        return Steady()


class Bookkeeper(Agent):
    """Plays what its book says."""

    book: dict[int, float]

    def reset(self, briefing, rng):
        super().reset(briefing, rng)
        self.book.clear()

    def choose(self):
        return max(range(self.briefing.own_arms), key=lambda arm: self.book.get(arm, 0.0))

    def observe(self, team_action, reward):
        arm = team_action[self.briefing.agent]
        self.book[arm] = self.book.get(arm, 0.0) + (reward or 0.0) - 0.5


@dataclass
class Sloppy(Bookkeeper):
    """Copies the outside of itself only, so that all clones write into one book."""

    def __post_init__(self):
        super().__post_init__()
        self.book = {}

    def clone(self):
        return copy.copy(self)


class Gossip(Bookkeeper):
    """Shares a book among all of its class."""

    book: dict[int, float] = {}  # noqa: RUF012


class Locked(Steady):
    def reset(self, briefing, rng):
        super().reset(briefing, rng)
        self.favourite = lambda: 0


class Forgetful(Steady):
    """Leaves its memory behind when pickled."""

    def __getstate__(self):
        return {**self.__dict__, "paid": [0.0] * len(self.__dict__.get("paid", []))}


class NumpyGambler(Steady):
    def choose(self):
        return int(np.random.random() * self.briefing.own_arms)


class PythonGambler(Steady):
    def choose(self):
        return random.randrange(self.briefing.own_arms)


class SecretGambler(Steady):
    """Draws from a stream of its own making, which nobody can repeat."""

    def choose(self):
        return int(np.random.default_rng().integers(self.briefing.own_arms))


class Vandal(Steady):
    oracle = True

    def observe(self, team_action, reward):
        super().observe(team_action, reward)
        self.briefing.means[team_action] = 0.0  # type: ignore[index]


class Scatterbrain(Controller):
    """Chooses for one agent only."""

    def choose(self):
        return (0,)

    def observe(self, team_action, rewards):
        pass


class Adder(Scatterbrain):
    """Adds up the rewards, also the ones nobody saw."""

    def choose(self):
        return (0,) * len(self.briefing.arms)

    def observe(self, team_action, rewards):
        sum(rewards)


class Jealous(Steady):
    """Plays with anybody but its own kind."""

    def reset(self, briefing, rng):
        super().reset(briefing, rng)
        self.rivals = 0

    def choose(self):
        if self.rivals > 3:
            raise RuntimeError("too much agreement")
        return 0

    def observe(self, team_action, reward):
        self.rivals = self.rivals + 1 if set(team_action) == {0} else 0


BROKEN = [
    (OneTooMany, "legal arms", "chose 2 in round 3 as agent 0 with rank 0 (2x2 arms, missed observation)"),
    (OneTooMany, "legal arms", "an integer from 0 to 1 is needed"),
    (Impatient, "legal arms", "with a reward of None (nothing was seen)"),
    (Impatient, "legal arms", "missed-known observation"),
    (Stubborn, "legal arms", "raised KeyError (1) in observe in round"),
    (Meddler, "legal arms", "must leave self.briefing, self.rng and self.round as they came"),
    (Hasty, "legal arms", "had its round set to 2 in round 1; the number of the round moves on by itself"),
    (Timeless, "rounds move on", "is at round 1 after observe in round 1 as agent 0 with rank 0 (2x2 arms, missed"),
    (Seer, "legal arms", "foresaw arm 7 of agent 1 in round 1"),
    (Nostalgic, "reset forgets", "after a reset plays otherwise than when new"),
    (Loner, "clone is independent", "returns itself from clone()"),
    (Impostor, "clone is independent", "the same class with the same options is needed"),
    (Sloppy, "clone is independent", "plays otherwise while another clone plays"),
    (Gossip, "clone is independent", "clones must share nothing"),
    (Locked, "pickles in mid-run", "cannot be pickled in mid-run"),
    (Forgetful, "pickles in mid-run", "a pickle must carry its memory and its rng"),
    (NumpyGambler, "own stream only", "draws from the global random or numpy.random"),
    (PythonGambler, "own stream only", "draws from the global random or numpy.random"),
    (SecretGambler, "own stream only", "plays otherwise in a second run with one seed"),
    (Vandal, "briefing untouched", "changed means of its briefing"),
    (Jealous, "plays in a team", "raised RuntimeError (too much agreement)"),
    (Scatterbrain, "legal arms", "chose (0,) in round 1 for all agents (2x2 arms"),
    (Adder, "legal arms", "with a reward of None (nothing was seen)"),
]


@pytest.mark.parametrize(
    ("kind", "rule", "sentence"), BROKEN, ids=[f"{b[0].__name__}-{i}" for i, b in enumerate(BROKEN)]
)
def test_a_broken_rule_is_named(kind, rule, sentence):
    with pytest.raises(AgentError) as caught:
        RULES[rule](kind(), contract_problems(), 24, 0)
    message = str(caught.value)
    assert sentence in message
    assert message.startswith(kind.__name__)
    assert message.endswith(".")
    assert "\n" not in message


def test_all_rules_are_checked():
    assert list(RULES)[-1] == "plays in a team"
    with pytest.raises(AgentError, match="too much agreement"):
        check_agent(Jealous(), horizon=24)


@pytest.mark.parametrize("kind", [Nostalgic, Sloppy, Forgetful, NumpyGambler, Vandal])
def test_an_agent_that_breaks_another_rule_plays_legal_arms(kind):
    RULES["legal arms"](kind(), contract_problems(), 12, 0)


class TestSteady(AgentContract):
    """How the author of an agent uses the mixin."""

    horizon = 24

    def make(self):
        return Steady()


class SelfMade(Agent):
    """Calls no method of Agent: its reset, choose and observe are all its own, down to the round."""

    def reset(self, briefing, rng):
        self.briefing = briefing
        self.round = 1
        self.paid = [0.0] * briefing.own_arms

    def choose(self):
        return (self.paid.index(max(self.paid)) + self.round) % self.briefing.own_arms

    def observe(self, team_action, reward):
        self.paid[team_action[self.briefing.agent]] += (0.0 if reward is None else reward) - 0.5


class TestSelfMade(AgentContract):
    """What Agent does, it does for agents that never call it."""

    horizon = 24

    def make(self):
        return SelfMade()


class TestForSomeSettingsOnly(AgentContract):
    """An agent made for two agents who always know what they saw."""

    problems = (Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5]),)

    def make(self):
        return Impatient()


def test_the_agent_itself_is_left_as_it_is():
    agent = NaiveUCB()
    check_agent(agent, horizon=10)
    assert not hasattr(agent, "briefing")


def test_the_global_random_state_is_left_as_it_is():
    random.seed(5)
    np.random.seed(5)
    with pytest.raises(AgentError):
        RULES["own stream only"](NumpyGambler(), contract_problems(), 10, 0)
    drawn = random.random(), np.random.random()
    random.seed(5)
    np.random.seed(5)
    assert drawn == (random.random(), np.random.random())


def test_a_class_in_place_of_an_agent():
    with pytest.raises(InvalidInput, match=r"must be an Agent or a Controller, got .*Call it: Steady\(\)"):
        check_agent(Steady)  # type: ignore[arg-type]


@pytest.mark.parametrize("problems", [[], ["2x2"]])
def test_problems_that_are_none(problems):
    with pytest.raises(InvalidInput, match="at least one Problem"):
        check_agent(Steady(), problems=problems)


def test_a_horizon_too_short_to_break_in_two():
    with pytest.raises(InvalidInput, match="horizon must be an integer of at least 2"):
        check_agent(Steady(), horizon=1)


def test_the_mixin_asks_for_make():
    with pytest.raises(NotImplementedError, match=r"must write make\(self\)"):
        AgentContract().test_reset_forgets_everything()
