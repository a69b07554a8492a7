"""What was recorded at the doors of the package comes out of them again; `record.py` tells how it was kept."""

from __future__ import annotations

import pytest

import cobandit

from .commands import Analysis, Command, analyses, commands, unpack
from .comparing import as_stored, differences, load
from .doors import Names
from .world import KINDS, STUDIES, World, table

WORLD = {group: load(group) for group in ("http", "pages", "exports")}
COMMANDS, ANALYSES = load("commands"), load("analyses")
DRAWN = "analyse burger real"
"""The analysis whose figures and report `make test` looks at; `make long` looks at those of the other studies."""

EVERYTHING = [case for group in (*WORLD.values(), COMMANDS, ANALYSES) for case in group]


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    """Lived through once; every test looks at a part of it."""
    made = World(tmp_path_factory.mktemp("world"))
    made.live_through()
    return made


def check(case, recorded, made) -> None:
    found = list(differences(recorded, as_stored(made)))
    assert not found, f"{case}: {len(found)} differences\n" + "\n".join(found[:20])


def test_enough_is_recorded() -> None:
    assert len(EVERYTHING) >= 500
    assert [case.name for case in commands()] == list(COMMANDS)
    assert [case.name for case in analyses()] == list(ANALYSES)


def test_no_public_name_is_gone() -> None:
    names = load("names")["cobandit"]
    assert not set(names) - set(cobandit.__all__)
    for name in names:
        assert getattr(cobandit, name) is not None


@pytest.mark.parametrize("case", commands(), ids=lambda case: case.name)
def test_command(case: Command, tmp_path) -> None:
    check(case.name, COMMANDS[case.name], case.run(tmp_path))


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.long) if case.drawn and case.name != DRAWN else case for case in analyses()],
    ids=lambda case: case.name,
)
def test_analysis(case: Analysis, tmp_path) -> None:
    check(case.name, ANALYSES[case.name], case.run(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("group", WORLD)
def test_the_world_has_the_recorded_cases(group, world) -> None:
    assert list(getattr(world, group)) == list(WORLD[group])


@pytest.mark.slow
@pytest.mark.parametrize(("group", "case"), [(group, case) for group in WORLD for case in WORLD[group]])
def test_world(group, case, world) -> None:
    check(case, WORLD[group][case], getattr(world, group)[case])


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_makes_a_study_the_same_again(study, kind, world, tmp_path) -> None:
    name = f"{study}-{kind}-csv"
    kept, made = (table(folder / name / "long.csv") for folder in (unpack(tmp_path), world.folder / "exports"))
    assert kept["participant"] != made["participant"]  # pseudonyms are drawn; they hang on no seed
    for column in ("condition", "arm_0", "arm_1", "reward", "reaction_ms"):
        assert kept[column] == made[column]


class TestNames:
    def test_what_is_drawn_anew_has_a_stand_in_that_stays(self) -> None:
        names = Names()
        token = "x" * 32
        first = {"token": token, "url": f"http://127.0.0.1:8000/p/{token}", "participant": "p-abcd2345", "n": 3}
        settled = {"token": "<link 1>", "url": "<address>/p/<link 1>", "participant": "<person 1>", "n": 3}
        assert names.settled(first) == settled
        assert names.settled(["p-zzzz2345", "p-abcd2345"]) == ["<person 2>", "<person 1>"]

    def test_times_are_left_out_and_other_numbers_stay(self) -> None:
        row = {"at": 1_763_000_000_000, "iso": "2026-01-02T03:04:05.678Z", "ms": 1_763, "minutes": 2.5, "flag": True}
        assert Names().settled(row) == {
            "at": "<time>", "iso": "<time>", "ms": 1_763, "minutes": "<left out>", "flag": True
        }  # fmt: skip


class TestDifferences:
    def test_every_kind_is_found(self) -> None:
        wanted = {"a": 1, "b": [1.0, 2.0], "c": "x", "d": True, "e": None}
        made = {"a": 2, "b": [1.0], "c": "y", "d": 1, "f": 0}
        assert [line.split(":")[0] for line in differences(wanted, made)] == [".a", ".b", ".c", ".d", ".e", ".f"]

    def test_equal_is_equal(self) -> None:
        assert not list(differences({"a": [1, 2.5, float("nan")]}, {"a": [1.0, 2.5, float("nan")]}))

    def test_what_matters_is_not_close(self) -> None:
        assert list(differences(0.1, 0.1 + 1e-7))
