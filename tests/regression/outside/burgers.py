"""What burgers have changed of the recordings: the page is told their layers, and a design may name its fillings."""

from __future__ import annotations

from typing import Any

ITEMS = (("patty", "cheese"), ("tomato", "lettuce"))
SIDES = ("participant", "partner")
TASK = {"kind", "configuration", "instructions"}
WORDS = {
    "en": {
        "burger.question": "What goes onto the bun first?",
        "burger.layers": "{configuration}, from bottom to top: {layers}",
        "turn.keys.two": "Keys: 1 or 2, or arrow keys and Enter",
    },
    "de": {
        "burger.question": "Was kommt zuerst aufs Brötchen?",
        "burger.layers": "{configuration} von unten nach oben: {layers}",
        "turn.keys.two": "Tasten: 1 oder 2 oder Pfeiltasten und Eingabetaste",
    },
}


def with_layers(value: Any) -> Any:
    """Designs without fillings say so; the state of a participant holds the burgers of one filling of each side."""
    if isinstance(value, list):
        return [with_layers(part) for part in value]
    if not isinstance(value, dict):
        return value
    value = {key: with_layers(part) for key, part in value.items()}
    if set(value) >= TASK and isinstance(value["kind"], str):
        value["fillings"] = []
    task, texts = value.get("task"), value.get("texts")
    if isinstance(task, dict) and isinstance(texts, dict) and task.get("kind") == "burger":
        value["task"] = task | {"burgers": [_burger(i, j, texts) for i in (0, 1) for j in (0, 1)]}
    return value


def with_words(answer: dict[str, Any]) -> dict[str, Any]:
    """Three messages more."""
    body = answer["body"]
    return answer | {"body": body | {"messages": body["messages"] | WORDS[body["language"]]}}


def _burger(i: int, j: int, texts: dict[str, str]) -> dict[str, Any]:
    fillings = [
        {"item": ITEMS[seat][arm], "by": SIDES[seat], "name": texts[f"task.arms.{seat}.{arm}"]}
        for seat, arm in enumerate((i, j))
    ]
    buns = [{"item": item, "by": "shop", "name": None} for item in ("bottom_bun", "top_bun")]
    return {"arms": [i, j], "layers": [buns[0], *fillings, buns[1]]}
