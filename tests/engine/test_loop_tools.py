"""What the compiled loops are made of, each by itself."""

import pytest

numba = pytest.importorskip("numba")

from cobandit.engine.fast.blocks import BLOCKS_PER_THREAD, block_size  # noqa: E402
from cobandit.engine.fast.intrinsics import guessed  # noqa: E402


@pytest.mark.parametrize(("value", "guess"), [(0, 0), (7, 7), (7, 3), (-1, 1), (2**62, -(2**62))])
def test_a_guess_never_changes_the_value(value: int, guess: int) -> None:
    @numba.njit
    def compiled(value, guess):
        return guessed(value, guess)

    assert compiled(value, guess) == value


def test_one_thread_is_not_cut_into_shares() -> None:
    assert block_size(100, rounds=10, most_rounds=10_000, threads=1) == 100
    assert block_size(100, rounds=1000, most_rounds=10_000, threads=1) == 10


def test_several_threads_get_several_blocks_each() -> None:
    assert block_size(800, rounds=1, most_rounds=10_000, threads=2) == 800 // (2 * BLOCKS_PER_THREAD)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_block_is_never_empty(threads: int) -> None:
    assert block_size(1, rounds=50, most_rounds=10, threads=threads) == 1
