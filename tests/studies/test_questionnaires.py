"""Questionnaires: steps, orders, answers that are refused, columns, scores and reliability."""

import csv
import dataclasses
import json
import math

import numpy as np
import pytest

from cobandit.analysis import analyse_data, default_plan
from cobandit.analysis.plan import Hypothesis
from cobandit.base.errors import CobanditError, InvalidInput
from cobandit.studies import load_design, rehearsed_data, shipped_designs
from cobandit.studies.export import read_export, tables, write_study
from cobandit.studies.journey import check_answers, journey, step_payload
from cobandit.studies.plan import ParticipantPlan
from tests.studies.questionnaires import asking_design

LAST = {"hours": 2.5, "plan": 1, "which": "Both", "helped": [2, 0], "order": [1, 2, 0]}


@pytest.fixture(scope="module")
def design():
    return asking_design()


@pytest.fixture(scope="module")
def data(design):
    people = [("epsilon-greedy", seed, None) for seed in range(8)]
    return rehearsed_data(design, people, answers="drawn")


def step(design, id):
    return journey(design).find(id)


def test_steps(design):
    asked = [step.id for step in journey(design).steps if step.kind in ("survey", "questionnaire")]
    assert asked == [
        "questionnaire-before-mood",
        "survey-1",
        "questionnaire-1-partner",
        "questionnaire-1-pause",
        "survey-2",
        "questionnaire-2-partner",
        "questionnaire-end-last",
    ]


def test_digests_of_designs_without_questionnaires_stay():
    for name in shipped_designs():
        assert "questionnaires" not in load_design(name).essence()


def test_a_design_with_questionnaires_is_read_back(design):
    assert type(design).from_dict(json.loads(json.dumps(design.to_dict()))) == design


def test_every_participant_has_an_order(design):
    orders = {ParticipantPlan(design, seed, 0).questionnaire_order("partner", 1) for seed in range(40)}
    assert len(orders) > 6
    assert {tuple(sorted(id for id, _ in order)) for order in orders} == {("doubt", "parts", "reliable")}
    assert {rows for order in orders for id, rows in order if id == "parts"} == {
        ("start", "finish"),
        ("finish", "start"),
    }
    plan = ParticipantPlan(design, 5, 0)
    assert plan.questionnaire_order("last", None)[0] == ("hours", ())
    shown = step_payload(design, plan, step(design, "questionnaire-1-partner"))["questionnaire"]
    assert [item["id"] for item in shown["items"]] == [id for id, _ in plan.questionnaire_order("partner", 1)]


def test_a_conditional_item_follows_its_cause_in_every_order():
    text = """
[[questionnaires]]
id = "q"
when = "end"
title = "Q"
shuffled = true
items = [
  { id = "a", kind = "choice", text = "A?", choices = ["no", "yes"] },
  { id = "b", kind = "number", text = "B?" },
  { id = "c", kind = "text", text = "C?", show_if = { item = "a", any = [1] } },
  { id = "d", kind = "number", text = "D?", show_if = { item = "b", at_least = 3, at_most = 5 } },
]
"""
    design = asking_design(text)
    for seed in range(20):
        order = [id for id, _ in ParticipantPlan(design, seed, 0).questionnaire_order("q", None)]
        assert order.index("c") == order.index("a") + 1
        assert order.index("d") == order.index("b") + 1
    asked = step(design, "questionnaire-end-q")
    assert check_answers(design, asked, {"a": 0, "b": 6}) == {"a": 0, "b": 6, "c": None, "d": None}
    with pytest.raises(InvalidInput, match="'d' must be left out"):
        check_answers(design, asked, {"a": 0, "b": 6, "d": 1})
    with pytest.raises(InvalidInput, match="leave out 'd'"):
        check_answers(design, asked, {"a": 0, "b": 3})


def test_answers_are_stored_in_one_form(design):
    checked = check_answers(design, step(design, "questionnaire-end-last"), LAST)
    assert checked == {"hours": 2.5, "plan": 1, "which": "Both", "helped": [0, 2], "order": [1, 2, 0]}
    less = {"hours": 0, "plan": 0, "order": [0, 1, 2]}
    assert check_answers(design, step(design, "questionnaire-end-last"), less) == {
        **less,
        "which": None,
        "helped": None,
    }


