"""The same numbers as pingouin, SciPy and statsmodels, on real data and on drawn ones."""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy import optimize, stats

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pandas as pd
    import pingouin as pg
    from statsmodels.regression.linear_model import OLS
    from statsmodels.regression.mixed_linear_model import MixedLM
    from statsmodels.stats.anova import AnovaRM
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.proportion import proportion_confint

from cobandit.stats import (
    cronbach_alpha,
    crossover_model,
    describe,
    hedges_correction,
    holm,
    mixed_model,
    noncentrality_interval,
    order_effects,
    paired_t,
    paired_t_p_values,
    rm_anova,
    student_t,
    welch_t,
    wilcoxon,
    wilson_interval,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore"
)  # the libraries warn; ours has its own tests, where warnings are errors

ALTERNATIVES = ["two-sided", "less", "greater"]


def close(value, wanted):
    assert value == pytest.approx(wanted, rel=1e-8, abs=1e-8)


def two_samples(seed, sizes=(20, 20)):
    rng = np.random.default_rng(seed)
    return rng.normal(0.4, 1.0, sizes[0]), rng.normal(0.0, 1.7, sizes[1])


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", range(4))
class TestT:
    def test_paired(self, seed, alternative):
        x, y = two_samples(seed)
        found = paired_t(x, y, alternative=alternative)
        wanted = pg.ttest(x, y, paired=True, alternative=alternative).iloc[0]
        close(found.statistic, wanted["T"])
        close(found.df, (wanted["dof"],))
        close(found.p, wanted["p_val"])
        close(found.effect, (x - y).mean() / (x - y).std(ddof=1))
        both = stats.ttest_rel(x, y).confidence_interval(0.95)
        close((found.estimate_low, found.estimate_high), (both.low, both.high))

    def test_welch(self, seed, alternative):
        x, y = two_samples(seed, (19, 39))
        found = welch_t(x, y, alternative=alternative)
        wanted = pg.ttest(x, y, correction=True, alternative=alternative).iloc[0]
        close(found.statistic, wanted["T"])
        close(found.df, (wanted["dof"],))
        close(found.p, wanted["p_val"])
        close(found.more["cohen_d"], pg.compute_effsize(x, y, eftype="cohen"))
        # pingouin has Hedges' approximate correction, 1 - 3 / (4 df - 1); ours is the exact one.
        assert found.effect == pytest.approx(pg.compute_effsize(x, y, eftype="hedges"), rel=1e-4)
        both = stats.ttest_ind(x, y, equal_var=False).confidence_interval(0.95)
        close((found.estimate_low, found.estimate_high), (both.low, both.high))

    def test_student(self, seed, alternative):
        x, y = two_samples(seed, (19, 39))
        found = student_t(x, y, alternative=alternative)
        wanted = pg.ttest(x, y, correction=False, alternative=alternative).iloc[0]
        close(found.statistic, wanted["T"])
        close(found.df, (wanted["dof"],))
        close(found.p, wanted["p_val"])
        assert found.effect == pytest.approx(pg.compute_effsize(x, y, eftype="hedges"), rel=1e-4)
        both = stats.ttest_ind(x, y).confidence_interval(0.95)
        close((found.estimate_low, found.estimate_high), (both.low, both.high))

    def test_whole_arrays_of_studies(self, seed, alternative):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(0.3, 1, (50, 12)), rng.normal(0, 2, (50, 12))
        wanted = [paired_t(a, b, alternative=alternative).p for a, b in zip(x, y, strict=True)]
        np.testing.assert_allclose(paired_t_p_values(x - y, alternative), wanted, rtol=1e-10)


quadrature = cache(np.polynomial.legendre.leggauss)


def smaller_t(t, df, noncentrality):
    """P(T < t) by integrating over the spread: another road than the series that SciPy sums."""
    low, high = stats.chi.ppf(1e-17, df), stats.chi.isf(1e-17, df)
    nodes, weights = quadrature(400)
    spread = low + (high - low) * (nodes + 1) / 2
    heights = stats.norm.cdf(t * spread / np.sqrt(df) - noncentrality) * stats.chi.pdf(spread, df)
    return (high - low) / 2 * weights @ heights


