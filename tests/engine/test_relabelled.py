"""Simulations of relabelled problems, against brute force: the permuted matrix, and a simulator of its own."""

import itertools
import math
import random
from functools import partial
from statistics import fmean, stdev

import numpy as np
import pytest

import cobandit as cb
from cobandit.engine import fast

MATRIX = np.array([[0.8, 0.4], [0.2, 0.6]])
WIDE = np.array([[0.8, 0.4, 0.1], [0.2, 0.6, 0.3]])
SIGHT = (1.0, 0.5)


def brute_force_labels(arms, seed: int, run: int) -> list[list[int]]:
    """The permutation of each agent, shuffled by hand from the stream behind all others."""
    sequence = np.random.SeedSequence(seed, spawn_key=(run, 3 + 2 * len(arms)))
    rng = np.random.Generator(np.random.SFC64(sequence))
    labels = []
    for size in arms:
        order = list(range(size))
        for last in reversed(range(1, size)):
            pick = math.floor(rng.random() * (last + 1))
            order[last], order[pick] = order[pick], order[last]
        labels.append(order)
    return labels


def permuted(matrix: np.ndarray, labels: list[list[int]]) -> np.ndarray:
    cells = itertools.product(*labels)
    return np.array([matrix[cell] for cell in cells]).reshape(matrix.shape)


@pytest.mark.parametrize("kernel", ["reference", "general", "lockstep"])
@pytest.mark.parametrize("matrix", [MATRIX, WIDE], ids=["2x2", "2x3"])
def test_a_run_is_that_of_the_permuted_matrix(matrix, kernel):
    """Bit for bit: the same seed and run, on the matrix that the run's permutation makes."""
    problem = cb.Problem.bernoulli(matrix, SIGHT).relabelled()
    team, points = cb.Team.of("partner-aware-ucb", window=3), np.array([20, 60])

    def regrets(played, runs):
        if kernel == "reference":
            options = {"engine": "reference", "checkpoints": points.tolist(), "first_run": runs.start}
            return cb.simulate(played, team, 60, len(runs), 11, **options).task_regret
        game = fast.make_game(played, team, 60)
        return fast.play_runs(game, 11, runs, points, 1, lambda more: None, kernel)[0]

    together = regrets(problem, range(2, 14))
    seen = set()
    for row, run in zip(together, range(2, 14), strict=True):
        labels = brute_force_labels(matrix.shape, 11, run)
        seen.add(str(labels))
        alone = regrets(cb.Problem.bernoulli(permuted(matrix, labels), SIGHT), range(run, run + 1))
        np.testing.assert_array_equal(alone[0], row)
    assert len(seen) > 3


def test_drawn_means_and_spreads_are_permuted_alike():
    """Nature draws as without labels; means and spreads are then moved together."""
    problem = cb.Problem.gaussian("random", [0.1, 0.5], arms=(3, 2)).relabelled()
    team = cb.Team.of("naive-ucb")
    result = cb.simulate(problem, team, 80, runs=6, seed=4, engine="reference")
    for run in range(6):
        setup = np.random.Generator(np.random.SFC64(np.random.SeedSequence(4, spawn_key=(run, 0))))
        labels = brute_force_labels((3, 2), 4, run)
        means = permuted(setup.random((3, 2)), labels)
        spreads = permuted(0.1 + 0.4 * setup.random((3, 2)), labels)
        given = cb.Problem.gaussian(means, [0.1, 0.5], sd=spreads)
        alone = cb.simulate(given, team, 80, runs=1, seed=4, first_run=run, engine="reference")
        assert alone.trajectory(run).actions.tolist() == result.trajectory(run).actions.tolist()
        np.testing.assert_array_equal(alone.task_regret[0], result.task_regret[run])
        assert result.trajectory(run).labels == tuple(map(tuple, labels))


