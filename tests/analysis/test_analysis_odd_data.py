"""Odd data: nobody, one person, dropouts, constants, ties, gaps. Every gap is told; nothing crashes, nothing is NaN."""

import json
import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from cobandit.analysis import AnalysisPlan, Exclusions, Listed, analyse, analyse_data, measures, preregistration
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.records import Table
from cobandit.problem import FixedMeans
from cobandit.studies import EpisodeData, StudyData, load_design, rehearsed_data, tables
from cobandit.studies.data import Answer
from cobandit.studies.design import AttentionCheck, Condition, MeansRule

BURGER, CASINO = (
    replace(load_design(name), languages=("en",), translations=Table(), partners=()) for name in ("burger", "casino")
)
SHORT = replace(CASINO, rounds=30, episodes=4, practice=None)
MORE = replace(BURGER, conditions=(*BURGER.conditions, Condition(name="very-naive-ucb", agent="very-naive-ucb")))
KEEP = AnalysisPlan(study="burger", exclusions=Exclusions(unfinished=False))
KEEP_CASINO = replace(KEEP, study="casino")


@cache
def people(design=BURGER, n=6, answers="drawn"):
    orders = len(design.orders)
    return rehearsed_data(design, [("epsilon-greedy", seed, seed % orders) for seed in range(n)], answers=answers)


def changed(data, place, **changes):
    """The study with one participant changed."""
    made = list(data.participants)
    made[place] = replace(made[place], **changes)
    return replace(data, participants=tuple(made))


def without(data, place, *indexes, surveys=()):
    """The study with episodes, and surveys, of one participant taken away, who has dropped out."""
    person = data.participants[place]
    return changed(
        data,
        place,
        status="dropped",
        episodes={i: episode for i, episode in person.episodes.items() if i not in indexes},
        answers={step: answer for step, answer in person.answers.items() if step not in surveys},
    )


def cut(data, place, index, rounds):
    """The study with an episode that breaks off."""
    person = data.participants[place]
    short = EpisodeData.of_rounds(person.episodes[index].rounds()[:rounds])
    return changed(data, place, status="dropped", episodes={**person.episodes, index: short})


def sound(found):
    """What holds of every analysis, whatever the data."""
    text = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(text)["flow"]["analysed"] == len(found.measures)
    for row in found.results:
        if row.finding.p is None and row.section != "reliability":
            assert row.finding.note, row.id
        if row.section == "hypothesis":
            assert row.verdict
            assert row.reason or row.verdict != "cannot be tested"
        if row.section == "reliability" and row.finding.statistic is None:
            assert row.finding.note
    for grid in found.grids:
        assert all(entry.finding.p is not None or entry.finding.note for entry in grid.rows)
        assert grid.lower + grid.higher <= len(grid.rows)
    for title, paragraph in (*found.methods_parts, *found.results_parts):
        assert not re.search(r"\b(nan|None|inf)\b", paragraph), (title, paragraph)
        assert "  " not in paragraph
        assert ".." not in paragraph.replace("...", ""), (title, paragraph)
    for told in (*found.deviations, *found.notes, *found.exclusions):
        assert told.endswith("."), told
        assert not re.search(r"\b(nan|None)\b", told), told
    flow = found.measures.flow
    assert flow.in_tables == flow.of_another_kind + flow.not_begun + flow.began
    assert flow.began == flow.excluded + flow.analysed
    assert flow.excluded == len(found.measures.excluded)
    found.rows()
    return found


class TestFew:
    @pytest.mark.parametrize("design", [BURGER, SHORT, MORE], ids=lambda design: f"{len(design.conditions)}")
    @pytest.mark.parametrize("n", [0, 1, 2, 3])
    def test_people(self, design, n):
        found = sound(analyse_data(people(design, n)))
        verdicts = {row.verdict for row in found.exploratory}
        assert len(found.measures) == n
        if n < 2:
            assert verdicts == {"cannot be tested"}
        if n == 0:
            assert "No participant remains for the analysis, so there are no tests." in found.notes

    def test_nobody_in_the_table(self):
        found = sound(analyse_data(StudyData(BURGER, ())))
        assert found.kind == "real"
        assert "no one began the study" in found.results_text
        assert "No participants began the study." in found.methods


