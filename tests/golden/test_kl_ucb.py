"""The index of KL-UCB by hand, beside an independent solver, in a partner and in a study.

With c = 1/4 the threshold is log t, so n kl(mean, q) = log t:
mean 0, n looks:     (1 - q)^n = 1/t, so q = 1 - t^(-1/n)
mean 1:              q = 1
mean 1/2, 2 looks:   4 q (1 - q) = 1/t, so q = (1 + sqrt(1 - 1/t)) / 2
mean 1/3, 3 looks:   q (1 - q)^2 = 4 / (27 t)
mean 1/4, 4 looks:   q (1 - q)^3 = 27 / (256 t)
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import cobandit as cb
from cobandit.agents.kl_ucb import kl_bound
from cobandit.base.records import Table
from cobandit.studies import load_design, rehearsed_data, verify_study

KL: dict[str, Any] = {"index": "kl-ucb", "exploration": 0.25}


def test_naive_ucb(play):
    #  t  f(0,0)  f(0,1)  f(1,0)  f(1,1)  best    own  partner  seen
    #  1-4  one look at each              all     0 1 0 1  0 0 1 1  1 0 0 0
    #  5  1       .8      .8      .8      (0,0)    0      0      0
    #  6  .956    .833    .833    .833    (0,0)    0      0      0
    #  7  .841    .857    .857    .857    (0,1)    1      0      0
    #  8  .853    .646    .875    .875    (1,0)    0
    own = play(cb.NaiveUCB(**KL), place=1, partner=[0, 0, 1, 1, 0, 0, 0], seen=[1, 0, 0, 0, 0, 0, 0])
    assert own == [0, 1, 0, 1, 0, 0, 1, 0]


def test_a_follower(play):
    # The leader always plays 0, so only the first row counts; the first prediction is drawn from both arms.
    #  t  f(0,0)  f(0,1)  own  seen
    #  1  inf     inf      0    1
    #  2  1       inf      1    0
    #  3  1       .667     0    0
    #  4  .933    .75      0    0
    #  5  .809    .8       0    0
    #  6  .708    .833     1
    own = play(
        cb.PartnerAwareUCB(window=1, **KL),
        place=1,
        partner=[0] * 5,
        seen=[1, 0, 0, 0, 0],
        draws=[[0.0]] * 6,
        foresees=[{0: 0}] * 6,
    )
    assert own == [0, 1, 0, 0, 0, 1]


def test_very_naive_ucb(play):
    # The two numbers of the follower's row, whatever the partner plays.
    own = play(cb.VeryNaiveUCB(**KL), place=1, partner=[1, 0, 1, 1, 0], seen=[1, 0, 0, 0, 0])
    assert own == [0, 1, 0, 0, 0, 1]


def test_centralised_ucb(play_joint):
    # The indices of naive UCB above, and the team plays the best.
    looks = [(1, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0)]
    chosen = play_joint(cb.CentralisedUCB(**KL), seen=looks)
    assert chosen == [(0, 0), (0, 1), (1, 0), (1, 1), (0, 0), (0, 0), (0, 1)]


def divergence(p: float, q: float) -> float:
    first = p * math.log(p / q) if p > 0 else 0.0
    return first + ((1 - p) * math.log((1 - p) / (1 - q)) if p < 1 else 0.0)


def test_the_bound_is_the_root_that_another_solver_finds():
    rng = np.random.default_rng(0)
    for _ in range(2_000):
        n = int(rng.choice([1, 2, 3, 10, 100, 10_000]))
        mean, c, t = (
            int(rng.integers(0, n + 1)) / n,
            float(rng.choice([0.001, 0.025, 0.25, 2.0])),
            rng.integers(2, 10**6),
        )
        step = math.sqrt(2 * c * math.log(t)) / math.sqrt(n)
        bound, nearly_one = kl_bound(mean, step), 1 - 1e-16
        threshold = 4 * c * math.log(t) / n
        if mean == 1 or divergence(mean, nearly_one) <= threshold:
            root = 1.0
        else:
            root = brentq(lambda q, p=mean, most=threshold: divergence(p, q) - most, mean, nearly_one, xtol=1e-15)
        assert bound == pytest.approx(root, abs=1e-11)
        assert mean <= bound <= min(mean + step, 1.0)  # Pinsker: at most the anytime index


def test_what_was_never_tried_and_no_exploration():
    assert kl_bound(math.inf, 0.0) == math.inf
    assert kl_bound(0.3, 0.0) == 0.3
    assert kl_bound(0.5, 5.0) == 1.0


@pytest.mark.parametrize("engine", ["reference", "fast"])
def test_with_rewards_other_than_0_and_1_it_is_the_anytime_index(engine):
    problem = cb.Problem.gaussian([[0.8, 0.4], [0.2, 0.6]], [0.1, 0.5])
    teams = [cb.Team.of("partner-aware-ucb", index=index, window=2) for index in ("kl-ucb", "anytime")]
    first, second = (cb.simulate(problem, team, horizon=60, runs=3, seed=1, engine=engine) for team in teams)
    np.testing.assert_array_equal(first.task_regret, second.task_regret)
    binary = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])
    first, second = (cb.simulate(binary, team, horizon=60, runs=3, seed=1, engine=engine) for team in teams)
    assert not np.array_equal(first.task_regret, second.task_regret)


def test_a_partner_goes_on_from_its_state_and_from_its_log():
    setting: dict[str, Any] = {"arms": (2, 2), "seat": 1, "horizon": 40, "observability": [1.0, 0.5], "seed": 3, **KL}
    partner, rounds = cb.Partner("partner-aware-ucb", **setting), []
    for t in range(12):
        action = (t % 2, partner.choose())
        rounds.append((action, float(t % 3 == 0)))
        partner.observe(*rounds[-1])
    again = cb.Partner.from_state(json.loads(json.dumps(partner.state())))
    replayed = cb.Partner.from_log("partner-aware-ucb", rounds, **setting)
    assert again.agent.options["index"] == "kl-ucb"
    assert partner.choose() == again.choose() == replayed.choose()
    assert partner.state() == again.state() == replayed.state()


def test_a_study_with_it_is_verified():
    design = load_design("casino")
    first, *others = design.conditions
    changed = dataclasses.replace(first, agent="partner-aware-ucb", options=Table((("index", "kl-ucb"),)))
    short = dataclasses.replace(design, conditions=(changed, *others), rounds=40, practice=None)
    study = rehearsed_data(short, [("softmax", 0, 0)])
    assert not list(verify_study(study))
