"""The list of seeded faults fits the source; `make mutations` tries the faults themselves."""

from __future__ import annotations

import queue
from pathlib import Path

import pytest

from tests.mutations.__main__ import try_fault
from tests.mutations.faults import FAULTS, Fault

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_old_text_occurs_once(fault: Fault) -> None:
    assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.old) == 1
    assert fault.new != fault.old


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_named_tests_exist(fault: Fault) -> None:
    for test in fault.tests:
        file, *names = test.partition("[")[0].split("::")
        source = (ROOT / file).read_text(encoding="utf-8")
        assert all(f"class {name}" in source or f"def {name}(" in source for name in names), test


def test_names_are_unique() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) == 34


def test_the_runner_tells_caught_faults_from_others(tmp_path: Path) -> None:
    copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
    copies.put(tmp_path)
    source = tmp_path / "src" / "adding.py"
    source.parent.mkdir()
    source.write_text("def add(a, b):\n    return a + b\n")
    (tmp_path / "test_adding.py").write_text(
        "from adding import add\n\n\ndef test_add():\n    assert add(2, 0) == add(0, 2) == 2\n"
    )

    def verdict(old: str, new: str, test: str = "test_adding.py") -> str:
        return try_fault(Fault("name", "src/adding.py", old, new, "Sums are wrong.", (test,)), copies)

    assert verdict("a + b", "a - b") == "caught"
    assert verdict("a + b", "b + a") == "SURVIVED"
    assert verdict("a * b", "a + b").startswith("not applied")
    assert verdict("a + b", "a - b", "test_absent.py").startswith("not tested")
    assert source.read_text() == "def add(a, b):\n    return a + b\n"
