"""Fixed results of the t tests and of exact intervals, to 1e-9: an exchange of the code below must not change them."""

import numpy as np
import pytest

from cobandit.stats import noncentrality_interval, paired_t, student_t, welch_t

X = np.array([3.0, 5.5, 4.0, 7.25, 6.0, 2.5])
Y = np.array([4.5, 6.0, 4.0, 9.5, 6.5, 5.0])
# statistic, df, p, the interval of the estimate; then the effect with its interval.
RECORDED = {
    (paired_t, "less"): (
        (-2.87424714666604, 5.0, 0.017410657449761252, -2.055459552316168, -0.3612071143504988),
        (-1.173406483997047, -2.028892014951873, -0.23682865441337048),
    ),
    (welch_t, "greater"): (
        (-1.0915840240202197, 9.948058394426457, 0.8496264527868204, -3.2157079759775815, 0.7990413093109137),
        (-0.5815385781894952, -1.4690330977258426, 0.33367441007230403),
    ),
    (student_t, "two-sided"): (
        (-1.0915840240202195, 10.0, 0.30061712287849457, -3.214644475556081, 0.7979778088894132),
        (-0.5815385781894952, -1.4690330977258426, 0.33367441007230403),
    ),
}


# The squares of squares of the largest and the smallest values are beyond the range of a float.
@pytest.mark.parametrize("scale", [1.0, 1e-85, 1e95])
@pytest.mark.parametrize(("test", "alternative"), RECORDED)
def test_t_tests_do_not_depend_on_the_scale(test, alternative, scale):
    (statistic, df, p, low, high), effect = RECORDED[test, alternative]
    found = test(X * scale, Y * scale, alternative=alternative, level=0.9)
    assert (found.statistic, *found.df, found.p) == pytest.approx((statistic, df, p), rel=1e-9)
    assert (found.estimate_low / scale, found.estimate_high / scale) == pytest.approx((low, high), rel=1e-9)
    assert (found.effect, found.low, found.high) == pytest.approx(effect, rel=1e-9)


def test_a_group_without_spread():
    found = welch_t([2.1] * 5, [1.0, 2.0, 4.0, 1.5])
    assert (found.statistic, found.p) == pytest.approx((-0.038023455031468534, 0.9720577371410585))
    assert found.df == pytest.approx((3.0,))
    assert (found.estimate_low, found.estimate_high) == pytest.approx((-2.1174231521371984, 2.0674231521371986))


@pytest.mark.parametrize("steps", range(9, 32, 2))
def test_values_that_differ_only_by_rounding(steps):
    # SciPy warns of such data, and a warning is an error here.
    nearly = 1 + np.array([0, steps, 0, 0]) * np.finfo(np.float64).eps
    for test in (paired_t, welch_t, student_t):
        assert test(nearly, -nearly).note.startswith("Not tested: ")


# In the far tails SciPy gives NaN for some noncentralities: here for the first one that the search tries.
@pytest.mark.parametrize(
    ("t", "df", "limits"),
    [
        (6.032175401666115, 33, (3.564498744528313, 8.439932106233773)),
        (-6.032175401666115, 33, (-8.439932106233773, -3.564498744528313)),
        (5.269304029544328, 106, (3.1741811664739403, 7.342335034992732)),
    ],
)
def test_noncentrality_where_the_distribution_cannot_be_computed_in_the_tails(t, df, limits):
    assert noncentrality_interval(t, df) == pytest.approx(limits, rel=1e-9)
