"""``roles="elected"``: the team finds out in the first rounds who sees more; a role rule beside ``"random"``."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import cobandit as cb
from cobandit.agents.elected_aware import ElectedAwareTS, ElectedAwareUCB
from cobandit.engine import reference
from cobandit.engine.words import problem_lines
from cobandit.interop.games import partners_of
from cobandit.mdp import make_problem
from cobandit.testing import check_agent
from cobandit.theory import bound

DRAWN = cb.Problem.bernoulli("random", [0.5, 1.0], arms=(2, 2), roles="random")
ELECTED = replace(DRAWN, roles="elected")


@dataclass
class Changed(cb.PartnerAwareUCB):
    """A subclass may play otherwise, so it elects only if it says how."""


@pytest.mark.parametrize(
    ("by_rule", "by_agent"),
    [
        (cb.Steered(stay=3, leader_sight=0.9), cb.Elected(stay=3, leader_sight=0.9)),
        (cb.PartnerAwareUCB(window=1, index="companion"), cb.Elected(play="partner-aware")),
        (cb.Elected(sweeps=1), cb.Elected(sweeps=1)),
    ],
    ids=["steered", "partner-aware", "elected"],
)
def test_the_rule_plays_what_the_agent_plays(by_rule, by_agent):
    for run in range(4):
        ruled = reference.run_trajectory(ELECTED, cb.Team.of(by_rule), 60, 5, run)
        agents = reference.run_trajectory(DRAWN, cb.Team.of(by_agent), 60, 5, run)
        assert replace(ruled, ranks=agents.ranks).same_as(agents)


@pytest.mark.parametrize("team", ["steered", "partner-aware-ucb", "partner-aware-ts"])
def test_a_run_tells_whom_the_team_has_elected(team):
    problem = cb.Problem.bernoulli([[1.0, 1.0], [1.0, 1.0]], [0.0, 1.0], roles="elected")
    assert {reference.run_trajectory(problem, cb.Team.of(team), 12, 0, run).ranks for run in range(3)} == {(1, 0)}


def test_one_brain_needs_no_leader():
    brain = cb.Team.of("centralised-ucb")
    elected, drawn = (cb.simulate(problem, brain, 50, 3, seed=1) for problem in (ELECTED, DRAWN))
    np.testing.assert_array_equal(elected.task_regret, drawn.task_regret)


def test_it_goes_through_json_and_words():
    assert cb.Problem.from_dict(ELECTED.describe()) == ELECTED
    assert "the leader elected in the first rounds" in "\n".join(problem_lines(ELECTED))
    result = cb.simulate(ELECTED, cb.Team.of("steered"), 20, 2, seed=0)
    assert result.team.describe()["agent"] == "steered"


@pytest.mark.long
@pytest.mark.parametrize("agent", [ElectedAwareUCB(window=2, repeat=3), ElectedAwareTS()])
def test_what_elects_keeps_the_contract_of_agents(agent):
    check_agent(agent)


@pytest.mark.parametrize(
    ("team", "words"),
    [
        (cb.Team.of("naive-ucb"), "naive-ucb cannot elect a leader"),
        (cb.Team.of(Changed()), "Changed cannot elect a leader"),
        (
            cb.Team([cb.Steered(), cb.PartnerAwareUCB()], check_protocol=False),
            "in different ways: steered [+] partner-aware-ucb",
        ),
        (cb.Team.of("steered", reports="on", follower_sight=0.5), "who reports must be known"),
    ],
)
@pytest.mark.parametrize("engine", ["auto", "reference"])
def test_who_cannot_elect_is_told_before_anything_is_played(team, words, engine):
    with pytest.raises(cb.InvalidInput, match=words):
        cb.simulate(ELECTED, team, 20, 2, seed=0, engine=engine)


def test_what_must_know_who_leads_says_so():
    with pytest.raises(cb.InvalidInput, match="are elected for each run"):
        ELECTED.known_ranks()
    with pytest.raises(cb.InvalidInput, match="roles is 'elected'; a partner must know who leads"):
        cb.Partner.for_problem("steered", ELECTED, 0, 20)
    with pytest.raises(cb.InvalidInput, match="Theorem 1 is about leaders that are known"):
        bound(replace(ELECTED, means=cb.FixedMeans.of([[0.8, 0.4], [0.2, 0.6]])), 500)
    with pytest.raises(cb.InvalidInput, match="only teams of bandits elect"):
        make_problem("chain", roles="elected")
    with pytest.raises(cb.UnknownName, match="Did you mean 'elected'"):
        cb.Problem.bernoulli(arms=(2, 2), roles="electd")  # type: ignore[arg-type]


def test_a_learner_sits_among_those_who_elect():
    agents = partners_of(ELECTED, cb.Team.of("partner-aware-ucb"), 0)
    assert agents[0] is None
    assert isinstance(agents[1], ElectedAwareUCB)


@dataclass
class Own(cb.PartnerAwareUCB):
    """An agent of one's own says how it elects."""

    electing = staticmethod(lambda agent: ElectedAwareUCB(window=agent.window))


def test_an_agent_of_ones_own_names_its_electing_form():
    own, ours = (cb.simulate(ELECTED, cb.Team.of(kind), 40, 2, seed=3) for kind in (Own(), cb.PartnerAwareUCB()))
    np.testing.assert_array_equal(own.task_regret, ours.task_regret)


@dataclass
class Useless(cb.PartnerAwareUCB):
    """Names something that cannot play."""

    electing = staticmethod(lambda agent: cb.NaiveUCB())


def test_a_form_that_elects_nobody_is_refused():
    with pytest.raises(cb.AgentError, match="an agent with elected_ranks is needed"):
        cb.simulate(ELECTED, cb.Team.of(Useless()), 20, 1, seed=0)
