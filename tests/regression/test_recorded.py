"""What version 0.1.0 played, every later engine plays, to the last bit; see `record.py` for how it was kept."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cobandit as cb
from cobandit.studies import PEOPLE, StudyDesign
from tests.regression import games, study_cases
from tests.regression.cases import all_cases

HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "recorded.json").read_text())
DESIGNS = {name: StudyDesign.from_dict(data) for name, data in RECORDED["designs"].items()}
CASES = all_cases(DESIGNS)
UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
SOME = 1 if os.environ.get("COBANDIT_EVERY_CASE") else 10
"""One small case in so many is played without the compiler, which takes its time; all of them if asked for.

The reference engine plays every one, and `tests/equivalence` holds the others to it.
"""
EVERY = 30
"""One small case in so many is played by compiled code, too: each set of kinds takes seconds to compile.

`make test` plays every second one of them, `make long` the others.
"""


def ways(number, case):
    """How a case is played in this process: small ones by the reference engine and by kinds without the compiler.

    `test_small_cases_without_the_compiler` plays the latter in a process of its own.
    """
    small = any(engine == "reference" for engine, _ in case.ways)
    if UNCOMPILED:
        return [("fast", threads) for engine, threads in case.ways if small and engine == "fast" and number % SOME == 0]
    return [way for way in case.ways if not small or way[0] == "reference" or number % EVERY == 0]


LONG = {
    "in step: 2x2 companion",
    "in step: 2x2 with one companion",
    "in step: 2x2x2",
    "in step: 2x2x2x2 corners",
    "in step: 2x4 roles 1,0",
    "in step: 4x4 companion",
    "short casino, agents",
}
"""Cases with compiled code of their own, of indices and numbers of arms that other cases have, too."""


def marks(number, case, engine):
    """The other half of what is compiled for small cases alone takes long."""
    small = any(known == "reference" for known, _ in case.ways)
    later = small and engine == "fast" and not UNCOMPILED and number % (2 * EVERY)
    return [pytest.mark.long] if later or case.name in LONG else []


PLAYED = [
    pytest.param(case, engine, threads, id=f"{case.name} - {engine} {threads}", marks=marks(number, case, engine))
    for number, case in enumerate(CASES)
    for engine, threads in ways(number, case)
]


def test_every_case_is_recorded_once() -> None:
    assert [case.name for case in CASES] == list(RECORDED["cases"])
    assert len(CASES) >= 200


def test_every_recorded_agent_is_registered_and_every_person_is_recorded() -> None:
    assert set(games.OPTIONS) | set(PEOPLE) <= set(cb.AGENTS)
    assert {name for name, _ in study_cases.PEOPLE} == set(PEOPLE)


@pytest.mark.parametrize(("case", "engine", "threads"), PLAYED)
def test_what_was_recorded_is_played_again(case, engine, threads) -> None:
    kept = RECORDED["cases"][case.name]
    made = case.play(engine, threads)
    assert made.shown == kept["shown"]  # the readable part first: it tells more than a digest
    digests = made.digests()
    left_out = {part for part in kept["sha256"] if part.startswith("practice: ")} if engine == "fast" else set()
    assert digests == {part: digest for part, digest in kept["sha256"].items() if part not in left_out}


@pytest.mark.long
@pytest.mark.skipif(UNCOMPILED, reason="this is that process")
def test_small_cases_without_the_compiler() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(Path(__file__))]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=HERE.parent.parent, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
