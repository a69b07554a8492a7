"""The way through a study: its steps in order, what each shows, and every wrong answer named."""

import json
from dataclasses import replace

import pytest

import cobandit as cb
from cobandit.base.records import Table
from cobandit.studies import (
    ParticipantPlan,
    attention_passed,
    attention_results,
    check_answers,
    journey,
    load_design,
    step_payload,
    steps,
    task_payload,
    wrong_quiz_answers,
)
from cobandit.studies.codes import completion_code
from cobandit.studies.design import AttentionCheck, PartnerIdentity, Question, StudyDesign
from cobandit.studies.journey import named_partner, partner_payload

BURGER, CASINO, THREE = load_design("burger"), load_design("casino"), load_design("three-by-three")
NOTE = Question(id="note", text="Anything else?", answer="text", required=False)
OPEN = replace(BURGER, demographics=(*BURGER.demographics, NOTE))


def checked(step, answers, design=BURGER):
    return check_answers(design, journey(design).find(step), answers)


def refused(step, answers, design=BURGER):
    with pytest.raises(cb.InvalidInput) as caught:
        checked(step, answers, design)
    return str(caught.value)


class TestSteps:
    def test_burger(self):
        assert [step.id for step in journey(BURGER).steps] == [
            "consent",
            "demographics",
            "instructions",
            "quiz",
            "partner-1",
            "episode-0",
            "survey-1",
            "partner-2",
            "episode-1",
            "survey-2",
            "thanks",
        ]

    def test_casino_rests_between_casinos_and_after_the_trial(self):
        ids = [step.id for step in journey(CASINO).steps]
        assert ids[4:10] == ["episode-0", "rest-1", "partner-1", "episode-1", "rest-2", "episode-2"]
        assert ids[ids.index("survey-1") - 1 : ids.index("survey-1") + 4] == [
            "episode-25", "survey-1", "partner-2", "episode-26", "rest-27",
        ]  # fmt: skip
        assert ids[-3:] == ["episode-50", "survey-2", "thanks"]
        assert len(ids) == len(set(ids)) == 4 + 51 + 49 + 2 + 3

    def test_what_is_not_asked_is_no_step(self):
        design = replace(THREE, partners=(), translations=Table())
        assert [step.id for step in journey(design).steps][:3] == ["consent", "instructions", "episode-0"]

    def test_several_practice_episodes(self):
        design = replace(CASINO, episodes=1, practice=replace(CASINO.practice, episodes=2))
        assert [step.id for step in journey(design).steps][4:] == [
            "episode-0", "rest-1", "episode-1", "rest-2", "partner-1", "episode-2", "survey-1", "partner-2",
            "episode-3", "survey-2", "thanks",
        ]  # fmt: skip

    def test_nobody_is_met_where_nobody_is_named(self):
        assert not [
            step for step in journey(replace(BURGER, partners=(), translations=Table())).steps if step.kind == "partner"
        ]

    @pytest.mark.parametrize("design", [BURGER, CASINO, THREE])
    def test_episodes_are_those_of_the_plan_and_every_set_ends_with_its_survey(self, design):
        plan = ParticipantPlan(design, 3, 1)
        made = steps(plan)
        assert made == journey(design).steps
        assert [step.number for step in made if step.kind == "episode"] == list(range(len(plan)))
        latest = None
        for step in made:
            if step.kind == "episode":
                latest = plan.episode(step.number)
            if step.kind == "survey":
                assert latest.set == step.number - 1
                assert latest.number == latest.siblings - 1

    def test_made_once(self):
        assert journey(CASINO) is journey(replace(CASINO, title="Another"))

    def test_find(self):
        step = journey(CASINO).find("rest-7")
        assert (step.kind, step.number) == ("rest", 7)

    @pytest.mark.parametrize("id", ["", "episode-2", "surveys", None, 3, "episode-0 ", "\ud800"])
    def test_unknown_steps(self, id):
        with pytest.raises(cb.UnknownName, match="There is no step of this study called"):
            journey(BURGER).find(id)

    def test_current_and_progress(self):
        way, done = journey(CASINO), set()
        for place, step in enumerate(way.steps):
            assert way.current(done) is step
            assert way.progress(done) == {"done": place, "total": len(way) - 1}
            done.add(step.id)
        assert way.current(done).kind == "thanks"

    def test_after(self):
        way = journey(BURGER)
        assert way.after("quiz").id == "partner-1"
        assert way.after("thanks").id == "thanks"


