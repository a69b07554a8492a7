"""The texts of the pages: four languages, whole; a design may reword any, or bring a language of its own."""

import json
import re
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from cobandit.cli import app
from cobandit.studies import StudyDesign, load_design, shipped_designs
from cobandit.studies.page_texts import front_texts, missing_page_texts, page_languages, page_text_problems, page_texts
from cobandit.studies.typography import typeset

BURGER, CASINO = load_design("burger"), load_design("casino")
SHIPPED = ("en", "de", "es", "fr")
POINTS = ("round.points.one", "round.points.other")


def blanks(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


def worded(**messages: dict[str, str]) -> StudyDesign:
    """The burger shop in the languages named, with texts of its own for the pages."""
    languages = [*BURGER.languages, *(name for name in messages if name not in BURGER.languages)]
    return StudyDesign.from_dict(BURGER.to_dict() | {"languages": languages, "messages": messages})


class TestShipped:
    def test_languages(self) -> None:
        assert page_languages() == SHIPPED

    @pytest.mark.parametrize("language", SHIPPED)
    def test_nothing_is_missing_and_every_blank_is_filled_in(self, language: str) -> None:
        texts, english = page_texts(language), page_texts("en")
        assert missing_page_texts(replace(BURGER, languages=SHIPPED, translations=BURGER.translations)) == {}
        assert missing_page_texts(CASINO) == {}
        assert texts.keys() == english.keys()
        for key, text in texts.items():
            assert blanks(text) == blanks(english[key]), key
        if language != "en":
            same = [key for key, text in texts.items() if text == english[key]]
            alike = {
                "ribbon.demo.short",
                "turn.latest",
                "turn.latest.hidden",
                "turn.good",
                "turn.bad",
                "casino.budget",
                *POINTS,
            }
            assert set(same) <= alike, same

    @pytest.mark.parametrize("language", SHIPPED[1:])
    def test_the_front_page_is_translated_whole(self, language: str) -> None:
        texts, english = front_texts(language), front_texts("en")
        assert texts.keys() == english.keys()
        assert all(blanks(text) == blanks(english[key]) for key, text in texts.items())
        assert {key for key, text in texts.items() if text == english[key]} <= {"pages", "documentation"}
        assert not any(key.startswith("front.") for key in page_texts(language)), "no study's page is sent them"

    @pytest.mark.parametrize(("language", "word"), [("en", "or"), ("de", "oder"), ("fr", "ou"), ("es", "o")])
    def test_two_keys_are_one_or_the_other(self, language: str, word: str) -> None:
        assert f"1 {word} 2" in page_texts(language)["turn.keys.two"]

    @pytest.mark.parametrize("name", shipped_designs())
    def test_designs_are_translated_whole(self, name: str) -> None:
        design = load_design(name)
        assert design.languages == ("en", "de", "fr", "es")
        given = {language: dict(texts.pairs) for language, texts in design.translations.pairs}
        for language in design.languages[1:]:
            assert given[language].keys() == design.texts().keys(), language

    @pytest.mark.parametrize(("language", "one", "many"), [
        ("en", "decides", "decide"), ("de", "entscheidet", "entscheiden"),
        ("fr", "décide", "décident"), ("es", "decide", "deciden"),
    ])  # fmt: skip
    def test_several_partners_decide_in_the_plural(self, language: str, one: str, many: str) -> None:
        texts = page_texts(language)
        assert one in texts["turn.waiting.one"].split()
        assert many in texts["turn.waiting.other"].split()


def texts_in(language: str) -> dict[str, str]:
    """Every text that is shipped in a language: of the pages, the front page and all designs."""
    texts = page_texts(language) | {f"front.{key}": text for key, text in front_texts(language).items()}
    for name in shipped_designs():
        texts |= {f"{name} {key}": text for key, text in load_design(name).texts(language).items()}
    return texts


class TestTypography:
    def test_french_punctuation_never_begins_a_line(self) -> None:
        for key, text in texts_in("fr").items():
            assert not re.search(r"[^\u202f][;!?]", text), (key, text)
            assert not re.search(r"(?<![\d/])[^\u00a0]:(?!//)", text), (key, text)
            assert not re.search(r"«[^\u00a0]|[^\u00a0]»", text), (key, text)
            assert " …" not in text, (key, text)

    @pytest.mark.parametrize("language", SHIPPED[1:])
    def test_a_unit_stays_with_its_number_and_an_ellipsis_with_its_word(self, language: str) -> None:
        for key, text in texts_in(language).items():
            assert not re.search(r"\d [%€]| …", text), (key, text)

    def test_spanish_questions_and_exclamations_are_opened(self) -> None:
        for key, text in texts_in("es").items():
            assert (text.count("?"), text.count("!")) == (text.count("¿"), text.count("¡")), (key, text)

    def test_spaces_do_not_change_what_the_luck_of_participants_depends_on(self) -> None:
        assert "\u202f" in "".join(BURGER.texts("fr").values())
        assert "\u202f" not in json.dumps(BURGER.essence(), ensure_ascii=False)

    def test_other_languages_and_missing_spaces_stay_as_they_are(self) -> None:
        assert typeset("en", "Why ? 5 % :") == "Why ? 5 % :"
        assert typeset("fr", "http://a.b?c=1;d Quoi?") == "http://a.b?c=1;d Quoi?"
        assert typeset("fr-CA", "« Oui » : 5 % !") == "«\u00a0Oui\u00a0»\u00a0: 5\u00a0%\u202f!"


class TestOwn:
    def test_a_design_rewords_a_text_and_leaves_the_others(self) -> None:
        design = worded(de={"continue": "Los"}, en={"form.missing.other": "{n} to go."})
        assert page_texts("de", design) == page_texts("de") | {"continue": "Los"}
        assert "form.missing.one" not in page_texts("en", design), "a text is worded in all its forms, or in none"
        assert page_texts("en", design)["form.missing.other"] == "{n} to go."
        assert page_text_problems(design) == []

    def test_one_wording_may_stand_for_all_forms(self) -> None:
        design = worded(de={"turn.waiting": "{partner}: gleich."})
        assert page_text_problems(design) == []
        assert page_texts("de", design)["turn.waiting"] == "{partner}: gleich."

    def test_a_language_of_ones_own_names_what_is_missing_until_it_is_whole(self) -> None:
        started = worded(it={"continue": "Avanti"})
        missing = missing_page_texts(started)["it"]
        assert "continue" not in missing
        assert {"turn.question", "burger.question", "partner.heading", "form.missing"} <= set(missing)
        assert not [key for key in missing if "casino" in key], "other tasks are not needed"
        whole = {key if key in page_texts("en") else f"{key}.other": "!" for key in missing}
        assert missing_page_texts(worded(it=whole | {"continue": "Avanti"})) == {}

    def test_what_cannot_be_meant_is_told(self) -> None:
        design = worded(de={"turn.qestion": "?", "turn.keys": "{m}", "form.missing.one": "eine"})
        blank, unknown, forms = page_text_problems(design)
        assert "'turn.qestion'" in unknown
        assert "Did you mean 'turn.question'?" in unknown
        assert "{m}" in blank
        assert "'form.missing.other'" in forms

    def test_a_language_that_the_design_does_not_have(self) -> None:
        with pytest.raises(ValueError, match="There is no language of the design 'it'"):
            replace(BURGER, messages=worded(it={"continue": "Avanti"}).messages)

    def test_study_check_names_it_all(self, tmp_path) -> None:
        text = (
            'name = "prova"\nversion = 1\ntitle = "Prova"\narms = [2, 2]\nobservability = [1, 1]\nrounds = 2\n'
            'order = "random"\nlanguages = ["it"]\n'
            '[task]\nkind = "grid"\nparticipant = "Io"\npartner = "Lei"\narms = [["a", "b"], ["c", "d"]]\n'
            'configuration = "coppia"\ngood = "si"\nbad = "no"\ninstructions = ["Scegli."]\n'
            '[[conditions]]\nname = "a"\nagent = "naive-ucb"\n[survey]\n[[survey.items]]\nid = "i"\ntext = "Bello"\n'
            '[consent]\nversion = "1"\ntext = "Va bene?"\n'
            '[messages.it]\n"continue" = "Avanti"\n"weiter" = "Avanti"\n'
        )
        (tmp_path / "prova.toml").write_text(text, encoding="utf-8")
        said = CliRunner().invoke(app, ["study", "check", str(tmp_path / "prova.toml")])
        assert said.exit_code == 0, said.output
        line = next(line for line in said.output.splitlines() if "stay English in it" in line)
        assert "turn.question" in line
        assert "continue" not in line
        assert "messages.it has 'weiter', which no page says." in said.output
