"""The table of extras, and the doors of the library: every missing extra at once, before any work."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import cobandit as cb
from cobandit.analysis import analyse_data, calibrate, power_analysis
from cobandit.base.errors import MissingExtra
from cobandit.base.extras import EXTRAS, installed, require_extras
from cobandit.experiments import Processes, Settings, run
from cobandit.experiments.dask import Dask
from cobandit.experiments.figures import panel
from cobandit.report import write_study_report
from cobandit.studies import load_design, rehearsed_data
from cobandit.studies.export import read_export, write_export

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def lacking(monkeypatch: pytest.MonkeyPatch):
    """Hide the extras that a test names."""
    real = importlib.util.find_spec

    def hide(*extras: str) -> None:
        hidden = {module for extra in extras for module in EXTRAS[extra]}
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name in hidden else real(name))

    return hide


class TestTable:
    def test_is_that_of_the_package(self):
        offered = PROJECT["optional-dependencies"]
        assert set(EXTRAS) == set(offered) - {"all", "dev", "docs", "examples"}
        for extra, modules in EXTRAS.items():
            brought = {re.match(r"[\w-]+", needed)[0] for needed in offered[extra]}  # type: ignore[index]
            assert brought - set(modules) <= {"httptools", "uvloop"}
            assert set(modules) <= brought

    def test_everything_is_here(self):
        assert all(map(installed, EXTRAS))
        require_extras("All of it", **dict.fromkeys(EXTRAS, True))

    def test_asking_imports_nothing(self):
        code = "import sys, cobandit.base.extras as e; print(*map(e.installed, e.EXTRAS), 'numpy' in sys.modules)"
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert found.split() == ["True"] * len(EXTRAS) + ["False"]

    def test_a_folder_that_was_left_behind_is_no_package(self, tmp_path, monkeypatch):
        (tmp_path / "left_behind" / "__pycache__").mkdir(parents=True)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setitem(EXTRAS, "plot", ("left_behind",))
        assert not installed("plot")

    def test_only_what_is_needed_and_missing_is_named(self, lacking):
        lacking("parquet", "plot", "web")
        require_extras("This", parquet=False, stats=True)
        with pytest.raises(MissingExtra) as told:
            require_extras("This", web=True, stats=True, plot=False, parquet=True)
        assert str(told.value) == "This needs the extras 'parquet' and 'web': pip install 'cobandit[parquet,web]'"


class TestDoors:
    def test_experiments(self, lacking, tmp_path):
        lacking("parquet", "dask")
        for executor, extras in ((Processes(1), "parquet"), (Dask(), "dask,parquet")):
            with pytest.raises(MissingExtra, match=rf"\[{extras}\]"):
                run([panel("sim4")], Settings(runs=1, horizon=10), tmp_path / "out", executor)
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize("engine", ["auto", "fast"])
    def test_power_and_calibration(self, lacking, engine):
        lacking("stats", "fast")
        extras = "fast,stats" if engine == "fast" else "stats"

        def worked(*_: int) -> None:
            raise AssertionError("It has begun.")

        with pytest.raises(MissingExtra, match=rf"\[{extras}\]"):
            power_analysis("burger", "softmax", [4], 1, engine=engine, progress=worked)
        with pytest.raises(MissingExtra, match=rf"\[{extras}\]"):
            calibrate(["burger"], 2, 2, engine=engine, progress=worked)

    def test_analysis(self, lacking):
        lacking("stats")
        with pytest.raises(MissingExtra, match=r"\[stats\]"):
            analyse_data(SimpleNamespace())  # type: ignore[arg-type]  # told before the data are looked at

    def test_report(self, lacking, tmp_path):
        analysis = analyse_data(rehearsed_data(load_design("burger"), []))
        lacking("plot")
        with pytest.raises(MissingExtra, match=r"\[plot\]"):
            write_study_report(analysis, tmp_path / "report")
        assert not (tmp_path / "report").exists()

    def test_exports(self, lacking, tmp_path):
        data = rehearsed_data(load_design("burger"), [])
        write_export(data, tmp_path / "there", "parquet")
        lacking("parquet")
        with pytest.raises(MissingExtra, match=r"^Exporting Parquet files needs the extra 'parquet'"):
            write_export(data, tmp_path / "new", "parquet")
        with pytest.raises(MissingExtra, match=r"^Reading Parquet files needs the extra 'parquet'"):
            read_export(tmp_path / "there")
        assert not (tmp_path / "new").exists()

    def test_the_fast_engine_and_a_file(self, lacking, tmp_path):
        problem, states = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]]), cb.mdp.make_problem("chain")
        asked = {"seed": 0, "engine": "fast", "out": tmp_path / "runs.parquet"}
        lacking("fast", "parquet")
        for attempt in (
            lambda: cb.simulate(problem, cb.Team.of("naive-ucb"), 5, 2, **asked),
            lambda: cb.mdp.simulate(states, cb.mdp.Team.of("naive-ucbvi"), 5, 2, **asked),
        ):
            with pytest.raises(MissingExtra, match=r"^This simulation needs the extras 'fast' and 'parquet'"):
                attempt()

    def test_keeping_runs(self, lacking, tmp_path):
        problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]])
        result = cb.simulate(problem, cb.Team.of("naive-ucb"), 5, 2, 0)
        lacking("parquet")
        with pytest.raises(MissingExtra, match=r"^Keeping runs in a Parquet file needs the extra 'parquet'"):
            result.save(tmp_path / "runs.parquet")

    @pytest.mark.parametrize(
        "module", ["cobandit.web", "cobandit.web.clients.researcher", "cobandit.web.storage.database"]
    )
    def test_web(self, module):
        code = (
            "import sys, cobandit\n"
            "sys.modules |= dict.fromkeys(['fastapi', 'sqlalchemy', 'httpx'])\n"
            f"try:\n    import {module}\nexcept cobandit.MissingExtra as error:\n    print(error)"
        )
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert told == "A study on the web needs the extra 'web': pip install 'cobandit[web]'\n"