class TestDropouts:
    def test_unfinished_people_are_excluded_by_name(self):
        found = sound(analyse_data(without(people(), 2, 1, surveys=("survey-2",))))
        (entry,) = found.measures.excluded
        assert (entry.participant, entry.rule) == ("r-0003", "unfinished")
        assert entry.sentence == "r-0003 left before the end, with 1 of 2 counted episodes complete."
        assert "Excluded: 1 had not finished." in found.results_text
        assert found.result("H1-regret").finding.n == 5

    def test_or_kept_with_what_there_is(self):
        data = without(people(), 2, 1, surveys=("survey-2",))
        found = sound(analyse_data(data, plan=KEEP))
        assert len(found.measures) == 6
        row = found.result("H1-regret")
        assert row.finding.n == 5
        assert "1 of 6 participants left out" in row.finding.note
        assert [gap.participant for gap in found.measures.gaps] == ["r-0003", "r-0003"]
        assert "r-0003 has no rounds in" in found.results_text
        # The mixed model uses the condition that is there.
        assert found.result("mixed/task_regret/condition").finding.more["observations"] == 11

    def test_an_episode_that_breaks_off_does_not_count(self):
        found = sound(analyse_data(cut(people(), 0, 1, 7), plan=KEEP))
        c = found.measures.column(found.measures.orders[0][1])
        assert found.measures.rounds[0, c, 0] == 7
        assert np.isnan(found.measures.task_regret[0, c, 0])
        assert np.isnan(found.measures.curves[0, c]).all()
        assert any("7 of 20 rounds were played" in gap.sentence for gap in found.measures.gaps)

    def test_still_at_it(self):
        found = sound(analyse_data(changed(people(), 0, status="active")))
        assert "was still at it when the data were taken" in found.exclusions[0]

    def test_invited_people_have_no_data(self):
        nothing: dict[str, Any] = {"status": "invited", "seed": None, "order": None, "episodes": {}, "answers": {}}
        found = sound(analyse_data(changed(people(), 0, **nothing)))
        assert found.measures.flow.not_begun == 1
        assert len(found.measures) == 5
        assert "Invited but never begun: 1; they have no data." in found.notes

    def test_everybody_in_one_condition_only(self):
        data = people()
        for place in range(6):
            data = without(data, place, 1, surveys=("survey-2",))
        found = sound(analyse_data(data, plan=KEEP))
        assert {row.verdict for row in found.exploratory if not row.group} == {"cannot be tested"}
        assert "no participant has a value in both conditions" in found.result("H1-regret").reason

    def test_everybody_excluded(self):
        data = people()
        for place in range(6):
            data = changed(data, place, status="dropped")
        found = sound(analyse_data(data))
        assert (found.measures.flow.began, found.measures.flow.analysed) == (6, 0)


class TestRules:
    def test_attention(self):
        data = people()
        answers = dict(data.participants[1].answers)
        answers["survey-1"] = Answer({**answers["survey-1"].values, "attention": 5})
        data = changed(data, 1, answers=answers)
        assert "1 of 6 analysed participants failed an attention check." in analyse_data(data).notes
        plan = replace(KEEP, exclusions=Exclusions(attention_failed=True))
        found = sound(analyse_data(data, plan=plan))
        assert found.exclusions == ("r-0002 failed an attention check.",)
        unchecked = replace(BURGER, attention=())
        found = sound(analyse_data(people(unchecked), plan=plan))
        assert any("no attention check" in note for note in found.notes)

    def test_several_checks(self):
        design = replace(
            BURGER, attention=(*BURGER.attention, AttentionCheck(id="more", text="3", answer=3, after_set=2))
        )
        assert not sound(analyse_data(people(design))).measures.excluded

    def test_quiz(self):
        plan = replace(KEEP, exclusions=Exclusions(quiz_attempts=2))
        just_enough = changed(people(), 1, quiz_attempts=2)
        found = sound(analyse_data(changed(just_enough, 3, quiz_attempts=3), plan=plan))
        assert found.exclusions == ("r-0004 needed 3 attempts at the quiz, more than 2.",)

    def test_reaction_times(self):
        data = people()
        person = data.participants[4]
        fast = {
            i: EpisodeData.of_rounds(episode.rounds(), reaction_ms=[40.0] * 19 + [None])
            for i, episode in person.episodes.items()
        }
        plan = replace(KEEP, exclusions=Exclusions(fastest_ms=100))
        found = sound(analyse_data(changed(data, 4, episodes=fast), plan=plan))
        assert found.exclusions == ("r-0005 chose within 40 ms (median), below 100 ms.",)
        assert any("There are no reaction times of 5 of 6 participants" in note for note in found.notes)

    def test_listed(self):
        listed = (Listed(participant="r-0001", reason="A fire alarm."), Listed(participant="r-0099", reason="Who?"))
        found = sound(analyse_data(people(), plan=replace(KEEP, exclusions=Exclusions(listed=listed))))
        assert found.exclusions == ("r-0001 listed: A fire alarm.",)
        assert "Excluded: 1 listed by name in the plan." in found.results_text
        assert any("r-0099, who is not among the participants" in note for note in found.notes)

    def test_the_preregistration_and_the_methods_name_the_rules_alike(self):
        listed = (Listed(participant="r-0001", reason="Fire."),)
        rules = Exclusions(attention_failed=True, fastest_ms=50, listed=listed)
        plan = replace(KEEP, exclusions=rules)
        sentence = (
            "Excluded: participants who had not finished, who failed an attention check, whose median reaction time "
            "was below 50 ms and who are listed by name (1)."
        )
        assert sentence in preregistration(BURGER, plan, "osf")
        assert sentence in analyse_data(people(), plan=plan).methods


