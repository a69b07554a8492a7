"""What was recorded, turned into pages that speak one language from the first to the last."""

from __future__ import annotations

from typing import Any

_ENGLISH = "This study needs JavaScript. Please allow it for this page and load the page again."
_GERMAN = "Diese Studie braucht JavaScript. Bitte erlauben Sie es für diese Seite und laden Sie die Seite neu."


def german_without_scripts(value: Any) -> Any:
    """A German page tells in German that it needs scripts."""
    return value | {"text": [_GERMAN if line == _ENGLISH else line for line in value["text"]]}