class TestAnswers:
    def test_good_ones(self):
        assert checked("consent", {"version": "1"}) == {"version": "1"}
        assert checked("instructions", {}) == {}
        assert check_answers(CASINO, journey(CASINO).find("rest-1"), {}) == {}
        answers = {"ai_researcher": 1, "gender": 0.0, "age": 33}
        assert checked("demographics", answers) == {"age": 33, "gender": 0, "ai_researcher": 1}
        assert checked("quiz", {"layers": 0, "order": 1, "simultaneous": 2, "sensor": 1})["simultaneous"] == 2
        five = {"ability": 5, "insisting": 1, "easy": 3, "annoying": 2, "alone": 4}
        assert checked("survey-1", five | {"attention": 2}) == five | {"attention": 2}
        assert checked("survey-2", five | {"attention_2": 4}) == five | {"attention_2": 4}
        assert checked("partner-1", {}) == {}

    @pytest.mark.parametrize("answers", [None, [], "x", 3, [("version", "1")], {"version"}])
    def test_not_a_table(self, answers):
        for step in ("consent", "demographics", "quiz", "survey-1", "instructions"):
            assert "must be a table of ids and answers" in refused(step, answers)

    def test_episodes_and_thanks_take_none(self):
        for step in ("episode-0", "thanks"):
            assert "takes no answers" in refused(step, {})

    def test_changed_consent(self):
        assert "Reload the page" in refused("consent", {"version": "0"})
        for bad in ({}, {"version": 1}, {"version": None}, {"version": True}):
            assert "must be '1'" in refused("consent", bad)
        assert "Did you mean 'version'?" in refused("consent", {"versions": "1"})

    @pytest.mark.parametrize(
        "age", [True, "33", 17, 121, 33.5, float("nan"), float("inf"), pytest.param(10**5000, id="huge"), [33], {}]
    )
    def test_bad_numbers(self, age):
        said = refused("demographics", {"age": age, "gender": 0, "ai_researcher": 0})
        assert "The answer to 'age'" in said
        assert "must be an integer from 18 to 120" in said

    @pytest.mark.parametrize("gender", [False, "Female", -1, 4, float("nan")])
    def test_bad_choices(self, gender):
        said = refused("demographics", {"age": 33, "gender": gender, "ai_researcher": 0})
        assert "The answer to 'gender'" in said
        assert "from 0 to 3" in said

    @pytest.mark.parametrize("value", [True, 0, 6, "3", 2.5, [], float("nan")])
    def test_bad_agreement(self, value):
        answers = {"ability": value, "insisting": 1, "easy": 3, "annoying": 2, "alone": 4, "attention_2": 4}
        assert "from 1 to 5" in refused("survey-2", answers)

    def test_missing_ones_are_all_named(self):
        said = refused("demographics", {"gender": None})
        assert all(name in said for name in ("'age'", "'gender'", "'ai_researcher'", "leave out"))
        assert "'attention'" in refused(
            "survey-1", dict.fromkeys(("ability", "insisting", "easy", "annoying", "alone"), 3)
        )
        assert "'layers'" in refused("quiz", {})

    def test_unknown_ones(self):
        assert "Did you mean 'age'?" in refused("demographics", {"ages": 3})
        assert "called 'attention'" in refused("survey-2", {"attention": 2})  # it was asked after the first set
        assert "nothing to answer" in refused("instructions", {"read": True})
        assert "There is no question" in refused("quiz", {"\ud800": 0})

    def test_optional_ones_have_one_form(self):
        asked = {"age": 33, "gender": 0, "ai_researcher": 1}
        forms = [asked, asked | {"note": None}, asked | {"note": ""}, asked | {"note": " \n "}]
        for form in forms:
            assert checked("demographics", form, OPEN) == asked | {"note": None}

    def test_texts(self):
        asked = {"age": 33, "gender": 0, "ai_researcher": 1}
        text = 'He said "hm,\nno"; =1+1 \N{SNOWMAN} \N{GRINNING FACE}'
        assert checked("demographics", asked | {"note": f"  {text}\r\n"}, OPEN)["note"] == text
        assert len(checked("demographics", asked | {"note": "x" * 1000}, OPEN)["note"]) == 1000
        assert "1,001 characters" in refused("demographics", asked | {"note": "x" * 1001}, OPEN)
        for bad in ("a\0b", "\ud800", "\x1b[31m"):
            assert "control character" in refused("demographics", asked | {"note": bad}, OPEN)
        for bad in (3, True, ["x"], b"x"):
            assert "must be a text" in refused("demographics", asked | {"note": bad}, OPEN)
        required = replace(OPEN, demographics=(replace(NOTE, required=True),), translations=Table())
        assert "empty" in refused("demographics", {"note": "  "}, required)

    def test_quiz(self):
        right = {"layers": 0, "order": 1, "simultaneous": 1, "sensor": 2}
        assert wrong_quiz_answers(BURGER, right) == []
        assert wrong_quiz_answers(BURGER, right | {"sensor": 0, "layers": 1}) == ["layers", "sensor"]
        assert wrong_quiz_answers(BURGER, {}) == ["layers", "order", "simultaneous", "sensor"]

    def test_attention(self):
        assert attention_results(BURGER, {"ability": 1, "attention": 2}) == {"attention": True}
        assert not attention_passed(BURGER, {"ability": 1, "attention": 3})
        assert attention_results(BURGER, {"ability": 1}) == {}
        assert attention_passed(BURGER, {"ability": 1})


