"""Load, store and compare recorded behaviour."""

from __future__ import annotations

import gzip
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "recorded"
CLOSE = 0.0 if os.environ.get("COBANDIT_LAST_BIT") else 1e-9
"""How far, relatively, two numbers may be apart: other versions of SciPy or BLAS add up in another order.

With ``COBANDIT_LAST_BIT=1`` every bit counts, as it should between two versions of the code on one machine.
"""


def differences(wanted: Any, made: Any, where: str = "") -> Iterator[str]:
    """Where two values differ, one line each."""
    if isinstance(wanted, dict) and isinstance(made, dict):
        for key in [*wanted, *(key for key in made if key not in wanted)]:
            if key not in made:
                yield f"{where}.{key}: missing"
            elif key not in wanted:
                yield f"{where}.{key}: new"
            else:
                yield from differences(wanted[key], made[key], f"{where}.{key}")
    elif isinstance(wanted, list) and isinstance(made, list):
        if len(wanted) != len(made):
            yield f"{where}: {len(made)} entries in place of {len(wanted)}"
        for place, (one, other) in enumerate(zip(wanted, made, strict=False)):
            yield from differences(one, other, f"{where}[{place}]")
    elif not _same(wanted, made):
        yield f"{where}: {made!r} in place of {wanted!r}"


def _same(wanted: Any, made: Any) -> bool:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (wanted, made))
    if not numbers:
        return type(wanted) is type(made) and bool(wanted == made)
    if math.isnan(wanted) or math.isnan(made):
        return math.isnan(wanted) and math.isnan(made)
    return bool(wanted == made) or math.isclose(wanted, made, rel_tol=CLOSE, abs_tol=CLOSE / 1000)


def as_stored(value: Any) -> Any:
    """A value as it comes back from a file."""
    return json.loads(json.dumps(value))


def load(group: str) -> dict[str, Any]:
    """What was recorded of a group of cases, by the name of the case."""
    made: dict[str, Any] = json.loads(gzip.decompress((HERE / f"{group}.json.gz").read_bytes()))
    return made


def keep(group: str, cases: dict[str, Any]) -> int:
    """Write what was recorded; gives the size in bytes. The same cases give the same file."""
    packed = gzip.compress(json.dumps(cases, ensure_ascii=False, separators=(",", ":")).encode(), 9, mtime=0)
    HERE.mkdir(exist_ok=True)
    (HERE / f"{group}.json.gz").write_bytes(packed)
    return len(packed)
