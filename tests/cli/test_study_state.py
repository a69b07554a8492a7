"""Who may begin a stored study, by the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")

from cobandit.studies import load_design
from cobandit.web.serving import prepare


@pytest.fixture
def stored(tmp_path: Path) -> str:
    address = f"sqlite:///{tmp_path / 'studies.sqlite'}"
    prepare(address, [load_design("three-by-three")], password="correct horse", seed=1, consent_elsewhere=True)
    return address


def test_it_is_said_and_changed_and_written_down(run: Any, stored: str) -> None:
    def state(*words: str) -> Any:
        return run("study", "state", "three-by-three", *words, "--database", stored)

    assert "open: all visitors may begin" in state().output
    assert "open: 0 of 60 places are taken" in state("quota", "--quota", "60").output
    assert json.loads(state("--json").stdout) == {
        "study": "three-by-three", "version": 3, "state": "quota", "quota": 60, "taken": 0,
        "availability": {"code": "open", "word": "Open", "reason": None, "taken": 0},
    }  # fmt: skip
    assert "open (0 of 60)" in run("study", "list", "--database", stored).output
    assert "personal links work" in state("invite-only").output
    assert json.loads(state("closed", "--json").stdout)["quota"] is None
    log = run("study", "log", "--database", stored).output
    for words in ("set a quota for a study", '"quota":60', "let the invited alone begin", "closed a study"):
        assert words in log.replace('": ', '":')


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("opened",), "Did you mean 'open'"),
        (("quota",), "goes with the state 'quota'"),
        (("open", "--quota", "3"), "goes with the state 'quota'"),
        (("quota", "--quota", "none"), "quota must be"),
        (("quota", "--quota", "0"), "quota must be"),
        (("--quota", "3"), "--quota requires the state quota"),
    ],
)
def test_states_that_are_none(run: Any, stored: str, words: tuple[str, ...], said: str) -> None:
    done = run("study", "state", "three-by-three", *words, "--database", stored)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
    assert "open: all visitors" in run("study", "state", "three-by-three", "--database", stored).output
