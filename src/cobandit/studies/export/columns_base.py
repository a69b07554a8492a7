"""One column of an export: its type, its meaning in the codebook, and plain values as an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.studies.data import moments


@dataclass(frozen=True)
class Column:
    """One column: its storage, and its description in the codebook.

    ``type`` is "integer", "number", "text", "time" or "flag". ``optional``: a value may be missing (integers are then
    stored as floats with NaN). ``guarded``: the text comes from participants, so in CSV it is escaped to prevent
    formulas. ``key`` names the parts of the column that depend on the design, such as ``("survey", item, condition)``.
    """

    name: str
    type: str
    meaning: str
    values: str = ""
    optional: bool = False
    guarded: bool = False
    key: tuple[str, ...] = ()

    @property
    def dtype(self) -> Any:
        """How NumPy holds it."""
        if self.type == "integer":
            return np.dtype(np.float64 if self.optional else np.int64)
        kinds = {"number": "float64", "text": "object", "time": "datetime64[ms]", "flag": "bool"}
        return np.dtype(kinds[self.type])

    def array(self, values: Sequence[Any]) -> NDArray[Any]:
        """Plain values as the column; None: missing."""
        if self.type == "time":
            return moments(values)
        if self.type == "text":
            array = np.empty(len(values), dtype=object)
            array[:] = [None if value is None else clean(value) for value in values]
            return array
        missing = np.nan if self.dtype.kind == "f" else None
        try:
            given = np.array([missing if value is None else value for value in values])
        except ValueError:  # lists of several lengths
            given = np.array(None)
        fits = given.ndim == 1 and given.dtype.kind in ("b" if self.type == "flag" else "iuf")
        if fits and self.type == "integer":
            fits = bool(np.all((given == np.rint(given)) | np.isnan(given)))
        if not fits and len(values):
            raise InvalidInput(f"The column {self.name!r} would hold {short_repr(values)}; {self.type}s are needed.")
        return given.astype(self.dtype)


def clean(text: object) -> str | None:
    """Return the text with question marks for unpaired surrogates, which files cannot store; None if it is empty."""
    if not isinstance(text, str):
        raise InvalidInput(f"Where a text belongs, {short_repr(text)} is stored.")
    return text.encode("utf-8", "replace").decode("utf-8") or None
