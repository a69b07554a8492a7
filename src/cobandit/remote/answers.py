"""Reading a model's answer: strictly, so that no arm is ever guessed out of a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from cobandit.base.errors import short_repr

LONGEST = 100_000
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)\n\s*```", re.DOTALL)


class Unusable(Exception):
    """A reply from which no move can be taken; ``kind`` is refusal or malformed."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind


def reply_text(reply: Any) -> str:
    """Return the text of the first choice of a chat completion; a refusal or another shape raises `Unusable`."""
    try:
        choice = reply["choices"][0]
        message = choice["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (AttributeError, IndexError, KeyError, TypeError):
        raise Unusable("malformed", "the reply is no chat completion") from None
    if refusal:
        raise Unusable("refusal", short_repr(refusal))
    if choice.get("finish_reason") == "content_filter":
        raise Unusable("refusal", "the endpoint's content filter stopped the answer")
    if isinstance(content, list):  # some servers send parts
        parts = [part.get("text", "") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        content = "".join(part for part in parts if isinstance(part, str))
    if not isinstance(content, str) or not content.strip():
        raise Unusable("malformed", "the answer is empty")
    if len(content) > LONGEST:
        raise Unusable("malformed", f"the answer has {len(content):,} characters")
    return content


def read_arm(text: str, names: Sequence[str]) -> int:
    """Return the arm that an answer names: JSON with the key ``arm``, in a code fence or alone, or the name alone."""
    stripped = text.strip()
    fenced = _FENCE.findall(stripped)
    for candidate in (stripped, *fenced[-1:]):
        try:
            data = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict):
            return _named(data.get("arm"), names)
        break  # JSON, but no object: only a bare name may be one
    return _named(stripped.strip("\"'`. "), names)


def _named(arm: object, names: Sequence[str]) -> int:
    name = str(arm) if isinstance(arm, int) and not isinstance(arm, bool) else arm
    if not isinstance(name, str) or name.strip() not in names:
        raise Unusable("malformed", f"{short_repr(arm)} is none of {', '.join(names)[:60]}")
    return list(names).index(name.strip())