@pytest.mark.parametrize(("t", "df"), [(0.0, 9), (2.2, 23), (-4.06, 9), (5.0, 57), (0.3, 200), (30.0, 12)])
def test_the_noncentral_interval_by_another_algorithm(t, df):
    found = noncentrality_interval(t, df)
    for limit, probability in zip(found, (0.975, 0.025), strict=True):
        wanted = optimize.brentq(lambda nc, p=probability: smaller_t(t, df, nc) - p, limit - 1, limit + 1, xtol=1e-13)
        close(limit, wanted)


def test_the_interval_of_d_z_is_the_one_of_the_noncentrality():
    x, y = two_samples(3)
    found = paired_t(x, y)
    for limit, probability in [(found.low, 0.975), (found.high, 0.025)]:
        close(stats.nct.cdf(found.statistic, 19, limit * np.sqrt(20)), probability)
    corrected = [found.more[key] for key in ("hedges_g", "hedges_g_low", "hedges_g_high")]
    close(corrected, [hedges_correction(19) * value for value in (found.effect, found.low, found.high)])


def test_the_interval_of_hedges_g_is_the_one_of_the_pooled_t():
    x, y = two_samples(3, (19, 39))
    found = welch_t(x, y)
    pooled, j, weight = stats.ttest_ind(x, y).statistic, hedges_correction(56), np.sqrt(19 * 39 / 58)
    close(found.effect, j * pooled / weight)
    for limit, probability in [(found.low, 0.975), (found.high, 0.025)]:
        close(stats.nct.cdf(pooled, 56, limit / j * weight), probability)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
class TestWilcoxon:
    @pytest.mark.parametrize("n", [1, 2, 5, 10, 30, 50])
    def test_exact_without_ties(self, n, alternative):
        x, y = two_samples(n, (n, n))
        wanted = stats.wilcoxon(x, y, alternative=alternative, method="exact")
        found = wilcoxon(x, y, alternative=alternative)
        close(found.p, wanted.pvalue)
        smaller = min(found.more["w_positive"], found.more["w_negative"])
        close(smaller if alternative == "two-sided" else found.statistic, wanted.statistic)

    @pytest.mark.parametrize("zeros", ["pratt", "wilcox"])
    @pytest.mark.parametrize("seed", range(3))
    def test_exact_with_ties_and_zeros(self, seed, zeros, alternative):
        rng = np.random.default_rng(seed)
        x, y = rng.integers(1, 6, (2, 9)).astype(float)
        method = stats.PermutationMethod(n_resamples=np.inf)
        wanted = stats.wilcoxon(x, y, zero_method=zeros, alternative=alternative, method=method)
        close(wilcoxon(x, y, zeros=zeros, alternative=alternative).p, wanted.pvalue)

    @pytest.mark.parametrize("zeros", ["pratt", "wilcox"])
    def test_the_normal_approximation(self, zeros, alternative):
        rng = np.random.default_rng(6)
        x, y = rng.integers(1, 12, (2, 400)).astype(float)
        wanted = stats.wilcoxon(x, y, zero_method=zeros, alternative=alternative, method="asymptotic", correction=True)
        close(wilcoxon(x, y, zeros=zeros, alternative=alternative).p, wanted.pvalue)

    @pytest.mark.parametrize("seed", range(3))
    def test_the_effect(self, seed, alternative):
        x, y = np.random.default_rng(seed).integers(1, 6, (2, 30)).astype(float)
        wanted = pg.wilcoxon(x, y, alternative=alternative)["RBC"].iloc[0]
        close(
            wilcoxon(x, y, zeros="wilcox", alternative=alternative).effect, -wanted if alternative == "less" else wanted
        )


def table(long, subject, factors, value):
    shape = [long[subject].nunique(), *(long[factor].nunique() for factor in factors)]
    return long.sort_values([subject, *factors])[value].to_numpy().reshape(shape)


