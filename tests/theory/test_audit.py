"""The proofs of Theorems A, B and N, step by step, on runs of the engine."""

import math

import numpy as np
import pytest

from cobandit import Partner, PartnerAwareUCB, Problem, Team, simulate
from cobandit.theory import curious_bound, curious_constants, heeding_bound
from tests.theory.audit import Audit, HeedingAudit

FIXED = [[0.8, 0.4], [0.2, 0.6]]
HARD = [[1.0, 0.0], [0.9, 0.3]]
FOOTNOTE = [[1.0, 0.75], [0.67, 0.0]]
WIDE = [[0.2, 0.7, 0.3], [0.9, 0.5, 0.1], [0.6, 0.8, 0.4]]

CASES = {
    "paper, c = 2": (FIXED, (1.0, 0.5), (2.0, 2.0)),
    "paper, A1": (FIXED, (1.0, 0.5), (0.5, 4.5)),
    "paper, A4": (FIXED, (1.0, 0.5), curious_constants(1.0, 0.5)),
    "equal sight": (HARD, (0.5, 0.5), curious_constants(0.5, 0.5)),
    "worse leader": (FOOTNOTE, (0.5, 1.0), curious_constants(0.5, 1.0)),
    "full sight": (HARD, (1.0, 1.0), curious_constants(1.0, 1.0)),
    "three rows": (WIDE, (0.9, 0.6), curious_constants(0.9, 0.6)),
}


def team_of(constants, repeat):
    return Team([PartnerAwareUCB(window=1, repeat=repeat, exploration=c) for c in constants])


def audits(means, sees, constants, repeat, horizon, runs, seed=5):
    problem = Problem.bernoulli(means, sees, roles=(0, 1))
    result = simulate(problem, team_of(constants, repeat), horizon, runs=runs, seed=seed, checkpoints=1)
    return problem, [Audit(result.trajectory(run), sees, constants, repeat) for run in range(runs)]


def check_steps(case, repeat, horizon, runs):
    means, sees, constants = CASES[case]
    problem, runs_audited = audits(means, sees, constants, repeat, horizon, runs)
    unit = problem.team_factor * (max(map(max, means)) - min(map(min, means)))
    limit = curious_bound(problem, horizon, *constants, repeat=repeat) / unit
    for audit in runs_audited:
        assert audit.bad_events() == dict.fromkeys(("E1", "E2", "E3", "E4", "E5"), 0)
        assert audit.key_lemma() == 0
        assert audit.pre_counts() == 0
        assert (audit.left_rows() if repeat == 1 else audit.stays()) == 0
        assert audit.returns() == 0
        assert 0 < audit.off <= limit


@pytest.mark.parametrize("repeat", [1, 2, 3])
@pytest.mark.parametrize("case", CASES)
def test_every_step_of_the_proof_holds(case, repeat):
    check_steps(case, repeat, horizon=5_000, runs=4)


@pytest.mark.long
@pytest.mark.parametrize("repeat", [1, 2, 3])
@pytest.mark.parametrize("case", CASES)
def test_every_step_of_the_proof_holds_in_long_runs(case, repeat):
    check_steps(case, repeat, horizon=100_000, runs=30)


def test_the_key_lemma_fails_for_equal_constants_and_equal_sight():
    """The step that Theorem 1 lacks: with c = .5 for both, leaders wait for cells that the follower declines."""
    _, runs = audits(HARD, (0.5, 0.5), (0.5, 0.5), 2, 20_000, 30)
    held = [audit for audit in runs if audit.elsewhere[-1_000:].all()]
    assert held
    assert all(audit.stays() == 0 and audit.key_lemma() > 1_000 for audit in held)


HEEDING = {
    "paper": (FIXED, (1.0, 0.5)),
    "equal sight": (HARD, (0.5, 0.5)),
    "worse leader": (FOOTNOTE, (0.5, 1.0)),
    "three rows": (WIDE, (0.7, 0.7)),
}


