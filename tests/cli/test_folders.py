"""Wrong folders get a sentence about folders, before any work, in every command that takes one."""

from __future__ import annotations

import pytest

SMALL = ("--runs", "2", "--horizon", "10")
SWEEP = """
name = "tiny"
horizon = 10
runs = 2
[problem]
means = [[0.8, 0.4], [0.2, 0.6]]
observability = [1.0, 0.5]
[[team]]
agent = "naive-ucb"
"""
IN_THE_WAY = "The folder 'file/below' cannot be made: 'file' is a file."


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Where a file is that is no folder, and a folder that holds nothing."""
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "empty").mkdir()
    (tmp_path / "tiny.toml").write_text(SWEEP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COBANDIT_DATABASE", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("reproduce", "sim4", *SMALL, "--out", "file/below"), IN_THE_WAY),
        (("sweep", "tiny.toml", "--out", "file/below"), IN_THE_WAY),
        (("arena", "--setting", "fixed", "--runs", "2", "--out", "file/below"), IN_THE_WAY),
        (("mdp", "simulate", "--report", "file/below"), IN_THE_WAY),
        (("mdp", "compare", "--report", "file/below"), IN_THE_WAY),
        (("mdp", "problems", "--figures", "file/below"), IN_THE_WAY),
        (("study", "power", "burger", "--out", "file/below"), IN_THE_WAY),
        (("study", "calibrate", "--out", "file/below"), IN_THE_WAY),
        (("study", "analyse", "burger", "--out", "file/below"), IN_THE_WAY),
        (("study", "export", "burger", "--out", "file/below"), IN_THE_WAY),
        (("study", "serve", "burger", "--port", "0", "--report", "file/below"), IN_THE_WAY),
        (("study", "serve", "burger", "--port", "0", "--docs", "file/below"), IN_THE_WAY),
        (("report", "nowhere"), "The folder 'nowhere' is not there"),
        (("report", "file"), "The folder 'file' is a file"),
        (("report", "empty"), "'empty' holds no results"),
        (("study", "analyse", "nowhere/export"), "The folder 'nowhere/export' is not there"),
        (("study", "new", "tea", "--out", "nowhere/tea.toml"), "The folder 'nowhere' for the file 'tea.toml' is not"),
        (("study", "new", "tea", "--out", "empty"), "'empty' is a folder; the name of a file is needed."),
        (("study", "plan", "burger", "--out", "nowhere/plan.toml"), "The folder 'nowhere' for the file 'plan.toml'"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_a_wrong_folder_is_told(run, place, words, sentence):
    before = sorted(place.rglob("*"))
    done = run(*words)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith(f"Error: {sentence}")
    assert sorted(place.rglob("*")) == before


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", *SMALL, "--out", "new/deep/runs.parquet"),
        ("compare", "--team", "naive-ucb", *SMALL, "--figure", "new/deep/teams.svg"),
    ],
    ids=["out", "figure"],
)
def test_files_create_the_folder_they_are_in(run, place, words):
    assert run(*words).exit_code == 0
    assert (place / words[-1]).is_file()
    blocked = run(*words[:-1], f"file/below/{words[-1].rpartition('/')[2]}")
    assert blocked.exit_code == 2
    assert IN_THE_WAY in " ".join(blocked.output.split())
