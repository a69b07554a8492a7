"""A stand-in for a language model: it reads the prompt, and nothing else, and plays naive UCB on what it says.

It shows how everything around a model works, without network, key or costs. It says nothing about real models. With the
history of all rewards it chooses what `cobandit.NaiveUCB` would choose, which the tests rely on.
"""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Sequence

from cobandit.base.json_types import JsonObject

EXPLORATION = 0.025
"""c of the index, as in `cobandit.NaiveUCB`."""
CHARACTERS_PER_TOKEN = 4

_ROUND = re.compile(r"^Round (\d+) of (\d+)\.", re.MULTILINE)
_OPTIONS = re.compile(r"^Options of player \d+( \(you\))?: (.+)$", re.MULTILINE)
_CELL = re.compile(r"^- (.+): played \d+, rewards seen (\d+)(?:, sum (\S+), mean \S+)?$", re.MULTILINE)
_PAST = re.compile(r"^- round \d+: (.+): reward seen (\S+)$", re.MULTILINE)


def demo_reply(request: JsonObject) -> JsonObject:
    """Return the chat completion for a request that this package wrote; ValueError for any other."""
    prompt = next(
        (m["content"] for m in request.get("messages", ()) if m.get("role") == "user" and _ROUND.search(m["content"])),
        "",
    )
    content = json.dumps({"arm": demo_choice(prompt)})
    read = sum(len(m["content"]) for m in request["messages"]) // CHARACTERS_PER_TOKEN
    written = max(1, len(content) // CHARACTERS_PER_TOKEN)
    return {
        "id": "demo",
        "object": "chat.completion",
        "model": str(request.get("model", "demo")),
        "choices": [{"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }


def demo_choice(prompt: str) -> str:
    """Return the name of the own arm that belongs to the combination with the highest index."""
    when, options = _ROUND.search(prompt), _OPTIONS.findall(prompt)
    own = [place for place, (you, _) in enumerate(options) if you]
    if when is None or len(own) != 1:
        raise ValueError("The prompt has no round or no options of the player.")
    names = [tuple(listed.split(", ")) for _, listed in options]
    seen: dict[str, tuple[int, float]] = {}
    for combination, count, total in _CELL.findall(prompt):
        seen[combination] = int(count), float(total or 0.0)
    for combination, reward in _PAST.findall(prompt):
        count, total = seen.get(combination, (0, 0.0))
        seen[combination] = count + 1, total + float(reward)
    scale = math.sqrt(2.0 * EXPLORATION * math.log(int(when[2])))
    return _best(names, seen, scale)[own[0]]


def _best(names: Sequence[Sequence[str]], seen: dict[str, tuple[int, float]], scale: float) -> tuple[str, ...]:
    """Return the combination with the largest index; the first in order where several are equal."""

    def index(combination: tuple[str, ...]) -> float:
        count, total = seen.get(" + ".join(combination), (0, 0.0))
        return total / count + scale * (1.0 / math.sqrt(count)) if count else math.inf

    return max(itertools.product(*names), key=index)
