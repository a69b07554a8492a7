"""Commands whose output is recorded: simulations, the paper's panels, studies on paper, power, analyses."""

from __future__ import annotations

import csv
import json
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .doors import Names, Printed, command, csv_columns, program, visible, worked
from .world import FIXTURES, STUDIES, table

SMALL = ("--horizon", "40", "--runs", "3", "--seed", "11", "--engine", "reference")


@dataclass(frozen=True)
class Command:
    """A command in a folder with some files in it; what is kept is what it prints and, if told, what it writes."""

    name: str
    words: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()
    stdin: str = ""
    written: tuple[str, ...] = ()
    own_process: bool = False
    fails: bool = False

    def run(self, folder: Path) -> Any:
        """What came out, in a form that can be compared."""
        for name, text in self.files:
            (folder / name).write_text(text, encoding="utf-8")
        done = (program if self.own_process else command)(*self.words, folder=folder, stdin=self.stdin)
        if self.fails != (done.code != 0):
            raise RuntimeError(f"{self.name} ended with {done.code}: {done.err[-2000:]}")
        made: dict[str, Any] = {"code": done.code, "out": csv_columns(done.out) if "csv" in self.words else _out(done)}
        if self.fails:
            made["err"] = done.err
        for pattern in self.written:
            for file in sorted(folder.glob(pattern)):
                made[file.relative_to(folder).as_posix()] = written(file)
        return Names().settled(made)


def _out(done: Printed) -> Any:
    try:
        return json.loads(done.out)
    except ValueError:
        return done.out.splitlines()


def written(file: Path) -> Any:
    """A file that a command has written, as a value."""
    if file.suffix == ".parquet":
        return table(file)
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".html":
        return visible(text)
    readers: dict[str, Callable[[str], Any]] = {".json": json.loads, ".csv": csv_columns}
    return readers.get(file.suffix, str.splitlines)(text)


def _simulations() -> list[Command]:
    teams: dict[str, tuple[str, ...]] = {
        "default": (),
        "naive UCB": ("--team", "naive-ucb", "--index", "anytime"),
        "mixed": ("--team", "knowledge-gradient", "--team", "partner-aware-ts", "--window", "3"),
        "three agents": ("--team", "partner-aware-ucb", "--means", "corners", "--arms", "2,2,2"),
        "three by three": ("--team", "partner-aware-ucb", "--means", "local-optima", "--arms", "3,3", "--repeat", "2"),
        "random means": ("--team", "naive-ts", "--means", "random", "--arms", "2,4", "--roles", "random"),
        "Gaussian": ("--team", "mucb-intervals", "--reward", "gaussian", "--sd", "0.2"),
        "flipped": ("--team", "very-naive-ucb", "--observation", "flipped", "--observability", "0.9,0.6"),
        "people": ("--team", "softmax", "--team", "win-stay-lose-shift", "--option", "temperature=0.3"),
        "one brain": ("--team", "centralised-ucb", "--weights", "0.3,0.7"),
    }
    made = [
        Command(f"simulate {name} {format}", ("simulate", *words, *SMALL, "--checkpoints", "4", "--format", format))
        for name, words in teams.items()
        for format in ("json", "csv", "table")[: 3 if name in ("default", "mixed") else 1]
    ]
    stored = ("simulate", *SMALL, "--checkpoints", "5", "--out", "runs.parquet")
    made.append(Command("simulate into a file", stored, written=("runs.parquet",)))
    two = ("--team", "naive-ucb", "--team", "partner-aware-ucb+naive-ts", "--team", "optimal")
    for regret in ("task", "team"):
        for format in ("json", "csv", "table"):
            words = ("compare", *two, *SMALL, "--regret", regret, "--format", format)
            made.append(Command(f"compare {regret} {format}", words))
    made.append(
        Command("compare 3 x 2", ("compare", "--arms", "3,2", "--means", "random", *two, *SMALL, "--format", "json"))
    )
    made.append(
        Command("compiled", ("simulate", "--horizon", "200", "--runs", "20", "--seed", "4", "--format", "json"))
    )
    for name, asked in {
        "paper": ("--horizon", "2000,1000000"),
        "3 x 2": ("--means", "[[.8,.4],[.2,.6],[.5,.5]]", "--observability", "1,0.3", "--horizon", "500"),
    }.items():
        made.append(Command(f"bound {name}", ("bound", *asked, "--format", "json")))
    return made


