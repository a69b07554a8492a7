"""Published examples, to the digits that were printed."""

import numpy as np
import pytest

from cobandit.stats import (
    adjusted,
    hedges_correction,
    holm,
    noncentrality_interval,
    paired_t,
    student_t,
    welch_t,
    wilcoxon,
    wilson_interval,
)

# Student (1908), hours of sleep gained by ten patients under two drugs.
FIRST = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
SECOND = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])


def test_student_paired():
    found = paired_t(FIRST, SECOND)
    assert found.statistic == pytest.approx(-4.0621, abs=5e-5)
    assert found.df == (9,)
    assert found.p == pytest.approx(0.002833, abs=5e-7)
    assert found.estimate == pytest.approx(-1.58)
    assert (found.estimate_low, found.estimate_high) == pytest.approx((-2.4598858, -0.7001142), abs=5e-8)


def test_student_as_two_groups():
    found = welch_t(FIRST, SECOND)
    assert found.statistic == pytest.approx(-1.8608, abs=5e-5)
    assert found.df == pytest.approx((17.776,), abs=5e-4)
    assert found.p == pytest.approx(0.07939, abs=5e-6)
    assert (found.estimate_low, found.estimate_high) == pytest.approx((-3.3654832, 0.2054832), abs=5e-8)


def test_student_as_two_groups_of_one_spread():
    found = student_t(FIRST, SECOND)
    assert found.statistic == pytest.approx(-1.8608, abs=5e-5)
    assert found.df == (18,)
    assert found.p == pytest.approx(0.07919, abs=5e-6)
    assert (found.estimate_low, found.estimate_high) == pytest.approx((-3.363874, 0.203874), abs=5e-7)


def test_hollander_and_wolfe_depression_scores():
    before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    found = wilcoxon(before, after, alternative="greater")
    assert found.statistic == 40
    assert found.p == 10 / 2**9  # printed as 0.01953
    assert found.effect == pytest.approx((40 - 5) / 45)


def test_hedges_correction_in_closed_form():
    # The gamma functions of whole and half numbers are known: J(2), J(3), J(4).
    pi = np.pi
    wanted = [1 / np.sqrt(pi), np.sqrt(pi / 6), np.sqrt(2 / pi)]
    assert [hedges_correction(df) for df in (2, 3, 4)] == pytest.approx(wanted, rel=1e-12)
    assert hedges_correction(57) == pytest.approx(1 - 3 / (4 * 57 - 1), abs=1e-5)


def test_noncentrality_as_printed_by_mbess():
    assert noncentrality_interval(1.5, 98) == pytest.approx((-0.474934, 3.467371), abs=5e-6)


def test_wilson_intervals_of_newcombe():
    # Newcombe (1998), table I.
    table = {(81, 263): (0.2553, 0.3662), (15, 148): (0.0624, 0.1605), (0, 20): (0, 0.1611), (1, 29): (0.0061, 0.1718)}
    for (hits, n), limits in table.items():
        found = wilson_interval(hits, n)
        assert (found.low, found.high) == pytest.approx(limits, abs=5e-5)


def test_holm_by_hand():
    # Sorted .005, .01, .03, .04 times 4, 3, 2, 1, and never falling.
    assert holm([0.01, 0.04, None, 0.03, 0.005]) == pytest.approx((0.03, 0.06, None, 0.06, 0.02))
    assert holm([]) == ()
    rows = adjusted([paired_t(FIRST, SECOND), paired_t(FIRST, FIRST), wilcoxon(FIRST, SECOND)])
    assert rows[0].p is not None
    assert rows[0].p_adjusted == pytest.approx(2 * rows[0].p)
    assert rows[1].p_adjusted is None
    assert "counts 2 tests; 1 could not be made" in rows[1].note
