"""Exports for statistics programs: names that all take, labels, Psych-DS, and who never began apart."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cobandit.base.errors import InvalidInput, MissingExtra
from cobandit.studies import StudyData, load_design, rehearsed_data, shipped_designs
from cobandit.studies.export import read_export, schema, tables, write_export, write_psych_ds, write_sav
from cobandit.studies.export.names import RESERVED, condition_tags, portable_name
from cobandit.studies.export.spss import value_labels
from cobandit.studies.export.statistics import statistics_tables

BURGER = load_design("burger")
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,31}")


def people(design=BURGER) -> StudyData:
    """Return three participants (two teams of two) who have finished, and one who was invited and never began."""
    count = 3 if design.group is None else 4
    data = rehearsed_data(design, [("softmax", seed, seed % 2) for seed in range(count)], answers="drawn")
    invited = replace(
        data.participants[0], id="p-invited", status="invited", seed=None, order=None, episodes={}, answers={}
    )
    return replace(data, participants=(*data.participants, invited))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other rights")
def test_files_with_data_of_people_are_their_owners_alone(tmp_path: Path) -> None:
    data = people()
    before = os.umask(0)
    try:
        written = write_export(data, tmp_path / "csv")
        written += write_export(data, tmp_path / "parquet", format="parquet")
        written += write_sav(data.design, tables(data), tmp_path / "sav")
        written += write_psych_ds(data.design, tables(data), tmp_path / "psych-ds")
    finally:
        os.umask(before)
    described = {"read_and_test.R", "dataset_description.json"}  # which hold nobody's data
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in written if path.name not in described}
    assert len(modes) >= 14
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize("name", shipped_designs())
def test_every_name_is_one_for_r_spss_and_stata(name: str) -> None:
    design = load_design(name)
    if design.task.kind == "casino":
        design = replace(design, rounds=3, episodes=2, practice=None)
    columns, made = statistics_tables(design, tables(people(design), recruiting=True))
    for table, parts in columns.items():
        names = [column.name for column in parts]
        assert names == list(made[table])
        assert len({name.lower() for name in names}) == len(names), "SPSS does not tell capitals apart"
        for called in names:
            assert NAME.fullmatch(called), called
            assert called.lower() not in RESERVED


def test_names_say_the_condition() -> None:
    assert condition_tags(BURGER) == {"naive-ucb": "naive_ucb", "partner-aware-ucb": "pa_ucb"}
    columns, made = statistics_tables(BURGER, tables(people()))
    assert {"task_regret_pa_ucb", "good_naive_ucb", "survey_insisting_pa_ucb"} <= set(made["wide"])
    (column,) = [column for column in columns["wide"] if column.name == "survey_insisting_pa_ucb"]
    assert "condition partner-aware-ucb" in column.meaning


def test_odd_names() -> None:
    assert portable_name("if") == "if_"
    assert portable_name("2nd-language") == "v_2nd_language"
    assert len(portable_name("x" * 64)) == 32
    alike = replace(
        BURGER,
        conditions=tuple(
            replace(condition, name=f"a-very-long-name-of-{k}") for k, condition in enumerate(BURGER.conditions)
        ),
    )
    assert len(set(condition_tags(alike).values())) == 2


def test_who_never_began_stands_apart() -> None:
    whole = tables(people())
    _, made = statistics_tables(BURGER, whole)
    assert made["not_begun"]["participant"].tolist() == ["p-invited"]
    assert "p-invited" not in made["wide"]["participant"]
    assert len(made["wide"]["participant"]) == 3
    old, new = whole["wide"]["task_regret_naive_ucb"][:3], made["wide"]["task_regret_naive_ucb"]
    np.testing.assert_array_equal(old, new)


def test_a_psych_ds_dataset(tmp_path: Path) -> None:
    files = write_psych_ds(BURGER, tables(people()), tmp_path / "out")
    about = json.loads((tmp_path / "out" / "dataset_description.json").read_text(encoding="utf-8"))
    assert (about["@context"], about["@type"]) == ("https://schema.org/", "Dataset")
    assert about["name"] == BURGER.title
    described = {variable["name"]: variable["description"] for variable in about["variableMeasured"]}
    data = [file for file in files if file.suffix == ".csv"]
    assert {file.parent.name for file in data} == {"data"}
    for file in data:
        assert re.fullmatch(r"[a-z]+-[A-Za-z0-9]+(_[a-z]+-[A-Za-z0-9]+)*_data\.csv", file.name)
        with file.open(encoding="utf-8", newline="") as text:
            assert set(next(csv.reader(text))) <= set(described), "every column is described"
    assert "wide: who it was" in described["kind"]
    with pytest.raises(InvalidInput, match="a new or an empty folder"):
        write_psych_ds(BURGER, tables(people()), tmp_path / "out")


def test_the_r_script_reads_every_file_and_compares_what_is_there(tmp_path: Path) -> None:
    write_psych_ds(BURGER, tables(people()), tmp_path / "out")
    script = (tmp_path / "out" / "read_and_test.R").read_text(encoding="utf-8")
    read = dict(re.findall(r'^(\w+) <- read\("([^"]+)"\)$', script, re.MULTILINE))
    heads = {}
    for frame, file in read.items():
        with (tmp_path / "out" / "data" / file).open(encoding="utf-8", newline="") as text:
            heads[frame] = next(csv.reader(text))
    assert set(heads) == {"wide_data", "long_data", "survey_data", "events_data", "not_begun_data"}
    for frame, column in re.findall(r"(\w+_data)\$(\w+)", script):
        assert column in heads[frame]
    tested = re.findall(r'^compare\("(\w+)", "(\w+)"\)$', script, re.MULTILINE)
    assert len(tested) == 2 + 5
    assert tested[0] == ("task_regret_pa_ucb", "task_regret_naive_ucb")
    assert {name for pair in tested for name in pair} <= set(heads["wide_data"])
    for opening, closing in ("()", "{}", "[]"):
        assert script.count(opening) == script.count(closing)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not here")
def test_the_r_script_runs_also_where_a_test_cannot_be_done(tmp_path: Path) -> None:
    whole = tables(people())
    for name, answer in (("survey_easy_pa_ucb", 4.0), ("survey_easy_naive_ucb", 3.0)):
        whole["wide"][name] = np.full(len(whole["wide"][name]), answer)  # the same difference for everybody
    write_psych_ds(BURGER, whole, tmp_path / "out")
    done = subprocess.run(
        ["Rscript", "--vanilla", "read_and_test.R"], cwd=tmp_path / "out", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Paired t-test") + done.stdout.count("No test:") == 2 + 5
    assert re.search(r"^survey_easy_pa_ucb minus survey_easy_naive_ucb\nNo test:", done.stdout, re.MULTILINE)


def test_an_export_of_the_layout_before_is_read_under_todays_names(tmp_path: Path) -> None:
    data = people()
    write_export(data, tmp_path / "today")
    write_export(data, tmp_path / "before")
    about = json.loads((tmp_path / "before" / "study.json").read_text(encoding="utf-8"))
    old = [column.name for column in schema(BURGER, layout=2)["wide"]]
    assert "survey_insisting_partner-aware-ucb" in old
    head, rest = (tmp_path / "before" / "wide.csv").read_text(encoding="utf-8").split("\n", 1)
    assert len(head.split(",")) == len(old)
    (tmp_path / "before" / "wide.csv").write_text(",".join(old) + "\n" + rest, encoding="utf-8")
    digest = hashlib.sha256((tmp_path / "before" / "wide.csv").read_bytes()).hexdigest()
    about |= {"layout": 2, "files": about["files"] | {"wide.csv": about["files"]["wide.csv"] | {"sha256": digest}}}
    (tmp_path / "before" / "study.json").write_text(json.dumps(about), encoding="utf-8")
    (_, today, _), (_, before, _) = read_export(tmp_path / "today"), read_export(tmp_path / "before")
    assert list(today["wide"]) == list(before["wide"])
    for table in ("wide", "codebook"):
        for name, values in today[table].items():
            np.testing.assert_array_equal(values, before[table][name])


def test_labels_of_values() -> None:
    columns, _ = statistics_tables(BURGER, tables(people()))
    by_name = {column.name: column for parts in columns.values() for column in parts}
    assert value_labels(by_name["survey_easy_pa_ucb"]) == {1.0: "Strongly disagree", 5.0: "Strongly agree"}
    assert value_labels(by_name["swapped"]) == {0.0: "false", 1.0: "true"}
    assert value_labels(by_name["seen_1"])[1.0] == "good"
    assert value_labels(by_name["order"]) == {}


def test_spss_files_come_back_with_their_labels(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    whole = tables(people())
    files = write_sav(BURGER, whole, tmp_path / "out")
    assert [file.name for file in files] == ["wide.sav", "long.sav", "survey.sav", "events.sav", "not_begun.sav"]
    frame, meta = pyreadstat.read_sav(str(files[0]))
    np.testing.assert_allclose(frame["task_regret_pa_ucb"], whole["wide"]["task_regret_pa_ucb"][:3])
    assert meta.column_names_to_labels["survey_easy_pa_ucb"].startswith("answer after condition partner-aware-ucb")
    assert meta.variable_value_labels["survey_easy_pa_ucb"] == {1.0: "Strongly disagree", 5.0: "Strongly agree"}
    long, _ = pyreadstat.read_sav(str(files[1]))
    assert len(long) == 3 * 40
    np.testing.assert_allclose(long["reward"], whole["long"]["reward"])


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cobandit.base.extras.installed", lambda extra: extra != "spss")
    with pytest.raises(MissingExtra, match="spss"):
        write_sav(BURGER, tables(people()), tmp_path / "out")
