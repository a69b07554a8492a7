"""The compiled streams are NumPy's own, bit for bit."""

import numpy as np
import pytest

from cobandit.engine.fast.random import beta, exponential, gamma_steps, normal, seed_streams, seed_words, uniform
from cobandit.engine.streams import Streams, stream_count


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**32, 2**64 + 5, 2**127, 2**200 + 17])
@pytest.mark.parametrize("run", [0, 1, 2**31, 2**32 - 1])
def test_seeding_is_that_of_seed_sequence(seed: int, run: int) -> None:
    streams = np.zeros((stream_count(3), 4), dtype=np.uint64)
    seed_streams(seed_words(seed), run, streams)
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
    streams = np.zeros((stream_count(2), 4), dtype=np.uint64)
    seed_streams(seed_words(5), 0, streams)
    generator = np.random.Generator(np.random.SFC64(np.random.SeedSequence(5, spawn_key=(0, 0))))
    steps = gamma_steps(2000)
    script = np.random.default_rng(0)
    for kind in script.integers(0, 4, 200_000):
        if kind == 0:
            assert uniform(streams, 0) == generator.random()
        elif kind == 1:
            assert normal(streams, 0) == generator.standard_normal()
        elif kind == 2:
            assert exponential(streams, 0) == generator.standard_exponential()
        else:
            ones, zeros = (float(n) for n in script.choice([1, 1, 2, 3, 40, 2000], 2))
            assert beta(streams, 0, ones, zeros, steps) == generator.beta(ones, zeros)
