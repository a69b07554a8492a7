"""Exported tables: the numbers of a trajectory, every column explained, files whole or refused, and back again."""

import csv
import json
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from io import StringIO

import numpy as np
import pytest

import cobandit as cb
from cobandit.base.records import Table
from cobandit.studies import (
    Answer,
    EpisodeData,
    EventData,
    ParticipantData,
    ParticipantPlan,
    StudyData,
    columns,
    load_design,
    read_export,
    rehearse,
    rehearsed_data,
    schema,
    tables,
    write_export,
)
from cobandit.studies.design import AttentionCheck, Question, SurveyItem

BURGER, CASINO, THREE = load_design("burger"), load_design("casino"), load_design("three-by-three")
assert CASINO.practice is not None
SHORT = replace(CASINO, rounds=12, episodes=3, practice=replace(CASINO.practice, rounds=5, episodes=2))
KNOWN = replace(BURGER, observation="missed-known", observability=(0.7, 0.4))
NOTE = Question(id="note", text="Anything else?", answer="text", required=False)
OPEN = replace(BURGER, demographics=(*BURGER.demographics, NOTE), survey=replace(BURGER.survey, shuffled=True))
START = datetime(2024, 5, 1, 12, tzinfo=UTC)
PEOPLE = (("softmax", 1, 0), ("knowledge-gradient", 2, 1), ("epsilon-greedy", 3, 0))
LONG = [
    "run", "participant", "kind", "order", "set", "condition", "episode", "number", "practice", "swapped", "t",
    "arm_0", "arm_1", "label_0", "label_1", "reward", "seen_0", "seen_1", "predicted_1_0",
    "round_regret", "task_regret", "team_regret", "answered_at", "reaction_ms",
]  # fmt: skip
NASTY = 'He said "no,\r\nthanks";\tÄ \N{SNOWMAN} \N{GRINNING FACE}'


@cache
def everybody(note=NASTY, external="=cmd|' /C calc'!A0"):
    """Somebody who has finished, somebody in the midst of it, somebody invited, and a rehearsal."""
    design = OPEN
    first, second = rehearse(design, "softmax", 5, 1)
    times = {
        "answered_at": [START + timedelta(seconds=t) for t in range(20)],
        "reaction_ms": [None, *range(801, 820)],
    }
    answers = rehearsed_data(design, [("softmax", 5, 1)], answers="drawn").participants[0].answers
    answers = {step: replace(answer, at=START, ms=900) for step, answer in answers.items()}
    answers["demographics"] = Answer({"age": 33, "gender": 1, "ai_researcher": 0, "note": note}, START, 1000)
    finished = ParticipantData(
        id="p-aaaa",
        kind="real",
        status="finished",
        seed=5,
        order=1,
        language="en",
        recruiter="prolific",
        external_id=external,
        consented_at=START,
        started_at=START,
        finished_at=START + timedelta(seconds=90),
        answers=answers,
        quiz_attempts=2,
        episodes={
            1: EpisodeData.of_rounds(second.rounds),
            0: EpisodeData.of_rounds(first.rounds, **times),
        },
        events=(
            EventData(START, "hidden", {"why": note}),
            EventData(START + timedelta(milliseconds=1500), "visible"),
        ),
    )
    midst = ParticipantData(
        id="p-bbbb",
        kind="real",
        status="active",
        seed=6,
        order=0,
        language="en",
        answers={"demographics": Answer({"age": 18, "gender": 3, "ai_researcher": 1, "note": None})},
        episodes={
            0: EpisodeData.of_rounds(rehearse(design, "softmax", 6, 0)[0].rounds[:7]),
            1: EpisodeData.of_rounds([]),
        },
    )
    invited = ParticipantData(id="p-cccc", kind="real", status="invited", seed=None, order=None, language=None)
    rehearsal = rehearsed_data(design, [("naive-ucb", 7, 0)]).participants[0]
    return StudyData(
        design,
        (finished, midst, invited, rehearsal),
        versions={"cobandit": "0.1.0"},
        plan="alpha = 0.05\n",
        about={"opened": "ja, früh"},
    )


def same(one, two):
    assert list(one) == list(two)
    for name in one:
        assert list(one[name]) == list(two[name])
        for column, left in one[name].items():
            right = two[name][column]
            assert left.dtype == right.dtype, (name, column)
            if left.dtype.kind == "O":
                assert left.tolist() == right.tolist(), (name, column)
            else:
                np.testing.assert_array_equal(left, right, err_msg=f"{name}.{column}")