class TestAnswers:
    def test_constant_surveys(self):
        found = sound(analyse_data(people(answers="neutral")))
        assert found.result("H2-easy").verdict == "cannot be tested"
        assert "the same value for all participants" in found.result("H2-easy").reason
        assert "gave the same answer to every item" in found.result("reliability/all").finding.note
        # Neutral answers put everybody into one population.
        assert "each group needs at least two" in found.result("population/level").finding.note

    def test_no_answers(self):
        found = sound(analyse_data(people(answers="none")))
        assert found.result("H2-easy").verdict == "cannot be tested"
        assert found.result("H1-regret").finding.p is not None
        assert (
            "6 of 6 did not answer 'Do you do research on artificial intelligence?'."
            in found.result("population/level").finding.note
        )

    def test_no_demographics(self):
        found = sound(analyse_data(people(replace(BURGER, demographics=()))))
        assert not found.section("population")
        assert not [row for row in found.results if row.group]

    def test_one_item(self):
        survey = replace(BURGER.survey, items=BURGER.survey.items[:1])
        found = sound(analyse_data(people(replace(BURGER, survey=survey))))
        assert "at least two items" in found.result("reliability/all").finding.note

    def test_a_missing_item(self):
        data = people()
        answers = dict(data.participants[0].answers)
        values = dict(answers["survey-1"].values)
        del values["easy"]
        found = sound(analyse_data(changed(data, 0, answers={**answers, "survey-1": Answer(values)})))
        assert found.result("H2-easy").finding.n == 5
        assert found.result("H2-alone").finding.n == 6
        assert found.result("survey-score").finding.n == 5
        assert any("4 of 5 survey answers" in gap.sentence for gap in found.measures.gaps)

    def test_answers_off_the_scale_and_twice(self):
        made = tables(people())
        survey = {name: values.copy() for name, values in made["survey"].items()}
        survey["value"][0] = 9
        survey = {name: np.concatenate([values, values[1:2]]) for name, values in survey.items()}
        found = sound(analyse(BURGER, made | {"survey": survey}))
        assert any("not on the scale from 1 to 5" in note for note in found.notes)
        assert any("twice; the first answer counts" in note for note in found.notes)


class TestTies:
    def test_identical_regrets(self):
        flat = replace(BURGER, means=MeansRule(draw="fixed", values=(FixedMeans.of([[0.5, 0.5], [0.5, 0.5]]),)))
        found = sound(analyse_data(people(flat)))
        row = found.result("H1-regret")
        assert row.verdict == "cannot be tested"
        assert "the same value for all participants" in row.reason
        assert found.result("H1-good").finding.n == 6

    def test_in_every_casino(self):
        flat = replace(SHORT, means=MeansRule(draw="fixed", values=(FixedMeans.of([[0.5, 0.5], [0.5, 0.5]]),)))
        found = sound(analyse_data(people(flat)))
        assert [grid.lower for grid in found.grids] == [0, 0]
        assert [grid.untested for grid in found.grids] == [6, 4]
        assert "both conditions have the same value in every casino" in found.grids[0].rows[0].finding.note
        assert found.result("H3-anova").verdict == "cannot be tested"


