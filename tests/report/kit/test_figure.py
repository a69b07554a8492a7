"""What every figure for print shares."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cobandit.report.kit.figure import legend_label, legend_shape, spread_labels


@settings(derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=15))
def test_labels_keep_their_distance_and_their_order(wanted):
    gap = 0.05
    places = spread_labels(wanted, gap)
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    ordered = [places[i] for i in order]
    assert all(b - a >= gap - 1e-9 for a, b in itertools.pairwise(ordered))
    assert min(places) >= -1e-9
    assert max(places) <= 1.0 + 1e-9


def test_labels_that_do_not_meet_stay_where_they_are():
    assert np.allclose(spread_labels([0.9, 0.1, 0.5], 0.05), [0.9, 0.1, 0.5])


def test_labels_that_meet_move_apart_evenly():
    assert np.allclose(spread_labels([0.5, 0.5], 0.1), [0.45, 0.55])


def test_legends_fit_under_the_figure() -> None:
    assert legend_shape(["a"]) == (1, 1)
    assert legend_shape(["a"] * 20) == (10, 2)
    assert legend_shape(["x" * 300, "b"]) == (1, 2)
    assert legend_label("_hidden") == " _hidden"
    assert len(legend_label("x" * 300)) == 80