class TestLong:
    @pytest.mark.parametrize("design", [BURGER, SHORT, KNOWN, THREE])
    @pytest.mark.parametrize("practice", [True, False])
    def test_the_numbers_of_a_trajectory(self, design, practice):
        episodes = [episode for person in PEOPLE for episode in rehearse(design, *person)]
        expected = columns(episodes, practice=practice)
        long = tables(rehearsed_data(design, PEOPLE), practice=practice)["long"]
        assert list(long) == LONG
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
        } | dict.fromkeys(LONG[11:], 0)  # fmt: skip
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
        names = list(tables(everybody(), recruiting=True)["wide"])
        assert names[:16] == [
            "participant", "kind", "status", "order", "language", "consent_version", "consented_at", "started_at",
            "finished_at", "minutes", "quiz_attempts", "age", "gender", "ai_researcher", "note", "attention_attention",
        ]  # fmt: skip
        items = ["ability", "insisting", "easy", "annoying", "alone"]
        wanted = [
            "rounds_{}",
            "good_{}",
            "task_regret_{}",
            "team_regret_{}",
            *(f"survey_{item}_{{}}" for item in items),
        ]
        assert names[16:-2] == [name.format(c) for c in ("naive-ucb", "partner-aware-ucb") for name in wanted]
        assert names[-2:] == ["recruiter", "external_id"]
        assert list(tables(everybody())["wide"]) == names[:-2]

    def test_values(self):
        wide = {name: values.tolist() for name, values in tables(everybody(), recruiting=True)["wide"].items()}
        assert wide["status"] == ["finished", "active", "invited", "finished"]
        assert wide["order"][1:3] == ["naive-ucb > partner-aware-ucb", None]
        assert wide["consent_version"] == ["1", None, None, "1"]
        np.testing.assert_array_equal(wide["minutes"], [1.5, np.nan, np.nan, np.nan])
        np.testing.assert_array_equal(wide["age"], [33, 18, np.nan, 69])
        assert wide["gender"][:3] == ["Male", "I prefer not to say", None]
        assert wide["note"][:3] == [NASTY, None, None]
        np.testing.assert_array_equal(wide["attention_attention"], [1, np.nan, np.nan, 1])
        assert wide["rounds_naive-ucb"] == [20, 7, 0, 20]
        assert wide["rounds_partner-aware-ucb"] == [20, 0, 0, 20]
        assert np.isnan(wide["task_regret_partner-aware-ucb"][1:3]).all()
        assert np.isnan(wide["good_naive-ucb"][2])
        assert wide["external_id"] == ["=cmd|' /C calc'!A0", None, None, None]

    @pytest.mark.parametrize("design", [BURGER, SHORT])
    def test_sums_are_those_of_the_counted_rounds(self, design):
        made = tables(rehearsed_data(design, PEOPLE))
        long, wide = made["long"], made["wide"]
        for i, person in enumerate(wide["participant"]):
            for condition in ("naive-ucb", "partner-aware-ucb"):
                rows = (long["participant"] == person) & (long["condition"] == condition)
                assert wide[f"rounds_{condition}"][i] == rows.sum() == design.rounds * design.episodes
                assert wide[f"good_{condition}"][i] == long["reward"][rows].sum()
                last = rows & (long["t"] == design.rounds)
                for regret in ("task_regret", "team_regret"):
                    assert wide[f"{regret}_{condition}"][i] == pytest.approx(long[regret][last].sum())

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
        columns = schema(design)["wide"]
        names = [column.name for column in columns]
        assert len(names) == len(set(names))
        by_key = {column.key: column.name for column in columns if column.key}
        assert by_key["survey", "a_b", "c"] == "survey_a_b_c"
        assert by_key["survey", "a", "b_c"] == "survey_a_b_c_2"
        assert by_key["demographics", "kind"] == "demographics_kind"
        assert by_key["demographics", "demographics_kind"] == "demographics_kind_2"
        data = rehearsed_data(design, PEOPLE[:1])
        wide = tables(data)["wide"]
        assert wide["kind"].tolist() == ["rehearsal"]
        assert wide["demographics_kind"].tolist() == ["simulated"]

    @pytest.mark.parametrize(
        "values", [{"gender": 4}, {"gender": True}, {"gender": "Male"}, {"age": "old"}, {"age": 3.5}, {"note": 3}]
    )
    def test_answers_that_cannot_be(self, values):
        (person, *_) = everybody().participants
        answers = {"demographics": Answer({**person.answers["demographics"].values, **values})}
        with pytest.raises(cb.InvalidInput):
            tables(StudyData(OPEN, (replace(person, answers=answers),)))