class TestDesigns:
    def test_one_condition(self):
        found = sound(analyse_data(people(replace(BURGER, conditions=BURGER.conditions[:1], attention=()))))
        assert "The design has one condition only, so there is nothing to compare." in found.notes
        assert {row.section for row in found.results} == {"hypothesis", "companion", "reliability"}
        assert [row.id for row in found.section("hypothesis")] == ["P-regret-naive-ucb"]

    def test_one_condition_with_several_episodes(self):
        sound(analyse_data(people(replace(SHORT, conditions=SHORT.conditions[:1], attention=()))))

    def test_three_conditions(self):
        found = sound(analyse_data(people(MORE, 12)))
        rows = [row for row in found.results if row.family == "H1"]
        assert len(rows) == 6
        assert all(row.finding.p_adjusted >= row.finding.p for row in rows)
        assert found.result("H1-anova").finding.df[0] <= 2.0
        assert {row.id for row in found.section("order")} == {
            "order/task_regret/set", "order/good/set", "order/survey-score/set", "order/labels",
        }  # fmt: skip
        terms = [row.id.split("/")[-1] for row in found.section("robustness") if row.measure == "good"]
        assert terms == [
            "partner-aware-ucb minus naive-ucb", "very-naive-ucb minus naive-ucb", "set 2 minus set 1",
            "set 3 minus set 1",
        ]  # fmt: skip

    def test_three_conditions_in_several_episodes(self):
        found = sound(analyse_data(people(replace(SHORT, conditions=MORE.conditions), 6)))
        assert len(found.grids) == 6

    def test_episodes_of_means_of_ones_own(self):
        own = replace(SHORT, means=MeansRule(per="participant"), task=BURGER.task)
        found = sound(analyse_data(people(own)))
        assert [grid.by for grid in found.grids] == ["participant", "episode"]
        assert "episode k is the k-th one of each participant" in found.grids[1].note


class TestCasinos:
    def test_missing_casinos(self):
        data = without(people(SHORT), 1, 6, 7, surveys=("survey-2",))
        found = sound(analyse_data(data, plan=KEEP_CASINO))
        # No total for this participant, but the casinos that are there are compared.
        assert found.result("H3-regret").finding.n == 5
        assert found.result("H3-anova").finding.n == 5
        people_grid, casinos = found.grids
        assert people_grid.rows[1].finding.n == 2
        assert "2 of 4 casinos left out" in people_grid.rows[1].finding.note
        assert [row.finding.n for row in casinos.rows] == [6, 6, 5, 5]
        assert any("lacks 2 of 4 episodes" in gap.sentence for gap in found.measures.gaps)

    def test_a_casino_that_nobody_has(self):
        data = people(SHORT)
        for place in range(6):
            data = without(data, place, 7)
        found = sound(analyse_data(data, plan=KEEP_CASINO))
        assert found.result("H3-regret").verdict == "cannot be tested"
        row = found.result("H3-anova")
        assert row.finding.n == 6
        assert "casino 4" in row.finding.note
        assert "no value" in found.grids[1].rows[3].finding.note or "nobody" in found.grids[1].rows[3].finding.note

    def test_one_casino_left(self):
        data = people(SHORT)
        for place in range(6):
            data = without(data, place, 5, 6, 7)
        found = sound(analyse_data(data, plan=KEEP_CASINO))
        assert found.result("H3-anova").finding.n == 6
        assert "one casino has values" in found.grids[0].rows[0].finding.note

    def test_none_left(self):
        data = people(SHORT)
        for place in range(6):
            data = without(data, place, 4, 5, 6, 7)
        assert sound(analyse_data(data, plan=KEEP_CASINO)).result("H3-anova").verdict == "cannot be tested"


