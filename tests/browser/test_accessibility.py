"""What is wrong on a page is found, again and again, and in the part that was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.browser.accessibility import violations

PAGE = """<!doctype html><html lang="en"><title>Two faults</title><main><h1>Two faults</h1>
<p style="color: #ccc; background: #fff">hardly to be read</p></main><aside><img src="data:,"></aside></html>"""


def test_faults_are_found_with_their_rule_and_place(new_context: Callable[..., Any]) -> None:
    page = new_context().new_page()
    page.set_content(PAGE)
    for _ in range(2):
        found = {fault["id"]: fault["nodes"] for fault in violations(page)}
        assert {"color-contrast", "image-alt"} <= set(found)
        assert found["image-alt"] == ['<img src="data:,">']
    assert "image-alt" not in {fault["id"] for fault in violations(page, "main")}
    only = violations(page, runOnly={"type": "rule", "values": ["image-alt"]})
    assert [fault["id"] for fault in only] == ["image-alt"]
