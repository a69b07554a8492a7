"""How the tests of pages wait: under the pages' own policy, and for what they want to see rather than for some time."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

FILES = sorted(path for path in Path(__file__).parent.glob("*.py") if path.name != Path(__file__).name)
CALLS = {
    "wait_for_function": "the page would have to evaluate a string, which its policy forbids: expect(locator), until",
    "wait_for_timeout": "some time is too short on a busy machine: expect(locator), until",
    "sleep": "some time is too short on a busy machine, and Playwright stands still meanwhile: expect(locator), until",
    "add_script_tag": "the policy forbids scripts from elsewhere: page.evaluate",
}
"""Methods that no test of a page may call, why, and what to use instead."""


def faults(source: str) -> list[str]:
    """What a file does that makes its tests depend on the speed of the machine, or run without the policy."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in CALLS:
                found.append(f"line {node.lineno}: {name}: {CALLS[name]}")
        elif isinstance(node, ast.Constant) and node.value == "networkidle":
            found.append(f"line {node.lineno}: networkidle: a page that listens to a stream is never idle")
        elif (isinstance(node, ast.keyword) and node.arg == "bypass_csp") or (
            isinstance(node, ast.Constant) and node.value == "bypass_csp"
        ):
            found.append(f"line {node.lineno}: bypass_csp: the pages are tested under their policy")
    return found


def test_nothing_waits_by_string_or_by_time() -> None:
    for path in FILES:
        found = faults(path.read_text(encoding="utf-8"))
        if path.name == "conftest.py":  # the pause between two looks of `until`
            found = [fault for fault in found if "wait_for_timeout" not in fault]
        assert found == [], path.name


@pytest.mark.parametrize(
    "line",
    [
        "page.wait_for_function(\"document.querySelector('.plot').dataset.n === '2 2'\")",
        "page.main_frame.wait_for_function(READY, arg=3)",
        "page.wait_for_timeout(500)",
        "time.sleep(0.5)",
        "sleep(0.5)",
        "page.add_script_tag(content=axe)",
        'page.goto(address, wait_until="networkidle")',
        'page.wait_for_load_state("networkidle")',
        "browser.new_context(bypass_csp=True)",
        'browser.new_context(**{"bypass_csp": True})',
    ],
)
def test_each_of_them_would_be_found(line: str) -> None:
    assert len(faults(line)) == 1