class TestTables:
    """Tables that somebody has edited."""

    def long(self, **changes):
        made = tables(people())
        long = {name: values.copy() for name, values in made["long"].items()}
        return made | {"long": long | changes}

    def test_nan(self):
        made = self.long()
        made["long"]["round_regret"][5] = np.nan
        found = sound(analyse(BURGER, made))
        assert any("a regret or a reward is not a number" in gap.sentence for gap in found.measures.gaps)
        assert found.result("H1-regret").finding.n == 5

    def test_rounds_in_disorder_and_in_pieces(self):
        made = self.long()
        made["long"]["t"][[2, 3]] = made["long"]["t"][[3, 2]]
        found = sound(analyse(BURGER, made))
        assert any("not numbered from 1 on" in gap.sentence for gap in found.measures.gaps)
        order = np.r_[20:30, 0:20, 30 : len(made["long"]["t"])]
        pieces = {name: values[order] for name, values in tables(people())["long"].items()}
        found = sound(analyse(BURGER, made | {"long": pieces}))
        assert any("are in several places" in gap.sentence for gap in found.measures.gaps)

    def test_too_many_rounds(self):
        made = tables(people())
        more = {name: np.concatenate([values[:20], values[19:]]) for name, values in made["long"].items()}
        more["t"][20] = 21
        found = sound(analyse(BURGER, made | {"long": more}))
        assert any("21 rounds in place of 20" in gap.sentence for gap in found.measures.gaps)

    def test_tables_that_disagree(self):
        made = self.long()
        made["long"]["round_regret"][:20] += 0.1
        assert any("The tables disagree about r-0001" in note for note in sound(analyse(BURGER, made)).notes)

    def test_rounds_of_a_stranger(self):
        made = self.long()
        made["long"]["participant"][:20] = "p-who"
        found = sound(analyse(BURGER, made))
        assert any("20 rounds of p-who" in note for note in found.notes)

    def test_other_kinds_are_told(self):
        data = changed(people(), 0, kind="real")
        data = changed(data, 1, kind="demo")
        found = sound(analyse_data(data))
        assert (found.kind, len(found.measures)) == ("real", 1)
        assert "Left out because they are no real participants: 4 of kind 'rehearsal'." in found.notes
        assert len(sound(analyse_data(data, kind="rehearsal")).measures) == 4
        with pytest.raises(UnknownName, match="kind of participants"):
            analyse_data(data, kind="demo")

    @pytest.mark.parametrize(
        ("table", "column", "value", "match"),
        [
            ("wide", "order", "a > b", "order 'a > b'"),
            ("wide", "participant", "r-0002", "twice"),
            ("long", "condition", "other", "no such episode"),
            ("survey", "condition", "other", "no such question"),
        ],
    )
    def test_tables_of_another_design_are_refused(self, table, column, value, match):
        made = tables(people())
        copied = {name: values.copy() for name, values in made[table].items()}
        copied[column][0] = value
        with pytest.raises(InvalidInput, match=match):
            analyse(BURGER, made | {table: copied})

    def test_missing_tables_and_columns(self):
        made = tables(people())
        with pytest.raises(InvalidInput, match="with 'wide'"):
            measures(BURGER, {})
        for table in ("long", "wide", "survey"):
            fewer = {name: values for name, values in made[table].items() if name not in ("condition", "status")}
            with pytest.raises(InvalidInput, match="has no column"):
                measures(BURGER, made | {table: fewer})
        with pytest.raises(InvalidInput, match="has no column 'rounds_vn_ucb'"):
            measures(MORE, made)
        with pytest.raises(InvalidInput, match="has other columns"):
            measures(BURGER, made | {"wide": made["wide"] | {"more": made["wide"]["order"]}})


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("design", [BURGER, SHORT, MORE], ids=["burger", "casino", "three"])
def test_whatever_is_missing(design, seed):
    """Anything may be missing anywhere: the analysis stands, and says so."""
    rng = np.random.default_rng(seed)
    data = people(design, 5, "drawn" if seed % 2 else "neutral")
    for place in range(int(rng.integers(1, 6))):
        person = data.participants[place]
        gone = [i for i in person.episodes if rng.random() < 0.3]
        surveys = [step for step in person.answers if step.startswith("survey") and rng.random() < 0.4]
        surveys += ["demographics"] if rng.random() < 0.3 else []
        data = without(data, place, *gone, surveys=surveys)
        left = [i for i in data.participants[place].episodes if rng.random() < 0.2]
        for index in left:
            data = cut(data, place, index, int(rng.integers(0, design.rounds)))
        data = changed(data, place, status=str(rng.choice(["finished", "active", "dropped"])))
    plan = AnalysisPlan(study=design.name, exclusions=Exclusions(unfinished=bool(seed % 3 == 0)))
    sound(analyse_data(data, plan=plan))
    sound(analyse_data(data))
