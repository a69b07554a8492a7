"""Exported tables: the numbers of a trajectory, every column explained."""

import json
from dataclasses import replace

import numpy as np
import pytest

import cobandit as cb
from cobandit.base.records import Table
from cobandit.studies import (
    Answer,
    EpisodeData,
    ParticipantPlan,
    StudyData,
    columns,
    rehearse,
    rehearsed_data,
    schema,
    tables,
)
from cobandit.studies.design import AttentionCheck, Question, SurveyItem
from tests.studies.exports import BURGER, KNOWN, LONG, NASTY, OPEN, PEOPLE, SHORT, THREE, everybody

TAGS = {"naive-ucb": "naive_ucb", "partner-aware-ucb": "pa_ucb"}


class TestLong:
    @pytest.mark.parametrize("design", [BURGER, SHORT, KNOWN, THREE])
    @pytest.mark.parametrize("practice", [True, False])
    def test_the_numbers_of_a_trajectory(self, design, practice):
        episodes = [episode for person in PEOPLE for episode in rehearse(design, *person)]
        expected = columns(episodes, practice=practice)
        long = tables(rehearsed_data(design, PEOPLE), practice=practice)["long"]
        assert [name for name in long if name != "partner"] == LONG
        assert ("partner" in long) == bool(design.partners)
        assert set(expected) <= set(long)
        for name in ("run", "episode", "set", "t", "arm_0", "arm_1", "reward", "seen_0", "seen_1", "predicted_1_0"):
            np.testing.assert_array_equal(long[name], expected[name], err_msg=name)
            assert long[name].dtype == expected[name].dtype
        assert long["condition"].tolist() == expected["condition"].tolist()
        for run in np.unique(long["run"]):
            rows = long["run"] == run
            np.testing.assert_array_equal(long["task_regret"][rows], expected["task_regret"][rows])
            np.testing.assert_array_equal(np.cumsum(long["round_regret"][rows]), expected["task_regret"][rows])
        np.testing.assert_array_equal(long["team_regret"], long["task_regret"] * design.problem.team_factor)

    def test_whose_and_which(self):
        long = tables(rehearsed_data(SHORT, PEOPLE[1:]))["long"]
        first = {name: values[long["run"] == 5][0] for name, values in long.items()}
        assert first | {"reward": 0} | dict.fromkeys(first.keys() - set(LONG[:11]), 0) == {
            "run": 5, "participant": "r-0001", "kind": "rehearsal", "order": "partner-aware-ucb > naive-ucb",
            "set": 1, "condition": "naive-ucb", "episode": 5, "number": 0, "practice": False, "swapped": False, "t": 1,
        } | dict.fromkeys(("partner", *LONG[11:]), 0)  # fmt: skip
        assert set(long["set"][long["practice"]]) == {-1}
        assert set(long["condition"][long["practice"]]) == {"practice"}

    def test_labels_are_those_that_were_shown(self):
        long = tables(rehearsed_data(BURGER, PEOPLE))["long"]
        assert set(long["swapped"][long["set"] == 1]) == {True}
        for arm, labels in ((0, ("Patty first", "Cheese first")), (1, ("Tomato second", "Lettuce second"))):
            assert long[f"label_{arm}"].tolist() == [labels[i] for i in long[f"arm_{arm}"]]

    def test_times_and_episodes_without_rounds(self):
        long = tables(everybody())["long"]
        assert len(long["t"]) == 20 + 20 + 7 + 40
        assert np.unique(long["run"]).tolist() == [0, 1, 2, 3, 4]
        assert long["episode"][:40].tolist() == [0] * 20 + [1] * 20
        assert long["answered_at"][19] == np.datetime64("2024-05-01T12:00:19.000")
        assert np.isnat(long["answered_at"][20:]).all()
        assert np.isnan(long["reaction_ms"][0])
        assert long["reaction_ms"][1] == 801

    def test_a_damaged_arm_is_told(self):
        rounds = [replace(made, arms=(2, made.arms[1])) for made in rehearse(BURGER, "softmax", 5, 1)[0].rounds]
        person = replace(everybody().participants[0], answers={}, episodes={0: EpisodeData.of_rounds(rounds)})
        with pytest.raises(cb.InvalidInput, match="Episode 0 of p-aaaa holds an arm_0 outside 0 to 1; verify"):
            tables(StudyData(BURGER, (person,)))


