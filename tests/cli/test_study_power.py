"""``cobandit study power`` and ``calibrate``."""

from __future__ import annotations

import csv
import json
import re

import pytest

from cobandit.analysis import default_plan, plan_toml, power_analysis
from cobandit.studies import load_design

SMALL = ("--participants", "4,8", "--simulations", "12")


class TestPower:
    def test_table(self, run):
        done = run("study", "power", "burger", "--behaviour", "softmax:0.5,knowledge-gradient:0.5", *SMALL)
        assert done.exit_code == 0
        assert "softmax 50 %, knowledge-gradient 50 %" in done.stdout
        assert "simulated" in done.stdout
        assert "H1-regret" in done.stdout
        assert "Left out: H2-ability" in done.stdout
        said = " ".join(done.stdout.split())
        sentence = re.search(
            r"With 8 simulated participants the chance of a significant H1-regret in the expected "
            r"direction is (\d+) % \(\d+ to \d+ %\); most such studies would not find it.",
            said,
        )
        assert sentence is not None
        assert said.index(sentence[0]) < said.index("80 % at n"), "before any table"

    def test_the_chance_is_that_of_the_planned_number_of_people(self):
        design = load_design("burger")
        found = power_analysis(design, "softmax", (4, 6), 8, 1, plan=default_plan(design, 4))
        power = found.curves[0].points[0].planned
        assert found.chance.startswith("With 4 simulated participants")
        assert f"is {100 * power.value:.0f} % ({100 * power.low:.0f} to {100 * power.high:.0f} %)" in found.chance
        assert found.to_dict()["chance"] == found.chance

    def test_json_is_the_same_again_whatever_the_threads(self, run):
        words = ("study", "power", "burger", "--behaviour", "softmax", *SMALL, "--json")
        first, second = (json.loads(run(*words, "--threads", threads).stdout) for threads in ("1", "2"))
        for found in (first, second):
            assert found["analyses"][0].pop("seconds") > 0
        assert first == second
        assert first["simulated"] is True
        assert [point["n"] for point in first["analyses"][0]["tests"][0]["points"]] == [4, 8]

    def test_folder(self, run, tmp_path):
        words = ("--behaviour", "softmax", "--behaviour", "epsilon-greedy(epsilon=0.3)", *SMALL, "--out", str(tmp_path))
        done = run("study", "power", "burger", *words)
        assert done.exit_code == 0
        with (tmp_path / "power.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert {row["behaviour"] for row in rows} == {"softmax", "epsilon-greedy(epsilon=0.3)"}
        assert len(rows) == 2 * 2 * 2
        kept = json.loads((tmp_path / "power.json").read_text(encoding="utf-8"))
        assert kept["command"].startswith("cobandit study power burger --behaviour softmax")
        assert (tmp_path / "power.html").is_file()
        assert {path.suffix for path in (tmp_path / "figures").iterdir()} == {".pdf", ".svg", ".png"}

    def test_a_plan_of_ones_own(self, run, tmp_path):
        plan = default_plan(load_design("burger"))
        file = tmp_path / "plan.toml"
        file.write_text(plan_toml(plan).replace("alpha = 0.05", "alpha = 0.01"), encoding="utf-8")
        done = run("study", "power", "burger", "--plan", str(file), *SMALL, "--json")
        assert json.loads(done.stdout)["analyses"][0]["alpha"] == 0.01

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (("--participants", "ten"), "numbers separated by commas"),
            (("--simulations", "0"), "simulations must be"),
            (("--simulations", "1000000"), "from 1 to 100,000"),
            (("--plan", "nowhere.toml"), "cannot be read"),
            (("--seed", "-1"), "seed"),
        ],
    )
    def test_mistakes(self, run, words, says):
        done = run("study", "power", "burger", *words)
        assert done.exit_code == 2
        assert says in done.stderr
        assert "Traceback" not in done.stderr

    def test_too_much(self, run):
        done = run("study", "power", "casino", "--participants", "100000")
        assert done.exit_code == 2
        assert "fewer simulations" in done.stderr


class TestCalibrate:
    def test_tables_and_folder(self, run, tmp_path):
        done = run("study", "calibrate", "burger", "--simulations", "3", "--participants", "6", "--out", str(tmp_path))
        assert done.exit_code == 0
        assert done.stdout.startswith("All participants here are simulated")
        assert "2.7 ± 0.31" in done.stdout
        assert "fitting, not prediction" in " ".join(done.stdout.split())
        assert "not simulated" in done.stdout
        for name in ("calibration.csv", "calibration.json", "calibration.html", "figures/calibration-burger.pdf"):
            assert (tmp_path / name).is_file()

    def test_json(self, run):
        done = run("study", "calibrate", "burger", "--simulations", "3", "--participants", "6", "--json")
        found = json.loads(done.stdout)
        assert found["simulated"] is True
        assert {one["index"] for one in found["rehearsals"]} == {"paper", "companion"}

    def test_mistakes(self, run):
        for words, says in ((("burgr",), "'burger'"), (("burger", "--simulations", "1"), "simulations must be")):
            done = run("study", "calibrate", *words)
            assert done.exit_code == 2
            assert says in done.stderr