def _games() -> list[Command]:
    typed = {
        "burger": (
            ("--rounds", "6", "--seed", "3", "--labels", "patty,cheese;tomato,lettuce"),
            "patty\n1\ncheese\n0\n1\n0\n",
        ),
        "three arms": (("--rounds", "4", "--seed", "5", "--arms", "3,3", "--means", "local-optima"), "0\n1\n2\n9\n2\n"),
        "two partners": (("--rounds", "3", "--seed", "8", "--arms", "2,2,2", "--means", "corners"), "0\n1\n1\n"),
    }
    return [
        Command(f"play {name}", ("play", *words, "--save", "rounds.csv"), stdin=keys, written=("rounds.csv",))
        for name, (words, keys) in typed.items()
    ]


def _panels() -> list[Command]:
    few = ("--runs", "3", "--horizon", "60", "--seed", "2", "--workers", "1", "--json", "--out", "out")
    kept = ("out/report.html", "out/chunks/**/*.parquet")
    panels = ("sim1-left", "sim3-right", "other-envs-left")
    made = Command("reproduce three panels", ("reproduce", *panels, *few), written=kept, own_process=True)
    sweep = """name = "small"
title = "Windows"
horizon = 50
runs = 3
seed = 1
[problem]
means = [[0.8, 0.4], [0.2, 0.6]]
observability = [1.0, 0.5]
[[team]]
name = "aware"
label = "Aware"
agent = "partner-aware-ucb"
[grid]
window = [1, 5]
[[claim]]
kind = "beats"
better = "aware-window-1"
others = ["aware-window-5"]
text = "A short window is better."
"""
    words = ("sweep", "small.toml", "--workers", "1", "--json", "--out", "out")
    return [made, Command("sweep", words, (("small.toml", sweep),), written=kept, own_process=True)]


def _own_plan(study: str) -> str:
    """A plan of one's own: every test, every exclusion, one expectation with a side."""
    one, other = ("naive", "aware") if study == "three-by-three" else ("naive-ucb", "partner-aware-ucb")
    quiz = "" if study == "three-by-three" else "attention_failed = true\nquiz_attempts = 3\n"
    tests = [
        ("A", "task_regret", "wilcoxon", [other, one], 'direction = "less"\none_sided = true\nfamily = "A"'),
        ("B", "team_regret", "paired-t", [other, one], 'direction = "less"\nfamily = "A"'),
        ("C", "good", "rm-anova", [other, one], 'family = "B"'),
        ("D", "survey-score", "paired-t", [one, other], 'family = "B"'),
        ("E", "survey:easy", "wilcoxon", [one, other], 'family = "C"'),
    ]
    if study != "three-by-three":
        tests.append(("F", "good", "welch", [one], 'group = "ai_researcher"\ngroups = ["Yes", "No"]\nfamily = "D"'))
    made = [f'study = "{study}"\nalpha = 0.1\nn = 12\nnotes = "Of our own."\n']
    made.append(f"[exclusions]\nunfinished = true\n{quiz}fastest_ms = 150\n")
    for name, measure, test, compares, more in tests:
        made.append(
            f'[[hypotheses]]\nid = "{name}"\ntext = "Hypothesis {name}."\nmeasure = "{measure}"\ntest = "{test}"\n'
            f"compares = {json.dumps(compares)}\n{more}\n"
        )
    return "\n".join(made)


def _on_paper() -> list[Command]:
    made = []
    burger, three = (
        (name, (FIXTURES / name).read_text(encoding="utf-8")) for name in ("burger.toml", "three-by-three.toml")
    )
    for study in ("burger", "casino", "three-by-three"):
        design = study if study == "casino" else f"{study}.toml"
        files = (burger, three)
        made.append(Command(f"study check {study} as JSON", ("study", "check", design, "--json"), files))
        if study != "casino":  # which takes its time: one rehearsal has 51,000 rounds
            made.append(Command(f"study check {study}", ("study", "check", design), files))
        plan = ("study", "plan", design, "--n", "30", "--out", "plan.toml")
        made.append(Command(f"study plan {study}", plan, files, written=("plan.toml",)))
        new = ("study", "new", "lunch", "--from", study)
        made.append(Command(f"study new from {study}", new, written=("lunch.toml",)))
    casino = (FIXTURES / "small-casino.toml").read_text(encoding="utf-8")
    for study in STUDIES:
        design = f"{study}.toml"
        given = (burger, three, ("small-casino.toml", casino), ("own.toml", _own_plan(study)))
        few = ("--participants", "4,8", "--simulations", "6", "--seed", "3", "--threads", "1", "--json")
        made.append(Command(f"study power {study}", ("study", "power", design, *few), given))
        if study == "small-casino":
            continue
        mix = ("--behaviour", "softmax:0.7,knowledge-gradient:0.3", "--behaviour", "softmax(memory=4)")
        words = ("study", "power", design, *few, *mix, "--plan", "own.toml")
        made.append(Command(f"study power {study}, own plan", words, given))
    few = ("--participants", "5", "--simulations", "2", "--seed", "1", "--threads", "1", "--json")
    made.append(Command("study calibrate burger", ("study", "calibrate", "burger", *few)))
    return made


