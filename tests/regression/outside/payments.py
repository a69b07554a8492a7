"""What was recorded, turned into what is answered now that a design may say what people are paid, and use Markdown."""

from __future__ import annotations

from typing import Any

from .doors import left_out_value

DESIGN = {"task", "survey", "consent", "limits"}
"""Keys by which a design is known."""

NEW = {"payment": None, "markup": "plain", "debriefing": ""}
AMOUNTS = ("currency", "fixed", "bonus", "total")
NO_RULES = [
    "The design has no rules of payment, so there are no amounts here; the table",
    "[payment]",
    "of a design gives them.",
]


def designed(value: Any) -> Any:
    """Designs that say nothing of it pay nothing, are written as they stand, and tell nothing at the end."""
    if isinstance(value, list):
        return [designed(part) for part in value]
    if not isinstance(value, dict):
        return value
    value = {key: designed(part) for key, part in value.items()}
    return NEW | value if value.keys() >= DESIGN else value


def with_amounts(answer: dict[str, Any]) -> dict[str, Any]:
    """The list of payments counts successes, and has amounts where there are rules."""
    more = {"successes": left_out_value(1)} | dict.fromkeys(AMOUNTS)
    return answer | {"body": [row | more for row in answer["body"]]}


def page(shown: dict[str, Any]) -> dict[str, Any]:
    """The page says that there are no rules, and how many whole minutes it took."""
    if not isinstance(shown.get("text"), list):
        return shown
    text = ["0" if part == "0.0" else part for part in shown["text"]]
    place = text.index("Download CSV") + 1
    return shown | {"text": [*text[:place], *NO_RULES, *text[place:]]}


def table(shown: dict[str, Any]) -> dict[str, Any]:
    """The table likewise."""
    people = len(shown["text"]["participant"])
    more = {"successes": [left_out_value(1)] * people} | {name: [""] * people for name in AMOUNTS}
    return shown | {"text": shown["text"] | more}
