"""Whether the consent of a design is one that people can give, or still what a shipped design asks to be replaced."""

from __future__ import annotations

import re
from functools import lru_cache

from cobandit.studies.design import StudyDesign, load_design, shipped_designs

_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")


def placeholder_consent(design: StudyDesign) -> tuple[str, ...]:
    """Return the languages in which the design uses a shipped placeholder as consent; empty if it has its own text.

    A text is a placeholder as long as it contains the sentence that asks to replace it.
    """
    texts = {language: design.texts(language)["consent.text"] for language in design.languages}
    return tuple(language for language, text in texts.items() if _asks_to_be_replaced(text))


@lru_cache(maxsize=256)
def _asks_to_be_replaced(text: str) -> bool:
    return any(sentence in _plain(text) for sentence in _placeholder_sentences())


@lru_cache(maxsize=1)
def _placeholder_sentences() -> frozenset[str]:
    """Return the last sentence of every shipped consent text, in every language."""
    designs = [load_design(name) for name in shipped_designs()]
    texts = [design.texts(language)["consent.text"] for design in designs for language in design.languages]
    return frozenset(_SENTENCE_END.split(_plain(text))[-1] for text in texts)


def _plain(text: str) -> str:
    return " ".join(text.split())
