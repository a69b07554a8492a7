"""The safe subset of Markdown: what it makes of texts, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from cobandit import InvalidInput
from cobandit.studies import StudyDesign, load_design
from cobandit.studies.journey import journey, step_payload
from cobandit.studies.markup import TAGS, markdown_tree

BURGER = load_design("burger")
TEXT = """
# What it is about

Read **all** of it, *please*: [our page](https://lab.example/a?b=1 "title"), or <mailto:lab@example.org>.

1. one\\
   line
2. two `code`

> a quote

---
x < 5 & y &amp; 2 \\* 3
"""


def tags(nodes: list[Any]) -> set[str]:
    return {tag for node in nodes if not isinstance(node, str) for tag in {node["tag"]} | tags(node["of"])}


def test_the_tree_of_a_text() -> None:
    tree: list[Any] = markdown_tree("text", TEXT)
    assert tree[0] == {"tag": "h2", "of": ["What it is about"]}
    assert tree[1]["of"][:4] == ["Read ", {"tag": "strong", "of": ["all"]}, " of it, ", {"tag": "em", "of": ["please"]}]
    links = [node["href"] for node in tree[1]["of"] if isinstance(node, dict) and node["tag"] == "a"]
    assert links == ["https://lab.example/a?b=1", "mailto:lab@example.org"]
    assert tree[2]["of"][1] == {"tag": "li", "of": ["two ", {"tag": "code", "of": ["code"]}]}
    assert tags(tree) <= set(TAGS)
    assert {"ol", "li", "br", "code", "blockquote", "hr"} <= tags(tree)
    assert "".join(part for part in tree[-1]["of"]) == "x < 5 & y & 2 * 3"


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("## One\n\n### Two", ["h2", "h3"]),
        ("# One\n\n## Two\n\n# Three", ["h2", "h3", "h2"]),
        ("### One\n\n###### Two", ["h2", "h3"]),
        ("# 1\n\n## 2\n\n### 3\n\n#### 4", ["h2", "h3", "h4", "h4"]),
    ],
)
def test_headings_begin_below_that_of_the_page_and_skip_no_level(text: str, levels: list[str]) -> None:
    assert [node["tag"] for node in markdown_tree("text", text) if isinstance(node, dict)] == levels


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<script>alert(1)</script>", "a piece of HTML"),
        ("a <b onclick='x'>word</b>", "a piece of HTML"),
        ("<img src=x onerror=alert(1)>", "a piece of HTML"),
        ("<!-- hidden -->", "a piece of HTML"),
        ("![picture](https://lab.example/x.png)", "a picture"),
        ("[x](javascript:alert(1))", "links to"),
        ("[x](JaVaScRiPt:alert(1))", "links to"),
        ("[x](&#106;avascript:alert(1))", "links to"),
        ("[x](data:text/html;base64,PHNjcmlwdD4=)", "links to"),
        ("[x](vbscript:x)", "links to"),
        ("[x](//evil.example)", "links to"),
        ("[x](/admin)", "links to"),
        ("[x]()", "links to"),
        ("<javascript:alert(1)>", "links to"),
        ("[x][y]\n\n[y]: javascript:alert(1)", "links to"),
        ("para\n\n    indented", "four blanks"),
        ("```\ncode\n```", "a block of code"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        markdown_tree("consent.text", text)


def marked(**changes: Any) -> StudyDesign:
    return StudyDesign.from_dict(json.loads(json.dumps(BURGER.to_dict() | {"markup": "markdown"} | changes)))


def test_bad_markdown_is_named_when_the_design_is_read() -> None:
    with pytest.raises(InvalidInput, match=r"^consent\.text holds a piece of HTML"):
        marked(consent={"version": "1", "text": "<b>Yes</b>"})
    with pytest.raises(InvalidInput, match=r"^debriefing links to"):
        marked(debriefing="[x](file:///etc/passwd)")
    german = BURGER.to_dict()["translations"]["de"] | {"task.instructions.2": "![x](y)"}
    with pytest.raises(InvalidInput, match=r"^translations\.de\.task\.instructions\.2 holds a picture"):
        marked(translations={"de": german})
    with pytest.raises(InvalidInput, match="markup"):
        marked(markup="html")


def test_a_design_of_today_stays_as_it_is() -> None:
    plain = replace(BURGER, consent=replace(BURGER.consent, text="*Not* <b>markup</b>"))
    steps = journey(plain)
    assert step_payload(plain, None, steps.find("consent"))["consent"] == {
        "version": "1",
        "text": "*Not* <b>markup</b>",
    }
    assert "marked" not in step_payload(plain, None, steps.find("instructions"))
    assert "markup" not in BURGER.essence()  # so that its digest, and its luck, are what they were
    assert "debriefing" not in BURGER.texts()


def test_trees_come_with_every_step_that_is_written_in_it() -> None:
    design = marked(debriefing="**Thanks.**", consent={"version": "1", "text": "I *agree*."})
    steps = journey(design)
    consent = step_payload(design, None, steps.find("consent"))["consent"]
    assert consent["marked"] == [{"tag": "p", "of": ["I ", {"tag": "em", "of": ["agree"]}, "."]}]
    for step in ("instructions", "quiz"):
        payload = step_payload(design, None, steps.find(step))
        trees = (payload if step == "instructions" else payload["quiz"])["marked"]
        assert len(trees) == len(design.task.instructions)
    assert design.texts()["debriefing"] == "**Thanks.**"
