"""What was recorded, turned into what a server answers that strangers cannot misuse."""

from __future__ import annotations

from typing import Any

_BEFORE = "Every simulated study has the very means of the design: the power is that for these means."
_NOW = (
    "Every simulated study has the same means, drawn once: the power is that for these means, and the study that is "
    "served draws its own."
)
_UNFILLED = {
    "en": {
        "unfilled.title": "This link is not complete",
        "unfilled.text": "It does not say who you are, so you cannot begin with it. Please go back to where you found "
        "it, or write to whoever sent it to you; they have been told.",
    },
    "de": {
        "unfilled.title": "Dieser Link ist nicht vollständig",
        "unfilled.text": "Er sagt nicht, wer Sie sind; deshalb können Sie damit nicht beginnen. Bitte gehen Sie "
        "dorthin zurück, wo Sie ihn gefunden haben, oder schreiben Sie denen, die ihn geschickt haben; sie "
        "wissen davon.",
    },
}


def own_means(value: Any) -> Any:
    """A study that is served draws means of its own, so power is no longer that for its very means."""
    if isinstance(value, list):
        return [own_means(part) for part in value]
    if isinstance(value, dict):
        return {key: own_means(part) for key, part in value.items()}
    return value.replace(_BEFORE, _NOW) if isinstance(value, str) else value


def unfilled_texts(value: Any) -> Any:
    """The pages have words for a link that a recruiting service has not filled in."""
    body = value["body"]
    return value | {"body": body | {"messages": body["messages"] | _UNFILLED[body["language"]]}}


def with_unfilled(value: Any) -> Any:
    """The monitor tells of links that a recruiting service has not filled in."""
    return value | {"body": value["body"] | {"unfilled": None}} if value["status"] == 200 else value


def with_disk(value: Any) -> Any:
    """The researcher's first page tells how much room there is."""
    return value | {"text": [*value["text"], "Free disk space: <size>"]}


def with_liveness(value: Any) -> Any:
    """The server is asked whether it lives apart from whether it is ready."""
    return value | {"/api/health/live": value["/api/health"]}


def in_pages(value: Any) -> Any:
    """The monitor tells of a page of people at a time, and of what is new since a cursor."""
    if value["status"] != 200:
        return value
    page = [person["participant"] for person in value["body"]["participants"]]
    return value | {"body": value["body"] | {"total": len(page), "offset": 0, "page": page, "cursor": "<time>"}}