def check_heeding_steps(case, constants, horizon, runs):
    means, sees = HEEDING[case]
    problem = Problem.bernoulli(means, sees, roles=(0, 1))
    options = dict(zip(("exploration", "follower_exploration"), constants, strict=True))
    team = Team.of("partner-aware-ucb", window=1, repeat=2, heed=True, **options)
    result = simulate(problem, team, horizon, runs=runs, seed=6, checkpoints=1)
    limit = heeding_bound(problem, horizon, *constants)
    for run in range(runs):
        audit = HeedingAudit(result.trajectory(run), sees, constants)
        assert audit.bad_events() == dict.fromkeys(("E1", "E2", "E3", "E4", "E5"), 0)
        assert audit.steps() == dict.fromkeys(("passed over", "right rounds", "answers"), 0)
        assert audit.returns() == 0
        assert 0.0 < result.team_regret[run, -1] <= limit


@pytest.mark.parametrize(("case", "constants"), list(zip(HEEDING, [(2.0, 2.0), (0.5, 1.0)] * 2, strict=True)), ids=str)
def test_every_step_of_the_proof_of_theorem_b_holds(case, constants):
    check_heeding_steps(case, constants, horizon=4_000, runs=2)


@pytest.mark.long
@pytest.mark.parametrize("constants", [(2.0, 2.0), (0.5, 1.0)])
@pytest.mark.parametrize("case", HEEDING)
def test_every_step_of_the_proof_of_theorem_b_holds_in_long_runs(case, constants):
    check_heeding_steps(case, constants, horizon=50_000, runs=10)


def tilted_run(h, c, tilt, horizon, seed):
    """Return the rounds of Theorem N under Q: (row, column, predicted row), and the leader's indices of (1, 1).

    Given what the follower sees of (1, 1), the leader sees it with a probability that is larger by ``tilt``.
    """
    means = np.array([[1.0, 0.0], [1.0 - h**3, 1.0 - h - h**3]])
    sees = means[1, 1] / (4.0 - 2.0 * means[1, 1]), 0.5
    leader, follower = (
        Partner("partner-aware-ucb", (2, 2), i, horizon, roles=(0, 1), seed=seed, window=1, repeat=2, exploration=c)
        for i in (0, 1)
    )
    rng = np.random.default_rng(seed)
    rounds, indices = [], []
    for _ in range(horizon):
        action = leader.choose(), follower.choose()
        rounds.append((*action, follower.predictions[0]))
        if action == (1, 1):
            shown = rng.random() < means[1, 1] / 2.0
            hoped = rng.random() < sees[int(shown)] + tilt
        else:
            reward = rng.random() < means[action]
            hoped, shown = (reward and rng.random() < 0.5 for _ in range(2))
        leader.observe(action, float(hoped))
        follower.observe(action, float(shown))
        if action == (1, 1):
            ratings = leader.agent.ratings()
            assert ratings is not None
            indices.append(ratings[1, 1])
    return np.array(rounds), indices


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_step_of_the_proof_of_theorem_n_holds_under_the_tilted_law(seed):
    h, c, horizon = 0.3, 0.5, 20_000
    rounds, indices = tilted_run(h, c, 1.25 * h**3 + 0.01, horizon, seed)
    row, column, predicted = rounds.T
    nbar = 8.0 * c * math.log(horizon)
    accidents = (row == 1) & (column == 1) & (predicted == 0)
    assert 0 < accidents.sum() <= 3.0 * nbar
    assert ((row == 1) & (column == 1)).sum() <= 2.0 * c * math.log(horizon) * (4.0 / h**2 + 12.0)
    never_pays = (row == 0) & (column == 1)
    pre_counts = np.cumsum(never_pays) - 1
    assert pre_counts[never_pays & (predicted == 0)].max() <= nbar
    assert min(indices) > 0.5
    assert (row == 1).mean() >= 0.25
