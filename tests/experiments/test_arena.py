"""The arena: who is in it, what its numbers are, and that nothing is played twice."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cobandit as cb
from cobandit import mdp
from cobandit.experiments import Arena, run_arena
from cobandit.experiments.arena import FAMILIES, SETTINGS, arena_settings, follower_league
from cobandit.experiments.arena.entries import BASELINE, CENTRAL, LEADERS, MARKOV_TEAMS, WINDOWS, own_entry
from cobandit.experiments.arena.league import best_window_ratio
from cobandit.experiments.arena.verdicts import all_below
from cobandit.stats import Interval, Resamples
from tests.arena_results import invented

PEOPLE = ("greedy", "epsilon-greedy")


class InThisProcess:
    """Plays chunks here: no worker to wait for."""

    name = "here"

    def play(self, chunks):
        from cobandit.experiments.work import compute_file

        for chunk in chunks:
            yield chunk, compute_file(chunk)


class Stubborn(cb.Agent):
    """Always the first arm."""

    name = "stubborn"
    paper = "none"

    def choose(self):
        return 0

    def observe(self, team_action, reward):
        pass


def play_arena(folder, *, resume=False):
    """Play a small arena in this process; return its result and what it reported meanwhile."""
    events: list[Any] = []
    result = run_arena(
        folder,
        ["casino", "exact-12"],
        leaders=PEOPLE,
        followers=[*WINDOWS, "bank"],
        own=[Stubborn],
        runs=5,
        executor=InThisProcess(),
        resume=resume,
        watch=events.append,
    )
    return result, events


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arena")
    return folder, *play_arena(folder)


def test_every_family_is_there_and_settings_have_names_of_their_own():
    assert {setting.family for setting in SETTINGS} == set(FAMILIES)
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)
    panels = Arena.of().panels()
    assert [panel.name for panel in panels] == [f"arena-{setting.name}" for setting in SETTINGS]
    by_name = {panel.name: panel for panel in panels}
    pairs = [curve for curve in by_name["arena-random"].curves if curve.name.startswith("pair.")]
    assert len(pairs) == len(LEADERS) * len(Arena.of().followers)
    assert not any(curve.name.startswith("pair.") for curve in by_name["arena-large"].curves)
    large = Arena.of(["large"]).panels()[0]
    assert {"pair.greedy.bank", "pair.steered.window-1"} <= {curve.name for curve in large.curves}
    assert not any("partner-aware-ts" in curve.name for curve in large.curves)
    draws = {"team.naive-psrl", "team.centralised-psrl"}
    assert draws <= {curve.name for curve in by_name["arena-mdp-chain"].curves}
    assert not draws & {curve.name for curve in by_name["arena-mdp-burger-line-3"].curves}
    assert draws <= {curve.name for curve in Arena.of(["mdp-burger-line-3"]).panels()[0].curves}


def test_with_drawn_roles_a_pair_has_the_mean_of_both_who_may_lead(tmp_path):
    arena = Arena.of(["unknown"], ["greedy"], ["window-1"])
    arena = replace(arena, teams=tuple(entry for entry in arena.teams if entry.name in (BASELINE, CENTRAL)))
    place = arena.run(tmp_path, arena_settings(6), InThisProcess()).place("unknown")
    assert place.pairs == [("greedy", "window-1")]
    means = []
    for ranks, seat in (((0, 1), 0), ((1, 0), 1)):
        members: list[cb.Agent] = [cb.PartnerAwareUCB(window=1, index="companion")]
        members.insert(seat, cb.EpsilonGreedy(epsilon=0.0))
        problem = cb.Problem.bernoulli(cb.local_optima(2), (0.5, 1.0), roles=ranks).relabelled()
        means.append(cb.simulate(problem, cb.Team(members), 500, runs=6, seed=0).task_regret[:, -1])
    np.testing.assert_allclose(place.pair("greedy", "window-1"), np.mean(means, axis=0))


def test_a_leader_sits_where_the_best_observer_is():
    arena = Arena.of(["agents-3"], ["greedy"], ["bank"])
    (panel,) = arena.panels()
    members = panel.curve("pair.greedy.bank").team.members
    assert [member.name for member in members] == ["bank", "bank", "epsilon-greedy"]
    assert members[0].sight == pytest.approx(1 / 3)


def test_one_brain_with_the_leaders_eyes_sees_no_more_than_the_leader():
    (panel,) = Arena.of(["sight-6-5"]).panels()
    assert panel.curve("team.one-brain").problem.observation.observability == (0.6, 0.0)
    assert panel.curve("team.centralised-gittins").team.controller.sight == pytest.approx(0.8)


@pytest.mark.long
def test_numbers_are_those_of_simulate_with_the_same_seed(played):
    _, result, _ = played
    casino = result.place("casino")
    team = cb.Team([cb.EpsilonGreedy(epsilon=0.0), cb.Bank(sight=0.4)])
    alone = cb.simulate(casino.setting.problem, team, 1000, runs=5, seed=0)
    assert (casino.pair("greedy", "bank") == alone.task_regret[:, -1]).all()
    standing = casino.standings["pair.greedy.bank"]
    assert standing.mean == pytest.approx(alone.task_regret[:, -1].mean())
    assert standing.to_aware.value == pytest.approx(standing.mean / casino.team("partner-aware-ucb").mean())
    assert standing.to_aware.low < standing.to_aware.value < standing.to_aware.high
    assert casino.standings["team.partner-aware-ucb"].to_aware == Interval(1.0, 1.0, 1.0)
    assert casino.standings["team.partner-aware-ucb"].to_aware_median == Interval(1.0, 1.0, 1.0)


def test_the_exact_limit_is_where_it_exists(played):
    _, result, _ = played
    exact = result.place("exact-12")
    assert exact.limits.one_brain == pytest.approx(8.039, abs=5e-4)
    assert exact.limit_regret == pytest.approx(12 * 4 / 5 - 8.039, abs=5e-4)
    standing = exact.standings["team.steered"]
    assert standing.to_limit.value == pytest.approx(standing.mean / exact.limit_regret)
    assert result.place("casino").standings["team.steered"].to_limit is None


def test_an_agent_of_ones_own_leads_follows_and_is_a_team(played):
    _, result, _ = played
    casino = result.place("casino")
    assert "own-stubborn" in casino.teams
    assert ("own-stubborn", "bank") in casino.pairs
    assert ("greedy", "own-stubborn") in casino.pairs
    assert ("own-stubborn", "own-stubborn") in casino.pairs
    assert casino.engines["team.own-stubborn"] == "reference"


def test_followers_are_ranked_by_their_average_over_people(played):
    _, result, _ = played
    casino = result.place("casino")
    labels = {entry.name: entry.label for entry in result.arena.followers}
    rows = follower_league(casino, PEOPLE, labels, WINDOWS, "window-5")
    assert [row.mean for row in rows] == sorted(row.mean for row in rows)
    bank = next(row for row in rows if row.follower == "bank")
    means = [casino.pair(leader, "bank").mean() for leader in PEOPLE]
    assert bank.mean == pytest.approx(np.mean(means))
    fives = [casino.pair(leader, "window-5").mean() for leader in PEOPLE]
    assert bank.difference.value == pytest.approx(np.mean(means) - np.mean(fives))
    best = min(casino.pair("greedy", window).mean() for window in WINDOWS)
    ratio = best_window_ratio(casino, "greedy", "bank", WINDOWS).value
    assert ratio == pytest.approx(casino.pair("greedy", "bank").mean() / best)
    assert bank.worst >= ratio


def test_claims_are_judged_with_their_settings(played):
    _, result, _ = played
    judged = [(setting, verdict.kind) for setting, verdict in result.verdicts]
    assert judged.count(("casino", "beats")) == 2  # steered; bank
    assert judged.count(("casino", "ratio")) == 2
    assert ("exact-12", "beats") in judged
    for _, verdict in result.verdicts:
        assert verdict.runs == 5


def test_an_election_is_judged_where_roles_are_drawn():
    judged = [verdict.claim for _, verdict in invented(Arena.of(["unknown", "fixed-500"])).verdicts]
    assert sum("elected leader is better than a drawn one" in claim for claim in judged) == 2


@pytest.mark.parametrize(
    ("intervals", "outcome"),
    [
        ([Interval(-2, -3, -1)], "holds"),
        ([Interval(-2, -3, -1), Interval(-0.1, -1, 1)], "undecided"),
        ([Interval(-2, -3, -1), Interval(2, 1, 3)], "does not hold"),
    ],
)
def test_all_must_be_below(intervals, outcome):
    assert all_below(intervals, 0.0) == outcome


def test_resuming_plays_nothing_twice_and_a_folder_is_read_again(played, tmp_path):
    folder, result, events = played
    assert {event.kind for event in events} == {"planned", "finished"}
    again = play_arena(folder, resume=True)[1]
    assert {event.kind for event in again} == {"kept"}
    with pytest.raises(cb.InvalidInput, match="module:Class"):
        Arena.stored(folder)  # a class without an address cannot be loaded again
    table = result.save(tmp_path / "arena.csv")
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(place.finals) for place in result.places)
    data = json.loads(result.save(tmp_path / "arena.json").read_text())
    assert [place["setting"] for place in data["settings"]] == ["casino", "exact-12"]
    with pytest.raises(cb.InvalidInput, match=r"\.csv or \.json"):
        result.save(tmp_path / "arena.txt")


def test_a_class_by_its_address_joins(tmp_path, monkeypatch):
    (tmp_path / "my_stubborn_agents.py").write_text(
        "from cobandit import Agent, Controller\n"
        "class Mine(Agent):\n    name = 'Mine!'\n    paper = 'none'\n"
        "    def choose(self):\n        return 0\n"
        "    def observe(self, team_action, reward):\n        pass\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert own_entry("my_stubborn_agents:Mine").name == "own-mine"
    for bad, words in (
        ("my_stubborn_agents", "must be module:Class"),
        ("my_stubborn_agents:Yours", "has no 'Yours'"),
        ("no_such_module_here:Mine", "cannot be loaded"),
        ("my_stubborn_agents:Controller.of", "has no"),
        (42, "no subclass"),
        ("json:loads", "no subclass"),
    ):
        with pytest.raises(cb.InvalidInput, match=words):
            own_entry(bad)
    with pytest.raises(cb.InvalidInput, match="must be unique"):
        Arena.of(own=["my_stubborn_agents:Mine", "my_stubborn_agents:Mine"])


def test_unknown_names_and_odd_numbers_are_refused_before_any_work(tmp_path):
    wrong: list[dict[str, Any]] = [{"settings": ["casin"]}, {"leaders": ["gredy"]}, {"followers": ["bnk"]}]
    for arguments in wrong:
        with pytest.raises(cb.UnknownName, match="mean"):
            Arena.of(**arguments)
    odd: list[Any] = [1, 0, 10**9, "many", math.nan]
    for runs in odd:
        with pytest.raises(cb.InvalidInput):
            arena_settings(runs)
    with pytest.raises(cb.InvalidInput):
        run_arena(tmp_path / "out", ["casino"], runs=1)
    assert not (tmp_path / "out").exists()


class StubbornInStates(mdp.MarkovAgent):
    """Always the first arm."""

    name = "stubborn in states"

    def choose(self, state, step):
        return 0

    def observe(self, team_action, reward, state, step, next_state):
        pass


def test_markov_teams_have_a_league_of_their_own(tmp_path):
    whole = Arena.of(["mdp-burger-line-3", "fixed-500"], own=[StubbornInStates, Stubborn])
    short = replace(whole, settings=tuple(replace(place, horizon=30) for place in whole.settings))
    states, bandit = short.panels()
    assert len(states.curves) == len(MARKOV_TEAMS) + 1
    assert not {curve.name for curve in states.curves} & {curve.name for curve in bandit.curves}
    alone = replace(short, settings=short.settings[:1])
    result = alone.run(tmp_path, arena_settings(3), InThisProcess())
    place = result.place("mdp-burger-line-3")
    team = mdp.Team.of("centralised-ucbvi", eyes="best")
    played = mdp.simulate(mdp.make_problem("burger-line", steps=3), team, 10, 3, 0)
    assert (place.team("one-brain-ucbvi") == played.task_regret[:, -1]).all()
    standing = place.standings["team.naive-ucbvi"]
    assert standing.to_aware.value == pytest.approx(standing.mean / place.team("partner-aware-ucbvi").mean())
    assert result.league() == []
    rows = {row.team: row for row in result.league(["markov"])}
    assert rows["own-stubborn-in-states"].settings == 1
    assert rows["centralised-ucbvi"].won == rows["one-brain-ucbvi"].won == 0
    assert [verdict.kind for _, verdict in result.verdicts] == ["beats", "beats"]
    assert len(result.to_dict()["markov_league"]) == len(MARKOV_TEAMS) + 1


def test_draws_of_medians_are_medians_of_draws():
    sample = np.random.default_rng(3).exponential(size=7)
    for rows in (6, 7):
        resamples = Resamples(rows, seed=1)
        part = sample[:rows]
        drawn = [np.median(np.repeat(part, count.astype(int))) for count in resamples.counts[:20]]
        assert resamples.medians(part)[:20] == pytest.approx(drawn)
        assert resamples.means(part)[:20] == pytest.approx([count @ part / rows for count in resamples.counts[:20]])
    assert resamples.interval(math.nan, np.full(5, math.nan), 0.95).low == -math.inf
