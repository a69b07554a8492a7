"""``cobandit mdp`` and ``cobandit play --problem``."""

from __future__ import annotations

import json

import pytest

SMALL = "--episodes 10 --runs 2 --engine reference"


def test_simulate(run):
    done = run(*f"mdp simulate --problem chain --set agents=3 --window 2 {SMALL} --format json".split())
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["team"]["window"] == 2
    assert told["problem"]["dynamics"]["agents"] == 3
    assert told["horizon"] == 40


def test_compare_and_report(run, tmp_path):
    teams = "--team partner-aware-ucbvi --team naive-ucbvi+very-naive-ucbvi"
    done = run(*f"mdp compare {teams} {SMALL} --report {tmp_path}".split())
    assert done.exit_code == 0, done.output
    assert "naive-ucbvi + very-naive-ucbvi" in done.output
    page = (tmp_path / "report.html").read_text()
    for words in ("Visits of states over time", "Where runs stick", "growth"):
        assert words in page


def test_problems_are_listed_and_drawn(run, tmp_path):
    done = run(*f"mdp problems --figures {tmp_path}".split())
    assert done.exit_code == 0, done.output
    names = ("chain", "delayed-chain", "burger-line", "box-push", "same-door", "random")
    assert sorted(path.stem for path in tmp_path.glob("*.svg")) == sorted(names)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("mdp simulate --problem burgerline", "Did you mean 'burger-line'"),
        ("mdp simulate --set stps=3", "Did you mean 'steps'"),
        ("mdp simulate --team naive-ucb", "Did you mean 'naive-ucbvi'"),
        ("mdp compare --team optimal+centralised-ucbvi", "chooses for the whole team"),
        ("play --problem chain --arms 2,2", "cannot be combined with --problem"),
        ("play --problem chain --partner centralised-ucbvi", "chooses for the whole team"),
    ],
)
def test_refusals(run, command, words):
    done = run(*f"{command}".split())
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())


def test_play_step_by_step(run, tmp_path):
    target = tmp_path / "steps.csv"
    words = ("play", "--problem", "burger-line", "--rounds", "2", "--seed", "4", "--save", str(target))
    done = run(*words, stdin="patty\n1\nx\n0\ncheese\n")
    assert done.exit_code == 0, done.output
    assert "bun, patty+" in done.output
    assert "'x' is none of your arms" in done.output
    assert "The best way through an episode" in done.output
    assert len(target.read_text().splitlines()) == 5
