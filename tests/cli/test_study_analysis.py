"""``cobandit study plan`` and ``analyse``: a plan before the data, the data as a results section."""

import csv
import json
import tomllib
from dataclasses import replace
from functools import cache

import pytest
from sqlalchemy import update

from cobandit.analysis import default_plan, parse_plan, plan_toml, text_digest
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.studies import load_design, rehearse, rehearsed_data, write_export
from cobandit.web.services.places import take_place
from cobandit.web.services.registration import register_study, set_plan
from cobandit.web.storage.answers import add_answer
from cobandit.web.storage.database import Database
from cobandit.web.storage.moves import StoreRounds
from cobandit.web.storage.participants import add_participant, new_public_id
from cobandit.web.storage.rounds import Move
from cobandit.web.storage.schema import participants
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.values import now_ms

BURGER = load_design("burger")
PLAN = plan_toml(default_plan(BURGER))
FILES = {"results.json", "results.csv", "methods.md", "results.md", "plan.toml", "report.html", "figures"}


@cache
def rehearsal(n=8):
    return rehearsed_data(BURGER, [("epsilon-greedy", seed, seed % 2) for seed in range(n)], answers="drawn")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Every command starts in an empty folder, with a database of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COBANDIT_DATABASE", raising=False)
    return tmp_path


@pytest.fixture
def database(here):
    opened = Database("sqlite:///studies.sqlite")
    opened.migrate()
    yield opened
    opened.close()


@pytest.fixture
def study(database):
    with database.write() as connection:
        return register_study(connection, BURGER, seed=7)


def stored_burger(connection):
    stored = find_study(connection, "burger")
    assert stored is not None
    return stored


def take_part(database, study, kind="real", finished=True):
    """Somebody from consent to the end, as the service stores it."""
    now = now_ms()
    with database.write() as connection:
        seed, order = take_place(connection, study.id, kind, now)
        token = f"token-{new_public_id()}"
        times = {"created_at": now, "consented_at": now, "last_seen": now, "finished_at": now if finished else None}
        who = {"kind": kind, "token": token, "seed": str(seed), "order_index": order, "language": "en"}
        number = add_participant(connection, study_id=study.id, **who, **times)
        answers = rehearsed_data(BURGER, [("softmax", seed, order)], answers="drawn").participants[0].answers
        for step, answer in answers.items():
            add_answer(connection, number, step, dict(answer.values), now, 1000)
        for revision, episode in enumerate(rehearse(BURGER, "softmax", seed, order)):
            moves = [(r, Move(r.t, r.arms[0], f"{episode.plan.index}-{r.t}", 500)) for r in episode.rounds]
            StoreRounds(number, revision, None, episode, moves, now, now)(connection)


