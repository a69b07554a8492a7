"""Analyses of variance between groups and mixed ones: the numbers of pingouin, SciPy and statsmodels."""

import warnings

import numpy as np
import pytest
from scipy import stats as scipy_stats

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pandas as pd
    import pingouin as pg
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

from cobandit import InvalidInput
from cobandit.stats import anova, mixed_anova, two_sample_p_values, welch_t

pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")  # pingouin's own use of pandas


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def drawn(sizes, levels, seed=0):
    rng = np.random.default_rng(seed)
    groups = [f"g{i}" for i, size in enumerate(sizes) for _ in range(size)]
    people = rng.normal(size=(sum(sizes), 1))
    shifts = np.repeat(rng.normal(size=(len(sizes), levels)), sizes, axis=0)
    return rng.normal(size=(sum(sizes), levels)) * rng.uniform(1, 2, levels) + people + 0.5 * shifts, groups


def long_form(values, groups):
    people, levels = np.indices(values.shape)
    return pd.DataFrame(
        {"s": people.ravel(), "w": levels.ravel(), "g": np.repeat(groups, values.shape[1]), "y": values.ravel()}
    )


@pytest.mark.parametrize(("sizes", "levels"), [((12, 12), 2), ((10, 10, 10), 4), ((8, 8), 3), ((20, 20, 20), 2)])
def test_equal_groups_are_pingouins(sizes, levels):
    values, groups = drawn(sizes, levels, sum(sizes))
    table = pg.mixed_anova(
        long_form(values, groups), dv="y", within="w", subject="s", between="g", correction=True, effsize="ng2"
    ).set_index("Source")
    partial = pg.mixed_anova(long_form(values, groups), dv="y", within="w", subject="s", between="g").set_index(
        "Source"
    )
    for found, source in zip(mixed_anova(values, groups), ("w", "g", "Interaction"), strict=True):
        wanted = table.loc[source]
        close(found.statistic, wanted["F"])
        close((found.more["df_effect"], found.more["df_error"]), (wanted["DF1"], wanted["DF2"]))
        close(found.more["p_uncorrected"], wanted["p_unc"])
        close(found.effect, wanted["ng2"])
        close(found.more["partial_eta_squared"], partial.loc[source, "np2"])
    if levels > 2:
        within = mixed_anova(values, groups)[0]
        close(within.more["epsilon_gg"], table.loc["w", "eps"])
        close(within.p, table.loc["w", "p_GG_corr"])


def test_published_values():
    """The example of pingouin's documentation, which its authors compared with R and JASP."""
    data = pg.read_dataset("mixed_anova")
    wide = data.pivot_table(index=["Subject", "Group"], columns="Time", values="Scores").reset_index()
    found = mixed_anova(wide[["August", "January", "June"]].to_numpy(), wide["Group"].tolist(), ("Time", "Group"))
    assert [round(row.statistic or 0.0, 3) for row in found] == [4.027, 5.052, 2.728]
    assert [round(row.more["p_uncorrected"] or 0.0, 3) for row in found] == [0.020, 0.028, 0.070]
    assert [round(row.effect or 0.0, 3) for row in found] == [0.042, 0.031, 0.029]
    assert [row.test for row in found] == ["Mixed ANOVA Time", "Mixed ANOVA Group", "Mixed ANOVA Time x Group"]


@pytest.mark.parametrize("sizes", [(9, 14), (5, 11, 20), (30, 6)])
def test_unequal_groups_are_of_type_three(sizes):
    """With two levels, the effects are the intercept and the group in a regression of the differences, sum coded."""
    values, groups = drawn(sizes, 2, 7)
    frame = pd.DataFrame({"difference": values[:, 0] - values[:, 1], "mean": values.mean(axis=1), "g": groups})
    model = anova_lm(ols("difference ~ C(g, Sum)", frame).fit(), typ=3)
    means = anova_lm(ols("mean ~ C(g, Sum)", frame).fit(), typ=3)
    within, between, both = mixed_anova(values, groups)
    close(within.statistic, model.loc["Intercept", "F"])
    close(within.p, model.loc["Intercept", "PR(>F)"])
    close(both.statistic, model.loc["C(g, Sum)", "F"])
    close(both.p, model.loc["C(g, Sum)", "PR(>F)"])
    close(between.statistic, means.loc["C(g, Sum)", "F"])
    close(between.p, means.loc["C(g, Sum)", "PR(>F)"])


