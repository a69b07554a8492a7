"""Each kind of claim on numbers whose answer is known beforehand."""

import numpy as np
import pytest

import cobandit as cb
from cobandit.experiments.claims import AgainstBound, Beats, Linear, NoDifference, Regrets, Rises, Sublinear
from cobandit.theory import bound

PROBLEM = cb.Problem.bernoulli(cb.local_optima(2), [1.0, 0.5])


def regrets(half: float, final: float, *, spread: float = 1.0, runs: int = 400, seed: int = 0, shared=0.0) -> Regrets:
    rng = np.random.default_rng(seed)
    return Regrets(
        half + spread * rng.standard_normal(runs), final + spread * rng.standard_normal(runs) + shared, PROBLEM, 2000
    )


@pytest.mark.parametrize(
    ("growth", "linear", "sublinear"),
    [(2.0, "holds", "does not hold"), (1.2, "does not hold", "holds"), (1.8, "undecided", "undecided")],
)
def test_growth(growth: float, linear: str, sublinear: str) -> None:
    curves = {"a": regrets(50, 50 * growth)}
    assert Linear("a", "").judge(curves).outcome == linear
    verdict = Sublinear("a", "").judge(curves)
    assert verdict.outcome == sublinear
    finding = verdict.findings[0]
    assert finding.low < finding.value < finding.high
    assert finding.value == pytest.approx(growth, rel=0.02)


def test_a_team_without_regret_leaves_growth_undecided() -> None:
    nothing = {"a": Regrets(np.zeros(50), np.zeros(50), PROBLEM, 2000)}
    assert Linear("a", "").judge(nothing).outcome == "undecided"
    assert Sublinear("a", "").judge(nothing).outcome == "undecided"
    assert Sublinear("a", "").judge(nothing).to_dict()["findings"][0]["value"] is None


def test_a_single_run_decides_nothing() -> None:
    one = {name: regrets(10, final, runs=1) for name, final in (("a", 12.0), ("b", 90.0))}
    for claim in (Linear("a", ""), Sublinear("a", ""), Beats("a", ("b",), ""), NoDifference(("a", "b"), "")):
        assert claim.judge(one).outcome == "undecided"


def test_beats_needs_every_comparison() -> None:
    curves = {
        "a": regrets(1, 10),
        "b": regrets(1, 12, seed=1),
        "c": regrets(1, 10.02, seed=2),
        "d": regrets(1, 8, seed=3),
    }
    assert Beats("a", ("b",), "").judge(curves).outcome == "holds"
    assert Beats("a", ("b", "c"), "").judge(curves).outcome == "undecided"
    assert Beats("a", ("b", "c", "d"), "").judge(curves).outcome == "does not hold"


def test_pairing_sees_what_separate_intervals_would_not() -> None:
    luck = 30 * np.random.default_rng(9).standard_normal(400)
    curves = {"a": regrets(1, 100, spread=0.5, shared=luck), "b": regrets(1, 101, spread=0.5, seed=1, shared=luck)}
    assert Beats("a", ("b",), "").judge(curves).outcome == "holds"
    # The same curves with their luck shuffled: nothing can be said any more.
    curves["b"] = regrets(1, 101, spread=0.5, seed=1, shared=np.random.default_rng(1).permutation(luck))
    assert Beats("a", ("b",), "").judge(curves).outcome == "undecided"


def test_no_difference_is_more_than_no_significance() -> None:
    same = {"a": regrets(1, 100), "b": regrets(1, 100.5, seed=1)}
    assert NoDifference(("a", "b"), "").judge(same).outcome == "holds"
    noisy = {"a": regrets(1, 100, spread=300), "b": regrets(1, 100, spread=300, seed=1)}
    assert NoDifference(("a", "b"), "").judge(noisy).outcome == "undecided"
    apart = {"a": regrets(1, 100), "b": regrets(1, 130, seed=1)}
    assert NoDifference(("a", "b"), "").judge(apart).outcome == "does not hold"


def test_rises() -> None:
    curves = {"a": regrets(1, 10), "b": regrets(1, 20, seed=1), "c": regrets(1, 30, seed=2)}
    assert Rises(("a", "b", "c"), "").judge(curves).outcome == "holds"
    assert Rises(("a", "c", "b"), "").judge(curves).outcome == "does not hold"


def test_below_bound() -> None:
    below = AgainstBound("a", "below", "proved", "", shown=("printed",))
    assert below.judge({"a": regrets(1, 160)}).outcome == "holds"
    above = below.judge({"a": regrets(1, 9000)})
    assert above.outcome == "does not hold"
    assert {finding.name for finding in above.findings} >= {"measured", "bound, proved", "bound, printed"}


def test_many_runs_use_the_normal_interval() -> None:
    few = Linear("a", "").judge({"a": regrets(50, 95, spread=40, runs=20_000)}).findings[0]
    many = Linear("a", "").judge({"a": regrets(50, 95, spread=40, runs=20_001)}).findings[0]
    assert many.low == pytest.approx(few.low, rel=0.01)
    assert many.high == pytest.approx(few.high, rel=0.01)


def test_above_a_bound_is_the_other_way_round() -> None:
    limit = bound(PROBLEM, 2000).proved
    above, below = {"a": regrets(1, 2 * limit)}, {"a": regrets(1, limit / 2)}
    assert AgainstBound("a", "above", "proved", "").judge(above).outcome == "holds"
    verdict = AgainstBound("a", "above", "proved", "").judge(below)
    assert verdict.outcome == "does not hold"
    assert verdict.findings[1].value == pytest.approx(limit)