@pytest.mark.usefixtures("svg_alone")
class TestPlan:
    def test_writes_a_plan_to_edit(self, run, here):
        done = run("study", "plan", "burger", "--n", "58")
        assert done.exit_code == 0
        text = (here / "burger-plan.toml").read_text(encoding="utf-8")
        assert parse_plan(text) == default_plan(BURGER, 58)
        assert "--set burger-plan.toml" in done.stderr
        assert not (here / "studies.sqlite").exists()

    def test_overwrites_nothing(self, run, here):
        (here / "mine.toml").write_text("mine")
        done = run("study", "plan", "burger", "--out", "mine.toml")
        assert done.exit_code == 2
        assert "not overwritten" in done.stderr
        assert (here / "mine.toml").read_text() == "mine"

    def test_a_design_of_ones_own(self, run, here):
        run("study", "new", "mine", "--from", "casino")
        assert run("study", "plan", "mine.toml").exit_code == 0
        assert tomllib.loads((here / "mine-plan.toml").read_text(encoding="utf-8"))["study"] == "mine"

    def test_stores_a_plan_with_a_design_that_is_not_stored_yet(self, run, here):
        (here / "plan.toml").write_text(PLAN, encoding="utf-8")
        done = run("study", "plan", "burger", "--set", "plan.toml")
        assert done.exit_code == 0
        assert text_digest(PLAN) in done.stderr
        opened = Database("sqlite:///studies.sqlite")
        with opened.read() as connection:
            found = stored_burger(connection)
        opened.close()
        assert (found.plan, found.plan_digest, found.plan_fixed_at) == (PLAN, text_digest(PLAN), None)

    def test_writes_the_stored_plan(self, run, here, database, study):
        with database.write() as connection:
            set_plan(connection, study.id, f"# Ours.\n{PLAN}")
        assert run("study", "plan", "burger").exit_code == 0
        assert (here / "burger-plan.toml").read_text(encoding="utf-8") == f"# Ours.\n{PLAN}"
        done = run("study", "plan", "burger", "--n", "3", "--out", "other.toml")
        assert done.exit_code == 2
        assert "has a plan already" in done.stderr

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["burgr"], "Did you mean 'burger'"),
            (["burger", "--late"], "--late requires --set"),
            (["burger", "--set", "plan.toml", "--n", "3"], "are for writing one"),
            (["burger", "--set", "none.toml"], "cannot be read"),
            (["burger", "--n", "1"], "at least 2"),
            (["nothing", "--set", "plan.toml"], "There is no stored study 'nothing', nor a design"),
            (["casino", "--set", "plan.toml"], "for the study 'burger'"),
        ],
    )
    def test_mistakes(self, run, here, words, said):
        (here / "plan.toml").write_text(PLAN, encoding="utf-8")
        done = run("study", "plan", *words)
        assert done.exit_code == 2
        assert said in done.stderr

    def test_late(self, run, here, database, study):
        take_part(database, study)
        (here / "plan.toml").write_text(PLAN, encoding="utf-8")
        done = run("study", "plan", "burger", "--set", "plan.toml")
        assert done.exit_code == 2
        assert "1 participant has started" in done.stderr
        assert "--late" in done.stderr
        assert run("study", "plan", "burger", "--set", "plan.toml", "--late").exit_code == 0
        done = run("study", "analyse", "burger", "--out", "res", "--json")
        assert json.loads(done.stdout)["stored_plan"]["status"] == "late"

    def test_after_a_rehearsal(self, run, here, database, study):
        take_part(database, study, kind="rehearsal")
        (here / "plan.toml").write_text(PLAN, encoding="utf-8")
        assert run("study", "plan", "burger", "--set", "plan.toml").exit_code == 0
        done = run("study", "analyse", "burger", "--kind", "rehearsal", "--out", "res", "--json")
        stored = json.loads(done.stdout)["stored_plan"]
        assert stored["status"] == "late"
        assert "after 1 simulated participant had started" in stored["sentence"]
        assert "fixed before" not in (here / "res" / "report.html").read_text(encoding="utf-8")


class TestStore:
    def test_fixed_with_the_first_person(self, database, study):
        with database.write() as connection:
            set_plan(connection, study.id, f"# First.\n{PLAN}")
            digest = set_plan(connection, study.id, PLAN)  # nobody has started: it may be replaced
        take_part(database, study, kind="rehearsal")
        with database.read() as connection:
            assert stored_burger(connection).plan_fixed_at is None
        take_part(database, study)
        with database.read() as connection:
            found = stored_burger(connection)
        assert found.plan_fixed_at is not None
        assert found.plan_digest == digest == text_digest(PLAN)
        with database.write() as connection, pytest.raises(InvalidInput, match="is not replaced"):
            set_plan(connection, study.id, PLAN, late=True)

    def test_late_plans_say_so_and_may_be_replaced(self, database, study):
        for _ in range(2):
            take_part(database, study)
        with database.write() as connection:
            digest = set_plan(connection, study.id, PLAN, late=True)
            found = stored_burger(connection)
        assert parse_plan(found.plan).late == 2
        assert found.plan_digest == digest == text_digest(found.plan)
        assert found.plan_fixed_at is not None
        with database.write() as connection, pytest.raises(InvalidInput, match="take the line out"):
            set_plan(connection, study.id, found.plan, late=True)
        with database.write() as connection:
            set_plan(connection, study.id, PLAN, late=True)

    def test_people_who_have_not_consented_have_not_started(self, database, study):
        take_part(database, study)
        with database.write() as connection:
            connection.execute(update(participants).values(consented_at=None))
            set_plan(connection, study.id, PLAN)

    def test_a_plan_that_does_not_fit_is_refused(self, database, study):
        with database.write() as connection, pytest.raises(UnknownName, match="survey item"):
            set_plan(connection, study.id, PLAN.replace("survey:easy", "survey:hard"))
        with database.read() as connection:
            assert stored_burger(connection).plan is None