class TestPayload:
    def payload(self, step, design=BURGER, language=None, order=0, **more):
        return step_payload(design, ParticipantPlan(design, 4, order), journey(design).find(step), language, **more)

    def test_before_playing_no_plan_is_needed(self):
        way = journey(BURGER)
        assert step_payload(BURGER, None, way.find("consent")) == {
            "consent": {"version": "1", "text": BURGER.consent.text}
        }
        questions = step_payload(BURGER, None, way.find("demographics"))["demographics"]
        assert questions[0] == {
            "id": "age", "text": "How old are you?", "answer": "whole", "low": 18, "high": 120, "required": True,
            "choices": [],
        }  # fmt: skip
        assert questions[2]["choices"] == ["Yes", "No"]
        assert step_payload(BURGER, None, way.find("instructions")) == {"instructions": list(BURGER.task.instructions)}
        with pytest.raises(cb.InvalidInput, match="has no plan"):
            step_payload(BURGER, None, way.find("survey-1"))

    def test_quiz_does_not_tell_the_answers(self):
        quiz = self.payload("quiz", attempts=2)["quiz"]
        assert quiz["attempts"] == 2
        assert quiz["instructions"] == list(BURGER.task.instructions)
        assert all(set(question) == {"id", "text", "choices"} for question in quiz["questions"])

    def test_survey_with_a_check_apart_after_each_set(self):
        survey = self.payload("survey-1")["survey"]
        assert {key: survey[key] for key in ("set", "sets", "points")} == {"set": 1, "sets": 2, "points": 5}
        assert [set(item) for item in survey["items"]] == [{"id", "text"}] * 5 + [{"id", "text", "apart"}]
        assert [item["id"] for item in self.payload("survey-2")["survey"]["items"]] == [
            *(item.id for item in BURGER.survey.items),
            "attention_2",
        ]

    def test_a_check_among_the_items_looks_like_one(self):
        design = replace(BURGER, attention=(replace(BURGER.attention[0], apart=False),), translations=Table())
        items = self.payload("survey-1", design)["survey"]["items"]
        assert [set(item) for item in items] == [{"id", "text"}] * 6

    def test_what_stands_apart_is_never_shuffled_among_the_items(self):
        design = replace(BURGER, survey=replace(BURGER.survey, shuffled=True))
        orders = [ParticipantPlan(design, seed, 0).survey_order(0) for seed in range(12)]
        assert len(set(orders)) > 1
        assert {order[-1] for order in orders} == {"attention"}

    def test_survey_in_the_order_of_the_participant(self):
        design = replace(BURGER, survey=replace(BURGER.survey, shuffled=True))
        ids = [item["id"] for item in self.payload("survey-1", design)["survey"]["items"]]
        assert tuple(ids) == ParticipantPlan(design, 4, 0).survey_order(0)
        assert set(ids) == {item.id for item in BURGER.survey.items} | {"attention"}

    def test_checks_after_each_set(self):
        late = AttentionCheck(id="late", text="Please choose 1.", answer=1, after_set=2)
        design = replace(BURGER, attention=(*BURGER.attention, late))
        assert "late" not in {item["id"] for item in self.payload("survey-1", design)["survey"]["items"]}
        assert "late" in {item["id"] for item in self.payload("survey-2", design)["survey"]["items"]}

    def test_languages(self):
        items = self.payload("survey-1", THREE, "de")["survey"]["items"]
        assert items[0]["text"] == "Die Zusammenarbeit mit dem Mischer war einfach."
        half = replace(THREE, translations=Table())
        assert self.payload("survey-1", half, "de")["survey"]["items"][1]["text"] == "I found the blender annoying."
        with pytest.raises(cb.UnknownName, match="language"):
            self.payload("survey-1", THREE, "it")

    def test_the_server_makes_the_others(self):
        assert self.payload("episode-0") == self.payload("thanks") == self.payload("rest-1", CASINO) == {}

    @pytest.mark.parametrize("design", [BURGER, CASINO, THREE])
    def test_all_of_it_is_json_and_tells_no_condition(self, design):
        for step in journey(design).steps:
            text = json.dumps(self.payload(step.id, design))
            assert not any(condition.agent in text for condition in design.conditions)