def naive_ucb_regret(matrix, horizon: int, luck: random.Random) -> float:
    """One run of two naive UCB agents with the paper's index, c = .025: ties go to the first cell."""
    cells = [(i, j) for i in range(2) for j in range(2)]
    counts = dict.fromkeys(cells, 0)
    sums = [dict.fromkeys(cells, 0.0) for _ in SIGHT]
    width = math.sqrt(2 * 0.025 * math.log(horizon))

    def index(agent, cell):
        n = counts[cell]
        return sums[agent][cell] / n + width / math.sqrt(n) if n else math.inf

    lost = 0.0
    for _ in range(horizon):
        aims = [max(cells, key=partial(index, agent)) for agent in range(2)]
        played = aims[0][0], aims[1][1]
        reward = float(luck.random() < matrix[played])
        counts[played] += 1
        for agent, sight in enumerate(SIGHT):
            sums[agent][played] += reward * (luck.random() < sight)
        lost += 0.8 - matrix[played]
    return lost


def test_means_agree_with_a_simulator_that_permutes_by_brute_force():
    """A quarter of the runs for each order of rows and columns; without relabelling the same team loses less."""
    horizon, luck = 300, random.Random(6)
    orders = [(rows, columns) for rows in ((0, 1), (1, 0)) for columns in ((0, 1), (1, 0))]
    brute = [
        naive_ucb_regret(permuted(MATRIX, [list(rows), list(columns)]), horizon, luck)
        for rows, columns in orders
        for _ in range(150)
    ]
    problem = cb.Problem.bernoulli(MATRIX, SIGHT)
    ours = cb.simulate(problem.relabelled(), cb.Team.of("naive-ucb"), horizon, 4_000, 8).summary().task_regret
    error = math.hypot(stdev(brute) / math.sqrt(len(brute)), ours.se[-1])
    assert abs(fmean(brute) - ours.mean[-1]) < 4 * error
    plain = cb.simulate(problem, cb.Team.of("naive-ucb"), horizon, 4_000, 8).summary().task_regret
    assert plain.mean[-1] < ours.mean[-1] - 4 * math.hypot(plain.se[-1], ours.se[-1])


@pytest.mark.parametrize("engine", ["reference", "fast"])
def test_all_other_luck_stays_and_shares_are_in_the_problems_labels(engine):
    """An oracle earns the very same rewards; it is at (0, 0) of the matrix throughout, whatever the arms are called."""
    problem = cb.Problem.bernoulli(MATRIX, SIGHT)
    plain, result = (
        cb.simulate(each, cb.Team.of("optimal"), 50, 20, 9, engine=engine, diagnose=True)
        for each in (problem, problem.relabelled())
    )
    assert (result.task_regret == 0.0).all()
    arms = set()
    for run in range(20):
        np.testing.assert_array_equal(plain.trajectory(run).rewards, result.trajectory(run).rewards)
        arms |= set(map(tuple, result.trajectory(run).actions.tolist()))
    assert arms == {(0, 0), (0, 1), (1, 0), (1, 1)}
    np.testing.assert_array_equal(result.diagnostics.share[-1], [[1.0, 0.0], [0.0, 0.0]])


def test_results_are_stored_and_played_again_with_their_labels(tmp_path):
    problem = cb.Problem.bernoulli(WIDE, SIGHT).relabelled()
    result = cb.simulate(problem, cb.Team.of("naive-ts"), 40, 6, 3)
    loaded = cb.Result.load(result.save(tmp_path / "runs.parquet"))
    assert loaded.problem == problem
    assert loaded.provenance()["problem"]["relabel"] is True
    again = cb.Result.from_dict(result.describe())
    for run in range(6):
        assert loaded.trajectory(run).same_as(result.trajectory(run))
        assert again.trajectory(run).same_as(result.trajectory(run))
        assert result.trajectory(run).task_regret[-1] == pytest.approx(result.task_regret[run, -1])
    plain = cb.simulate(cb.Problem.bernoulli(WIDE, SIGHT), cb.Team.of("naive-ts"), 40, 6, 3, first_run=6)
    with pytest.raises(cb.InvalidInput, match="differ in problem"):
        cb.Result.concat([result, plain])


def test_words_mention_the_labels():
    from cobandit.engine.words import problem_lines

    problem = cb.Problem.bernoulli(MATRIX, SIGHT)
    assert "relabelled" not in problem_lines(problem)[0]
    assert "arms relabelled in each run" in problem_lines(problem.relabelled())[0]