def _refusals() -> list[Command]:
    wrong: dict[str, tuple[str, ...]] = {
        "an unknown agent": ("simulate", "--team", "oracle-of-delphi"),
        "an unknown panel": ("reproduce", "sim9-top"),
        "means that are no matrix": ("simulate", "--means", "[[1,2"),
        "an unknown design": ("study", "check", "breakfast"),
        "no database": ("study", "export", "burger"),
        "a bound for three": (
            "bound",
            "--means",
            "[[[.9,.1],[.2,.3]],[[.4,.5],[.6,.7]]]",
            "--observability",
            "1,.5,.5",
        ),
        "no export": ("study", "analyse", "nowhere"),
        "no horizon": ("compare", "--horizon", "0"),
    }
    return [Command(f"refused: {name}", words, fails=True) for name, words in wrong.items()]


def unpack(folder: Path) -> Path:
    """The exports of layout 1, which stay as they are for ever."""
    with tarfile.open(FIXTURES / "exports.tar.gz") as packed:
        packed.extractall(folder, filter="data")
    return folder / "exports"


@dataclass(frozen=True)
class Analysis:
    """``cobandit study analyse`` on an export of layout 1.

    ``people``: on the first so many participants alone. ``drawn``: with figures and the report, which take their time.
    """

    name: str
    export: str
    plan: str = ""
    people: int = 0
    drawn: bool = False

    def run(self, folder: Path) -> Any:
        """The files that the analysis writes; its JSON on the command line must be the one in the folder."""
        export = unpack(folder) / self.export
        words = ["study", "analyse", f"exports/{self.export}", "--out", "out", "--json"]
        if self.plan:
            (folder / "own.toml").write_text(self.plan, encoding="utf-8")
            words += ["--plan", "own.toml"]
        if self.people:
            _fewer(export, self.people)
            words.append("--changed")
        done = worked(command(*words, folder=folder, plots=self.drawn))
        kept = [file for file in sorted((folder / "out").iterdir()) if file.is_file() and file.suffix != ".html"]
        made = {file.name: written(file) for file in kept}
        if json.loads(done.out) != made["results.json"]:
            raise RuntimeError(f"{self.name}: what is printed is not what is written.")
        if self.drawn:
            made["report.html"] = written(folder / "out" / "report.html")
            made["figures"] = sorted(file.name for file in (folder / "out" / "figures").iterdir())
        return Names().settled(made)


def _fewer(export: Path, people: int) -> None:
    """Keep the first participants of an export."""
    with (export / "wide.csv").open(encoding="utf-8", newline="") as file:
        kept = {row["participant"] for row in list(csv.DictReader(file))[:people]}
    for name in ("long", "wide", "survey", "events"):
        path = export / f"{name}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
        place = header.index("participant")
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *(row for row in rows if row[place] in kept)])


def analyses() -> list[Analysis]:
    """Every study with people and simulated people, other plans, fewer people, the other format."""
    made = [
        Analysis(f"analyse {study} {kind}", f"{study}-{kind}-csv", drawn=kind == "real")
        for study in STUDIES
        for kind in ("real", "rehearsal")
    ]
    made += [
        Analysis(f"analyse {study} by a plan of one's own", f"{study}-real-csv", _own_plan(study)) for study in STUDIES
    ]
    everybody = _own_plan("burger").replace("unfinished = true", "unfinished = false").replace("fastest_ms = 150\n", "")
    made.append(Analysis("analyse burger, the unfinished too", "burger-real-csv", everybody))
    made += [
        Analysis("analyse burger with 4 people", "burger-rehearsal-csv", people=4),
        Analysis("analyse small-casino with 6 people", "small-casino-real-csv", people=6),
        Analysis("analyse three-by-three with 9 people", "three-by-three-real-csv", people=9),
        Analysis("analyse small-casino from Parquet", "small-casino-real-parquet"),
    ]
    return made


def commands() -> list[Command]:
    """Every recorded command but the analyses."""
    return [*_simulations(), *_games(), *_panels(), *_on_paper(), *_refusals()]