class TestWide:
    def test_columns(self):
        names = list(tables(everybody(), recruiting=True, texts=True)["wide"])
        assert names[:17] == [
            "participant", "kind", "status", "order", "language", "consent_version", "consented_at", "started_at",
            "finished_at", "minutes", "quiz_attempts", "age", "gender", "ai_researcher", "note", "attention_attention",
            "attention_attention_2",
        ]  # fmt: skip
        items = ["ability", "insisting", "easy", "annoying", "alone"]
        wanted = [
            "rounds_{}",
            "good_{}",
            "task_regret_{}",
            "team_regret_{}",
            "partner_{}",
            *(f"survey_{item}_{{}}" for item in items),
        ]
        assert names[17:-2] == [name.format(c) for c in ("naive_ucb", "pa_ucb") for name in wanted]
        assert names[-2:] == ["recruiter", "external_id"]
        names.remove("note")  # free texts are exported only on request
        assert list(tables(everybody())["wide"]) == names[:-2]

    def test_values(self):
        exported = tables(everybody(), recruiting=True, texts=True)["wide"]
        wide = {name: values.tolist() for name, values in exported.items()}
        assert wide["status"] == ["finished", "active", "invited", "finished"]
        assert wide["order"][1:3] == ["naive-ucb > partner-aware-ucb", None]
        assert wide["consent_version"] == ["1", None, None, "1"]
        np.testing.assert_array_equal(wide["minutes"], [1.5, np.nan, np.nan, np.nan])
        np.testing.assert_array_equal(wide["age"], [33, 18, np.nan, 69])
        assert wide["gender"][:3] == ["Male", "I prefer not to say", None]
        assert wide["note"][:3] == [NASTY, None, None]
        np.testing.assert_array_equal(wide["attention_attention"], [1, np.nan, np.nan, 1])
        assert wide["rounds_naive_ucb"] == [20, 7, 0, 20]
        assert wide["rounds_pa_ucb"] == [20, 0, 0, 20]
        assert np.isnan(wide["task_regret_pa_ucb"][1:3]).all()
        assert np.isnan(wide["good_naive_ucb"][2])
        assert wide["external_id"] == ["=cmd|' /C calc'!A0", None, None, None]

    def test_who_was_met(self):
        data = everybody()
        made = tables(data)
        for place, person in enumerate(data.participants):
            plan = person.plan(OPEN)
            met = {} if plan is None else dict(zip(plan.conditions, plan.partner_order, strict=True))
            for condition in ("naive-ucb", "partner-aware-ucb"):
                name = OPEN.partners[met[condition]].name if met else None
                assert made["wide"][f"partner_{TAGS[condition]}"][place] == name
                theirs = (made["long"]["participant"] == person.id) & (made["long"]["condition"] == condition)
                assert set(made["long"]["partner"][theirs]) <= {name}
        unnamed = replace(OPEN, partners=(), translations=Table())
        again = tables(rehearsed_data(unnamed, PEOPLE))
        assert not [name for table in again.values() for name in table if name.startswith("partner")]

    @pytest.mark.parametrize("design", [BURGER, SHORT])
    def test_sums_are_those_of_the_counted_rounds(self, design):
        made = tables(rehearsed_data(design, PEOPLE))
        long, wide = made["long"], made["wide"]
        for i, person in enumerate(wide["participant"]):
            for condition in ("naive-ucb", "partner-aware-ucb"):
                rows = (long["participant"] == person) & (long["condition"] == condition)
                assert wide[f"rounds_{TAGS[condition]}"][i] == rows.sum() == design.rounds * design.episodes
                assert wide[f"good_{TAGS[condition]}"][i] == long["reward"][rows].sum()
                last = rows & (long["t"] == design.rounds)
                for regret in ("task_regret", "team_regret"):
                    assert wide[f"{regret}_{TAGS[condition]}"][i] == pytest.approx(long[regret][last].sum())

    def test_a_wrong_attention_check(self):
        data = rehearsed_data(BURGER, PEOPLE[:1])
        (person,) = data.participants
        wrong = Answer({**person.answers["survey-1"].values, "attention": 5})
        changed = replace(person, answers={**person.answers, "survey-1": wrong})
        assert tables(replace(data, participants=(changed,)))["wide"]["attention_attention"].tolist() == [0]

    def test_names_that_meet_are_told_apart(self):
        asked = [
            Question(id=id, text=id, answer="text")
            for id in ("kind", "attention_x", "demographics_kind", "participant")
        ]
        items = (SurveyItem(id="a_b", text="One."), SurveyItem(id="a", text="Two."))
        conditions = (replace(BURGER.conditions[0], name="c"), replace(BURGER.conditions[1], name="b_c"))
        design = replace(
            BURGER,
            demographics=tuple(asked),
            survey=replace(BURGER.survey, items=items),
            conditions=conditions,
            attention=(AttentionCheck(id="x", text="Choose 1.", answer=1),),
            translations=Table(),
        )
        columns = schema(design, texts=True)["wide"]
        names = [column.name for column in columns]
        assert len(names) == len(set(names))
        by_key = {column.key: column.name for column in columns if column.key}
        assert by_key["survey", "a_b", "c"] == "survey_a_b_c"
        assert by_key["survey", "a", "b_c"] == "survey_a_b_c_2"
        assert by_key["demographics", "kind"] == "demographics_kind"
        assert by_key["demographics", "demographics_kind"] == "demographics_kind_2"
        data = rehearsed_data(design, PEOPLE[:1])
        wide = tables(data, texts=True)["wide"]
        assert wide["kind"].tolist() == ["rehearsal"]
        assert wide["demographics_kind"].tolist() == ["simulated"]

    @pytest.mark.parametrize(
        "values", [{"gender": 4}, {"gender": True}, {"gender": "Male"}, {"age": "old"}, {"age": 3.5}, {"note": 3}]
    )
    def test_answers_that_cannot_be(self, values):
        (person, *_) = everybody().participants
        answers = {"demographics": Answer({**person.answers["demographics"].values, **values})}
        with pytest.raises(cb.InvalidInput):
            tables(StudyData(OPEN, (replace(person, answers=answers),)), texts=True)


