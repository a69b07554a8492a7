"""Dropouts, constants, ties, a lone participant: a clear statement each time, never a crash, a NaN or silence."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cobandit.base.errors import InvalidInput, MissingExtra, UnknownName
from cobandit.stats import (
    Finding,
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

NAN = float("nan")
CALM = settings(derandomize=True, deadline=None, database=None)


def sound(found):
    """What holds for every row, however odd the data."""
    row = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert row["statistic"] is not None or row["note"]
    assert (row["statistic"] is None) == (row["p"] is None) or found.test == "Cronbach alpha"
    if found.p is not None:
        assert 0 <= found.p <= 1
    if found.low is not None:
        assert found.low <= found.effect <= found.high
    if found.estimate_low is not None:
        assert found.estimate_low <= found.estimate <= found.estimate_high
    return found


class TestPairs:
    @pytest.mark.parametrize("test", [paired_t, wilcoxon])
    @pytest.mark.parametrize(
        ("x", "y", "words"),
        [
            ([], [], "no participant has a value in both conditions"),
            ([1.0, NAN], [NAN, 2.0], "2 of 2 participants left out: no value in one condition."),
            ([3.0, 1.0, 4.0], [NAN] * 3, "no participant has a value in both conditions"),
            ([3, 1, 4], [3, 1, 4], "both conditions have the same value for all participants"),
            ([0.3, 1.1], [0.1 + 0.2, 1.1], "both conditions have the same value for all participants"),
        ],
    )
    def test_not_tested(self, test, x, y, words):
        found = sound(test(x, y))
        assert found.statistic is found.p is found.effect is None
        assert words in found.note

    def test_only_for_the_t_test(self):
        assert "at least two are needed" in sound(paired_t([1.0], [2.0])).note
        found = sound(paired_t([1.1, 2.1, 3.3], [1.0, 2.0, 3.2]))
        assert found.note == "Not tested: all differences are the same (0.1), so there is no spread to test against."
        assert found.estimate == pytest.approx(0.1)

    def test_two_people(self):
        found = sound(paired_t([1.0, 2.0], [0.0, 0.5]))
        assert found.more["hedges_g"] is None
        assert found.note == "Too few values to correct the effect for its small-sample bias."

    def test_a_dropout_is_counted(self):
        found = sound(paired_t([1.0, 2.0, NAN, 5.0], [0.0, 2.5, 3.0, 1.0], labels=("aware", "naive")))
        assert found.n == 3
        assert found.note == "1 of 4 participants left out: no value in one condition."
        assert [(group.name, group.n) for group in found.groups] == [("aware", 3), ("naive", 3)]

    def test_an_effect_beyond_the_distribution(self):
        found = sound(paired_t([1.0, 1.0 + 1e-9, 1.0], [0.0, 0.0, 0.0]))
        assert found.low is None
        assert found.note == "The effect is too large for an exact interval."

    def test_rounding_makes_no_difference_to_ties(self):
        tied = sound(wilcoxon([0.3, 1.1, 5.0], [0.1, 0.9, 5.2]))
        assert tied.more["tied"] == 3
        assert tied.statistic == 4.0

    def test_zeros_are_told(self):
        x, y = [1, 2, 3, 4, 5], [1, 1, 1, 5, 1]
        assert sound(wilcoxon(x, y)).note == "1 of 5 differences are 0 and ranked but not counted."
        assert sound(wilcoxon(x, y, zeros="wilcox")).note == "1 of 5 differences are 0 and left out."

    def test_one_direction(self):
        found = sound(wilcoxon([5.0], [1.0]))
        assert (found.effect, found.low, found.p) == (1, None, 1)
        assert "point the same way" in found.note


class TestGroups:
    def test_not_tested(self):
        assert "1 in others" in sound(welch_t([1, 2], [1], labels=("researchers", "others"))).note
        assert "0 in x and 0 in y" in sound(welch_t([], [NAN])).note
        assert "within each group all values are the same" in sound(welch_t([1, 1], [2, 2])).note

    def test_one_group_without_spread(self):
        found = sound(welch_t([1, 1, 1], [2, 3, 5]))
        assert found.df == (2,)
        assert found.note == "All values in x are the same."

    def test_unequal_spread_is_told(self):
        assert "times the other" in sound(welch_t([0, 1, 2, 3], [0, 10, 20, 30])).note


class TestAnova:
    def test_too_few(self):
        for found in rm_anova(np.ones((1, 2, 3))):
            assert "at least two participants" in sound(found).note
        for found in rm_anova(np.ones((0, 2, 3))):
            assert "there are 0" in sound(found).note

    def test_one_level(self):
        rng = np.random.default_rng(0)
        a, b, ab = (sound(row) for row in rm_anova(rng.normal(size=(6, 1, 4)), ("algorithm", "casino")))
        assert a.note == ab.note == "Not tested: there is one level only, and at least two are needed."
        assert b.p is not None
        assert rm_anova(np.ones((6, 0, 4)))[1].p is None

    def test_no_spread(self):
        for found in rm_anova(np.full((6, 2, 3), 0.1)):
            assert "no variance" in sound(found).note

    def test_incomplete_people_and_empty_cells_are_counted(self):
        values = np.random.default_rng(0).normal(size=(6, 2, 4))
        values[2, 1, 3] = NAN
        assert all("1 of 6 participants left out" in sound(row).note for row in rm_anova(values))
        values[:, 1] = NAN
        assert all("4 of 8 cells have no value from anybody." in sound(row).note for row in rm_anova(values))

    def test_more_levels_than_participants(self):
        values = np.random.default_rng(0).normal(size=(24, 2, 25))
        algorithm, *others = (sound(row) for row in rm_anova(values, ("algorithm", "casino"), name="regret"))
        assert algorithm.note == ""
        for row in others:
            assert row.more["mauchly_p"] is None
            assert 1 / 24 <= row.more["epsilon_gg"] <= row.more["epsilon_hf"] <= 1
            assert row.note == "Mauchly's test is not defined here: 24 participants are too few for 24 contrasts."

    def test_a_level_that_follows_from_the_others(self):
        values = np.random.default_rng(0).normal(size=(12, 4))
        values[:, 3] = values[:, 0]
        (found,) = rm_anova(np.column_stack([values, values.mean(axis=1)]), ("level",))
        assert "some conditions follow from the others" in sound(found).note
        (found,) = rm_anova([[0, 0, 0], [0, 0, 1], [1, 1, 0]], ("level",))
        assert "some conditions follow from the others" in sound(found).note

    def test_the_wrong_shape(self):
        with pytest.raises(InvalidInput, match="2 factors"):
            rm_anova(np.ones((3, 2)))


class TestReliability:
    @pytest.mark.parametrize(
        ("items", "words"),
        [
            (np.ones((1, 5)), "there are 5 and 1"),
            (np.ones((5, 1)), "there are 1 and 5"),
            (np.ones((0, 5)), "there are 5 and 0"),
            (np.full((4, 3), 2.0), "all participants gave the same answer to every item"),
            ([[1, 5], [2, 4], [5, 1]], "have the same sum"),
            ([[1, NAN], [2, 4]], "1 of 2 surveys left out"),
        ],
    )
    def test_not_computed(self, items, words):
        found = sound(cronbach_alpha(items))
        assert found.statistic is None
        assert words in found.note

    def test_computed_with_a_remark(self):
        assert "item 3" in sound(cronbach_alpha([[1, 2, 4], [2, 2, 4], [5, 4, 4]])).note
        assert "negative" in sound(cronbach_alpha([[1, 5], [2, 3], [5, 1]])).note

    def test_wrong_input(self):
        with pytest.raises(InvalidInput, match="from 1 to 5"):
            cronbach_alpha([[0, 1], [2, 3]], points=5)
        with pytest.raises(InvalidInput, match="number of points"):
            cronbach_alpha([[1, 1], [2, 3]], reverse=[True, False])
        with pytest.raises(InvalidInput, match="one per item"):
            cronbach_alpha([[1, 1], [2, 3]], reverse=[True], points=5)


class TestMixed:
    def test_not_fitted(self):
        def note(values, people, **terms):
            return sound(mixed_model(values, people, terms)[0]).note

        assert "there are 2 and 2" in note([1, 2], ["ann", "bob"], c=[0, 1])
        assert "all values are the same" in note([1, 1, 1, 1], [1, 1, 2, 2], c=[0, 1, 0, 1])
        assert "without remainder" in note([1, 2, 3, 4], [1, 1, 2, 2], c=[0, 1, 0, 1])
        assert "too few for 3 coefficients" in note([1, 2, 4, 8], [1, 1, 2, 2], c=[0, 1, 0, 1], d=[0, 1, 2, 7])
        assert note([1, NAN], [1, 2], c=[0, 1]).endswith("The simpler tests stand without this check.")

    def test_a_search_that_does_not_settle(self, monkeypatch):
        from statsmodels.regression import mixed_linear_model

        class Lost:
            converged = False
            cov_re = np.ones((1, 1))
            scale = 1.0

        monkeypatch.setattr(mixed_linear_model.MixedLM, "fit", lambda *args, **options: Lost())
        x = np.arange(8.0)
        values, people = np.concatenate([x, x + np.array([1, 2, 1, 1, 0, 1, 1, 2])]), [*range(8)] * 2
        terms = {"c": np.repeat([0.5, -0.5], 8)}
        assert "did not settle" in sound(mixed_model(values, people, terms)[0]).note

        def fails(*args, **options):
            raise np.linalg.LinAlgError("Singular matrix")

        monkeypatch.setattr(mixed_linear_model.MixedLM, "fit", fails)
        assert "(Singular matrix)" in sound(mixed_model(values, people, terms)[0]).note

    def test_who_has_no_value_is_counted(self):
        values = [1.0, 2.0, 4.0, NAN, 3.0, 3.5, 5.0, NAN]
        (found,) = mixed_model(values, ["ann", "bob", "cy", "di"] * 2, {"c": np.repeat([0.5, -0.5], 4)})
        assert sound(found).n == 3
        assert "2 of 8 observations left out: missing. 1 of 4 participants left out: no value at all." in found.note

    def test_lengths(self):
        with pytest.raises(InvalidInput, match="participants has 1 entries"):
            mixed_model([1, 2], ["ann"], {})


class TestOrders:
    X = (1.0, 4.0, 2.0, 6.0, 3.0, NAN)
    Y = (2.0, 3.0, 5.0, 7.0, 5.0, 4.0)

    def test_one_order_only(self):
        for found in order_effects(self.X, self.Y, ["A"] * 6):
            assert "One order only was played" in sound(found).note
        condition, position, order = (sound(row) for row in crossover_model(self.X, self.Y, ["A"] * 6))
        assert condition.p is not None
        assert position.p is order.p is None
        assert "cannot tell them from the other terms: set and order." in position.note

    @pytest.mark.parametrize("test", [order_effects, crossover_model])
    def test_the_swap_is_told_where_it_matters(self, test):
        rows = test(self.X, self.Y, ["A", "B"] * 3, swapped_labels=True)
        assert ["swap cannot be separated" in sound(row).note for row in rows] == [False, True, False]
        assert not any("swap" in row.note for row in test(self.X, self.Y, ["A", "B"] * 3))

    def test_wrong_input(self):
        with pytest.raises(UnknownName, match="Known: A, B"):
            order_effects([1, 2], [3, 4], ["A", "C"])
        with pytest.raises(InvalidInput, match="one per participant"):
            order_effects([1, 2], [3, 4], ["A"])
        with pytest.raises(InvalidInput, match="each participant met first"):
            crossover_model([1, 2], [3, 4], "A")
        with pytest.raises(InvalidInput, match="one each per person"):
            crossover_model([1, 2], [3, 4], ["A"])


class TestSimulated:
    def test_studies_without_spread_show_nothing(self):
        assert paired_t_p_values(np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 2.0]]))[:2].tolist() == [1, 1]

    def test_wrong_input(self):
        with pytest.raises(InvalidInput, match="missing values"):
            paired_t_p_values([[1.0, NAN]])
        with pytest.raises(InvalidInput, match="at least 2"):
            paired_t_p_values([[1.0]])
        with pytest.raises(InvalidInput, match="trials"):
            wilson_interval(0, 0)


class TestInput:
    def test_what_is_no_measure(self):
        with pytest.raises(InvalidInput, match="of numbers"):
            paired_t(["a"], ["b"])
        with pytest.raises(InvalidInput, match="2 dimension"):
            paired_t([[1, 2]], [[3, 4]])
        with pytest.raises(InvalidInput, match="x has 1 values and y has 2"):
            paired_t([1], [3, 4])
        with pytest.raises(InvalidInput, match=r"at most 1e\+100"):
            welch_t([1e200, 1], [1, 2])
        with pytest.raises(UnknownName, match="two-sided"):
            paired_t([1], [2], alternative="both")
        with pytest.raises(UnknownName, match="pratt"):
            wilcoxon([1], [2], zeros="split")
        with pytest.raises(InvalidInput, match="level"):
            describe([1], level=1)
        with pytest.raises(InvalidInput, match="above 1"):
            hedges_correction(1)
        with pytest.raises(InvalidInput, match=r"p_values\[1\]"):
            holm([0.1, NAN])

    def test_describe(self):
        assert describe([], name="nobody").to_dict() == {
            "name": "nobody", "n": 0, "mean": None, "median": None, "sd": None, "se": None, "low": None, "high": None,
            "level": 0.95, "note": "No values.",
        }  # fmt: skip
        assert describe([3, NAN]).note == "1 of 2 values left out: missing. A single value has no spread."
        assert describe([0.1] * 3).sd == 0

    def test_a_net_under_every_row(self):
        found = Finding(name="x", test="t", n=1, statistic=NAN, p=np.float64(0.5), more={"a": float("inf")})
        assert (found.statistic, found.p, found.more["a"]) == (None, 0.5, None)
        assert found.note == "Beyond what can be computed: statistic."

    def test_noncentrality_that_cannot_be_computed(self):
        assert noncentrality_interval(1e5, 9) is None

    def test_without_the_extra(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "scipy.special", None)
        with pytest.raises(MissingExtra, match=r"pip install 'cobandit\[stats\]'"):
            paired_t([1, 2], [3, 5])

    def test_importing_the_room_is_cheap(self):
        check = "import sys, cobandit.stats; print(*({'scipy', 'statsmodels', 'pandas'} & set(sys.modules)))"
        assert subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True).stdout == "\n"


values = st.one_of(
    st.integers(-5, 5).map(float),
    st.floats(allow_nan=True, allow_infinity=True, width=32),
    st.sampled_from([0.1, 0.2, 0.30000000000000004, 1e-300, 1e99, -1e99]),
)
samples = st.lists(st.tuples(values, values), max_size=12)


@settings(CALM, max_examples=80)
@given(samples)
def test_any_pairs(sample):
    x, y = [a for a, _ in sample], [b for _, b in sample]
    for test in (paired_t, wilcoxon, welch_t, student_t):
        sound(test(x, y))
    first = ["A" if i % 3 else "B" for i in range(len(sample))]
    for row in (*order_effects(x, y, first), *crossover_model(x, y, first)):
        sound(row)


@settings(CALM, max_examples=100)
@given(st.integers(0, 6), st.integers(0, 3), st.integers(1, 4), st.data())
def test_any_table(n, a, b, data):
    table = np.array(data.draw(st.lists(values, min_size=n * a * b, max_size=n * a * b)), float)
    for row in (*rm_anova(table.reshape(n, a, b)), *rm_anova(table.reshape(n, a * b), ("a",))):
        sound(row)
    sound(cronbach_alpha(table.reshape(n, a * b)))


whole_numbers = st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=3, max_size=15)


@settings(CALM, max_examples=60)
@given(whole_numbers, st.integers(-1000, 1000), st.sampled_from([0.5, 2.0, 64.0]))
def test_neither_the_zero_nor_the_unit_matters(sample, shift, unit):
    x, y = np.array(sample, float).T
    for test in (paired_t, wilcoxon, welch_t, student_t):
        one, other = test(x, y), test(unit * (x + shift), unit * (y + shift))
        assert (one.statistic is None) == (other.statistic is None)
        if one.statistic is not None:
            assert (other.statistic, other.p, other.effect) == pytest.approx(
                (one.statistic, one.p, one.effect), rel=1e-9
            )
        turned = test(y, x)
        if one.effect is not None:
            assert (turned.p, turned.effect) == pytest.approx((one.p, -one.effect), rel=1e-9)


@settings(CALM, max_examples=60)
@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=8))
def test_holm_never_lowers_and_keeps_the_order(p_values):
    found = [(p, q) for p, q in zip(p_values, holm(p_values), strict=True) if p is not None]
    assert all(p <= q <= 1 for p, q in found)  # type: ignore[operator]
    ordered = [q for _, q in sorted(found)]
    assert ordered == sorted(ordered)  # type: ignore[type-var]
