"""Ready questionnaires in our own words, in four languages: perceived workload, trust in the partner, fluency.

A design names a preset; its texts then become part of the design, so that its digest covers them and a stored study
does not change with a later version of the software. The files in ``presets`` say which constructs they follow.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from cobandit.base.errors import InvalidInput
from cobandit.base.records import table_of, words
from cobandit.base.toml import parse_toml
from cobandit.studies.questionnaires import PRESETS, Questionnaire, QuestionnaireItem, Scale

if TYPE_CHECKING:
    from cobandit.studies.design import StudyDesign

ENGLISH = "en"


@lru_cache
def _preset(name: str) -> tuple[Questionnaire, dict[str, dict[str, str]]]:
    """Return a preset in English, and its texts in the other languages by the end of their key."""
    assert name in PRESETS
    text = resources.files("cobandit.studies").joinpath("presets", f"{name}.toml").read_text(encoding="utf-8")
    data: dict[str, Any] = parse_toml(text, f"the preset {name!r}")
    translations = data.pop("translations")
    return Questionnaire.read(f"the preset {name!r}", data | {"id": name, "when": "after"}), translations


def fill_presets(design: StudyDesign) -> None:
    """Fill in the questionnaires that name a preset and have no items of their own, with their translations."""
    filled, languages = [], {language: dict(texts.pairs) for language, texts in design.translations.pairs}
    for questionnaire in design.questionnaires:
        if not questionnaire.preset or questionnaire.items:
            filled.append(questionnaire)
            continue
        filled.append(_filled(questionnaire, design.languages[0]))
        own = [f"questionnaires.{questionnaire.id}.{end}" for end in ("title", "intro") if getattr(questionnaire, end)]
        for language in design.languages[1:]:
            texts = dict(_filled(questionnaire, language).texts()) if language in _languages(questionnaire) else {}
            missing = {key: text for key, text in texts.items() if key not in own}
            if missing:
                languages[language] = missing | languages.get(language, {})
    if filled != list(design.questionnaires):
        object.__setattr__(design, "questionnaires", tuple(filled))
        object.__setattr__(design, "translations", table_of(table_of(words))("translations", languages))


def _languages(questionnaire: Questionnaire) -> tuple[str, ...]:
    return (ENGLISH, *_preset(questionnaire.preset)[1])


def _filled(questionnaire: Questionnaire, language: str) -> Questionnaire:
    """Return a questionnaire with what its preset has, in a language; its own title and intro stay."""
    if language not in _languages(questionnaire):
        raise InvalidInput(
            f"The preset {questionnaire.preset!r} must be in one of the languages "
            f"{', '.join(_languages(questionnaire))}, got {language!r}: write title and items of {questionnaire.id!r} "
            "yourself."
        )
    preset, translations = _preset(questionnaire.preset)
    preset = _in_language(preset, translations.get(language, {}))
    return replace(
        questionnaire,
        title=questionnaire.title or preset.title,
        intro=questionnaire.intro or preset.intro,
        scales=preset.scales,
        items=preset.items,
    )


def _in_language(preset: Questionnaire, texts: dict[str, str]) -> Questionnaire:
    """Return a preset with its texts in another language; without any, unchanged."""
    if not texts:
        return preset

    def scale(scale: Scale) -> Scale:
        return replace(scale, low=texts[f"scales.{scale.id}.low"], high=texts[f"scales.{scale.id}.high"])

    def item(item: QuestionnaireItem) -> QuestionnaireItem:
        return replace(item, text=texts[f"items.{item.id}"])

    return replace(
        preset,
        title=texts["title"],
        intro=texts["intro"],
        scales=tuple(map(scale, preset.scales)),
        items=tuple(map(item, preset.items)),
    )
