"""Ready questionnaires: their texts become part of the design, in every language."""

from collections import Counter

import pytest

from cobandit import InvalidInput
from cobandit.base.errors import CobanditError
from cobandit.studies import StudyDesign, load_design, rehearsed_data
from cobandit.studies.export import tables
from cobandit.studies.questionnaires import PRESETS

BURGER = load_design("burger").to_dict()


def burger(*questionnaires, **changes):
    return StudyDesign.from_dict(BURGER | {"questionnaires": list(questionnaires)} | changes)


def asked(preset, **changes):
    return {"id": f"my-{preset}", "when": "after", "preset": preset} | changes


@pytest.fixture(scope="module")
def design():
    return burger(*map(asked, PRESETS))


def test_each_is_whole_in_every_language(design):
    for questionnaire in design.questionnaires:
        for scale, ratings in questionnaire.ratings.items():
            assert len(ratings) >= 3, scale
            assert Counter(turned for _, turned in ratings)[True] == 1, scale
        keys = dict(questionnaire.texts())
        by_language = [design.texts(language) for language in ("en", "de", "fr", "es")]
        for key in keys:
            assert len({texts[key] for texts in by_language}) == 4, key


def test_the_texts_are_part_of_the_design(design):
    stored = StudyDesign.from_dict(design.to_dict())
    assert stored == design
    assert stored.digest == design.digest
    assert design.essence()["questionnaires"][0]["items"]
    changed = design.to_dict()
    changed["questionnaires"][0]["items"][0]["text"] += "!"
    assert StudyDesign.from_dict(changed).digest != design.digest
    assert StudyDesign.from_dict(changed).questionnaires[0].items[0].text.endswith("!")


def test_own_words_stay():
    own = asked("trust", title="The robot", shuffled=True)
    translations = {
        "de": {"questionnaires.my-trust.title": "Der Roboter", "questionnaires.my-trust.items.skilled": "Gut."}
    }
    design = burger(own, translations=translations)
    german = design.texts("de")
    assert design.questionnaires[0].shuffled
    assert (design.questionnaires[0].title, german["questionnaires.my-trust.title"]) == ("The robot", "Der Roboter")
    assert german["questionnaires.my-trust.items.skilled"] == "Gut."
    assert "Gegenüber" in german["questionnaires.my-trust.items.sensible"]
    assert design.texts("fr")["questionnaires.my-trust.title"] == "The robot"


def test_another_first_language():
    design = burger(asked("workload"), languages=["de", "en"], translations={}, messages={})
    assert design.questionnaires[0].title == "Wie anstrengend es war"
    assert design.texts("en")["questionnaires.my-workload.title"] == "How demanding it was"
    with pytest.raises(InvalidInput, match="must be in one of the languages en, de, fr, es, got 'it'"):
        burger(asked("workload"), languages=["it"], translations={}, messages={})


def test_scores(design):
    data = rehearsed_data(design, [("softmax", 1, None), ("softmax", 2, None)], answers="drawn")
    table = tables(data)["questionnaires"]
    items = {item.id for questionnaire in design.questionnaires for item in questionnaire.items}
    assert set(table["item"].tolist()) == items
    assert len(table["item"]) == len(items) * 2 * 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "x", "when": "after", "title": "Without items"},
        {"id": "x", "when": "after", "preset": "tlx"},
        asked("trust", scales=[{"id": "mine"}]),
    ],
)
def test_refusals(wrong):
    with pytest.raises(CobanditError, match="preset"):
        burger(wrong)