def long_form(values):
    places = np.indices(values.shape).reshape(values.ndim, -1)
    return pd.DataFrame({**dict(zip("sab", places, strict=False)), "y": values.ravel()})


def same_as_pingouin(found, wanted, data):
    close(found.statistic, wanted["F"])
    close((found.more["df_effect"], found.more["df_error"]), (wanted["ddof1"], wanted["ddof2"]))
    close(found.more["p_uncorrected"], wanted["p_unc"])
    close(found.more["epsilon_gg"], wanted["eps"])
    close(found.effect, wanted["ng2"])
    if found.more["df_effect"] > 1:
        close(found.p, wanted["p_GG_corr"])
        close(found.more["epsilon_hf"], pg.epsilon(data, correction="hf"))
        if found.more["mauchly_w"] is not None:
            close(found.more["mauchly_w"], wanted["W_spher"])
            close(found.more["mauchly_p"], wanted["p_spher"])


class TestAnova:
    @pytest.mark.parametrize("shape", [(10, 2, 3), (8, 3, 4), (24, 2, 25), (12, 2, 2), (5, 4, 2)])
    def test_two_ways(self, shape):
        rng = np.random.default_rng(sum(shape))
        values = rng.normal(size=shape) + rng.normal(size=(shape[0], 1, 1)) + 0.3 * rng.normal(size=shape[1:])
        self.two_ways(values, long_form(values), "s", ["a", "b"], "y")

    def test_two_ways_on_real_data(self):
        data, within = pg.read_dataset("rm_anova2"), ["Time", "Metric"]
        values = table(data, "Subject", within, "Performance")
        self.two_ways(values, data, "Subject", within, "Performance")

    def two_ways(self, values, data, subject, within, dv):
        wanted = pg.rm_anova(data, dv=dv, within=within, subject=subject, detailed=True, effsize="ng2")
        partial = pg.rm_anova(data, dv=dv, within=within, subject=subject, effsize="np2")
        another = AnovaRM(data, dv, subject, within=within).fit().anova_table
        wide = [
            pd.DataFrame(values.mean(axis=2)),
            pd.DataFrame(values.mean(axis=1)),
            data.pivot(index=subject, columns=within, values=dv),
        ]
        for i, found in enumerate(rm_anova(values, ("a", "b"))):
            same_as_pingouin(found, wanted.iloc[i], wide[i])
            close(found.more["partial_eta_squared"], partial["np2"].iloc[i])
            close(found.statistic, another["F Value"].iloc[i])
            close(found.more["p_uncorrected"], another["Pr > F"].iloc[i])

    @pytest.mark.parametrize("shape", [(10, 3), (24, 25), (30, 6), (9, 2)])
    def test_one_way(self, shape):
        rng = np.random.default_rng(sum(shape))
        values = rng.normal(size=shape) * rng.uniform(1, 3, shape[1]) + rng.normal(size=(shape[0], 1))
        wanted = pg.rm_anova(long_form(values), dv="y", within="a", subject="s", correction=True, effsize="ng2").iloc[0]
        (found,) = rm_anova(values, ("a",))
        same_as_pingouin(found, wanted, pd.DataFrame(values))

    def test_one_way_on_real_data_with_gaps(self):
        data = pg.read_dataset("rm_anova_wide")
        wanted = pg.rm_anova(data, correction=True).iloc[0]
        (found,) = rm_anova(data.to_numpy(), ("time",))
        same_as_pingouin(found, wanted, data)
        assert found.n == 9
        assert found.note == "3 of 12 participants left out: no value in some cell."

    def test_two_levels_are_the_paired_t(self):
        x, y = two_samples(5)
        (found,), t = rm_anova(np.column_stack([x, y]), ("a",)), paired_t(x, y)
        close(found.statistic, t.statistic**2)
        close(found.p, t.p)


