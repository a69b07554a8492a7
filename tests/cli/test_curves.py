"""Curves on a terminal: drawn where a person looks, and nowhere else."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from cobandit.cli.curves import Curve, drawn_lines
from tests.cli.terminals import read_screen

pty = pytest.importorskip("pty")

BRAILLE = re.compile("[\u2801-\u28ff]")
SHORT = ["--engine", "reference", "--runs", "4", "--horizon", "40"]


def on_terminal(words: list[str], *, columns: int = 100, **environment: str) -> str:
    """Return what a command shows on a terminal, stdout and stderr together."""
    screen, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    variables = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    variables |= {"TERM": "xterm-256color", "PYTHONUTF8": "1"} | environment
    with subprocess.Popen(
        [sys.executable, "-m", "cobandit", *words], stdout=side, stderr=side, env=variables
    ) as started:
        os.close(side)
        text = read_screen(screen).decode(errors="replace")
    assert started.returncode == 0, text
    return text


def test_compare_draws_a_curve_for_each_team():
    shown = on_terminal(["compare", "--team", "naive-ucb", "--team", "partner-aware-ucb", *SHORT])
    drawing = shown[shown.index("task regret, mean of the runs") :]
    assert BRAILLE.search(drawing)
    assert "naive-ucb" in drawing
    assert "partner-aware-ucb" in drawing
    assert "round 1" in drawing
    assert "\x1b[36m" in drawing, "the first curve is cyan"


def test_simulate_draws_mean_and_median_without_colour():
    shown = on_terminal(["simulate", *SHORT], NO_COLOR="1")
    drawing = shown[shown.rindex("task regret\r\n") :]
    assert BRAILLE.search(drawing)
    assert "mean" in drawing
    assert "median" in drawing
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", drawing)


@pytest.mark.parametrize(
    ("words", "columns", "environment"),
    [
        pytest.param(["--no-plot"], 100, {}, id="--no-plot"),
        pytest.param(["--format", "json"], 100, {}, id="json", marks=pytest.mark.long),
        pytest.param([], 50, {}, id="narrow", marks=pytest.mark.long),
        pytest.param([], 100, {"TERM": "dumb"}, id="dumb"),
        pytest.param(
            [], 100, {"PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}, id="no braille", marks=pytest.mark.long
        ),
    ],
)
def test_nothing_is_drawn(words, columns, environment):
    assert not BRAILLE.search(on_terminal(["simulate", *SHORT, *words], columns=columns, **environment))


def test_nothing_is_drawn_into_a_pipe():
    done = subprocess.run(
        [sys.executable, "-m", "cobandit", "simulate", *SHORT], capture_output=True, text=True, check=True
    )
    assert "median" in done.stdout
    assert not BRAILLE.search(done.stdout)


def test_the_drawing_is_true_to_the_numbers():
    rounds = [1, 50, 100]
    lines = [
        line.plain for line in drawn_lines("regret", rounds, [Curve("up", [0, 50, 100]), Curve("flat", [0, 0, 0])], 80)
    ]
    body = [line for line in lines if "┤" in line]
    assert len(body) == 9
    assert body[0].startswith("100.0 ┤")
    assert body[0].endswith(" up")
    assert body[-1].endswith(" flat")
    dots = [[place for place, sign in enumerate(line.partition("┤")[2]) if BRAILLE.match(sign)] for line in body[:-1]]
    middles = [sum(row) / len(row) for row in dots]
    assert middles == sorted(middles, reverse=True), "a rising line: the higher a row, the later its rounds"
    assert all(len(line) <= 80 for line in lines)


def test_labels_of_many_equal_curves_have_a_line_each():
    curves = [Curve(f"team {place}", [0.0, 1.0]) for place in range(12)]
    text = "\n".join(line.plain for line in drawn_lines("regret", [1, 10], curves, 80))
    assert [text.count(f" team {place}\n") for place in range(12)] == [1] * 12


def test_a_team_without_regret_is_drawn_at_zero():
    lines = [line.plain for line in drawn_lines("regret", [1, 10], [Curve("best", [0.0, 0.0])], 80)]
    assert [bool(BRAILLE.search(line)) for line in lines if "┤" in line] == [False] * 8 + [True]


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Rehearse a study on a terminal; return its database and what was shown meanwhile."""
    database = f"sqlite:///{tmp_path_factory.mktemp('rehearsed')}/studies.sqlite"
    return database, on_terminal(["study", "simulate", "burger", "--participants", "2", "--database", database])


def without_styles(shown: str) -> str:
    """Return what was shown without colours and cursor moves."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)


def test_a_rehearsal_shows_progress(rehearsed):
    assert "2/2" in without_styles(rehearsed[1])


@pytest.mark.parametrize(
    ("words", "bar"),
    [
        pytest.param(["verify", "burger"], "2/2", id="verify"),
        pytest.param(
            ["export", "burger", "--kind", "rehearsal", "--out", "FOLDER"], "2/2", id="export", marks=pytest.mark.long
        ),
        pytest.param(["backup", "FOLDER"], "copying and verifying", id="backup", marks=pytest.mark.long),
    ],
)
def test_long_study_commands_show_progress_on_a_terminal_alone(words, bar, rehearsed, tmp_path: Path):
    command = ["study", *(str(tmp_path / "new") if word == "FOLDER" else word for word in words)]
    command += ["--database", rehearsed[0]]
    assert bar in without_styles(on_terminal(command))
    done = subprocess.run([sys.executable, "-m", "cobandit", *command], capture_output=True, text=True)
    assert "━" not in done.stdout + done.stderr
