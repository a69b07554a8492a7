"""What is compiled as part of a loop, unfinished, does what it would have done."""

import subprocess
import sys

import pytest

numba = pytest.importorskip("numba")

from numba.core import event  # noqa: E402
from numba.core.typing import npydecl  # noqa: E402

from cobandit.engine.fast.caching import compiled_loop, make_ready  # noqa: E402
from cobandit.engine.fast.kinds.knowledge_gradient import BetaGradient  # noqa: E402
from cobandit.engine.fast.kinds.ucb import KeptUCB  # noqa: E402
from cobandit.engine.fast.random import compiled  # noqa: E402
from cobandit.engine.fast.rows import Tag, kinds_of  # noqa: E402


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
    assert "get_abi_sizeof" not in vars(loop.targetctx)
    assert event.broadcast.__module__ == event.__name__
    assert npydecl.NumpyRulesArrayOperator.generic.__module__ == npydecl.__name__


def with_closures(n):
    return sum([k * factor for k in range(n) for factor in (1, 2)])


closures_compiled = compiled(with_closures)


@compiled_loop
def loop_of_somebody_else(n):
    return closures_compiled(n)


def test_what_others_wrote_may_use_all_of_the_language() -> None:
    make_ready(loop_of_somebody_else, (4,), "a test")
    assert loop_of_somebody_else(4) == with_closures(4) == 18


def test_linear_algebra_is_imported_by_those_who_use_it() -> None:
    """In a process of its own: what was imported before would not show."""
    pytest.importorskip("scipy")
    script = (
        "import sys, numpy, numba\n"
        "from cobandit.engine.fast.caching import compiled_loop, make_ready\n"
        "loop = compiled_loop(lambda n: n + 1)\n"
        "make_ready(loop, (1,), 'a test')\n"
        "assert loop(1) == 2 and 'scipy.linalg' not in sys.modules\n"
        "product = numba.njit(lambda a, b: numpy.dot(a, b))\n"
        "assert product(numpy.eye(2), numpy.ones(2)).tolist() == [1.0, 1.0] and 'scipy.linalg' in sys.modules\n"
        "from numba.np import arraymath, linalg\n"
        "assert linalg.ensure_blas is arraymath.ensure_blas and linalg.ensure_blas.__name__ == 'ensure_blas'\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_kinds_of_a_loop_are_found_among_its_types() -> None:
    gradient, naive = (Tag(kind._make([0] * len(kind._fields))) for kind in (BetaGradient, KeptUCB))
    each = (numba.typeof(gradient), numba.typeof((gradient, naive)), numba.int64)
    assert kinds_of(each) == [BetaGradient, BetaGradient, KeptUCB]
    assert (getattr(BetaGradient, "vectors", False), getattr(KeptUCB, "vectors", False)) == (True, False)
