"""Why a team lost: counted by hand from the rounds, alike on every engine, and the same however it is cut."""

import json
import math

import numpy as np
import pytest

import cobandit as cb
from cobandit.engine import fast, reference
from cobandit.engine.diagnostics import Diagnostics
from cobandit.engine.match import Match
from tests.equivalence.comparing import assert_same_counts

STUCK = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [0.9, 0.6])
DRAWN = cb.Problem.bernoulli("random", [0.9, 0.6], arms=(2, 3))
THREE = cb.Problem.bernoulli("random", [0.9, 0.6, 0.7], arms=(2, 3, 2), roles="random")
LATE = cb.Problem.bernoulli(cb.RandomWalkMeans((2, 2), 0.1), [0.9, 0.6], delay=3)
POINTS = np.array([1, 5, 20, 64])


def by_hand(problem: cb.Problem, team: cb.Team, horizon: int, seed: int, runs: range) -> dict:
    """The definitions of docs/reference/diagnostics.md, straight from the rounds."""
    agents, long_enough = problem.agents, max(2, min(100, horizon // 10))
    plays = np.zeros(problem.arms, dtype=int)
    made, right = np.zeros((agents, agents), dtype=int), np.zeros((agents, agents), dtype=int)
    mismatches = 0
    spells: list[list] = [[] for _ in range(agents)]
    locks, lost = [], np.zeros(agents + 3)
    for run in runs:
        match = Match(problem, team, horizon, seed, run)
        means = match.environment.means
        best = np.unravel_index(int(means.argmax()), problem.arms)
        history, aims = [], []
        for action, _ in match.rounds():
            history.append(action)
            aims.append([partner.agent.aimed_at for partner in match.partners] or [None] * agents)
            for i, partner in enumerate(match.partners):
                for j, arm in partner.predictions.items():
                    made[i, j] += 1
                    right[i, j] += arm == action[j]
        seen: dict = {}
        habit = None
        for t, (action, aimed) in enumerate(zip(history, aims, strict=True)):
            plays[action] += 1
            differ = len({aim for aim in aimed if aim is not None}) > 1
            mismatches += differ
            wrong = [i for i in range(agents) if action[i] != best[i]]
            cause = 1 if differ else 0 if action != habit else 2 + (wrong[0] if len(wrong) == 1 else agents)
            if wrong:
                lost[cause] += means[best] - means[action]
            seen[action] = seen.get(action, 0) + 1
            if habit is None or seen[action] > seen[habit]:
                habit = action
            for i in range(agents):
                before = aims[t - 1][i] if t else None
                if before is not None and before == aimed[i] and before != history[t - 1]:
                    fresh = not (spells[i] and spells[i][-1][1] == (run, t - 1))
                    spells[i].append([1, (run, t)]) if fresh else spells[i].append([spells[i].pop()[0] + 1, (run, t)])
        starts = [s for s in range(horizon - long_enough + 1) if len(set(history[s : s + long_enough])) == 1]
        if starts:
            locks.append((starts[0] + 1, history[starts[0]] == tuple(best)))
    count = len(runs)
    return {
        "share": plays / (count * horizon),
        "hit_rate": np.divide(right, made, out=np.full(made.shape, np.nan), where=made > 0),
        "mismatch_rounds": mismatches / count,
        "insisted": [sum(length for length, _ in own) / count for own in spells],
        "spell": [np.mean([length for length, _ in own]) if own else math.nan for own in spells],
        "longest_spell": [max((length for length, _ in own), default=0) for own in spells],
        "locked": [sum(on for _, on in locks) / count, sum(not on for _, on in locks) / count],
        "lock_round": np.mean([start for start, _ in locks]) if locks else math.nan,
        "regret": lost / count,
    }


@pytest.mark.parametrize(
    ("problem", "team"),
    [
        (STUCK, cb.Team.of("naive-ucb")),
        (DRAWN, cb.Team.of("partner-aware-ucb", index="companion", repeat=2)),
        (THREE, cb.Team([cb.PartnerAwareTS(), cb.EpsilonGreedy(), cb.PartnerAwareUCB(window=3)])),
        (STUCK, cb.Team.of("centralised-ucb")),
    ],
    ids=["stuck", "companion", "three", "one brain"],
)
def test_counted_by_hand(problem: cb.Problem, team: cb.Team) -> None:
    result = cb.simulate(problem, team, 64, 12, seed=3, engine="reference", checkpoints=[64], diagnose=True)
    diagnostics, expected = result.diagnostics, by_hand(problem, team, 64, 3, range(12))
    np.testing.assert_allclose(diagnostics.share[-1], expected.pop("share"))
    np.testing.assert_allclose(diagnostics.locked[-1], expected.pop("locked"))
    np.testing.assert_allclose(diagnostics.regret[-1], expected.pop("regret"))
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(diagnostics, name), value, err_msg=name)


@pytest.mark.parametrize(
    ("problem", "team", "kernels"),
    [
        (STUCK, cb.Team.of("partner-aware-ucb"), ("general", "lockstep")),
        pytest.param(
            DRAWN,
            cb.Team.of("partner-aware-ucb", index="companion", repeat=2),
            ("general", "lockstep"),
            marks=pytest.mark.long,
        ),
        (THREE, cb.Team([cb.PartnerAwareTS(), cb.EpsilonGreedy(), cb.PartnerAwareUCB(window=3)]), ("general",)),
        pytest.param(LATE, cb.Team.of("partner-aware-sliding-ucb", memory=20), ("general",), marks=pytest.mark.long),
    ],
    ids=["paper", "companion", "mixed", "walking and late"],
)
def test_every_engine_counts_alike(problem: cb.Problem, team: cb.Team, kernels: tuple[str, ...]) -> None:
    runs = range(3, 80)
    plain = reference.play_runs(problem, team, 64, 3, runs, POINTS, lambda more: None, diagnose=True)
    game = fast.make_game(problem, team, 64)
    for kernel in kernels:
        for threads in (1, 3):
            quick = fast.play_runs(game, 3, runs, POINTS, threads, lambda more: None, kernel, diagnose=True)
            assert_same_counts(plain, quick)


def test_causes_sum_to_the_regret() -> None:
    result = cb.simulate(DRAWN, cb.Team.of("partner-aware-ucb"), 500, 40, seed=1, diagnose=True)
    np.testing.assert_allclose(result.diagnostics.regret.sum(axis=1), result.summary().task_regret.mean, rtol=1e-9)
    np.testing.assert_allclose(result.diagnostics.share.sum(axis=(1, 2)), 1.0)


def test_many_runs_in_any_pieces(tmp_path, monkeypatch) -> None:
    """Batches, pieces put together, a file and JSON give the same to the last bit."""
    team = cb.Team.of("partner-aware-ucb")
    whole = cb.simulate(STUCK, team, 60, 200, seed=2, checkpoints=[10, 60], diagnose=True)
    monkeypatch.setattr("cobandit.engine.simulation.batch_rows", lambda columns: 16)
    cut = cb.simulate(STUCK, team, 60, 200, seed=2, checkpoints=[10, 60], diagnose=True, keep="summary", threads=2)
    assert cut.diagnostics == whole.diagnostics
    assert not cut.keeps_runs
    pieces = [
        cb.simulate(STUCK, team, 60, runs, seed=2, checkpoints=[10, 60], diagnose=True, first_run=first)
        for first, runs in ((0, 77), (77, 123))
    ]
    joined = cb.Result.concat(pieces)
    assert joined.diagnostics == whole.diagnostics
    for result in (whole, cut):
        assert cb.Result.load(result.save(tmp_path / "runs.parquet")).counted == whole.diagnostics
        assert cb.Result.from_dict(json.loads(json.dumps(result.describe()))).counted == whole.diagnostics


def test_a_result_that_was_not_diagnosed_is_played_again() -> None:
    team = cb.Team.of("naive-ucb")
    plain = cb.simulate(STUCK, team, 50, 20, seed=4, first_run=7)
    assert plain.counted is None
    assert plain.diagnostics == cb.simulate(STUCK, team, 50, 20, seed=4, first_run=7, diagnose=True).diagnostics
    assert cb.Result.concat([plain]).counted is None


def test_in_words_and_as_plain_data() -> None:
    diagnostics = cb.simulate(STUCK, cb.Team.of("naive-ucb"), 200, 30, seed=1, diagnose=True).diagnostics
    assert diagnostics.main_cause == "mismatch"
    text = str(diagnostics)
    assert "mismatch" in text.splitlines()[2]
    assert "Agent 0 insisted in" in text
    assert "foresaw" not in text
    assert "mostly mismatch" in repr(diagnostics)
    plain = json.loads(json.dumps(diagnostics.to_dict(), allow_nan=False))
    assert plain["hit_rate"] == [[None, None], [None, None]]
    assert plain["causes"][2:] == ["wrong row", "wrong column", "wrong row and column"]
    perfect = cb.simulate(STUCK, cb.Team.of("optimal"), 20, 2, seed=1, diagnose=True).diagnostics
    assert perfect.main_cause == ""
    assert str(perfect).startswith("Nothing was lost.")
    assert perfect.locked[-1].tolist() == [1.0, 0.0]
    assert cb.simulate(THREE, cb.Team.of("naive-ucb"), 5, 1, seed=1).diagnostics.causes[-1] == "several wrong arms"


class Dreamer(cb.Agent):
    """Aims at what it is told to."""

    def __init__(self, aim) -> None:
        self.wanted = aim

    def choose(self) -> int:
        return self.part_of(self.wanted)

    def observe(self, team_action, reward) -> None:
        """Nothing."""


def test_agents_of_ones_own_say_what_they_aim_at() -> None:
    team = cb.Team([Dreamer((0, 0)), Dreamer((1, 1))])
    result = cb.simulate(STUCK, team, 30, 2, seed=1, diagnose=True)
    assert result.engine == "reference"
    assert result.diagnostics.mismatch_rounds == 30
    assert result.diagnostics.insisted.tolist() == [29.0, 29.0]
    assert result.diagnostics.longest_spell.tolist() == [29, 29]
    with pytest.raises(cb.AgentError, match=r"aimed at \(0, 7\)"):
        cb.simulate(STUCK, cb.Team([Dreamer((0, 7)), Dreamer((1, 1))]), 3, 1, seed=1, diagnose=True)


def test_refusals() -> None:
    with pytest.raises(cb.InvalidInput, match="diagnose must be True or False, got 1"):
        cb.simulate(STUCK, cb.Team.of("naive-ucb"), 5, 1, diagnose=1)  # type: ignore[arg-type]
    for wrong in (None, {}, {"arms": [2, 2]}):
        with pytest.raises(cb.InvalidInput, match="did not write"):
            Diagnostics.from_dict(wrong)
    with pytest.raises(cb.InvalidInput, match="at least one"):
        Diagnostics.joined([])
