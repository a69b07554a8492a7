"""In which order the files of tests are run."""

from __future__ import annotations

from collections import Counter

import pytest

LONGEST = (
    "tests/equivalence/test_studies_without_compiler.py",
    "tests/equivalence/test_engines_without_compiler.py",
    "tests/docs/test_examples.py",
    "tests/equivalence/test_compiled.py",
    "tests/regression/test_recorded.py",
    "tests/regression/outside/test_outside.py",
)
"""Files that take a minute or more. Workers take files as they come: one that begins last is waited for by all."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, then those with slow tests, then the others, the more tests the sooner."""
    files = {item: item.nodeid.partition("::")[0] for item in items}
    slow = {files[item] for item in items if item.get_closest_marker("slow")}
    tests = Counter(files.values())

    def place(item: pytest.Item) -> tuple[int, bool, int, str]:
        name = files[item]
        return LONGEST.index(name) if name in LONGEST else len(LONGEST), name not in slow, -tests[name], name

    items.sort(key=place)