@pytest.mark.parametrize(
    ("id", "value", "match"),
    [
        ("hours", 169, "at most 168"),
        ("hours", math.nan, "finite"),
        ("hours", "2", "finite"),
        ("hours", True, "finite"),
        ("hours", 1.25, "at most 1 decimals"),
        ("plan", 2, "from 0 to 1"),
        ("plan", [1], "from 0 to 1"),
        ("plan", None, "leave out 'plan'"),
        ("which", "x" * 41, "at most 40"),
        ("which", "  ", "is empty"),
        ("which", "a\0b", "control character"),
        ("which", None, "leave out 'which'"),
        ("helped", 1, "list of choices"),
        ("helped", [0, 0], "at most once"),
        ("helped", [3], "from 0 to 2"),
        ("order", [0, 1], "rank all 3"),
        ("order", [], "leave out 'order'"),
        ("order", [0, 1, 1], "at most once"),
        ("nothing", 1, "nothing"),
    ],
)
def test_wrong_answers_are_refused(design, id, value, match):
    with pytest.raises(CobanditError, match=match):
        check_answers(design, step(design, "questionnaire-end-last"), LAST | {id: value})


ITEM = '[[questionnaires]]\nid = "q"\nwhen = "end"\ntitle = "Q"\nitems = [%s]\n'


@pytest.mark.parametrize(
    ("items", "match"),
    [
        ('{ id = "a", text = "A" }', "scale"),
        ('{ id = "a", kind = "slider", text = "A", choices = ["x", "y"] }', "must not have choices"),
        ('{ id = "a", kind = "choice", text = "A", choices = ["x"] }', "two or more choices"),
        ('{ id = "a", kind = "number", text = "A", lowest = 5, highest = 5 }', "highest above its lowest"),
        ('{ id = "a.b", kind = "number", text = "A" }', "dashes"),
        ('{ id = "a", kind = "numbr", text = "A" }', "number"),
        ('{ id = "a", kind = "number", text = "A", show_if = { item = "b", any = [1] } }', "earlier item"),
        ('{ id = "a", kind = "number", text = "A", show_if = { item = "a" } }', "any, at_least"),
        (
            '{ id = "a", kind = "choice", text = "A", choices = ["x", "y"] }, '
            '{ id = "b", kind = "number", text = "B", show_if = { item = "a", any = [2] } }',
            "from 0 to 1",
        ),
        (
            '{ id = "a", kind = "text", text = "A" }, '
            '{ id = "b", kind = "number", text = "B", show_if = { item = "a", any = [2] } }',
            "text item",
        ),
    ],
)
def test_wrong_designs_are_refused(items, match):
    with pytest.raises(CobanditError, match=match):
        asking_design(ITEM % items)


def test_two_rows_with_one_id_are_refused():
    scale = 'scales = [{ id = "s" }]\n'
    rows = 'rows = [{ id = "a", text = "A" }]'
    matrix = f'{{ id = "m", kind = "matrix", text = "M", scale = "s", {rows} }}'
    with pytest.raises(InvalidInput, match="one item or row called 'a'"):
        asking_design((ITEM % f'{{ id = "a", text = "A", scale = "s" }}, {matrix}') + scale)


def test_between_needs_two_sets(design):
    conditions = [condition.to_dict() for condition in design.conditions[:1]]
    with pytest.raises(InvalidInput, match="between sets"):
        asking_design(conditions=conditions, partners=[])


def test_rehearsed_answers_are_valid(design, data):
    for person in data.participants:
        for asked in journey(design).steps:
            if asked.kind == "questionnaire":
                values = person.answers[asked.id].values
                assert check_answers(design, asked, values) == values


