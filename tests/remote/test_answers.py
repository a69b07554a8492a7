"""The parser of answers: what counts as a move, and what does not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobandit.remote.answers import Unusable, read_arm, reply_text

NAMES = ("A", "B", "12", "Left cook")


@pytest.mark.parametrize(
    ("text", "arm"),
    [
        ('{"arm": "B"}', 1),
        (' {"reasoning": "A is worse", "arm": "B"}\n', 1),
        ('{"arm": 12}', 2),
        ('{"arm": " Left cook "}', 3),
        ('Here you are:\n```json\n{"arm": "B"}\n```', 1),
        ('```\n{"arm": "A"}\n```\nOn second thought:\n```\n{"arm": "B"}\n```', 1),
        ("B", 1),
        ('"B".', 1),
        ("12", 2),
    ],
)
def test_moves(text: str, arm: int) -> None:
    assert read_arm(text, NAMES) == arm


@pytest.mark.parametrize(
    "text",
    [
        "I choose B",
        "A or B",
        "A, because B is bad",
        '{"arm": "C"}',
        '{"arm": "b"}',
        '{"arm": null}',
        '{"arm": true}',
        '{"arm": ["A"]}',
        '{"choice": "A"}',
        '["A"]',
        '{"arm": "A"} {"arm": "B"}',
        "{" * 5_000,
        "",
        "1",
    ],
)
def test_no_moves(text: str) -> None:
    with pytest.raises(Unusable) as caught:
        read_arm(text, NAMES)
    assert caught.value.kind == "malformed"


@given(st.text())
def test_any_text_is_a_name_or_unusable(text: str) -> None:
    try:
        arm = read_arm(text, NAMES)
    except Unusable:
        return
    assert NAMES[arm] in text


def completion(**message: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": "stop"}]}


def test_texts_of_replies() -> None:
    assert reply_text(completion(content="B")) == "B"
    parts = [{"type": "text", "text": '{"arm": '}, {"type": "image"}, {"type": "text", "text": '"B"}'}]
    assert reply_text(completion(content=parts)) == '{"arm": "B"}'


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (None, "malformed"),
        ([], "malformed"),
        ({"choices": []}, "malformed"),
        ({"choices": [{"message": None}]}, "malformed"),
        ({"error": {"message": "no"}}, "malformed"),
        (completion(content=None), "malformed"),
        (completion(content=" "), "malformed"),
        (completion(content="x" * 100_001), "malformed"),
        (completion(content=None, refusal="I cannot"), "refusal"),
        ({"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}, "refusal"),
    ],
)
def test_replies_without_a_text(reply: Any, kind: str) -> None:
    with pytest.raises(Unusable) as caught:
        reply_text(reply)
    assert caught.value.kind == kind
