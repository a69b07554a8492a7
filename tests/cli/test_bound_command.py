"""``cobandit bound``."""

from __future__ import annotations

import json

import pytest

from cobandit import Problem
from cobandit.cli.bound import CORRECTED, KINDS, LIMITS, THEOREM_1
from cobandit.cli.output import number
from cobandit.theory import bound, exact_limits

PROBLEM = Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])


def test_json_is_what_the_library_says(run):
    done = run("bound", "--horizon", "1000,100000", "--format", "json")
    told = json.loads(done.stdout, parse_constant=pytest.fail)
    assert told["bounds"] == json.loads(json.dumps([bound(PROBLEM, t).to_dict() for t in (1000, 100_000)]))
    assert told["problem"]["arms"] == [2, 2]


def test_what_is_infinite_is_null(run):
    told = json.loads(run("bound", "--means", "[[.5,.5],[.2,.6]]", "--format", "json").stdout)
    assert told["bounds"][0]["printed"] is None
    assert None in told["bounds"][0]["counts"][0]


def test_the_table_explains_each_number(run):
    shown = run("bound", "--means", "[[.8,.4],[.2,.6]]", "--observability", "1,0.5", "--horizon", "1000,100000")
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for kind, meaning in KINDS.items():
        assert any(kind in line and meaning in line for line in lines)
    rows = [line.split() for line in lines if line.strip().startswith("100,000 ")]
    found = bound(PROBLEM, 100_000)
    for row, kinds in zip(rows, (THEOREM_1, CORRECTED), strict=True):
        assert row == ["100,000", *(number(getattr(found, kind)) for kind in kinds)]
    assert any(line.split() == ["agent", "0:", "1", "4,606", "4,606"] for line in lines)


def test_no_bound_is_told_as_none(run):
    shown = run("bound", "--means", "[[.5,.5],[.2,.6]]").stdout
    assert " none " in shown
    assert " never" in shown


@pytest.mark.parametrize("words", [("--roles", "random"), ("--roles", "1,0"), ("--weights", "1,1")])
def test_roles_and_weights(words, run):
    assert run("bound", *words).exit_code == 0


def test_a_standoff_is_told(run):
    shown = " ".join(run("bound", "--means", "[[1,.93],[.95,.3]]", "--observability", ".5,.5").stdout.split())
    found = bound(Problem.bernoulli([[1, 0.93], [0.95, 0.3]], [0.5, 0.5]), 2000)
    assert ("No explicit bound of the order of log T" in shown) == (not found.logarithmic)


EQUAL = ("bound", "--means", "[[1,0],[.9,.3]]", "--observability", ".5,.5", "--horizon", "100000")


def words_of(done):
    assert done.exit_code == 0
    return " ".join(done.stdout.split())


class TestCondition:
    def test_it_holds_in_the_papers_setting(self, run):
        assert "holds: the follower explores enough" in words_of(run("bound"))
        assert "kappa = 25.3, above 1" in words_of(run("bound"))

    def test_constants_that_satisfy_it_are_named(self, run):
        shown = words_of(run(*EQUAL))
        assert "does not hold for c_L = 2 and c_F = 2. It holds for c_L = 0.5 with c_F = 4.5 or more" in shown
        assert "The regret is at most of the order of T^(1 - kappa)" in shown

    def test_with_them_it_holds(self, run):
        shown = words_of(run(*EQUAL, "--exploration", "0.5", "--follower-exploration", "4.5"))
        assert "exploration 0.5, of the follower 4.5" in shown
        assert "holds: the follower explores enough" in shown

    def test_share_of_held_runs(self, run):
        shown = words_of(run(*EQUAL, "--exploration", "0.5"))
        assert "Predicted share of runs in a standoff at T = 100,000: 8.9%" in shown

    def test_a_standoff_that_is_the_rule(self, run):
        shown = words_of(run("bound", "--means", "[[1,.67],[.75,0]]", "--observability", "1,.5", "--roles", "1,0"))
        assert "a standoff is the rule, and the regret of such problems was measured to grow as T" in shown
        shown = words_of(run("bound", "--means", "[[1,.67],[0,0]]", "--observability", "1,.5", "--roles", "1,0"))
        assert "kappa = 0. No bound below the order of T is known, but the best row attracts the leader more" in shown
        assert "Predicted share of runs in a standoff at T = 2,000: 0.0%" in shown

    def test_no_standoff_and_nothing_seen(self, run):
        assert "No standoff is possible" in words_of(run("bound", "--means", "[[.8],[.6]]"))
        assert "cannot hold: an agent sees nothing" in words_of(run("bound", "--observability", "1,0"))
        assert "at least 0.5" in words_of(run("bound", "--exploration", "0"))

    def test_refused(self, run):
        done = run("bound", "--exploration", "-1")
        assert done.exit_code == 2
        assert "exploration must be" in done.stderr


class TestExact:
    PROBLEM = Problem.bernoulli("random", observability=[1.0, 0.5], arms=(2, 2))

    def test_json_is_what_the_library_says(self, run):
        told = json.loads(run("bound", "--exact", "--means", "random", "--horizon", "2,4", "--format", "json").stdout)
        assert told["limits"] == [exact_limits(self.PROBLEM, t).to_dict() for t in (2, 4)]

    def test_the_table_says_what_does_not_fit(self, run):
        lines = run("bound", "--exact", "--means", "random", "--horizon", "4,1000").stdout.splitlines()
        assert max(map(len, lines)) <= 80
        assert any(line.split() == ["4", "3.200", "2.368", "2.306", "2.326"] for line in lines)
        assert any(line.split() == ["1,000", "800.000", *["too", "large"] * 3] for line in lines)
        for meaning in LIMITS.values():
            assert any(meaning in line for line in lines)

    def test_given_means_have_none(self, run):
        done = run("bound", "--exact", "--means", "fixed")
        assert done.exit_code == 2
        assert "use random means" in done.stderr


def test_exact_limits_need_no_other_option(run):
    done = run("bound", "--exact", "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert [limit["horizon"] for limit in told["limits"]] == [2, 4, 8]
