"""The compiled streams are NumPy's own, bit for bit."""

import numpy as np
import pytest
from numba import njit

from cobandit.base.streams import Streams, stream_count
from cobandit.engine.fast.random import beta, exponential, gamma_steps, normal, small_gamma, uniform
from cobandit.engine.fast.seeds import draw_uniforms, run_states


@njit
def draw(kind, streams, ones, zeros, steps):
    """One draw; the functions themselves can be called from compiled code alone."""
    if kind == 0:
        return uniform(streams, 0)
    if kind == 1:
        return normal(streams, 0)
    if kind == 2:
        return exponential(streams, 0)
    if kind == 3:
        return beta(streams, 0, ones, zeros, steps)
    return small_gamma(streams, 0, 1.0 / (1.0 + ones))


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**32, 2**64 + 5, 2**127, 2**200 + 17])
@pytest.mark.parametrize("run", [0, 1, 2**31, 2**32 - 1])
def test_seeding_is_that_of_seed_sequence(seed: int, run: int) -> None:
    streams = run_states(seed, run, 1, stream_count(3)).reshape(-1, 4)
    for row in range(len(streams)):
        bits = np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(run, row)))
        np.testing.assert_array_equal(streams[row], bits.state["state"]["state"])


def test_a_run_has_the_streams_that_spawning_gives() -> None:
    spawned = np.random.SeedSequence(11).spawn(4)[3].spawn(stream_count(2))
    made = Streams.of(11, 3, 2)
    generators = [made.setup, made.rewards, *made.observations, *made.choices]
    for sequence, generator in zip(spawned, generators, strict=True):
        assert np.random.Generator(np.random.SFC64(sequence)).random() == generator.random()


def test_draws_of_every_kind_in_any_order() -> None:
    streams = run_states(5, 0, 1, stream_count(2)).ravel()
    generator = np.random.Generator(np.random.SFC64(np.random.SeedSequence(5, spawn_key=(0, 0))))
    steps = gamma_steps(2000)
    script = np.random.default_rng(0)
    for kind in script.integers(0, 5, 60_000):
        ones, zeros = (float(n) for n in script.choice([1, 1, 2, 3, 40, 2000], 2))
        expected = (
            generator.random,
            generator.standard_normal,
            generator.standard_exponential,
            lambda ones=ones, zeros=zeros: generator.beta(ones, zeros),
            lambda ones=ones: generator.standard_gamma(1.0 / (1.0 + ones)),
        )[kind]()
        assert draw(kind, streams, ones, zeros, steps) == expected


def test_draws_of_many_streams_at_once() -> None:
    drawn = draw_uniforms(run_states(5, 7, 3, 1), 4)
    for run in range(3):
        generator = np.random.Generator(np.random.SFC64(np.random.SeedSequence(5, spawn_key=(7 + run, 0))))
        np.testing.assert_array_equal(drawn[run], generator.random(4))


def test_streams_that_nobody_needs_are_left_out() -> None:
    every = run_states(5, 3, 4, 6).reshape(4, 6, 4)
    some = run_states(5, 3, 4, 6, needed=[1, 4]).reshape(4, 6, 4)
    assert np.array_equal(some[:, [1, 4]], every[:, [1, 4]])
    assert not some[:, [0, 2, 3, 5]].any()
