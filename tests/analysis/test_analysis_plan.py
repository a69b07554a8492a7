"""Analysis plans: the paper's hypotheses from a design, TOML there and back, mistakes told, and what was planned."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest

from cobandit.analysis import (
    AnalysisPlan,
    Exclusions,
    Hypothesis,
    Listed,
    analyse_data,
    default_plan,
    parse_plan,
    plan_toml,
    read_plan_text,
    text_digest,
)
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.records import Table
from cobandit.studies import load_design, rehearsed_data
from cobandit.studies.design import Condition

BURGER, CASINO, THREE = (
    replace(load_design(name), languages=("en",), translations=Table(), partners=())  # so that parts can be taken away
    for name in ("burger", "casino", "three-by-three")
)
MORE = replace(
    BURGER, conditions=(*BURGER.conditions, Condition(name="very-naive-ucb", agent="very-naive-ucb")), swap_labels=True
)
ALONE = replace(BURGER, conditions=BURGER.conditions[:1], attention=())
START = datetime(2024, 5, 1, 12, tzinfo=UTC)


def hypothesis(**changes):
    plain = {
        "id": "H",
        "text": "Less.",
        "measure": "task_regret",
        "test": "paired-t",
        "compares": ("partner-aware-ucb", "naive-ucb"),
    }
    return Hypothesis(**(plain | changes))


@cache
def people(n=8):
    """A rehearsed study whose participants count as people, each consenting a minute after the one before."""
    made = rehearsed_data(BURGER, [("softmax", seed, seed % 2) for seed in range(n)], answers="drawn")
    real = [
        replace(person, kind="real", consented_at=START + timedelta(minutes=i))
        for i, person in enumerate(made.participants)
    ]
    return replace(made, participants=tuple(real))


def with_plan(plan, fixed="2024-05-01T12:00:00.000Z", **changes):
    return replace(people(), plan=plan_toml(plan), about={"plan_fixed_at": fixed}, **changes)


class TestDefault:
    def test_burger_asks_what_the_paper_asks(self):
        plan = default_plan(BURGER)
        ids = [one.id for one in plan.hypotheses]
        assert ids == [
            "H1-regret", "H1-good", "H2-ability", "H2-insisting", "H2-easy", "H2-annoying", "H2-alone",
            "P-regret-naive-ucb", "P-regret-partner-aware-ucb",
        ]  # fmt: skip
        by_id = {one.id: one for one in plan.hypotheses}
        assert by_id["H1-regret"].direction == "less"
        assert by_id["H1-good"].direction == by_id["H2-ability"].direction == "greater"
        assert by_id["H2-annoying"].direction == "less"
        assert by_id["H1-regret"].compares == ("partner-aware-ucb", "naive-ucb")
        assert {one.family for one in plan.hypotheses} == {"H1", "H2", "P"}
        assert all(one.alternative == "two-sided" for one in plan.hypotheses)
        assert by_id["P-regret-naive-ucb"].groups == ("Yes", "No")

    def test_casino_has_an_analysis_of_variance(self):
        (found,) = [one for one in default_plan(CASINO).hypotheses if one.test == "rm-anova"]
        assert found.compares == ("naive-ucb", "partner-aware-ucb")
        assert "casino" in found.text

    def test_three_conditions_are_compared_in_pairs(self):
        plan = default_plan(MORE)
        pairs = [one.compares for one in plan.hypotheses if one.measure == "task_regret" and one.test == "paired-t"]
        assert pairs == [
            ("partner-aware-ucb", "naive-ucb"),
            ("very-naive-ucb", "naive-ucb"),
            ("partner-aware-ucb", "very-naive-ucb"),
        ]
        directions = [one.direction for one in plan.hypotheses if one.measure == "good"]
        assert directions == ["greater", "two-sided", "greater"]
        assert len({one.id for one in plan.hypotheses}) == len(plan.hypotheses)

    def test_one_condition_leaves_the_populations(self):
        assert {one.test for one in default_plan(ALONE).hypotheses} == {"welch"}
        assert default_plan(replace(ALONE, demographics=())).hypotheses == ()

    @pytest.mark.parametrize("design", [BURGER, CASINO, THREE, MORE, ALONE], ids=lambda design: design.name)
    def test_fits_its_design(self, design):
        assert default_plan(design, 40).checked(design).n == 40


class TestText:
    FULL = AnalysisPlan(
        study="burger",
        alpha=0.005,
        n=58,
        notes='Quotes " and \\ and\nlines, \u00e4 and \x7f and \t.',
        late=3,
        exclusions=Exclusions(
            unfinished=False,
            attention_failed=True,
            quiz_attempts=3,
            fastest_ms=120.5,
            listed=(Listed(participant="p-aaaa", reason="Asked to be left out."),),
        ),
        hypotheses=(
            hypothesis(direction="less", one_sided=True, family="F.1"),
            hypothesis(id="W", test="welch", compares=("naive-ucb",), group="ai_researcher", groups=("No", "Yes")),
            hypothesis(id="A", test="rm-anova", measure="survey-score"),
            hypothesis(id="R", test="wilcoxon", measure="survey:easy"),
        ),
    )

    @pytest.mark.parametrize("plan", [FULL, *(default_plan(d) for d in (BURGER, CASINO, THREE, MORE, ALONE))])
    def test_there_and_back(self, plan):
        assert parse_plan(plan_toml(plan)) == plan

    def test_has_comments_to_edit_by(self):
        text = plan_toml(default_plan(BURGER))
        assert "# n = 58" in text
        assert "# quiz_attempts = 3" in text
        edited = text.replace("# n = 58 ", "n = 58 ").replace("# quiz_attempts = 3 ", "quiz_attempts = 3 ")
        assert parse_plan(edited).n == 58
        assert parse_plan(edited).exclusions.quiz_attempts == 3

    def test_digest_forgets_comments_and_the_text_digest_does_not(self):
        text = plan_toml(self.FULL)
        other = f"# Another comment.\n{text}"
        assert parse_plan(text).digest == parse_plan(other).digest
        assert text_digest(text) != text_digest(other)
        assert replace(self.FULL, alpha=0.05).digest != self.FULL.digest

    def test_a_file(self, tmp_path):
        path = tmp_path / "plan.toml"
        path.write_text(plan_toml(self.FULL), encoding="utf-8")
        assert parse_plan(read_plan_text(path)) == self.FULL
        with pytest.raises(InvalidInput, match="cannot be read"):
            read_plan_text(tmp_path / "none.toml")
        path.write_bytes(b"\xff\xfe")
        with pytest.raises(InvalidInput, match="UTF-8"):
            read_plan_text(path)
        path.write_bytes(b"#" * 1_000_001)
        with pytest.raises(InvalidInput, match="larger"):
            read_plan_text(path)
        with pytest.raises(InvalidInput, match="must be a path"):
            read_plan_text("a\0b")


class TestMistakes:
    @pytest.mark.parametrize(
        ("toml", "match"),
        [
            ("study =", "not valid TOML"),
            ("alpha = 0.05", "must have the field 'study'"),
            ('study = "x"\nalhpa = 0.01', "Did you mean 'alpha'"),
            ('study = "x"\nalpha = 0.9', "at most 0.5"),
            ('study = "x"\nn = 1', "at least 2"),
            ('study = "x"\n[exclusions]\nunfinishd = true', "Did you mean 'unfinished'"),
            ('study = "x"\n[[hypotheses]]\nid = "a b"', "letters"),
        ],
    )
    def test_are_told(self, toml, match):
        with pytest.raises(InvalidInput, match=match):
            parse_plan(toml)

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"measure": "regret"}, "There is no measure"),
            ({"measure": "survey:"}, "There is no measure"),
            ({"test": "paired"}, "Did you mean 'paired-t'"),
            ({"compares": ("a",)}, "compares 1 conditions"),
            ({"compares": ("a", "b", "c")}, "needs 2"),
            ({"test": "welch", "compares": ("a",)}, "compares 1 conditions; welch needs 2"),
            ({"test": "mixed-anova"}, "compares 2 conditions; mixed-anova needs 4"),
            ({"test": "anova", "direction": "less"}, "anova has none"),
            ({"group": "age"}, "go together"),
            ({"groups": ("a", "b")}, "two choices"),
            ({"test": "welch", "group": "gender", "groups": ("woman",)}, "two choices"),
            ({"test": "rm-anova", "direction": "less"}, "rm-anova has none"),
            ({"one_sided": True}, "without a direction"),
        ],
    )
    def test_in_a_hypothesis(self, changes, match):
        with pytest.raises(InvalidInput, match=match):
            hypothesis(**changes)

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"compares": ("partner-aware", "naive-ucb")}, "Did you mean 'partner-aware-ucb'"),
            ({"measure": "survey:esy"}, "Did you mean 'easy'"),
            ({"test": "welch", "group": "age", "compares": ("naive-ucb",)}, "question with choices"),
            ({"test": "welch", "group": "gender", "groups": ("Men", "Female")}, "no choice of 'gender'"),
        ],
    )
    def test_against_the_design(self, changes, match):
        plan = AnalysisPlan(study="burger", hypotheses=(hypothesis(**changes),))
        with pytest.raises(UnknownName, match=match):
            plan.checked(BURGER)

    def test_two_hypotheses_of_one_name(self):
        with pytest.raises(InvalidInput, match="twice"):
            AnalysisPlan(study="burger", hypotheses=(hypothesis(), hypothesis(measure="good")))

    def test_of_another_study(self):
        with pytest.raises(InvalidInput, match="for the study 'casino'"):
            analyse_data(people(), plan=default_plan(CASINO))


class TestStatus:
    def test_no_plan_makes_everything_exploratory(self):
        found = analyse_data(people())
        assert found.stored.status == "none"
        assert not found.planned
        assert "exploratory" in found.results_text
        assert "(planned)" not in found.results_text

    def test_a_plan_fixed_at_the_first_consent(self):
        found = analyse_data(with_plan(default_plan(BURGER)))
        assert found.stored.status == "planned"
        assert [row.id for row in found.planned] == [one.id for one in default_plan(BURGER).hypotheses]
        assert [row.id for row in found.exploratory] == ["survey-score"]
        assert found.deviations == ()
        assert "2024-05-01T12:00:00.000Z" in found.methods

    def test_what_the_plan_lacks_is_exploratory(self):
        plan = AnalysisPlan(study="burger", hypotheses=(hypothesis(direction="less"),))
        found = analyse_data(with_plan(plan))
        assert [row.id for row in found.planned] == ["H"]
        assert "H1-good" in [row.id for row in found.exploratory]
        assert "H1-regret" not in [row.id for row in found.exploratory]
        # Without a family there is no correction, and exploratory tests are corrected among themselves.
        assert found.result("H").finding.p_adjusted is None
        assert found.result("H1-good").finding.p_adjusted == found.result("H1-good").finding.p

    def test_names_do_not_clash(self):
        plan = AnalysisPlan(study="burger", hypotheses=(hypothesis(id="H1-good", measure="survey:easy"),))
        found = analyse_data(with_plan(plan))
        ids = [row.id for row in found.results]
        assert len(set(ids)) == len(ids)
        assert "H1-good-2" in ids

    def test_late_by_the_clock(self):
        found = analyse_data(with_plan(default_plan(BURGER), fixed="2024-05-01T12:02:30.000Z"))
        assert found.stored.status == "late"
        assert not found.planned
        assert "after 3 participants had started" in found.deviations[0]

    def test_late_by_its_own_word(self):
        found = analyse_data(with_plan(replace(default_plan(BURGER), late=1)))
        assert found.stored.status == "late"
        assert "after 1 participant had started" in found.deviations[0]

    def test_never_fixed_although_people_have_started(self):
        found = analyse_data(with_plan(default_plan(BURGER), fixed=None))
        assert found.stored.status == "late"

    def test_not_fixed_yet_in_a_rehearsal(self):
        data = rehearsed_data(BURGER, [("softmax", seed, seed % 2) for seed in range(4)])
        found = analyse_data(replace(data, plan=plan_toml(default_plan(BURGER))))
        assert found.stored.status == "open"
        assert found.planned

    @pytest.mark.parametrize(
        ("stored", "status"), [("2024-05-01T11:00:00.000Z", "planned"), ("2024-05-01T12:02:30.000Z", "late")]
    )
    def test_the_time_of_storing_counts_too(self, stored, status):
        data = with_plan(default_plan(BURGER))
        found = analyse_data(replace(data, about=data.about | {"plan_stored_at": stored}))
        assert found.stored.status == status
        assert bool(found.planned) == (status == "planned")

    @pytest.mark.parametrize(
        ("stored", "status"), [("2024-05-01T11:00:00.000Z", "open"), ("2024-05-01T12:02:30.000Z", "late")]
    )
    def test_a_plan_for_simulated_people_may_be_late_too(self, stored, status):
        data = people()
        simulated = tuple(replace(person, kind="rehearsal") for person in data.participants)
        data = replace(data, participants=simulated, plan=plan_toml(default_plan(BURGER)))
        found = analyse_data(replace(data, about={"plan_fixed_at": None, "plan_stored_at": stored}))
        assert found.stored.status == status
        assert bool(found.planned) == (status == "open")
        if status == "late":
            assert "was stored after 3 simulated participants had started" in found.methods
            assert found.stored.sentence in found.deviations
            assert "(planned)" not in found.results_text

    def test_a_text_that_its_digest_does_not_vouch_for(self):
        found = analyse_data(with_plan(default_plan(BURGER), plan_digest="0" * 64))
        assert found.stored.status == "changed"
        assert not found.planned
        assert "digest" in found.deviations[0]

    @pytest.mark.parametrize("text", ["no toml", plan_toml(default_plan(CASINO))])
    def test_a_text_that_cannot_be_followed(self, text):
        found = analyse_data(replace(people(), plan=text, about={"plan_fixed_at": "2024-05-01T12:00:00.000Z"}))
        assert found.stored.status == "changed"
        assert "cannot be followed" in found.deviations[0]

    def test_a_time_that_is_none(self):
        assert analyse_data(with_plan(default_plan(BURGER), fixed="yesterday")).stored.status == "late"


class TestDeviations:
    def test_another_number_of_people(self):
        found = analyse_data(with_plan(default_plan(BURGER, n=58)))
        assert found.deviations == ("The plan asks for 58 participants; 8 were analysed (8 began, 0 excluded).",)

    def test_a_plan_that_was_handed_in(self):
        stored = AnalysisPlan(
            study="burger",
            exclusions=Exclusions(listed=(Listed(participant="r-0002", reason="Left the room."),)),
            hypotheses=(hypothesis(direction="less"),),
        )
        given = AnalysisPlan(
            study="burger",
            alpha=0.01,
            exclusions=Exclusions(quiz_attempts=2, listed=(Listed(participant="r-0001", reason="Was asleep."),)),
            hypotheses=(hypothesis(measure="good", direction="greater"),),
        )
        found = analyse_data(with_plan(stored), plan=given)
        told = " ".join(found.deviations)
        assert "The level of significance is 0.01; the plan says 0.05." in told
        assert "The exclusion rule quiz_attempts is 2; the plan says not set." in told
        assert "r-0001 is excluded by name, which the plan does not do: Was asleep." in told
        assert "r-0002 is not excluded, although the plan names them: Left the room." in told
        assert "Added to the stored plan, and exploratory: H." in told
        # The stored hypothesis is not forgotten, though its name is taken.
        assert [(row.id, row.measure) for row in found.planned] == [("H-2", "task_regret")]
        assert found.result("H").measure == "good"
        assert not found.result("H").planned
        assert [entry.participant for entry in found.measures.excluded] == ["r-0001"]

    def test_a_plan_that_was_never_stored(self):
        found = analyse_data(people(), plan=default_plan(BURGER))
        assert not found.planned
        assert "nothing shows that it came before the data" in found.deviations[0]

    def test_a_planned_test_that_cannot_be_made(self):
        data = with_plan(default_plan(BURGER))
        few = replace(data, participants=data.participants[:1])
        found = analyse_data(few)
        assert any(text.startswith("H1-regret was planned and could not be tested.") for text in found.deviations)
        assert {row.verdict for row in found.planned} == {"cannot be tested"}

    def test_one_sided_tests_and_wrong_directions(self):
        both = AnalysisPlan(
            study="burger",
            hypotheses=(
                hypothesis(direction="less", one_sided=True),
                hypothesis(id="G", direction="greater", one_sided=True),
                hypothesis(id="T", direction="greater"),
            ),
        )
        found = analyse_data(with_plan(both))
        less, greater, two = (found.result(id).finding for id in ("H", "G", "T"))
        assert less.p + greater.p == pytest.approx(1.0)  # type: ignore[operator]
        assert two.p == pytest.approx(2 * min(less.p, greater.p))  # type: ignore[operator, type-var]
