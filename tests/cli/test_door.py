"""The way in and out of every command: help at once, errors as one line, exit codes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cobandit
from cobandit.cli import command_tree
from cobandit.engine import result, simulation

HEAVY = ("numpy", "numba", "matplotlib", "pyarrow", "rich", "cobandit.engine", "cobandit.agents")


def refuse(error: BaseException):
    def refused(*args: object, **kwargs: object) -> None:
        raise error

    return refused


@pytest.mark.parametrize("words", ["--help", "--version"])
def test_nothing_heavy_is_imported_for(words, program):
    code = (
        "import sys, cobandit.cli\n"
        f"sys.argv = ['cobandit', {words!r}]\n"
        "try:\n    cobandit.cli.main()\n"
        f"finally:\n    print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = program(code=code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("HEAVY []\n")


def _commands(group, *before):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, *before, name)
        else:
            yield (*before, name), command


COMMANDS = dict(_commands(command_tree()))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_tells_what_a_command_takes(words, run):
    """Arguments as well as options, and without signs that only rich would understand."""
    lines = run(*words, "--help").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    shown = "".join("".join(lines).split())  # lines are broken at hyphens, too
    for param in COMMANDS[words].params:
        assert param.help
        # What is said of an agent's option comes from the agents, when somebody asks.
        assert param.help == "(see cobandit agents)" or "".join(param.help.split()) in shown
    assert "\\[" not in shown


def test_version(run):
    assert run("--version").stdout == f"cobandit {cobandit.__version__}\n"


WRONG = {
    "no such agent": ("simulate", "--team", "partner-aware-ubc", "Did you mean 'partner-aware-ucb'?"),
    "the same option twice": ("simulate", "--window", "3", "--option", "window=4", "window must be given once"),
    "a setting without a value": ("simulate", "--option", "prior_sd", "must be name=value"),
    "window 0": ("simulate", "--window", "0", "window must be an integer of at least 1"),
    "horizon 0": ("simulate", "--horizon", "0", "horizon must be"),
    "no runs": ("simulate", "--runs", "0", "runs must be"),
    "no such engine": ("simulate", "--engine", "fats", "Did you mean 'fast'?"),
    "no such format": ("simulate", "--format", "jsn", "Did you mean 'json'?"),
    "checkpoints out of order": ("simulate", "--checkpoints", "5,3", "ascending"),
    "sizes that cannot fit": ("simulate", "--means", "random", "--arms", "16384,16384", "GiB"),
    "a missing comma in the means": ("simulate", "--means", "[[.8,.4][.2,.6]]", 'such as "[[.8,.4],[.2,.6]]"'),
    "an unclosed bracket": ("simulate", "--means", "[[.8,.4],[.2,.6]", "'[[.8,.4],[.2,.6]'; a matrix"),
    "a number for means": ("simulate", "--means", ".5", "a matrix with one level of brackets per agent"),
    "code for means": ("simulate", "--means", "[__import__('os').getcwd()]", "a matrix with one level"),
    "a misspelt name of means": ("simulate", "--means", "randm", "Did you mean 'random'?"),
    "means nested too deeply": ("simulate", "--means", "[" * 9999, "a matrix with one level"),
    "arms in words": ("simulate", "--means", "random", "--arms", "two", "such as 2,2"),
    "uneven local optima": ("simulate", "--means", "local-optima", "--arms", "2,3", "must be K,K"),
    "corners with three arms": ("simulate", "--means", "corners", "--arms", "2,3", "must be 2 for each agent"),
    "observability in words": ("simulate", "--observability", "good,bad", "such as 1,0.5"),
    "no such observation": ("simulate", "--observation", "mised", "Did you mean 'missed'?"),
    "noise for three, unsaid": (
        *("simulate", "--reward", "gaussian", "--means", "random", "--arms", "2,2,2"),
        "--noise must be given for 3 agents, such as --noise 0.1,0.1,0.1",
    ),
    "no such reward": ("simulate", "--reward", "gausian", "Did you mean 'gaussian'?"),
    "spread of Bernoulli rewards": ("simulate", "--sd", "0.3", "--reward gaussian"),
    "no such roles": ("simulate", "--roles", "randm", "Did you mean 'random'?"),
    "another kind of file": ("simulate", "--out", "runs.csv", "ends in .parquet"),
    "another kind of figure": ("compare", "--figure", "teams.gif", ".svg, .png, .pdf"),
    "a team of the wrong size to compare": ("compare", "--team", "naive-ucb+naive-ucb+naive-ts", "has 3 agents"),
    "no such regret": ("compare", "--regret", "taks", "Did you mean 'task'?"),
    "no such agent to list": ("agents", "mdse", "Did you mean 'mdsee'?"),
    "no CSV of agents": ("agents", "--format", "csv", "text, json"),
    "a bound for random means": ("bound", "--means", "random", "random or drifting means"),
    "a bound for words": ("bound", "--horizon", "long", "such as 1000,2000"),
    "no CSV of bounds": ("bound", "--format", "csv", "text, json"),
    "a brain for all as partner": ("play", "--partner", "centralised-ucb", "cannot be the partner of a person"),
    "no such partner": ("play", "--partner", "naive", "Did you mean"),
    "labels for one": ("play", "--labels", "a,b", "'name,name;name,name'"),
    "an empty label": ("play", "--labels", "a,;c,d", "names for all arms"),
    "the same label twice": ("play", "--labels", "a,A;c,d", "same name twice"),
    "a label that means stop": ("play", "--labels", "p,q;c,d", "'q' for your arm 1"),
    "a label that is another arm's number": ("play", "--labels", "1,0;c,d", "'1' for your arm 0"),
    "another kind of file to save": ("play", "--save", "game.txt", "ends in .csv"),
    "a folder to save that is not there": ("play", "--save", "nowhere/game.csv", "can be written to"),
}


@pytest.mark.parametrize("words", WRONG.values(), ids=WRONG)
def test_wrong_input_gets_one_line_and_2(words, run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    *command, message = words
    refused = run(*command)
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert refused.stderr.startswith("Error: ")
    assert refused.stderr.count("\n") == 1
    assert message in refused.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("simulate", "--bogus"), "No such option"),
        (("simulate", "--team"), "requires an argument"),
        (("simlate",), "Did you mean 'simulate'?"),
        (("agents", "mdsee", "optimal"), "unexpected extra argument"),
    ],
)
def test_wrong_usage_gets_2(words, message, run):
    refused = run(*words)
    assert refused.exit_code == 2
    assert message in refused.stderr
    assert refused.stdout == ""


def test_no_traceback_from_the_program(program):
    refused = program("simulate", "--team", "nobody")
    assert refused.returncode == 2
    assert refused.stderr.startswith("Error: There is no agent 'nobody'.")
    assert "Traceback" not in refused.stderr
    assert refused.stdout == ""


class TestWhatTheSystemRefuses:
    def test_a_full_disk(self, run, monkeypatch, tmp_path):
        full = OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "runs.parquet"))
        monkeypatch.setattr(result.Result, "save", refuse(full))
        refused = run("simulate", "--engine", "reference", "--runs", "1", "--horizon", "5", "--out", full.filename)
        assert refused.exit_code == 2
        assert refused.stderr == f"Error: No space left on device: {full.filename!r}.\n"
        assert refused.stdout == ""

    def test_a_full_memory(self, run, monkeypatch):
        monkeypatch.setattr(simulation, "simulate", refuse(MemoryError()))
        refused = run("simulate")
        assert refused.exit_code == 2
        assert refused.stderr.startswith("Error: The memory of this machine is full")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
    def test_a_full_disk_behind_stdout(self, program):
        with open("/dev/full", "w") as full:
            refused = program("agents", "--format", "json", stdout=full)
        assert refused.returncode == 2
        assert refused.stderr == "Error: No space left on device.\n"

    @pytest.mark.parametrize("words", [("agents",), ("agents", "--format", "json"), ("--help",)])
    def test_a_closed_pipe_is_silent(self, words, program):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            stopped = program(*words, stdout=writer)
        finally:
            os.close(writer)
        assert stopped.stderr == ""

    @pytest.mark.skipif(sys.platform == "win32", reason="POSIX shells close streams so")
    def test_a_closed_stdout(self):
        command = f"'{sys.executable}' -m cobandit agents mdsee >&-"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=300, check=False)
        assert (done.returncode, done.stderr) == (0, "")


class TestInterrupted:
    def test_one_line_and_130(self, run, monkeypatch):
        monkeypatch.setattr(simulation, "simulate", refuse(KeyboardInterrupt()))
        stopped = run("simulate", "--format", "json")
        assert stopped.exit_code == 130
        assert stopped.stderr.count("\n") == 1
        assert stopped.stderr.startswith("Interrupted")
        assert stopped.stdout == ""

    @pytest.mark.skipif(sys.platform == "win32", reason="SIGINT to oneself is POSIX")
    def test_a_real_signal(self, program):
        code = (
            "import os, signal, sys\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background jobs ignore it
            "from cobandit.cli import main\n"
            "from cobandit.engine import reference\n"
            "def rounds(match):\n"
            "    os.kill(os.getpid(), signal.SIGINT)\n"
            "    yield from ()\n"
            "reference.Match.rounds = rounds\n"
            "sys.argv[0] = 'cobandit'\n"
            "main()\n"
        )
        stopped = program("simulate", "--engine", "reference", code=code)
        assert stopped.returncode == 130
        assert stopped.stderr.startswith("Interrupted")
        assert "Traceback" not in stopped.stderr
