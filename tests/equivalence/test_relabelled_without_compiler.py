"""Every agent on relabelled problems, without the compiler (see `test_engines_without_compiler`)."""

from collections.abc import Callable

import pytest


@pytest.mark.slow
def test_relabelled_problems_without_the_compiler(without_compiler: Callable[[str], None]) -> None:
    without_compiler("test_relabelled.py")
