"""Pages that people only read: where they are, what they hold, and designs without them."""

import tomllib

import pytest

import cobandit as cb
from cobandit.studies import StudyDesign, check_answers, design_text, journey, load_design, step_payload
from cobandit.studies.content_pages import PAGE_TIMES
from cobandit.studies.journey import journey_episode, steps_skipped
from cobandit.studies.rehearsed_data import rehearsed_data
from cobandit.web.services.preview import preview_state, preview_steps
from tests.studies.questionnaires import asking_design


def paged(name="casino", pages=None, **more):
    """Return a shipped design with a page at every place, or with these."""
    every = [page(id=f"p{i}", when=when, title=when) for i, when in enumerate(PAGE_TIMES)]
    return StudyDesign.from_dict(tomllib.loads(design_text(name)) | {"pages": every if pages is None else pages} | more)


def page(**changes):
    return {"id": "one", "when": "before", "title": "A title", "text": "A *text*"} | changes


def titles(design):
    """Return the kinds of the steps, and the places of the pages."""
    shown: list[str] = []
    for step in journey(design).steps:
        if step.kind not in ("episode", "rest") or shown[-1] != step.kind:
            shown.append(design.page(step.page).when if step.kind == "page" else step.kind)
    return shown


class TestPlaces:
    def test_every_place(self):
        kinds = titles(paged("burger"))
        assert kinds == [
            *("consent", "consented", "demographics", "before-instructions", "instructions", "after-instructions"),
            *("quiz", "before", "before-set", "partner", "episode", "before-survey", "survey", "between", "after"),
            *("before-set", "partner", "episode", "before-survey", "survey", "after", "end", "last", "thanks"),
        ]

    def test_a_set_begins_after_the_rest(self):
        ids = [step.id for step in journey(paged("casino")).steps]
        first = ids.index("rest-1")
        assert ids[first : first + 4] == ["rest-1", "page-1-p6", "partner-1", "episode-1"]

    def test_only_in_one_set(self):
        design = paged("burger", [page(when="before-set", set=2)])
        assert [step.id for step in journey(design).steps if step.kind == "page"] == ["page-2-one"]
        assert journey(design).after("survey-1").id == "page-2-one"

    def test_pages_come_before_questionnaires_of_a_place(self):
        ids = [step.id for step in journey(asking_design(pages=[page(when="after"), page(id="two")])).steps]
        assert ids[ids.index("page-once-two") + 1] == "questionnaire-before-mood"
        assert ids[ids.index("survey-1") : ids.index("survey-1") + 3] == [
            *("survey-1", "page-1-one", "questionnaire-1-partner"),
        ]

    def test_episode_of_a_page_and_pages_of_sets_that_are_not_played(self):
        design = paged("burger")
        assert {step.id: journey_episode(design, step) for step in journey(design).steps if step.number} == {
            **{"page-1-p6": 0, "partner-1": 0, "page-1-p7": 0, "survey-1": 0, "page-1-p8": 0, "page-1-p9": 0},
            **{"page-2-p6": 1, "partner-2": 1, "episode-1": 1, "page-2-p7": 1, "survey-2": 1, "page-2-p9": 1},
        }
        skipped = {id for id in steps_skipped(design, 0) if id.startswith("page")}
        assert skipped == {"page-2-p6", "page-2-p7", "page-2-p9"}

    def test_the_preview_offers_every_page_and_questionnaire(self):
        items = [{"id": "a", "kind": "text", "text": "?"}]
        two = [{"id": id, "when": "before", "title": id, "items": items} for id in "ab"]
        design = paged("burger", questionnaires=two)
        assert preview_steps(design) == [step.id for step in journey(design).steps]
        assert preview_state(design, "page-once-p0")["state"]["page"]["title"] == "consented"


class TestTexts:
    def test_payload_in_two_languages(self):
        german = {"de": {"pages.one.text": "Ein **Text**"}}
        design = paged("burger", [page()], languages=["en", "de"], translations=german)
        step = journey(design).find("page-once-one")
        shown = step_payload(design, None, step, "de")["page"]
        assert shown == {
            "title": "A title",
            "text": "Ein **Text**",
            "marked": [{"tag": "p", "of": ["Ein ", {"tag": "strong", "of": ["Text"]}]}],
        }

    @pytest.mark.parametrize("markup", ["plain", "markdown"])
    def test_markdown_is_checked_in_every_language(self, markup):
        with pytest.raises(cb.InvalidInput, match=r"pages\.one\.text holds a piece of HTML"):
            paged("burger", [page(text="<b>x</b>")], markup=markup)
        bad = {"languages": ["en", "de"], "translations": {"de": {"pages.one.text": "<b>x</b>"}}}
        with pytest.raises(cb.InvalidInput, match=r"translations\.de\.pages\.one\.text holds a piece of HTML"):
            paged("burger", [page()], markup=markup, **bad)

    def test_no_answers(self):
        design = paged("burger", [page()])
        step = journey(design).find("page-once-one")
        assert check_answers(design, step, {}) == {}
        with pytest.raises(cb.InvalidInput, match="nothing to answer"):
            check_answers(design, step, {"x": 1})
        (person,) = rehearsed_data(design, [("softmax", 1, 0)]).participants
        assert dict(person.answers["page-once-one"].values) == {}


class TestChecks:
    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"when": "sometimes"}, "place of a page"),
            ({"id": "a.b"}, "dashes and underscores"),
            ({"set": 1}, "must not have set"),
            ({"when": "between", "set": 2}, "never shown"),
            ({"when": "after", "set": 3}, "never shown"),
            ({"text": " "}, "not empty"),
        ],
    )
    def test_refused(self, changes, said):
        with pytest.raises(cb.CobanditError, match=said):
            paged("burger", [page(**changes)])

    def test_designs_without_pages_keep_their_digest(self):
        burger = load_design("burger")
        assert "pages" not in burger.essence()
        assert paged("burger", []).digest == burger.digest != paged("burger", [page()]).digest