class TestSurveyAndEvents:
    def test_survey(self):
        data = everybody()
        survey = tables(data)["survey"]
        assert list(survey) == [
            "participant", "set", "condition", "item", "position", "value", "points", "reversed", "attention",
            "answered_at", "ms",
        ]  # fmt: skip
        mine = survey["participant"] == "p-aaaa"
        assert mine.sum() == 6 + 5
        assert set(survey["participant"]) == {"p-aaaa", "r-0001"}
        first = mine & (survey["set"] == 0)
        assert tuple(survey["item"][first]) == ParticipantPlan(OPEN, 5, 1).survey_order(0)
        assert survey["position"][first].tolist() == list(range(6))
        assert set(survey["condition"][first]) == {"partner-aware-ucb"}
        assert set(survey["item"][survey["reversed"]]) == {"insisting", "annoying", "alone"}
        assert set(survey["item"][survey["attention"]]) == {"attention"}
        given = data.participants[0].answers["survey-1"].values
        assert dict(zip(survey["item"][first], survey["value"][first], strict=True)) == given
        assert set(survey["ms"][mine]) == {900}

    def test_wide_and_survey_agree(self):
        made = tables(rehearsed_data(BURGER, PEOPLE, answers="drawn"))
        survey, wide = made["survey"], made["wide"]
        for person, condition, item, value in zip(
            survey["participant"], survey["condition"], survey["item"], survey["value"], strict=True
        ):
            if item != "attention":
                assert wide[f"survey_{item}_{condition}"][wide["participant"] == person] == value

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
        book = tables(rehearsed_data(OPEN, ()))["codebook"]
        said = {key: f"{meaning} / {values}" for *key_, meaning, values in zip(*book.values(), strict=True)
                for key in [tuple(key_[:2])]}  # fmt: skip
        assert "Female | Male | Another | I prefer not to say" in said["wide", "gender"]
        assert "Most of the time I could get the burger" in said["wide", "survey_ability_naive-ucb"]
        assert "apostrophe" in said["wide", "note"]
        assert "0: Patty first | 1: Cheese first" in said["long", "arm_0"]
        assert "1: Strongly disagree | 5: Strongly agree" in said["survey", "value"]
        assert "up to this round" in said["long", "task_regret"]


FORMATS = pytest.mark.parametrize("format", ["csv", "parquet"])