class TestSurveyAndEvents:
    def test_survey(self):
        data = everybody()
        survey = tables(data)["survey"]
        assert list(survey) == [
            "participant", "set", "condition", "item", "position", "value", "points", "reversed", "attention",
            "answered_at", "ms",
        ]  # fmt: skip
        mine = survey["participant"] == "p-aaaa"
        assert mine.sum() == 6 + 6
        assert set(survey["participant"]) == {"p-aaaa", "r-0001"}
        first = mine & (survey["set"] == 0)
        assert tuple(survey["item"][first]) == ParticipantPlan(OPEN, 5, 1).survey_order(0)
        assert survey["position"][first].tolist() == list(range(6))
        assert set(survey["condition"][first]) == {"partner-aware-ucb"}
        assert set(survey["item"][survey["reversed"]]) == {"insisting", "annoying", "alone"}
        assert set(survey["item"][survey["attention"]]) == {"attention", "attention_2"}
        given = data.participants[0].answers["survey-1"].values
        assert dict(zip(survey["item"][first], survey["value"][first], strict=True)) == given
        assert set(survey["ms"][mine]) == {900}

    def test_wide_and_survey_agree(self):
        made = tables(rehearsed_data(BURGER, PEOPLE, answers="drawn"))
        survey, wide = made["survey"], made["wide"]
        for person, condition, item, value in zip(
            survey["participant"], survey["condition"], survey["item"], survey["value"], strict=True
        ):
            if not item.startswith("attention"):
                assert wide[f"survey_{item}_{TAGS[condition]}"][wide["participant"] == person] == value

    def test_events(self):
        events = tables(everybody())["events"]
        assert events["kind"].tolist() == ["hidden", "visible"]
        assert json.loads(events["data"][0]) == {"why": NASTY}
        assert events["at"][1] == np.datetime64("2024-05-01T12:00:01.500")


class TestCodebook:
    @pytest.mark.parametrize("design", [BURGER, SHORT, THREE, OPEN])
    @pytest.mark.parametrize("recruiting", [False, True])
    def test_every_column_once(self, design, recruiting):
        made = tables(rehearsed_data(design, PEOPLE[:1]), recruiting=recruiting)
        book = made.pop("codebook")
        assert list(zip(book["table"], book["column"], strict=True)) == [
            (name, column) for name, table in made.items() for column in table
        ]
        assert all(book["meaning"])
        assert set(book["type"]) <= {"integer", "number", "text", "time, ISO 8601 UTC", "true or false"}

    def test_texts(self):
        book = tables(rehearsed_data(OPEN, ()), texts=True)["codebook"]
        said = {key: f"{meaning} / {values}" for *key_, meaning, values in zip(*book.values(), strict=True)
                for key in [tuple(key_[:2])]}  # fmt: skip
        assert "Female | Male | Another | I prefer not to say" in said["wide", "gender"]
        assert "Most of the time I could get the burger" in said["wide", "survey_ability_naive_ucb"]
        assert "apostrophe" in said["wide", "note"]
        assert "0: Patty first | 1: Cheese first" in said["long", "arm_0"]
        assert "1: Strongly disagree | 5: Strongly agree" in said["survey", "value"]
        assert "up to this round" in said["long", "task_regret"]
