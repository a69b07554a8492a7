"""``cobandit study fit``: models fitted to an export or a database, and the population as a behaviour."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from cobandit.cli import app
from cobandit.studies import load_design, rehearsed_data, write_export

MODELS = "win-stay-lose-shift,epsilon-greedy"


@pytest.fixture(scope="module")
def export(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit") / "export"
    kinds = ["win-stay-lose-shift", "epsilon-greedy"]
    data = rehearsed_data(load_design("burger"), [(kinds[seed % 2], seed, seed % 2) for seed in range(4)])
    write_export(data, folder)
    return folder


def run(*words):
    return CliRunner().invoke(app, ["study", *map(str, words)])


def test_files_and_page(export, tmp_path):
    out = tmp_path / "fit"
    result = run("fit", export, "--models", MODELS, "--recovery", "--people", 4, "--members", 5, "--out", out)
    assert result.exit_code == 0, result.output
    assert "4 simulated participants, 160 choices, 3 models" in result.output
    assert "Found again among 4 simulated people each" in result.output
    names = {file.name for file in out.iterdir()}
    assert names >= {"fits.json", "fits.csv", "parameters.csv", "population.json", "recovery.json", "confusion.csv"}
    assert len((out / "fits.csv").read_text().splitlines()) == 1 + 5 * 3  # four people and everybody, three models
    page = (out / "fit.html").read_text()
    assert "Confusion matrix" in page
    assert "nothing here is evidence about people" in page
    assert "Win-stay lose-shift" in page
    assert (out / "figures" / "best-models.pdf").is_file()
    assert len(json.loads((out / "population.json").read_text())["members"]) == 5


def test_json_and_the_population_as_a_behaviour(export, tmp_path):
    result = run("fit", export, "--models", MODELS, "--out", tmp_path / "fit", "--json")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["people"] == 4
    assert printed["recovery"] is None
    population = tmp_path / "fit" / "population.json"
    power = run("power", "burger", "--behaviour", population, "--participants", "4", "--simulations", "2")
    assert power.exit_code == 0, power.output
    assert "fitted to 4 simulated participants of burger" in power.output
    database = f"sqlite:///{tmp_path / 'studies.sqlite'}"
    played = run("simulate", "burger", "--participants", 2, "--behaviour", population, "--database", database)
    assert played.exit_code == 0, played.output
    assert "2 of 2 simulated participants finished" in played.output
    stored = run("fit", "burger", "--models", MODELS, "--database", database, "--out", tmp_path / "stored")
    assert stored.exit_code == 0, stored.output
    assert "2 simulated participants" in stored.output
    calibrated = run(
        "calibrate", "burger", "--behaviour", population, "--participants", 4, "--simulations", 2, "--format", "json"
    )
    assert calibrated.exit_code == 0, calibrated.output
    rehearsed = {row["population"] for row in json.loads(calibrated.stdout)["rehearsals"]}
    assert "fitted to 4 simulated participants of burger" in rehearsed


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--models", "sofmax"), "softmax"),
        (("--models", ","), "models must be names"),
        (("--kind", "demo"), "kind of participants"),
        (("--starts", "0"), "starts must be"),
        (("--kind", "real"), "There are no choices to fit"),
    ],
)
def test_refusals(export, tmp_path, words, error):
    result = run("fit", export, *words, "--out", tmp_path / "fit")
    assert result.exit_code != 0
    assert error in " ".join(result.output.split())
    assert not (tmp_path / "fit").exists()


def test_no_such_study(tmp_path):
    result = run("fit", tmp_path / "missing", "--out", tmp_path / "fit")
    assert result.exit_code != 0
    assert "is not there" in " ".join(result.output.split())


def test_a_population_that_is_not_there(tmp_path):
    for words in (("power", "burger"), ("calibrate", "burger"), ("simulate", "burger")):
        result = run(*words, "--behaviour", tmp_path / "p.json")
        assert result.exit_code != 0
        assert "cannot be read" in " ".join(result.output.split())
