"""Exported files: whole or refused, and back again."""

import csv
import json
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from io import StringIO

import numpy as np
import pytest

import cobandit as cb
from cobandit.analysis.measures import measures
from cobandit.studies import (
    StudyData,
    read_export,
    tables,
    write_export,
)
from cobandit.studies.export.statistics import statistics_tables
from tests.studies.exports import (
    BURGER,
    NASTY,
    OPEN,
    THREE,
    everybody,
    same,
)

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
        write_export(everybody(), tmp_path, recruiting=True, texts=True)
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
        write_export(data, tmp_path, format, recruiting=True, texts=True)
        wide = read_export(tmp_path)[1]["wide"]
        assert wide["note"][0] == wide["external_id"][0] == text
        if format == "csv":
            with (tmp_path / "wide.csv").open(encoding="utf-8", newline="") as file:
                assert next(csv.DictReader(file))["note"][0] not in "=+-@\t\r\n\uff1d"

    @FORMATS
    def test_texts_that_no_file_can_hold(self, tmp_path, format):
        write_export(everybody(note="a\ud800b", external=""), tmp_path, format, recruiting=True, texts=True)
        wide = read_export(tmp_path)[1]["wide"]
        assert wide["note"][0] == "a?b"
        assert wide["external_id"][0] is None

    def test_free_texts_about_people_are_exported_on_request(self, tmp_path):
        write_export(everybody(), tmp_path / "public")
        _, public, about = read_export(tmp_path / "public")
        assert not about["texts"]
        assert "note" not in {*public["wide"], *public["codebook"]["column"]}
        assert "thanks" not in (tmp_path / "public" / "wide.csv").read_text(encoding="utf-8")
        # Up to layout 3, they were always exported: such an export is read and analysed as it is.
        write_export(everybody(), tmp_path / "old", texts=True)
        about = json.loads((tmp_path / "old" / "study.json").read_text(encoding="utf-8"))
        (tmp_path / "old" / "study.json").write_text(json.dumps(about | {"layout": 3, "texts": False}))
        design, old, _ = read_export(tmp_path / "old")
        assert old["wide"]["note"].tolist() == [NASTY, None, None, "simulated"]
        same({"wide": old["wide"]}, {"wide": tables(everybody(), texts=True)["wide"]})
        assert measures(design, old).participants == measures(design, public).participants == ("p-aaaa",)
        for texts in (False, True):
            statistics, _ = statistics_tables(design, tables(everybody(), texts=texts))
            assert ("note" in {column.name for column in statistics["wide"]}) == texts

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
            with pytest.raises(cb.InvalidInput, match="must be a path"):
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
            patch.setattr("cobandit.studies.export.folder._sha256", full)
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
            ('{"layout": 99}', "reads layouts 1 to 4"),
            ('{"layout": 1, "complete": true}', "damaged"),
            ('{"layout": 1, "complete": true, "design": 3}', "must be a table"),
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
            (",33,", ",thirty,", "holds 'thirty' in column 'age'; an integer"),
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