class TestReliability:
    def test_real_answers(self):
        data = pg.read_dataset("cronbach_alpha").pivot(index="Subj", columns="Items", values="Scores")
        found = cronbach_alpha(data.to_numpy())
        close(found.statistic, 0.5917188485995826)
        assert (found.low, found.high) == pytest.approx((0.195, 0.840), abs=5e-4)

    def test_real_answers_with_gaps(self):
        data = pg.read_dataset("cronbach_wide_missing")
        found = cronbach_alpha(data.to_numpy())
        close(found.statistic, pg.cronbach_alpha(data, nan_policy="listwise")[0])
        assert found.note == "3 of 12 surveys left out: an answer is missing."

    @pytest.mark.parametrize("seed", range(4))
    def test_drawn_answers_with_reversed_items(self, seed):
        rng = np.random.default_rng(seed)
        straight = np.clip(np.round(3 + rng.normal(size=(58, 1)) + 0.7 * rng.normal(size=(58, 5))), 1, 5)
        asked = straight.copy()
        asked[:, [1, 3, 4]] = 6 - asked[:, [1, 3, 4]]
        found = cronbach_alpha(asked, reverse=[False, True, False, True, True], points=5)
        alpha, _ = pg.cronbach_alpha(pd.DataFrame(straight))
        close(found.statistic, alpha)
        close(1 - (1 - alpha) * stats.f.ppf([0.975, 0.025], 57, 228), [found.low, found.high])


@pytest.mark.parametrize("seed", range(5))
def test_holm(seed):
    values = np.random.default_rng(seed).choice([0.001, 0.01, 0.02, 0.04, 0.3, 1.0], 9)
    close(holm(values.tolist()), tuple(multipletests(values, method="holm")[1]))
    close(holm([None, *values.tolist(), None])[1:-1], tuple(pg.multicomp(values.tolist(), method="holm")[1]))


@pytest.mark.parametrize(("hits", "n"), [(0, 20), (1, 29), (23, 24), (81, 263), (20, 20), (1, 1)])
def test_wilson(hits, n):
    found = wilson_interval(hits, n, 0.9)
    close((found.low, found.high), proportion_confint(hits, n, 0.1, method="wilson"))


def test_describe():
    x, _ = two_samples(1)
    found = describe(x)
    close((found.mean, found.sd, found.se), (x.mean(), x.std(ddof=1), stats.sem(x)))
    close((found.low, found.high), stats.t.interval(0.95, 19, x.mean(), stats.sem(x)))


def restricted_likelihood(y, design, groups):
    """REML the slow way: the full covariance matrix, and a search for the best variance ratio."""
    levels = (groups[:, None] == np.unique(groups)).astype(float)
    n, k = design.shape

    def solved(ratio):
        covariance = np.eye(n) + ratio * levels @ levels.T
        inverse = np.linalg.inv(covariance)
        information = design.T @ inverse @ design
        coefficients = np.linalg.solve(information, design.T @ inverse @ y)
        residual = y - design @ coefficients
        return covariance, information, coefficients, residual @ inverse @ residual / (n - k)

    def cost(log_ratio):
        covariance, information, _, variance = solved(np.exp(log_ratio))
        return (n - k) * np.log(variance) + np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1]

    best = np.exp(optimize.minimize_scalar(cost, bounds=(-10, 8), method="bounded", options={"xatol": 1e-11}).x)
    _, information, coefficients, variance = solved(best)
    return coefficients, np.sqrt(np.diag(np.linalg.inv(information)) * variance), np.sqrt(variance * best)


