"""Whether the consent of a design is one that people can give, or still what a shipped design asks to be replaced."""

from __future__ import annotations

import re
from functools import lru_cache

from cobandit.studies.design import StudyDesign, load_design, shipped_designs

_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")


def placeholder_consent(design: StudyDesign) -> tuple[str, ...]:
    """The languages in which the design asks for consent with a shipped placeholder; empty where it has its own.

    A text is one of ours as long as the sentence stands in it that asks to replace it, whatever is written around it.
    """
    texts = {language: design.texts(language)["consent.text"] for language in design.languages}
    return tuple(language for language, text in texts.items() if _asks_to_be_replaced(text))


@lru_cache(maxsize=256)
def _asks_to_be_replaced(text: str) -> bool:
    return any(sentence in _plain(text) for sentence in _placeholder_sentences())


@lru_cache(maxsize=1)
def _placeholder_sentences() -> frozenset[str]:
    """The last sentence of every consent that is shipped, in every language."""
    designs = [load_design(name) for name in shipped_designs()]
    texts = [design.texts(language)["consent.text"] for design in designs for language in design.languages]
    return frozenset(_SENTENCE_END.split(_plain(text))[-1] for text in texts)


def _plain(text: str) -> str:
    return " ".join(text.split())
