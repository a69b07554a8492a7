"""Without optional parts: each command names all that it lacks, before any work, or does without them."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from cobandit.cli import command_tree
from tests.parameters import quick

MODULES = {
    "dask": ["dask", "distributed"],
    "fast": ["numba", "llvmlite"],
    "gymnasium": ["gymnasium"],
    "parquet": ["pyarrow"],
    "pettingzoo": ["pettingzoo"],
    "plot": ["matplotlib"],
    "robot": ["mujoco"],
    "ros": ["roslibpy"],
    "spss": ["pyreadstat"],
    "stats": ["scipy", "statsmodels", "pandas"],
    "web": ["alembic", "fastapi", "httptools", "httpx", "jinja2", "psycopg", "sqlalchemy", "uvicorn", "uvloop"],
    "xarray": ["xarray"],
}
EVERYTHING = [name for names in MODULES.values() for name in names]

# Whatever works needs NumPy, so a command that has not imported it has not begun. Commands are run in forks of a
# process that has refused a value already, because loading the program takes longer than refusing.
BLIND = """
import contextlib, io, json, os, sys
from importlib.machinery import PathFinder
hidden = set(sys.argv[1].split(","))
class Blind(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else super().find_spec(name, path, target)
sys.meta_path[sys.meta_path.index(PathFinder)] = Blind
from cobandit.cli import main
sys.argv[1:] = ["agents", "--format", "none"]
with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
    main()
assert "numpy" not in sys.modules
for line in sys.stdin:
    order = json.loads(line)
    if (child := os.fork()) == 0:
        for number, flags in enumerate((os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)):
            os.dup2(os.open(order["files"][number], flags), number)
        sys.stdin = open(0, closefd=False)
        os.chdir(order["folder"])
        hidden = set(order["hidden"])
        sys.argv[1:] = order["words"]
        try:
            main()
        finally:
            print("It has begun." if "numpy" in sys.modules else "It has not begun.", file=sys.stderr)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

SMALL = "--horizon 5 --runs 2"
LACKING = {
    "simulate --out runs.parquet": ["parquet"],
    "simulate --out runs.parquet --engine fast": ["fast", "parquet"],
    "compare --figure teams.svg": ["plot"],
    "compare --figure teams.svg --engine fast": ["fast", "plot"],
    "reproduce sim4": ["parquet", "plot"],
    "reproduce sim4 --engine dask": ["dask", "parquet", "plot"],
    "sweep tiny.toml": ["parquet", "plot"],
    "sweep tiny.toml --engine dask": ["dask", "parquet", "plot"],
    "arena": ["parquet", "plot"],
    "arena --engine dask": ["dask", "parquet", "plot"],
    "mdp simulate --out runs.parquet --report results": ["parquet", "plot"],
    "mdp compare --report results --engine fast": ["fast", "plot"],
    "mdp problems --figures pictures": ["plot"],
    "report results": ["parquet", "plot"],
    "robot demo --out burger.mp4": ["robot"],
    "robot check": ["robot"],
    "robot check --driver rosbridge --url ws://127.0.0.1:1": ["ros"],
    "study plan burger --set plan.toml": ["web"],
    "study plan burger --version 1": ["web"],
    "study plan burger --database sqlite:///mine.sqlite": ["web"],
    "study serve burger": ["web"],
    "study serve burger --robot rosbridge --robot-url ws://127.0.0.1:1": ["ros", "web"],
    "study simulate burger": ["web"],
    "study analyse burger": ["plot", "stats", "web"],
    "study analyse csv-export": ["plot", "stats"],
    "study analyse parquet-export": ["parquet", "plot", "stats"],
    "study fit burger": ["plot", "stats", "web"],
    "study fit parquet-export": ["parquet", "plot", "stats"],
    "study export burger": ["web"],
    "study export burger --format sav": ["spss", "web"],
    "study export burger --format parquet": ["parquet", "web"],
    "study export burger --format parquet --url http://127.0.0.1:1": ["web"],
    "study verify burger": ["web"],
    "study delete-participant burger --rehearsals": ["web"],
    "study remove-participant burger p-nobody --reason late": ["web"],
    "study restore-participant burger p-nobody": ["web"],
    "study list": ["web"],
    "study accounts list": ["web"],
    "study accounts add anna": ["web"],
    "study accounts remove anna": ["web"],
    "study accounts reset anna": ["web"],
    "partner serve": ["web"],
    "partner keys list": ["web"],
    "partner keys add app": ["web"],
    "partner keys revoke 3f9a0c1b2d4e": ["web"],
    "study state burger": ["web"],
    "study teams burger-pair": ["web"],
    "study message burger hello": ["web"],
    "study restore copy.zip": ["web"],
    "study backup copies": ["web"],
    "study log": ["web"],
    "study services burger": ["web"],
    "watch": ["plot"],
    "study power burger": ["stats"],
    "study power burger --out power": ["plot", "stats"],
    "study calibrate": ["stats"],
    "study calibrate --out calibration": ["plot", "stats"],
}
FREE = {
    f"simulate {SMALL}": "reference engine",
    f"compare {SMALL}": "reference engine",
    "mdp simulate --episodes 2 --runs 2": "reference engine",
    "mdp compare --episodes 2 --runs 2": "reference engine",
    "mdp problems": "burger-line",
    "play --rounds 1 --seed 0": "Round 1",
    "agents": "partner-aware-ucb",
    "bound": "horizon",
    "study new tea": "study check tea.toml",
    "study check burger": "The design is fine.",
    "study plan burger": "--set burger-plan.toml",
    "study schema": "cobandit study design",
    "llm usage": "No calls yet.",
}
REMOTE = ("llm check", "llm demo")
"""Commands that call or serve an endpoint with the standard library alone; `test_llm` runs them."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where nothing is but two exports, as far as a command must look at them."""
    for format in ("csv", "parquet"):
        (tmp_path / f"{format}-export").mkdir()
        (tmp_path / f"{format}-export" / "study.json").write_text(json.dumps({"format": format}), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COBANDIT_DATABASE", raising=False)
    return tmp_path


class Answer(NamedTuple):
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(scope="module")
def forks(plain_environment: Callable[[], dict[str, str]]) -> Iterator[subprocess.Popen[str]]:
    """A process that has nothing but the program in memory, and runs commands of it."""
    command = [sys.executable, "-c", BLIND, ",".join(EVERYTHING)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=plain_environment()) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def run(forks: subprocess.Popen[str], folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Answer]:
    """Runs a command where some modules are not to be found."""

    def run(words: str, hidden: list[str] = EVERYTHING, typed: str = "") -> Answer:
        assert forks.stdin is not None
        assert forks.stdout is not None
        files = [tmp_path_factory.mktemp("streams") / name for name in ("stdin", "stdout", "stderr")]
        for file in files:
            file.write_text(typed if file.name == "stdin" else "", encoding="utf-8")
        order = {"words": shlex.split(words), "hidden": hidden, "folder": str(folder), "files": list(map(str, files))}
        forks.stdin.write(json.dumps(order) + "\n")
        forks.stdin.flush()
        return Answer(int(forks.stdout.readline()), *(file.read_text(encoding="utf-8") for file in files[1:]))

    return run


def named(extras: list[str]) -> str:
    *first, last = map(repr, extras)
    words = f"extras {', '.join(first)} and {last}" if first else f"extra {last}"
    return f" needs the {words}: pip install 'cobandit[{','.join(extras)}]'\n"


SOME = [words for place, words in enumerate(LACKING) if place % 4 == 0 or words.startswith(("study analyse", "robot"))]
"""What `make test` tries: every extra, every group of commands."""

NUMBERS = ("study plan burger --version 1",)
"""Commands that load NumPy before they look for extras: the library's own checks read their numbers."""


@pytest.mark.parametrize("words", quick(LACKING, SOME))
def test_all_that_is_lacking_is_told_before_any_work(words, run, folder):
    before = sorted(folder.rglob("*"))
    done = run(words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    begun = "It has begun.\n" if words in NUMBERS else "It has not begun.\n"
    assert done.stderr.endswith(named(LACKING[words]) + begun)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("words", FREE)
def test_what_needs_no_extra_runs_without_any(words, run, folder):
    done = run(words, typed="1\n")
    assert done.returncode == 0, done.stderr
    assert FREE[words] in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "hidden", "extra"),
    [
        ("sweep tiny.toml --engine dask", "matplotlib", "plot"),
        ("sweep tiny.toml --engine dask", "distributed", "dask"),
        ("study power burger --out power", "statsmodels", "stats"),
        ("study serve burger", "psycopg", "web"),
        ("study serve burger", "uvicorn", "web"),
    ],
)
def test_what_is_there_is_not_asked_for(words, hidden, extra, run, folder):
    done = run(words, [hidden])
    assert done.returncode == 2
    assert done.stderr.endswith(named([extra]) + "It has not begun.\n")


def test_a_plan_is_not_made_up_where_one_may_be_stored(run, folder):
    (folder / "studies.sqlite").touch()
    done = run("study plan burger", ["sqlalchemy"])
    assert done.returncode == 2
    assert done.stderr.endswith(named(["web"]) + "It has not begun.\n")
    assert not (folder / "burger-plan.toml").exists()


def test_an_analysis_without_figures_says_so_first(run, folder):
    done = run("study analyse csv-export", ["matplotlib"])
    assert done.stderr.startswith("No report will be drawn: Drawing figures" + named(["plot"]))


def test_every_command_is_here():
    def flattened(commands, before=""):
        for name, command in commands.items():
            inner = getattr(command, "commands", None)
            yield from [before + name] if inner is None else flattened(inner, f"{before}{name} ")

    tried = [*LACKING, *FREE, *REMOTE]
    commands = list(flattened(command_tree().commands))
    assert [name for name in commands if not any(f"{words} ".startswith(f"{name} ") for words in tried)] == []
