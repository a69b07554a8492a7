"""Every kind, as plain Python with NumPy's checked arrays, plays what the reference engine plays: studies.

Pointers in compiled code know no bounds, and a set of kinds takes seconds to compile. Without the compiler every read
is checked, and many sets can be tried. Engines and studies have a file each, so that they can be run side by side.
"""

from collections.abc import Callable

import pytest


@pytest.mark.long
@pytest.mark.slow
def test_studies_without_the_compiler(without_compiler: Callable[[str], None]) -> None:
    without_compiler("test_studies.py")
