"""One public door: complete, documented with its present signatures, free to open, and all that the pages need."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools import api_page

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = ("analysis", "compiled", "experiments", "interop", "mdp", "report", "robot", "studies", "testing", "theory")
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ROOMS = ("analysis", "experiments", "interop", "mdp", "report", "robot", "studies")
EAGER = ("analysis", "experiments", "studies")
DECLARED = sorted(path.parent for path in (ROOT / "src" / "cobandit").rglob("__init__.pyi"))


class TestRooms:
    @pytest.mark.parametrize("room", EAGER)
    def test_the_names_are_a_literal(self, room):
        tree = ast.parse((ROOT / "src" / "cobandit" / room / "__init__.py").read_text(encoding="utf-8"))
        listed = [
            ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        ]
        module = importlib.import_module(f"cobandit.{room}")
        assert listed == [module.__all__]
        assert len(set(module.__all__)) == len(module.__all__)

    @pytest.mark.parametrize("folder", DECLARED, ids=lambda folder: folder.name)
    def test_the_names_are_declared_once(self, folder):
        """The stub of a package is the only place that declares its names; the package itself only reads it."""
        stub = ast.parse((folder / "__init__.pyi").read_text(encoding="utf-8"))
        name = ".".join(folder.relative_to(ROOT / "src").parts)
        module = importlib.import_module(name)
        imported = [alias for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names]
        declared = {alias.name for alias in imported if alias.name != "*"}
        assert all(alias.name == "*" or alias.asname == alias.name for alias in imported)
        assert declared - set(module.__all__) <= {"compiled"}
        assert declared <= set(dir(module))
        assert not hasattr(module, "nothing_of_this_name")
        code = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
        assert not {node.id for node in ast.walk(code) if isinstance(node, ast.Name)} & declared

    @pytest.mark.parametrize("room", ROOMS)
    def test_every_name_is_there_with_words_of_its_own(self, room):
        module = importlib.import_module(f"cobandit.{room}")
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing):
                words = thing.__doc__ or ""
                assert words.split(), f"{room}.{name} has no docstring"
                assert not words.startswith(f"{name}("), f"{room}.{name} has only the docstring that dataclasses make"


def test_signatures_are_the_present_ones():
    assert api_page.PAGE.read_text(encoding="utf-8") == api_page.page(), "run: python tools/api_page.py"
    assert {name.removeprefix("cobandit").removeprefix(".") for name in api_page.MODULES} == {"", *PUBLIC}


def test_opening_it_is_free():
    """Nothing is loaded by the import, each room by its first use, and no extra by any of them."""
    code = (
        "import sys, cobandit as cb\n"
        "assert not {'numpy', 'typer', 'rich', 'cobandit.studies', 'cobandit.analysis'} & set(sys.modules)\n"
        "assert cb.studies.load_design('burger').name == 'burger'\n"
        "assert 'cobandit.analysis' not in sys.modules\n"
        "[getattr(getattr(cb, room), name) for room in ('analysis', 'experiments', 'report', 'studies')\n"
        " for name in getattr(cb, room).__all__]\n"
        "extras = {'distributed', 'matplotlib', 'numba', 'pyarrow', 'scipy', 'sqlalchemy', 'statsmodels'}\n"
        "print(extras & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def imported(code: str) -> Iterator[tuple[str, str]]:
    """Every module of ours that some code imports from, or reaches by ``cb.``, with the name it wants there."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from ((name.name, "") for name in node.names if name.name.split(".")[0] == "cobandit")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "cobandit":
            yield from ((str(node.module), name.name) for name in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "cb":
            yield "cobandit", node.attr
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in {f"cb.{room}" for room in PUBLIC}:
            yield f"cobandit.{ast.unparse(node.value).removeprefix('cb.')}", node.attr


def private(code: str) -> list[str]:
    """What some code takes from the package that is not public."""
    public = {"cobandit", *(f"cobandit.{room}" for room in PUBLIC)}
    wrong = []
    for module, name in imported(code):
        if module not in public:
            wrong.append(module)
        elif name and name not in (*importlib.import_module(module).__all__, "__version__"):
            wrong += [f"{module}.{name}"] if not (module == "cobandit" and name in PUBLIC) else []
    return wrong


def test_what_is_private_is_noticed():
    assert (
        private("import cobandit as cb\ncb.simulate\ncb.studies.load_design\nfrom cobandit.theory import bound") == []
    )
    assert private("from cobandit.analysis.power import power_analysis") == ["cobandit.analysis.power"]
    assert private("import cobandit.engine") == ["cobandit.engine"]
    assert private("cb.agent_class") == ["cobandit.agent_class"]
    assert private("cb.studies.person_key") == ["cobandit.studies.person_key"]


def test_pages_need_nothing_private(pages):
    for page in pages:
        for block, _ in page.python_blocks():
            assert private(block.text) == [], f"{page.name}, line {block.line}"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_need_nothing_private(example):
    assert private(example.read_text(encoding="utf-8")) == []
