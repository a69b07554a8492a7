"""Problems and teams from options; help from the agents' own rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cobandit import (
    AGENTS,
    CorrelatedGaussian,
    InvalidInput,
    PiecewiseMeans,
    Problem,
    StudentT,
    Team,
    UnknownName,
    local_optima,
    two_corners,
)
from cobandit.cli.options import AGENT_FLAGS, ProblemOptions, agent_help, teams_of


def problem_of(**options: Any) -> Problem:
    return ProblemOptions(**options).problem()


class TestProblems:
    def test_the_default_is_the_papers(self):
        assert problem_of(means="fixed") == Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])

    def test_a_matrix(self):
        made = problem_of(means="[[.1,.2,.3],[.4,.5,.6]]", observability=".5,1", weights="1,2", roles="1,0")
        means = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]
        assert made == Problem.bernoulli(means, [0.5, 1.0], weights=[1, 2], roles=(1, 0))

    def test_random_means(self):
        assert problem_of(means="random", arms="3,4") == Problem.bernoulli(arms=(3, 4), observability=[1.0, 0.5])

    def test_local_optima(self):
        assert problem_of(means="local-optima", arms="3,3") == Problem.bernoulli(local_optima(3), [1.0, 0.5])

    def test_corners_are_shaped_after_the_leader(self):
        thirds = [1 / 3, 2 / 3, 1.0]
        assert problem_of(means="corners", arms="2,2,2") == Problem.bernoulli(two_corners(3, 2), thirds)
        first = problem_of(means="corners", arms="2,2,2", observability="1,.5,.5")
        assert first == Problem.bernoulli(two_corners(3, 0), [1, 0.5, 0.5])
        given = problem_of(means="corners", arms="2,2,2", roles="1,0,2")
        assert given == Problem.bernoulli(two_corners(3, 1), thirds, roles=(1, 0, 2))

    def test_gaussian(self):
        means = [[0.8, 0.4], [0.2, 0.6]]
        assert problem_of(means="fixed", reward="gaussian") == Problem.gaussian(means, [0.1, 0.5])
        one = problem_of(means="fixed", reward="gaussian", sd="0.3", noise="0,1")
        assert one == Problem.gaussian(means, [0.0, 1.0], sd=0.3)
        spread = problem_of(means="fixed", reward="gaussian", sd="0.2,0.4")
        assert spread == Problem.gaussian(means, [0.1, 0.5], sd=(0.2, 0.4))
        each = problem_of(means="fixed", reward="gaussian", sd="[[.1,.2],[.3,.4]]")
        assert each == Problem.gaussian(means, [0.1, 0.5], sd=[[0.1, 0.2], [0.3, 0.4]])

    def test_hidden_actions(self):
        assert problem_of(actions="hidden") == Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5], actions="hidden")
        with pytest.raises(UnknownName, match="hidden"):
            problem_of(actions="hide")

    def test_drift_delay_and_other_rewards(self):
        before, after = [[0.8, 0.4], [0.2, 0.6]], [[0.3, 0.4], [0.2, 0.9]]
        turning = problem_of(means=f"[{before},{after}]", changes_at="21", delay=3)
        assert turning == Problem.bernoulli(PiecewiseMeans.of([before, after], [21]), [1.0, 0.5], delay=3)
        tails = problem_of(reward="student-t", df=1.5, sd="0.1")
        assert tails == Problem.of(before, StudentT(1.5, 0.1), "noisy", noise=[0.1, 0.5])
        moods = problem_of(reward="correlated-gaussian", correlation=0.5, observation="missed")
        assert moods == Problem.of(before, CorrelatedGaussian(correlation=0.5), observability=[1.0, 0.5])

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"df": "3"}, "--df requires --reward student-t"),
            ({"correlation": "1", "reward": "student-t"}, "requires --reward correlated-gaussian"),
            ({"changes_at": "5"}, "--means must be a list of matrices"),
            ({"changes_at": "5,x", "means": "[[[1,0],[0,0]],[[0,1],[0,0]]]"}, "--changes-at"),
            ({"delay": -1}, "delay must be an integer"),
            ({"reward": "student-t", "df": 1}, "would have no mean"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, options, said):
        with pytest.raises(InvalidInput, match=said):
            problem_of(**options)

    @pytest.mark.parametrize("observation", ["missed", "missed-known", "flipped"])
    def test_observation(self, observation):
        made = problem_of(means="fixed", observation=observation)
        assert made == Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5], observation=observation)

    def test_noisy_sight_of_bernoulli_rewards(self):
        made = problem_of(means="fixed", observation="noisy")
        assert made == Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observation="noisy", noise=[0.1, 0.5])

    def test_four_agents_see_i_of_n(self):
        assert np.allclose(problem_of(means="random", arms="2,2,2,2").observation.levels, [0.25, 0.5, 0.75, 1.0])


class TestTeams:
    def test_one_name_is_for_every_place(self):
        assert teams_of([["naive-ucb"]], {"index": "companion"}) == [Team.of("naive-ucb", index="companion")]

    def test_an_option_goes_to_every_member_that_has_it(self):
        lineup = ["knowledge-gradient", "partner-aware-ucb"]
        (made,) = teams_of([lineup], {"window": 3, "ties": "random", "discount": 0.5})
        gradient, aware = made.members
        assert (gradient.options["ties"], gradient.options["discount"]) == ("random", 0.5)
        assert (aware.options["ties"], aware.options["window"]) == ("random", 3)

    def test_an_option_goes_to_every_team_that_has_it(self):
        first, second = teams_of([["partner-aware-ucb"], ["naive-ucb"]], {"window": 3, "exploration": 0.5})
        assert first == Team.of("partner-aware-ucb", window=3, exploration=0.5)
        assert second == Team.of("naive-ucb", exploration=0.5)


class TestHelp:
    def test_flags_are_options_of_agents(self):
        known = {row[0] for kind in AGENTS.values() for row in kind.option_rows()}
        assert set(AGENT_FLAGS) <= known

    @pytest.mark.parametrize("command", ["simulate", "compare", "play"])
    def test_words_and_defaults_are_the_agents_own(self, command, run):
        shown = " ".join(run(command, "--help").stdout.split())
        first: dict[str, tuple[Any, str]] = {}
        for kind in AGENTS.values():
            for name, default, text in kind.option_rows():
                first.setdefault(name, (default, text))
        for name, (default, text) in first.items():
            if name in AGENT_FLAGS:
                assert f"--{name.replace('_', '-')} " in shown
                assert f"{text} [default: {'none' if default is None else default}" in shown
            else:
                assert name in shown

    def test_a_default_of_its_own_is_told(self):
        first, *others = agent_help()["exploration"].rstrip("]").partition("[default: ")[2].split("; ")
        assert first == "0.025"
        assert {"bank: 0.05", "mucb-intervals: 0.5"} <= set(others)