def test_unequal_groups_between_and_together_are_pingouins():
    values, groups = drawn((6, 10, 15), 3, 3)
    table = pg.mixed_anova(long_form(values, groups), dv="y", within="w", subject="s", between="g").set_index("Source")
    _, between, both = mixed_anova(values, groups)
    close(between.statistic, table.loc["g", "F"])
    close(both.statistic, table.loc["Interaction", "F"])


@pytest.mark.parametrize("sizes", [(8, 8, 8), (5, 9, 14), (10, 20)])
def test_one_way(sizes):
    values, groups = drawn(sizes, 1, 5)
    frame = pd.DataFrame({"y": values[:, 0], "g": groups})
    found = anova(values[:, 0], groups, "algorithm")
    samples = [values[[group == name for group in groups], 0] for name in dict.fromkeys(groups)]
    wanted = scipy_stats.f_oneway(*samples)
    close((found.statistic, found.p), (wanted.statistic, wanted.pvalue))
    close(found.effect, pg.anova(frame, dv="y", between="g", effsize="n2")["n2"].iloc[0])
    welch = pg.welch_anova(frame, dv="y", between="g").iloc[0]
    close((found.more["welch_f"], found.more["welch_p"]), (welch["F"], welch["p_unc"]))
    assert found.test == "ANOVA algorithm"
    assert [group.n for group in found.groups] == list(sizes)


def test_two_groups_are_students_t():
    values, groups = drawn((7, 12), 1, 2)
    wanted = scipy_stats.ttest_ind(values[:7, 0], values[7:, 0])
    close(anova(values[:, 0], groups).statistic, wanted.statistic**2)


def test_what_cannot_be_tested_says_why():
    values, groups = drawn((3, 3), 2)
    assert "at least two groups" in mixed_anova(values, ["a"] * 6)[0].note
    assert "1 in b" in mixed_anova(values[:4], ["a", "a", "a", "b"])[1].note
    assert "no spread" in anova(np.ones(6), groups).note
    values[0, 1] = np.nan
    found = mixed_anova(values, groups)[0]
    assert found.n == 5
    assert found.note == "1 of 6 participants left out: no value in some cell."
    with pytest.raises(InvalidInput, match="groups must have 6 parts"):
        mixed_anova(values, groups[:5])


@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
@pytest.mark.parametrize("equal", [True, False])
def test_many_studies_at_once(alternative, equal):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(6, 9)), 0.4 + 2 * rng.normal(size=(6, 14))
    x[2, 3:] = np.nan
    y[4, :5] = np.nan
    found = two_sample_p_values(x, y, alternative, equal_spreads=equal)
    for k in range(6):
        a, b = x[k][~np.isnan(x[k])], y[k][~np.isnan(y[k])]
        close(found[k], scipy_stats.ttest_ind(a, b, equal_var=equal, alternative=alternative).pvalue)
    assert found[0] != pytest.approx(1.0)
    if not equal:
        close(found[0], welch_t(x[0], y[0], alternative=alternative).p)


def test_studies_that_cannot_be_tested_show_nothing():
    x = np.array([[1.0, np.nan], [2.0, 2.0], [1.0, 3.0]])
    y = np.array([[1.0, 5.0], [3.0, 3.0], [2.0, 9.0]])
    found = two_sample_p_values(x, y)
    assert found[0] == 1.0
    assert found[1] == 1.0
    assert found[2] < 1.0
