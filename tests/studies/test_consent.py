"""Which consents are placeholders."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cobandit.base.records import Table
from cobandit.studies import StudyDesign, load_design, shipped_designs
from cobandit.studies.advice import design_warnings
from cobandit.studies.consent import placeholder_consent

BURGER = load_design("burger")


def with_consent(text: str) -> StudyDesign:
    return replace(BURGER, consent=replace(BURGER.consent, text=text), languages=("en",), translations=Table())


@pytest.mark.parametrize("name", shipped_designs())
def test_every_shipped_consent_is_one_in_every_language(name: str) -> None:
    design = load_design(name)
    assert placeholder_consent(design) == design.languages
    assert any("placeholder" in warning for warning in design_warnings(design))


@pytest.mark.parametrize(
    ("text", "placeholder"),
    [
        ("Our ethics board has approved this text.", False),
        ("It takes ten minutes. Your answers are used for research only.", False),
        ("Ours.\n\nReplace this text by  the one that\nyour ethics board has approved. And more.", True),
    ],
)
def test_it_is_known_by_the_sentence_that_asks_to_be_replaced(text: str, placeholder: bool) -> None:
    assert bool(placeholder_consent(with_consent(text))) is placeholder


def test_a_translation_that_was_forgotten_is_one_too() -> None:
    own = replace(BURGER, consent=replace(BURGER.consent, text="Approved."))
    assert placeholder_consent(own) == own.languages[1:]
