"""The lower bounds of pyproject.toml, as far as they can be judged without installing them."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
EVERYTHING = [
    *PROJECT["build-system"]["requires"],
    *PROJECT["project"]["dependencies"],
    *(one for needed in EXTRAS.values() for one in needed if not one.startswith("cobandit[")),
]

_spec = importlib.util.spec_from_file_location("floors", ROOT / "tools" / "floors.py")
assert _spec is not None
assert _spec.loader is not None
floors = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(floors)


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text))


@pytest.mark.parametrize("dependency", EVERYTHING)
def test_every_dependency_has_a_floor_and_no_ceiling(dependency):
    assert floors.floor_of(dependency).version
    if dependency not in PROJECT["build-system"]["requires"]:
        assert "<" not in dependency.partition(";")[0]


@pytest.mark.parametrize("wrong", ["numpy", "numpy==1.26", "numpy~=1.26", "numpy>1.26", "numpy>=1.26,!=2.0", "numpy<3"])
def test_anything_else_is_refused(wrong):
    with pytest.raises(SystemExit, match="name>=version is needed"):
        floors.floor_of(wrong)


def test_a_floor_is_pinned_as_it_stands():
    assert str(floors.floor_of("psycopg[binary]>=3.2.2")) == "psycopg==3.2.2"
    assert str(floors.floor_of("uvloop>=0.21; sys_platform != 'win32'")) == "uvloop==0.21; sys_platform != 'win32'"
    assert str(floors.floor_of("hatchling>=1.27,<2")) == "hatchling==1.27"


def test_all_but_the_tools_of_developers_is_pinned():
    pinned = {floor.name for floor in floors.floors(PROJECT)}
    tools = {floors.floor_of(one).name for one in EXTRAS["dev"] + EXTRAS["docs"] if not one.startswith("cobandit[")}
    assert pinned | tools == {floors.floor_of(one).name for one in EVERYTHING}
    assert not pinned & tools
    assert set(floors.TOOLS) <= tools


@pytest.mark.parametrize(
    "dependency",
    [one for one in EVERYTHING if not one.startswith("hatchling") and one not in EXTRAS["examples"]],
)
def test_what_is_installed_is_not_below_its_floor(dependency):
    floor = floors.floor_of(dependency)
    assert numbers(version(floor.name)) >= numbers(floor.version)


def test_the_oldest_python():
    assert floors.oldest_python(PROJECT) == (3, 11)
    listed = [words.rpartition(" ")[2] for words in PROJECT["project"]["classifiers"] if ":: Python :: 3." in words]
    assert min(map(numbers, listed)) == (3, 11)


def test_what_is_run_is_there():
    for path in (*floors.TESTS, *floors.LEFT_OUT):
        file, *names = path.split("::")
        assert (ROOT / file).exists()
        assert all(name in (ROOT / file).read_text(encoding="utf-8") for name in names)


def test_another_python_is_refused(monkeypatch):
    monkeypatch.setattr(floors.sys, "version_info", (3, 99, 0))
    with pytest.raises(SystemExit, match=r"those of Python 3\.11: make floors PYTHON=python3\.11"):
        floors.main()
