"""What a shell offers when somebody presses Tab, asked for as shells ask."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from cobandit.cli import app


def offered(*words: str) -> list[str]:
    """What bash would offer for the last word."""
    line = ["cobandit", *words]
    environment = {
        "_COBANDIT_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(line),
        "COMP_CWORD": str(len(line) - 1),
    }
    return CliRunner().invoke(app, [], env=environment, prog_name="cobandit").stdout.split()


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("simulate", "--team", "partner-aware-u"), ["partner-aware-ucb"]),
        (("simulate", "--team", "partner-aware-s"), ["partner-aware-sliding-ucb"]),
        (("watch", "--team", "optim"), ["optimal"]),
        (("compare", "--team", "naive-ucb+partner-aware-u"), ["naive-ucb+partner-aware-ucb"]),
        (("agents", "mds"), ["mdsee"]),
        (("simulate", "--means", "loc"), ["local-optima"]),
        (("reproduce", "sim0"), ["sim0-left", "sim0-right"]),
        (("study", "check", "burger-m"), ["burger-mixed"]),
        (("study", "serve", "burger", "casino-b"), ["casino-between"]),
        (("study", "plan", "three-s"), ["three-seats"]),
        (("study", "new", "tea", "--from", "casino-p"), ["casino-pair"]),
        (("play", "--partner", "cent"), []),
        (("play", "--partner", "mds"), ["mdsee"]),
        (("play", "--problem", "burger"), ["burger-line"]),
        (("arena", "--setting", "casi"), ["casino"]),
        (("arena", "--leader", "row-s"), ["row-softmax"]),
        (("arena", "--follower", "window-2"), ["window-25"]),
        (("reproduce", "mdp-chain"), ["mdp-chain", "mdp-chain-three"]),
        (("mdp", "compare", "--team", "naive-psrl+steered"), ["naive-psrl+steered-ucbvi"]),
    ],
)
def test_names_are_offered(words, names):
    assert offered(*words) == names


def test_what_begins_no_name_offers_nothing():
    assert offered("simulate", "--team", "zzz") == []
