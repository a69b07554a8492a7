"""The texts of the participants' pages that are not in a design: buttons, hints, errors, by language.

They are in ``messages/LANGUAGE.toml``. A design may replace any of them, or contain all of them in another language
(its table ``messages``). A text with forms such as ``.one`` and ``.other`` is chosen by a number and by the plural
rules of the language; a design that replaces one form of a text must replace all of its forms.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

from cobandit.studies.design import StudyDesign
from cobandit.studies.design_tables import TASKS
from cobandit.studies.typography import typeset

PAGE_LANGUAGE = "en"
"""The fallback language of missing texts."""

FRONT = "front."
"""How the keys of the front page begin: no study shows these texts, so no design words them."""

PLURALS = ("zero", "one", "two", "few", "many", "other")
_BLANK = re.compile(r"\{(\w+)\}")


@lru_cache(maxsize=1)
def page_languages() -> tuple[str, ...]:
    """Return the languages that the package ships page texts for, English first."""
    folder = resources.files("cobandit.studies").joinpath("messages")
    names = sorted(file.name[:-5] for file in folder.iterdir() if file.name.endswith(".toml"))
    return (PAGE_LANGUAGE, *(name for name in names if name != PAGE_LANGUAGE))


@lru_cache(maxsize=64)
def _catalogue(language: str, *, front: bool = False) -> Mapping[str, str]:
    """Return the shipped texts of a language: those of a study's pages, or those of the front page."""
    return {key: text for key, text in _shipped(language).items() if key.startswith(FRONT) == front}


@lru_cache(maxsize=64)
def _shipped(language: str) -> Mapping[str, str]:
    if language not in page_languages():
        return {}
    file = resources.files("cobandit.studies").joinpath("messages", f"{language}.toml")
    texts = _flat(tomllib.loads(file.read_text(encoding="utf-8")))
    return {key: typeset(language, text) for key, text in texts.items()}


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": str(value)}
    return flat


def _base(key: str) -> str:
    """Return the key without its plural suffix, if it has one."""
    stem, _, form = key.rpartition(".")
    return stem if form in PLURALS else key


def _over(texts: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return the texts, replaced by ``own`` where it has the key; all plural forms of a text are replaced together."""
    plural = {_base(key) for key in own if _base(key) != key}
    return {key: text for key, text in texts.items() if _base(key) == key or _base(key) not in plural} | dict(own)


def page_texts(language: str, design: StudyDesign | None = None) -> dict[str, str]:
    """Return every text of the pages by dotted key, with the texts of the design if one is given; English is the
    fallback.
    """
    texts = _over(_catalogue(PAGE_LANGUAGE), _catalogue(language))
    return texts if design is None else _over(texts, own_page_texts(design, language))


def front_texts(language: str) -> dict[str, str]:
    """Return every text of the front page, by dotted key without the prefix."""
    texts = _over(_catalogue(PAGE_LANGUAGE, front=True), _catalogue(language, front=True))
    return {key.removeprefix(FRONT): text for key, text in texts.items()}


def own_page_texts(design: StudyDesign, language: str) -> dict[str, str]:
    """Return the texts of the pages that the design replaces in a language."""
    words = dict(design.messages.pairs).get(language)
    return {} if words is None else {key: typeset(language, text) for key, text in words.pairs}


def _concerns(design: StudyDesign, key: str) -> bool:
    """Return whether the pages of a design can show a text: texts of other tasks and team sizes are not needed."""
    kinds = [part for part in key.split(".") if part in TASKS]
    if key.startswith("robot."):
        return design.task.kind == "burger"
    if "points" in key.split("."):
        return design.rewards.graded
    if key.startswith("partner."):
        return bool(design.partners)
    return not kinds or design.task.kind in kinds


def missing_page_texts(design: StudyDesign) -> dict[str, list[str]]:
    """Return the texts that the pages would show in English, by language; a text in several forms is named once."""
    missing: dict[str, list[str]] = {}
    for language in design.languages:
        given = {_base(key) for key in (*_catalogue(language), *own_page_texts(design, language))}
        wanted = dict.fromkeys(_base(key) for key in _catalogue(PAGE_LANGUAGE) if _concerns(design, key))
        if keys := [key for key in wanted if key not in given]:
            missing[language] = keys
    return missing


def page_text_problems(design: StudyDesign) -> list[str]:
    """Return the problems of the page texts of a design, as sentences."""
    known = _catalogue(PAGE_LANGUAGE)
    bases = {_base(key) for key in known}
    problems = []
    for language in design.languages:
        own = own_page_texts(design, language)
        for key, text in own.items():
            where = f"messages.{language} has {key!r}"
            if key not in known and f"{_base(key)}.other" not in known:
                near = difflib.get_close_matches(key, sorted(bases), n=1)
                problems.append(f"{where}, which no page says." + (f" Did you mean {near[0]!r}?" if near else ""))
                continue
            odd = _blanks([text]) - _blanks(value for other, value in known.items() if _base(other) == _base(key))
            if odd:
                problems.append(f"{where} with {', '.join(sorted(odd))}, which the page cannot fill in.")
        for base in dict.fromkeys(_base(key) for key in own if _base(key) != key):
            if f"{base}.other" in known and f"{base}.other" not in own:
                problems.append(f"messages.{language} has forms of {base!r} without {base + '.other'!r}.")
    return problems


def _blanks(texts: Iterable[str]) -> set[str]:
    return {f"{{{name}}}" for text in texts for name in _BLANK.findall(text)}
