"""The numbers of team actions agree with NumPy's row-major order."""

from __future__ import annotations

import numpy as np
import pytest

from cobandit.base.cells import arms_in_cells, strides_of


@pytest.mark.parametrize("arms", [(2, 3), (4,), (1, 2, 5), (3, 3, 2, 2)])
def test_as_numpy_numbers_them(arms):
    assert np.array_equal(np.reshape(arms_in_cells(arms), (len(arms), -1)), np.indices(arms).reshape(len(arms), -1))
    assert strides_of(arms) == [stride // 8 for stride in np.zeros(arms).strides]
