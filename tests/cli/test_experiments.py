"""``cobandit reproduce``, ``sweep`` and ``report``, as a person would use them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cobandit.cli import app

SMALL = ["--runs", "12", "--horizon", "60"]
SWEEP = """
name = "tiny"
title = "A <tiny> sweep & more"
horizon = 60
runs = 12
[problem]
means = [[0.8, 0.4], [0.2, 0.6]]
observability = [1.0, 0.5]
[[team]]
name = "aware"
agent = "partner-aware-ucb"
[grid]
window = [1, 5]
[[claim]]
kind = "beats"
better = "aware-window-1"
others = ["aware-window-5"]
"""


def cobandit(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def chunk_files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}


def test_reproduce_two_panels(tmp_path: Path) -> None:
    out = tmp_path / "results"
    output = cobandit("reproduce", "sim4", "sim1-left", *SMALL, "--workers", "1", "--out", str(out))
    assert "sim4: More agents" in output
    assert "sim1-left" in output
    assert f"The report is in {out / 'report.html'}." in output
    assert (out / "report.html").stat().st_size > 10_000
    for suffix in ("pdf", "svg", "png"):
        assert (out / "figures" / f"sim4.{suffix}").stat().st_size > 1_000
    assert len(chunk_files(out)) == 6
    assert not (out / "chunks" / "sim0-left").exists()


def test_json_is_for_machines_and_resume_plays_nothing_twice(tmp_path: Path) -> None:
    arguments = ["reproduce", "sim3-left", *SMALL, "--workers", "1", "--out", str(tmp_path), "--json"]
    first = CliRunner().invoke(app, arguments)
    found = json.loads(first.stdout)
    (panel,) = found["panels"]
    assert panel["panel"] == "sim3-left"
    assert [claim["kind"] for claim in panel["claims"]] == ["sublinear"] * 3 + ["rises"]
    assert {claim["outcome"] for claim in panel["claims"]} <= {"holds", "does not hold", "undecided"}
    before = chunk_files(tmp_path)
    second = CliRunner().invoke(app, [*arguments, "--resume"])
    assert chunk_files(tmp_path) == before
    again = json.loads(second.stdout)["panels"][0]
    assert again["claims"] == panel["claims"]
    assert again["curves"] == panel["curves"]


def test_a_damaged_chunk_is_named(tmp_path: Path) -> None:
    arguments = ["reproduce", "sim4", *SMALL, "--workers", "1", "--out", str(tmp_path)]
    cobandit(*arguments)
    (tmp_path / "chunks" / "sim4" / "n-3" / "00000.parquet").write_bytes(b"gone")
    assert "Chunk sim4/n-3/0 is damaged" in cobandit("report", str(tmp_path), code=2)
    assert "Chunk sim4/n-3/0 is damaged" in cobandit(*arguments, "--resume")
    assert "The report is in" in cobandit("report", str(tmp_path))


def test_a_sweep_and_its_report(tmp_path: Path) -> None:
    file = tmp_path / "tiny.toml"
    file.write_text(SWEEP)
    out = tmp_path / "results"
    output = cobandit("sweep", str(file), "--workers", "1", "--out", str(out))
    assert "aware-window-1 ends with less regret than aware-window-5." in output
    page = (out / "report.html").read_text()
    assert "A &lt;tiny&gt; sweep &amp; more" in page
    assert "<tiny>" not in page
    cobandit("sweep", str(file), "--workers", "1", "--out", str(out), "--resume", "--diagnose")
    assert f"--out {out} --diagnose" in (out / "report.html").read_text()
    file.unlink()
    (out / "report.html").unlink()
    cobandit("report", str(out))
    assert "Why the teams lost" not in (out / "report.html").read_text()
    cobandit("report", str(out), "--diagnose")
    assert "Why the teams lost" in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "sim1-lefft"], "Did you mean 'sim1-left'?"),
        (["reproduce", "sim4", "--horizon", "1"], "horizon must be"),
        (["reproduce", "sim4", "--horizon", "long"], "theorem-1-standoff alone; sim4 was named"),
        (["reproduce", "--horizon", "long"], "no panel was named"),
        (["reproduce", "sim4", "--index", "papper"], "Did you mean 'paper'?"),
        (["reproduce", "sim4", "--engine", "desk"], "Did you mean 'dask'?"),
        (["reproduce", "sim4", "--dask-address", "tcp://127.0.0.1:1"], "requires --engine dask"),
        (["reproduce", "sim4", "--engine", "dask", "--dask-address", "here"], "one like tcp://127.0.0.1:8786"),
        (["reproduce", "sim4", "--workers", "0"], "workers must be"),
        (["sweep", "nowhere.toml"], "cannot be read: No such file"),
    ],
)
def test_mistakes_exit_with_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    output = cobandit(*arguments, code=2)
    assert message in output
    assert "Traceback" not in output
    assert not list(tmp_path.rglob("*.parquet"))


def test_ctrl_c_keeps_finished_chunks_and_says_how_to_go_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["reproduce", "sim1-left", "--runs", "40000", "--horizon", "300", "--workers", "1", "--out", str(out)]
    job = subprocess.Popen(
        [sys.executable, "-m", "cobandit", *arguments], stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while len(chunk_files(out)) < 3 and job.poll() is None:
        time.sleep(0.02)
    os.killpg(job.pid, signal.SIGINT)
    _, errors = job.communicate()
    assert job.returncode == 130
    assert "Traceback" not in errors
    assert "finished chunks are stored in" in errors
    assert "cobandit reproduce sim1-left --runs 40000" in errors
    assert "--resume" in errors
    assert 3 <= len(chunk_files(out)) < 240