class TestFiles:
    @FORMATS
    @pytest.mark.parametrize("recruiting", [False, True])
    def test_there_and_back(self, tmp_path, format, recruiting):
        data = everybody()
        paths = write_export(data, tmp_path / "a" / "b", format, recruiting=recruiting)
        assert [path.name for path in paths] == [
            *(f"{name}.{format}" for name in ("long", "wide", "survey", "events")), "codebook.csv", "study.json",
        ]  # fmt: skip
        assert sorted(path.name for path in (tmp_path / "a" / "b").iterdir()) == sorted(path.name for path in paths)
        design, found, about = read_export(tmp_path / "a" / "b")
        assert design == OPEN
        same(found, tables(data, recruiting=recruiting))
        assert about["kinds"] == ["real", "rehearsal"]
        assert about["versions"] == {"cobandit": "0.1.0"}
        assert about["exported_by"] == {"cobandit": cb.__version__, "numpy": np.__version__}
        assert about["analysis_plan"] == "alpha = 0.05\n"
        assert len(about["analysis_plan_sha256"]) == 64
        assert about["about"] == {"opened": "ja, früh"}
        assert datetime.fromisoformat(about["exported_at"]).utcoffset() == timedelta(0)

    @FORMATS
    def test_nobody_yet(self, tmp_path, format):
        data = StudyData(BURGER, ())
        write_export(data, tmp_path, format)
        same(read_export(tmp_path)[1], tables(data))

    def test_the_two_formats_agree(self, tmp_path):
        for format in ("csv", "parquet"):
            write_export(everybody(), tmp_path / format, format)
        same(read_export(tmp_path / "csv")[1], read_export(tmp_path / "parquet")[1])

    def test_csv_as_others_read_it(self, tmp_path):
        write_export(everybody(), tmp_path, recruiting=True)
        raw = (tmp_path / "wide.csv").read_bytes()
        assert raw.endswith(b"\r\n")
        rows = list(csv.DictReader(StringIO(raw.decode("utf-8"), newline="")))
        assert [row["note"] for row in rows][:2] == [NASTY, ""]
        assert rows[0]["started_at"] == "2024-05-01T12:00:00.000Z"
        assert (rows[0]["age"], rows[0]["minutes"], rows[0]["quiz_attempts"]) == ("33", "1.5", "2")
        assert rows[0]["external_id"] == "'=cmd|' /C calc'!A0"
        with (tmp_path / "long.csv").open(encoding="utf-8", newline="") as file:
            first = next(csv.DictReader(file))
        assert (first["practice"], first["swapped"], first["t"]) == ("false", "false", "1")
        assert first["reward"] in ("0", "1")
        assert float(first["task_regret"]) == tables(everybody())["long"]["task_regret"][0]

    @FORMATS
    @pytest.mark.parametrize(
        "text",
        [
            "=1+1",
            "+1",
            "-1",
            "@x",
            "'",
            "'=1",
            "''=1",
            "'quoted'",
            "\ta",
            "\uff1d1",
            "x,y",
            '"',
            "\r",
            "\n=1",
            "NA",
            "null",
        ],
    )
    def test_texts_survive(self, tmp_path, format, text):
        data = everybody(note=text, external=text)
        write_export(data, tmp_path, format, recruiting=True)
        wide = read_export(tmp_path)[1]["wide"]
        assert wide["note"][0] == wide["external_id"][0] == text
        if format == "csv":
            with (tmp_path / "wide.csv").open(encoding="utf-8", newline="") as file:
                assert next(csv.DictReader(file))["note"][0] not in "=+-@\t\r\n\uff1d"

    @FORMATS
    def test_texts_that_no_file_can_hold(self, tmp_path, format):
        write_export(everybody(note="a\ud800b", external=""), tmp_path, format, recruiting=True)
        wide = read_export(tmp_path)[1]["wide"]
        assert wide["note"][0] == "a?b"
        assert wide["external_id"][0] is None

    def test_parquet_has_types_and_says_where_it_comes_from(self, tmp_path):
        parquet = pytest.importorskip("pyarrow.parquet")
        write_export(everybody(), tmp_path, "parquet")
        table = parquet.read_table(tmp_path / "long.parquet")
        types = {name: str(table.schema.field(name).type) for name in table.column_names}
        assert types["answered_at"] == "timestamp[ms, tz=UTC]"
        assert (types["t"], types["reaction_ms"], types["seen_1"], types["practice"]) == (
            "int64", "int64", "double", "bool",
        )  # fmt: skip
        assert table["reaction_ms"].null_count == 1 + 67
        about = json.loads(table.schema.metadata[b"cobandit"])
        assert (about["digest"], about["table"]) == (OPEN.digest, "long")

    def test_an_absent_extra_is_told_first(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(cb.MissingExtra, match=r"cobandit\[parquet\]"):
            write_export(everybody(), tmp_path / "new", "parquet")
        assert not (tmp_path / "new").exists()

    def test_the_same_study_again_takes_the_place_of_the_earlier_export(self, tmp_path):
        data = everybody()
        write_export(data, tmp_path, "csv")
        (tmp_path / "notes.txt").write_text("mine")
        people = tuple(person for person in data.participants if person.kind == "real")
        write_export(replace(data, participants=people), tmp_path, "parquet")
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "codebook.csv", "events.parquet", "long.parquet", "notes.txt", "study.json", "survey.parquet",
            "wide.parquet",
        ]  # fmt: skip
        assert len(read_export(tmp_path)[1]["wide"]["participant"]) == 3

    def test_something_else_is_left_alone(self, tmp_path):
        (tmp_path / "thesis.txt").write_text("years of work")
        with pytest.raises(cb.InvalidInput, match="holds something else"):
            write_export(everybody(), tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
        with pytest.raises(cb.InvalidInput, match="is a file"):
            write_export(everybody(), tmp_path / "thesis.txt")
        for text in ("[]", "{}", '{"digest": "x"}', "no", "3"):
            (tmp_path / "study.json").write_text(text)
            with pytest.raises(cb.InvalidInput, match="holds something else"):
                write_export(everybody(), tmp_path)

    def test_another_study_is_left_alone(self, tmp_path):
        write_export(everybody(), tmp_path)
        with pytest.raises(cb.InvalidInput, match="another study"):
            write_export(StudyData(THREE, ()), tmp_path)
        assert read_export(tmp_path)[0] == OPEN

    @pytest.mark.parametrize("folder", [None, 3, "a\0b"])
    def test_no_folder(self, folder):
        for call in (lambda: write_export(everybody(), folder), lambda: read_export(folder)):
            with pytest.raises(cb.InvalidInput, match="a path is needed"):
                call()

    def test_nonsense(self, tmp_path):
        with pytest.raises(cb.UnknownName, match="Did you mean 'csv'"):
            write_export(everybody(), tmp_path, "cvs")
        with pytest.raises(cb.InvalidInput, match="only what JSON knows"):
            write_export(replace(everybody(), about={"a": {1, 2}}), tmp_path)
        (tmp_path / "file").write_text("")
        with pytest.raises(cb.InvalidInput, match="cannot be written"):
            write_export(everybody(), tmp_path / "file" / "below")


class TestDamage:
    @pytest.fixture(params=["csv", "parquet"])
    def folder(self, request, tmp_path):
        write_export(everybody(), tmp_path, request.param)
        return tmp_path

    def refused(self, folder, **more):
        with pytest.raises(cb.InvalidInput) as caught:
            read_export(folder, **more)
        return str(caught.value)

    def test_nothing_there(self, tmp_path):
        assert "no study.json" in self.refused(tmp_path)
        assert "no study.json" in self.refused(tmp_path / "nowhere")

    @pytest.mark.parametrize("name", ["long", "wide", "survey", "events", "codebook"])
    def test_a_missing_table(self, folder, name):
        for path in folder.glob(f"{name}.*"):
            path.unlink()
        assert f"has no {name}." in self.refused(folder)

    @pytest.mark.parametrize("name", ["long", "wide", "survey", "events", "codebook"])
    def test_a_table_cut_off(self, folder, name):
        (path,) = folder.glob(f"{name}.*")
        path.write_bytes(path.read_bytes()[:-3])
        assert "changed or damaged later" in self.refused(folder)

    def test_a_parquet_file_that_is_none(self, tmp_path):
        write_export(everybody(), tmp_path, "parquet")
        (tmp_path / "long.parquet").write_bytes(b"PAR1 and nothing more")
        assert "not a Parquet file" in self.refused(tmp_path, changed=True)

    def test_an_export_that_was_cut_off(self, folder, monkeypatch):
        def full(*_):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr("cobandit.studies.export.folder._about_file", full)
            with pytest.raises(cb.InvalidInput, match="No space left on device"):
                write_export(everybody(), folder)
        assert "cut off" in self.refused(folder)
        write_export(everybody(), folder)
        assert read_export(folder)[0] == OPEN
        assert not list(folder.glob(".partial-*"))

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "not JSON"),
            ("{", "not JSON"),
            ("[" * 100_000, "not JSON"),
            ("[]", "does not belong"),
            ("{}", "does not belong"),
            ('{"layout": 99}', "reads layouts 1 to 2"),
            ('{"layout": 1, "complete": true}', "damaged"),
            ('{"layout": 1, "complete": true, "design": 3}', "a table is needed"),
        ],
    )
    def test_study_json(self, folder, text, said):
        (folder / "study.json").write_text(text)
        assert said in self.refused(folder)

    def test_another_design(self, folder):
        about = json.loads((folder / "study.json").read_text())
        about["design"]["rounds"] = 21
        (folder / "study.json").write_text(json.dumps(about))
        assert "does not match its digest" in self.refused(folder)

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ("participant,kind", "person,kind", "lacks 'participant'"),
            (",33,", ",thirty,", "holds 'thirty' in column 'age'; a whole number"),
            (",1.5,", ",quick,", "holds 'quick' in column 'minutes'; a number"),
            ("12:00:00.000Z", "noon", "time, ISO 8601 UTC is needed"),
            (",33,", ",", "a row has not"),
            ("Male", '"Male" or not', "damaged"),
        ],
    )
    def test_a_changed_csv_file(self, tmp_path, old, new, said):
        write_export(everybody(), tmp_path)
        path = tmp_path / "wide.csv"
        path.write_bytes(path.read_bytes().replace(old.encode(), new.encode(), 1))
        assert "changed or damaged" in self.refused(tmp_path)
        assert said in self.refused(tmp_path, changed=True)

    def test_a_mended_csv_file_can_be_read_on_request(self, tmp_path):
        write_export(everybody(), tmp_path)
        path = tmp_path / "wide.csv"
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b",33,", b",34,"))
        assert read_export(tmp_path, changed=True)[1]["wide"]["age"][0] == 34
        path.write_bytes(path.read_bytes() + b"\xff")
        assert "damaged" in self.refused(tmp_path, changed=True)