class TestAnalyse:
    def test_a_stored_study(self, run, here, database, study):
        with database.write() as connection:
            set_plan(connection, study.id, PLAN)
        for place in range(5):
            take_part(database, study, finished=place != 4)
        take_part(database, study, kind="rehearsal")
        done = run("study", "analyse", "burger", "--out", "res")
        assert done.exit_code == 0, done.stderr
        assert "4 participants analysed, 1 of 5 excluded." in done.stdout
        assert "was fixed at" in done.stdout.replace("\n", " ")
        assert "H1-regret" in done.stdout
        assert "had started" not in done.stdout
        assert {path.name for path in (here / "res").iterdir()} >= FILES
        found = json.loads((here / "res" / "results.json").read_text())
        assert found["stored_plan"]["status"] == "planned"
        assert found["kind"] == "real"
        assert sum(row["planned"] for row in found["results"]) == 9
        with (here / "res" / "results.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(found["results"])
        assert rows[0]["id"] == "H1-regret"
        assert float(rows[0]["p"]) == found["results"][0]["finding"]["p"]
        text = (here / "res" / "results.md").read_text(encoding="utf-8")
        assert text.startswith("# Results\n\n**Participants and exclusions.** 4 participants were analysed, of 5")
        assert parse_plan((here / "res" / "plan.toml").read_text(encoding="utf-8")) == default_plan(BURGER)

    @pytest.mark.usefixtures("svg_alone")
    def test_simulated_ones_where_there_are_no_others(self, run, database, study):
        for _ in range(3):
            take_part(database, study, kind="rehearsal")
        done = run("study", "analyse", "burger", "--json")
        assert done.exit_code == 0
        assert "No real participant has started yet" in done.stderr
        assert json.loads(done.stdout)["simulated"] is True
        done = run("study", "analyse", "burger", "--kind", "real", "--out", "none")
        assert done.exit_code == 0
        assert "There are no participants to analyse" in done.stderr

    @pytest.mark.usefixtures("svg_alone")
    @pytest.mark.parametrize("format", ["csv", "parquet"])
    def test_the_folder_of_an_export(self, run, here, format):
        write_export(rehearsal(), here / "exported", format)
        done = run("study", "analyse", "exported", "--out", "res", "--json")
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["flow"]["analysed"] == 8
        assert not (here / "studies.sqlite").exists()
        if format == "csv":  # once more into the same folder
            assert run("study", "analyse", str(here / "exported"), "--out", "res").exit_code == 0

    @pytest.mark.usefixtures("svg_alone")
    def test_a_changed_export(self, run, here):
        write_export(rehearsal(), here / "exported")
        path = here / "exported" / "wide.csv"
        path.write_bytes(path.read_bytes().replace(b"r-0001,rehearsal,finished", b"r-0001,rehearsal,dropped"))
        done = run("study", "analyse", "exported", "--out", "res")
        assert done.exit_code == 2
        assert "changed or damaged" in done.stderr
        done = run("study", "analyse", "exported", "--out", "res", "--changed")
        assert done.exit_code == 0
        assert "r-0001 left before the end" in done.stdout
        told = json.loads((here / "res" / "results.json").read_text(encoding="utf-8"))
        assert told["deviations"][0] == "These files were changed after the export: wide.csv."

    @pytest.mark.usefixtures("svg_alone")
    def test_another_plan(self, run, here):
        write_export(replace(rehearsal(), plan=PLAN), here / "exported")
        other = replace(default_plan(BURGER, 40), alpha=0.01)
        (here / "other.toml").write_text(plan_toml(other), encoding="utf-8")
        done = run("study", "analyse", "exported", "--out", "res", "--plan", "other.toml")
        assert done.exit_code == 0
        assert "The level of significance is 0.01; the plan says 0.05." in done.stdout

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["burger"], "There is no database"),
            (["./burger"], "The folder './burger' is not there"),
            (["burger", "--kind", "demo"], "kind of participants"),
            (["burger", "--plan", "none.toml"], "cannot be read"),
        ],
    )
    def test_mistakes(self, run, words, said):
        done = run("study", "analyse", *words)
        assert done.exit_code == 2
        assert said in done.stderr

    def test_a_folder_with_something_else(self, run, here):
        write_export(rehearsal(), here / "exported")
        (here / "full").mkdir()
        (here / "full" / "thesis.tex").write_text("mine")
        for folder, said in (("full", "holds something else"), ("full/thesis.tex", "is a file")):
            done = run("study", "analyse", "exported", "--out", folder)
            assert done.exit_code == 2
            assert said in done.stderr
        assert [path.name for path in (here / "full").iterdir()] == ["thesis.tex"]

    def test_an_unknown_study(self, run, study):
        done = run("study", "analyse", "burgr")
        assert done.exit_code == 2
        assert "Did you mean 'burger'" in done.stderr