class TestExport:
    def test_wide_columns(self, design, data):
        wide = tables(data)["wide"]
        person = data.participants[0]
        last = person.answers["questionnaire-end-last"].values
        assert wide["q_last_plan"][0] == last["plan"]
        assert wide["q_last_order_1"][0] == last["order"].index(1) + 1
        assert wide["q_last_helped_2"][0] == int(2 in last["helped"])
        first = person.plan(design).conditions[0]
        column = next(column for column in _columns(design) if column.key == ("q", "partner", "doubt", first))
        assert wide[column.name][0] == person.answers["questionnaire-1-partner"].values["doubt"]
        assert "reversed" in column.meaning
        between = [column.name for column in _columns(design) if column.key[:3] == ("q", "pause", "tired")]
        assert sum(int(np.isnan(wide[name][0])) for name in between) == 1

    def test_free_text_is_left_out_unless_asked_for(self, design, data, tmp_path):
        public = tables(data)
        assert "q_last_which" not in public["wide"]
        assert "text" not in public["questionnaires"]
        write_study(data, tmp_path / "public")
        everything = "".join(path.read_text() for path in (tmp_path / "public").glob("*.csv"))
        assert "simulated" not in everything.replace("a rehearsal of the study", "")
        write_study(data, tmp_path / "own", texts=True)
        with (tmp_path / "own" / "questionnaires.csv").open(newline="") as file:
            texts = {row["text"] for row in csv.DictReader(file)}
        assert texts == {"", "simulated"}
        assert read_export(tmp_path / "own")[1]["wide"].keys() > read_export(tmp_path / "public")[1]["wide"].keys()

    def test_positions_tell_the_order(self, design, data):
        table = tables(data)["questionnaires"]
        for person in data.participants:
            order = person.plan(design).questionnaire_order("partner", 2)
            ids = [id for item, rows in order for id in rows or (item,)]
            mine = (table["participant"] == person.id) & (table["questionnaire"] == "partner") & (table["set"] == 1)
            shown = dict(zip(table["item"][mine].tolist(), table["position"][mine].tolist(), strict=True))
            assert sorted(shown, key=lambda id: shown[id]) == ids

    @pytest.mark.parametrize("format", ["psych-ds", "sav"])
    def test_statistics_programs(self, data, tmp_path, format):
        files = write_study(data, tmp_path / format, format)
        assert any("questionnaires" in file.name for file in files)
        if format == "sav":
            pyreadstat = pytest.importorskip("pyreadstat")
            _, about = pyreadstat.read_sav(str(tmp_path / format / "wide.sav"))
            assert about.variable_value_labels["q_last_plan"] == {0.0: "No", 1.0: "Yes"}
            assert about.variable_value_labels["q_mood_tense"] == {1.0: "Not at all", 5.0: "Very"}
            assert "Did you follow a plan?" in about.column_names_to_labels["q_last_plan"]


def _columns(design):
    from cobandit.studies.export import schema

    return schema(design)["wide"]


@pytest.fixture(scope="module")
def analysis(data):
    return analyse_data(data)


class TestAnalysis:
    def test_scores_turn_reversed_items_round(self, design, data, analysis):
        scores = analysis.measures.totals("scale:partner/trust")
        for i, person in enumerate(data.participants):
            for c, condition in enumerate(analysis.measures.conditions):
                place = person.plan(design).conditions.index(condition) + 1
                values = person.answers[f"questionnaire-{place}-partner"].values
                assert scores[i, c] == (values["reliable"] + 8 - values["doubt"]) / 2

    def test_alpha_for_each_scale_and_time(self, data, analysis):
        first, second = analysis.measures.conditions
        ids = {row.id for row in analysis.section("reliability")}
        assert {f"reliability/partner/{scale}/{name}" for scale in ("trust", "ease") for name in (first, second)} <= ids
        mood = analysis.result("reliability/mood/calm").finding
        answers = [person.answers["questionnaire-before-mood"].values for person in data.participants]
        x = np.array([[given["relaxed"], 6 - given["tense"]] for given in answers], dtype=float)
        by_hand = 2 * (1 - x.var(axis=0, ddof=1).sum() / x.sum(axis=1).var(ddof=1))
        assert mood.statistic == pytest.approx(by_hand)
        assert "mood/calm" in analysis.results_text

    def test_paired_tests_are_exploratory_unless_planned(self, design, data, analysis):
        rows = [row for row in analysis.exploratory if row.measure == "scale:partner/trust"]
        assert len(rows) == 1
        hypothesis = Hypothesis(
            id="H9",
            text="Trust differs.",
            measure="scale:partner/trust",
            test="paired-t",
            compares=analysis.measures.conditions,
        )
        plan = default_plan(design)
        longer = dataclasses.replace(plan, hypotheses=(*plan.hypotheses, hypothesis))
        row = analyse_data(data, plan=longer).result("H9")
        assert row.finding.p == pytest.approx(rows[0].finding.p)

    @pytest.mark.parametrize(
        ("measure", "match"),
        [
            ("scale:mood", "when = 'after'"),
            ("scale:partner", "scale"),
            ("scale:partner/trst", "trust"),
            ("scale:nothing", "scale"),
        ],
    )
    def test_plans_that_name_no_scale_or_one_that_is_asked_once(self, design, measure, match):
        first, second = (condition.name for condition in design.conditions)
        hypothesis = Hypothesis(id="H9", text="T.", measure=measure, test="paired-t", compares=(first, second))
        plan = default_plan(design).to_dict() | {"hypotheses": [hypothesis.to_dict()]}
        with pytest.raises(CobanditError, match=match):
            type(default_plan(design)).from_dict(plan).checked(design)