class TestMixed:
    @pytest.mark.parametrize("seed", range(3))
    def test_with_observations_missing(self, seed):
        rng = np.random.default_rng(seed)
        people = np.repeat(np.arange(15), 4)
        condition, half = np.tile([0.5, -0.5], 30), np.tile([0.5, 0.5, -0.5, -0.5], 15)
        y = 50 + 3 * rng.normal(size=15)[people] + condition + 2 * rng.normal(size=60)
        gone = rng.random(60) < 0.15
        found = mixed_model(np.where(gone, np.nan, y), people.tolist(), {"condition": condition, "half": half})
        design = np.column_stack([np.ones(60), condition, half])[~gone]
        coefficients, errors, sd = restricted_likelihood(y[~gone], design, people[~gone])
        assert [row.estimate for row in found] == pytest.approx(coefficients[1:], abs=1e-7)
        assert [row.statistic for row in found] == pytest.approx(coefficients[1:] / errors[1:], abs=1e-6)
        assert found[0].more["sd_participants"] == pytest.approx(sd, rel=1e-6)
        # The library's own fit stops earlier and has other errors, a percent off.
        theirs = MixedLM(y[~gone], design, people[~gone]).fit(reml=True)
        assert [row.estimate for row in found] == pytest.approx(theirs.fe_params[1:], abs=1e-3)
        assert [row.statistic for row in found] == pytest.approx(theirs.tvalues[1:3], rel=0.05, abs=0.05)
        assert found[0].note == f"{gone.sum()} of 60 observations left out: missing."

    @pytest.mark.parametrize("n", [6, 24, 58])
    def test_of_complete_pairs_is_the_paired_t(self, n):
        rng = np.random.default_rng(n)
        x = rng.normal(100, 10, n)
        y = x + rng.normal(3, 5, n)
        (found,) = mixed_model(np.concatenate([x, y]), [*range(n)] * 2, {"condition": np.repeat([0.5, -0.5], n)})
        t = paired_t(x, y)
        close(found.estimate, t.estimate)
        assert found.statistic == pytest.approx(t.statistic, abs=1e-7)

    def test_at_the_edge_is_ordinary_regression(self):
        rng = np.random.default_rng(2)
        x = rng.normal(size=20)
        y = rng.normal(size=20) - x
        values, condition = np.concatenate([x, y]), np.repeat([0.5, -0.5], 20)
        (found,) = mixed_model(values, [*range(20)] * 2, {"condition": condition})
        wanted = OLS(values, np.column_stack([np.ones(40), condition])).fit()
        close((found.estimate, found.statistic), (wanted.params[1], wanted.tvalues[1]))
        assert found.more["sd_participants"] == 0
        assert "ordinary regression" in found.note


class TestCrossover:
    def data(self):
        rng = np.random.default_rng(8)
        first = ["A"] * 13 + ["B"] * 9
        sign = np.where(np.array(first) == "A", 1, -1)
        level = rng.normal(0, 3, 22)
        return level + 1.0 + 0.4 * sign + rng.normal(size=22), level - 0.4 * sign + rng.normal(size=22), first, sign

    def test_the_three_effects(self):
        x, y, first, sign = self.data()
        condition, position, carried = order_effects(x, y, first)
        difference, mean = x - y, (x + y) / 2
        a, b = difference[sign > 0], difference[sign < 0]
        close(condition.estimate, (a.mean() + b.mean()) / 2)
        close(position.estimate, (a.mean() - b.mean()) / 2)
        for found, groups in [(condition, (a, -b)), (position, (a, b)), (carried, (mean[sign > 0], mean[sign < 0]))]:
            wanted = stats.ttest_ind(*groups, equal_var=False)
            close((found.statistic, found.p), (wanted.statistic, wanted.pvalue))
        assert [group.mean for group in condition.groups] == pytest.approx([a.mean(), b.mean()])

    def test_regression_and_mixed_model_agree(self):
        x, y, first, sign = self.data()
        condition, position, carried = order_effects(x, y, first)
        within = OLS(x - y, np.column_stack([np.ones(22), sign])).fit()
        between = OLS((x + y) / 2, np.column_stack([np.ones(22), sign])).fit()
        close((condition.estimate, position.estimate), tuple(within.params))
        close(carried.estimate, 2 * between.params[1])
        model = crossover_model(x, y, first)
        close([row.estimate for row in model], [condition.estimate, position.estimate, carried.estimate])
        wanted = [*within.tvalues, between.tvalues[1]]
        assert [row.statistic for row in model] == pytest.approx(wanted, abs=1e-7)