class TestTask:
    def test_every_burger_with_its_layers_from_below_by_name(self):
        task = task_payload(BURGER)
        assert (task["kind"], task["arms"], task["seat"]) == ("burger", [2, 2], 0)
        assert [burger["arms"] for burger in task["burgers"]] == [[0, 0], [0, 1], [1, 0], [1, 1]]
        assert task["burgers"][2]["layers"] == [
            {"item": "bottom_bun", "by": "shop", "name": None},
            {"item": "cheese", "by": "participant", "name": "Cheese"},
            {"item": "tomato", "by": "partner", "name": "Tomato"},
            {"item": "patty", "by": "participant", "name": "Patty"},
            {"item": "lettuce", "by": "partner", "name": "Lettuce"},
            {"item": "top_bun", "by": "shop", "name": None},
        ]
        assert json.loads(json.dumps(task)) == task

    def test_in_another_language(self):
        layers = task_payload(BURGER, "de")["burgers"][1]["layers"]
        assert [layer["name"] for layer in layers[1:-1]] == ["Bratling", "Salat", "Käse", "Tomate"]

    def test_a_design_without_fillings_has_one_of_each(self):
        labels = (("Beef", "Brie"), ("Tomato", "Cress", "Onion"))
        old = replace(BURGER, arms=(2, 3), task=replace(BURGER.task, fillings=(), arms=labels), translations=Table())
        burgers = {tuple(burger["arms"]): burger["layers"][1:-1] for burger in task_payload(old)["burgers"]}
        assert len(burgers) == 6
        assert burgers[1, 2] == [
            {"item": "cheese", "by": "participant", "name": "Brie"},
            {"item": "slab_2", "by": "partner", "name": "Onion"},
        ]

    @pytest.mark.parametrize("design", [CASINO, THREE])
    def test_other_tasks_have_no_layers(self, design):
        assert set(task_payload(design)) - {"icons"} == {"arms", "kind", "seat"}


def test_completion_codes():
    codes = {completion_code() for _ in range(200)}
    assert len(codes) == 200
    assert all(len(code) == 8 and not set(code) & set("01OIL") and code == code.upper() for code in codes)


class TestPartners:
    def payload(self, step, seed=0, order=0, design=BURGER, language=None):
        return partner_payload(ParticipantPlan(design, seed, order), journey(design).find(step), language)

    def test_each_set_has_one_of_its_own_at_every_step(self):
        for seed in range(8):
            first, second = (
                {json.dumps(self.payload(step, seed)) for step in steps}
                for steps in (("partner-1", "episode-0", "survey-1"), ("partner-2", "episode-1", "survey-2"))
            )
            assert len(first) == len(second) == 1
            assert first != second

    def test_they_are_tied_to_the_seed_and_not_to_the_algorithm(self):
        names = [self.payload("partner-1", seed)["name"] for seed in range(200)]
        assert names == [self.payload("partner-1", seed, order=1)["name"] for seed in range(200)]
        assert 70 < names.count("Rivo") < 130

    def test_a_rest_looks_back_and_practice_has_nobody(self):
        assert self.payload("episode-0", design=CASINO) is None
        assert self.payload("rest-1", design=CASINO) is None
        assert self.payload("rest-2", design=CASINO) == self.payload("episode-1", design=CASINO)
        assert self.payload("episode-25", design=CASINO) != self.payload("episode-26", design=CASINO)

    def test_names_in_a_team_of_three(self):
        pairs = (("Ada and Bo", "teal", ("Ada", "Bo")), ("Cy and Di", "rose", ("Cy", "Di")))
        named = tuple(PartnerIdentity(name=name, look=look, seats=seats) for name, look, seats in pairs)
        design = replace(load_design("three-seats"), partners=named)
        met = self.payload("episode-0", design=design)
        assert met["names"] in (["Ada", "Bo"], ["Cy", "Di"])
        assert named_partner(design, met) == {
            "task.partner": met["name"], "seats.1": met["names"][0], "seats.2": met["names"][1],
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("partners", "message"),
        [
            ([{"name": "Rivo", "look": "teal"}], "there are 2 conditions"),
            ([{"name": "Rivo", "look": "teal"}, {"name": "Teki", "look": "teal"}], "a look of its own"),
            ([{"name": "Rivo", "look": "teal"}, {"name": "Rivo", "look": "rose"}], "Rivo"),
            ([{"name": "Rivo", "look": "teal"}, {"name": "Teki", "look": "blue"}], "blue"),
            ([{"name": "A", "look": "teal", "seats": ["B"]}, {"name": "C", "look": "rose"}], "a single AI"),
        ],
    )
    def test_what_is_refused(self, partners, message):
        with pytest.raises(cb.InvalidInput, match=message):
            StudyDesign.from_dict(BURGER.to_dict() | {"partners": partners, "translations": {}})
