"""The pictures of the house are true: every module on them exists, and imports go as the arrows do."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/discussion/architecture.md").read_text(encoding="utf-8")
PICTURES = dict(
    zip(
        re.findall(r"^## (.+)$", PAGE, re.MULTILINE),
        re.findall(r"```mermaid\n(.+?)```", PAGE, re.DOTALL),
        strict=True,
    )
)
PACKAGES = "Packages"
NODE = r"([a-z_]+)(?:\[\"?[^\]]*\])?"


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("cobandit", exclude_type_checking_imports=True)


def named(picture: str) -> dict[str, str]:
    """The module of every node: its label up to the first line break or blank; nodes of people have none."""
    labels = dict(re.findall(r"([a-z_]+)\[\"([^\"]+)\"\]", picture))
    return {node: re.split(r"[<\s]", label)[0] for node, label in labels.items()}


def arrows(picture: str) -> list[tuple[str, str]]:
    """Solid arrows, which are imports; dotted ones are data on its way."""
    return re.findall(rf"^\s*{NODE} --> {NODE}\s*$", picture, re.MULTILINE)


def package(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else module


def test_every_package_is_drawn_and_imports_go_down(imports: grimp.ImportGraph) -> None:
    drawn = arrows(PICTURES[PACKAGES])
    below: dict[str, set[str]] = defaultdict(set)
    for upper, lower in reversed(drawn):  # lower packages come later on the page, so theirs are known first
        below[upper] |= {lower} | below[lower]
    real = {
        (package(importer), package(imported))
        for importer in imports.modules
        for imported in imports.find_modules_directly_imported_by(importer)
    }
    real = {(upper, lower) for upper, lower in real if upper != lower and "cobandit" not in (upper, lower)}
    real -= {("__main__", "cli")}
    assert not [pair for pair in drawn if pair not in real], "drawn, but nothing imports so"
    assert not [(upper, lower) for upper, lower in real if lower not in below[upper]], "imported, but not drawn"


@pytest.mark.parametrize("title", [title for title in PICTURES if title != PACKAGES])
def test_the_way_of_a_thing(imports: grimp.ImportGraph, title: str) -> None:
    modules = {node: f"cobandit.{name}" for node, name in named(PICTURES[title]).items() if "." in name}
    assert len(modules) >= 5
    missing = [name for name in modules.values() if name not in imports.modules]
    assert not missing
    for upper, lower in arrows(PICTURES[title]):
        importers = {modules[upper], *imports.find_descendants(modules[upper])}
        imported = {modules[lower], *imports.find_descendants(modules[lower])}
        front = modules[lower].rpartition(".")[0]
        if imports.direct_import_exists(importer=front, imported=modules[lower]):
            imported.add(front)  # a package exports the names of its modules
        assert any(
            imports.direct_import_exists(importer=one, imported=other) for one in importers for other in imported
        ), f"{modules[upper]} does not import {modules[lower]}"


def layers() -> dict[str, int]:
    """The height of every package, from the contract of import-linter; the lowest is 0."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    rows = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return {name.strip(): height for height, row in enumerate(reversed(rows)) for name in row.split("|")}


def imports_by_name(source: str) -> list[str]:
    """The modules of the package that calls of `import_module` name in strings."""
    return [
        text.value
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in ("import_module", "__import__")
        for text in ast.walk(call)
        if isinstance(text, ast.Constant) and isinstance(text.value, str) and text.value.startswith("cobandit.")
    ]


def test_imports_by_name_go_down_too() -> None:
    """import-linter does not see a module whose name is a string."""
    assert imports_by_name('importlib.import_module("cobandit.mdp" if markov else name)') == ["cobandit.mdp"]
    heights, upward = layers(), []
    for path in sorted((ROOT / "src" / "cobandit").rglob("*.py")):
        importer = "cobandit." + path.relative_to(ROOT / "src" / "cobandit").parts[0]
        for name in imports_by_name(path.read_text(encoding="utf-8")):
            imported = ".".join(name.split(".")[:2])
            if importer in heights and heights.get(imported, -1) > heights[importer]:
                upward.append(f"{path.name} imports {name}")
    assert not upward
