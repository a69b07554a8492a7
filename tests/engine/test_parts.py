"""What is compiled as part of a loop, unfinished, does what it would have done."""

import pytest

numba = pytest.importorskip("numba")

from cobandit.engine.fast.caching import compiled_loop, make_ready  # noqa: E402
from cobandit.engine.fast.random import compiled  # noqa: E402


@compiled
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


@compiled
def positive(n):
    if n < 1:
        raise ValueError("not positive", n)
    return n


@numba.njit
def thrice(n):
    return 3 * n


@compiled_loop
def loop(n):
    return factorial(positive(n)) + thrice(n)


@compiled_loop
def other_loop(n):
    return positive(n) + thrice(n)


@pytest.fixture(autouse=True)
def ready() -> None:
    make_ready(loop, (1,), "a test")
    make_ready(other_loop, (1,), "a test")


def test_parts_call_parts_and_themselves() -> None:
    assert (loop(4), other_loop(4)) == (24 + 12, 4 + 12)


@pytest.mark.parametrize("which", [loop, other_loop])
def test_errors_of_parts_are_heard(which) -> None:
    with pytest.raises(ValueError, match="not positive") as caught:
        which(-1)
    assert caught.value.args == ("not positive", -1)


def test_a_part_that_python_can_call() -> None:
    assert thrice(7) == 21


def test_numba_is_left_as_it_was() -> None:
    generator = loop.targetctx.codegen()
    assert not {"create_library", "set_env"} & set(vars(generator))
