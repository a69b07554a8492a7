"""The mixed model with teams: published values, statsmodels, and a likelihood written with dense matrices."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import cobandit as cb
from cobandit.stats import mixed_model, team_mixed_model
from cobandit.stats.team_mixed import _best_ratios, _Data

# Davies and Goldsmith (1972): strength of chemical paste, ten batches of three casks, two assays each.
PASTES = """
62.8 62.6 60.1 62.3 62.7 63.1 60.0 61.4 57.5 56.9 61.1 58.9 58.7 57.5 63.9 63.1 65.4 63.7 57.1 56.4 56.9 58.6 64.7 64.5
55.1 55.1 54.7 54.2 58.8 57.5 63.4 64.9 59.3 58.1 60.5 60.0 62.5 62.6 61.0 58.7 56.9 57.7 59.2 59.4 65.2 66.0 64.8 64.1
54.8 54.8 64.0 64.0 57.7 56.8 58.3 59.3 59.2 59.2 58.9 56.6
"""


def test_published_values_of_the_paste_data() -> None:
    """Bates (2010), lme4: REML 246.99, batch 1.2874, cask 2.9041, residual 0.8234, mean 60.0533 +- 0.6769."""
    y = np.array(PASTES.split(), dtype=float)
    casks: list[Any] = [(cask,) for cask in np.repeat(np.arange(30), 2).tolist()]
    data = _Data.of(y, np.ones((60, 1)), np.repeat(np.arange(10), 6), casks)
    ratios = _best_ratios(data)
    fit = data.fit(ratios)
    sd = math.sqrt(fit.variance)
    assert (round(sd * ratios[0], 4), round(sd * ratios[1], 4), round(sd, 4)) == (1.2874, 2.9041, 0.8234)
    assert (round(float(fit.coefficients[0]), 4), round(float(fit.errors[0]), 4)) == (60.0533, 0.6769)
    assert round(fit.loss + 59 * (math.log(2 * math.pi) + 1), 2) == 246.99


def numbers(*values):
    """Return the values, none of which is missing."""
    assert all(value is not None for value in values)
    return values if len(values) > 1 else values[0]


def pairs(seed, teams=14, *, team=0.8, person=1.1, joint=True):
    """Pairs with one joint observation (or one each) and two observations of each member; some are missing."""
    rng = np.random.default_rng(seed)
    rows = []
    for t in range(teams):
        level, people = team * rng.normal(), person * rng.normal(size=2)
        seen: list[Any] = [((f"{t}a", f"{t}b"), people.mean(), 0)]
        if not joint:
            seen = [((f"{t}{s}",), p, 0) for s, p in zip("ab", people, strict=True)]
        seen += [((f"{t}{s}",), p, c) for s, p in zip("ab", people, strict=True) for c in (1, 2)]
        for who, own, condition in seen:
            value = 3 + (0, 0.7, -0.4)[condition] + level + own + 0.9 * rng.normal()
            rows.append((value if rng.random() > 0.08 else np.nan, t, who, condition))
    values, groups, members, conditions = (list(column) for column in zip(*rows, strict=True))
    terms = {f"c{c}": (np.array(conditions) == c).astype(float) for c in (1, 2)}
    return np.array(values), groups, members, terms


def of_statsmodels(values, groups, members, terms):
    """Fit the same model by the library: a random intercept for teams, variance components for their people."""
    from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec

    there = ~np.isnan(values)
    y, design = values[there], np.column_stack([np.ones(there.sum()), *(term[there] for term in terms.values())])
    teams, who = np.array(groups)[there], [name for name, present in zip(members, there, strict=True) if present]
    names, mats = [], []
    for team in dict.fromkeys(sorted(teams.tolist())):
        rows = np.flatnonzero(teams == team)
        people = list(dict.fromkeys(name for i in rows for name in who[i]))
        names.append(people)
        mats.append(np.array([[who[i].count(name) / len(who[i]) for name in people] for i in rows]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MixedLM(y, design, teams, exog_re=np.ones((len(y), 1)), exog_vc=VCSpec(["person"], [names], [mats]))
        return model.fit(reml=True, method=["bfgs", "powell"], gtol=1e-10)


@pytest.mark.parametrize(("seed", "joint"), [(11, True), (2, True), (3, False), (4, False)])
def test_the_same_numbers_as_statsmodels(seed, joint) -> None:
    data = pairs(seed, joint=joint)
    rows = team_mixed_model(*data)
    oracle = of_statsmodels(*data)
    assert [row.estimate for row in rows] == pytest.approx(oracle.fe_params[1:].tolist(), rel=1e-4)
    more = rows[0].more
    assert more["sd_residual"] == pytest.approx(math.sqrt(oracle.scale), rel=1e-3)
    assert more["sd_teams"] == pytest.approx(math.sqrt(oracle.cov_re[0, 0]), rel=3e-3)
    assert more["sd_participants"] == pytest.approx(math.sqrt(oracle.vcomp[0]), rel=3e-3)
    # Those of statsmodels come from the curvature in all parameters and differ a little where data are missing.
    assert [numbers(row.estimate) / numbers(row.statistic) for row in rows] == pytest.approx(
        oracle.bse_fe[1:].tolist(), rel=0.02
    )


def dense_loss(data, ratios):
    """-2 times the restricted log-likelihood, up to a constant, from whole matrices."""
    values, groups, members, terms = data
    there = ~np.isnan(values)
    y, design = values[there], np.column_stack([np.ones(there.sum()), *(term[there] for term in terms.values())])
    teams, who = np.array(groups)[there], [name for name, present in zip(members, there, strict=True) if present]
    people = list(dict.fromkeys(name for names in who for name in names))
    weights = np.array([[names.count(name) / len(names) for name in people] for names in who])
    same_team = (teams[:, np.newaxis] == teams).astype(float)
    matrix = np.eye(len(y)) + ratios[0] ** 2 * same_team + ratios[1] ** 2 * weights @ weights.T
    inverse = np.linalg.inv(matrix)
    information = design.T @ inverse @ design
    projected = inverse - inverse @ design @ np.linalg.inv(information) @ design.T @ inverse
    freedom = len(y) - design.shape[1]
    logs = np.linalg.slogdet(matrix)[1] + np.linalg.slogdet(information)[1]
    return float(logs + freedom * math.log(y @ projected @ y / freedom))


@pytest.mark.parametrize("seed", range(5, 10))
def test_no_other_variances_are_more_likely(seed) -> None:
    data = pairs(seed, team=0.5 * (seed % 3), person=0.6 * (seed % 2))
    more = team_mixed_model(*data)[0].more
    best = np.array(numbers(more["sd_teams"], more["sd_participants"])) / numbers(more["sd_residual"])
    smallest = dense_loss(data, best)
    for teams in np.linspace(0, 3, 16):
        for people in np.linspace(0, 3, 16):
            assert dense_loss(data, (teams, people)) >= smallest - 1e-7


def test_teams_of_one_person_are_an_ordinary_mixed_model() -> None:
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(20), 2)
    term = np.tile([0.5, -0.5], 20)
    y = rng.normal(size=20)[who] + 0.4 * term + rng.normal(size=40)
    (plain,) = mixed_model(y, who.tolist(), {"x": term})
    (teams,) = team_mixed_model(y, who.tolist(), [(name,) for name in who.tolist()], {"x": term})
    assert teams.estimate == pytest.approx(numbers(plain.estimate), rel=1e-9)
    assert teams.p == pytest.approx(numbers(plain.p), rel=1e-6)


def test_people_counted_as_independent_would_find_too_much() -> None:
    """A condition that differs between teams: with copies of one value per team, the plain model is far too sure."""
    rng = np.random.default_rng(0)
    wrong, right, studies = 0, 0, 60
    for _ in range(studies):
        teams = np.repeat(np.arange(12), 4)
        condition = (teams % 2).astype(float)
        y = 1.5 * rng.normal(size=12)[teams] + rng.normal(size=48)
        people = [f"p{i // 2}" for i in range(48)]
        wrong += numbers(mixed_model(y, people, {"c": condition})[0].p) < 0.05
        (row,) = team_mixed_model(y, teams.tolist(), [(name,) for name in people], {"c": condition})
        right += numbers(row.p) < 0.05
    assert wrong > 2 * right
    assert right < 0.2 * studies


@pytest.mark.parametrize(
    ("values", "members", "note"),
    [
        ([1.0, 1.0, 1.0, 1.0], [("a",)] * 4, "all values are the same"),
        ([np.nan, np.nan, np.nan, 2.0], [("a",)] * 4, "at least two teams"),
    ],
)
def test_what_cannot_be_fitted_says_why(values, members, note) -> None:
    (row,) = team_mixed_model(values, [0, 0, 1, 1], members, {"x": [0, 1, 0, 1]})
    assert row.p is None
    assert note in row.note
    assert "team means stand" in row.note


def test_refusals() -> None:
    with pytest.raises(cb.InvalidInput, match="members has 1 entries and values has 2"):
        team_mixed_model([1.0, 2.0], [0, 1], [("a",)], {})
    with pytest.raises(cb.InvalidInput, match="members must list people for each observation"):
        team_mixed_model([1.0, 2.0], [0, 1], ["a", "b"], {})
