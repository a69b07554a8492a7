"""API pages show the default of an option, not the call that declares it."""

from __future__ import annotations

from pathlib import Path

import griffe
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def package() -> griffe.Module:
    extensions = griffe.load_extensions(str(ROOT / "tools" / "doc_defaults.py"))
    module = griffe.load("cobandit", search_paths=[str(ROOT / "src")], extensions=extensions)
    assert isinstance(module, griffe.Module)
    return module


def test_the_help_is_the_docstring(package) -> None:
    assert package["agents.steered.Steered.leader_sight"].docstring.value.startswith("the leader's observability")


def test_no_declaring_call_is_left(package) -> None:
    values = [
        str(attribute.value)
        for module in ("agents", "studies", "mdp")
        for file in package[module].modules.values()
        for kind in file.classes.values()
        if not kind.is_alias
        for attribute in kind.attributes.values()
        if not attribute.is_alias
    ]
    assert len(values) > 100
    assert not [value for value in values if value.startswith(("option(", "entry("))]


def test_a_constant_is_shown_by_its_value(package) -> None:
    from cobandit.analysis.calibration import STUDIES

    functions = package["analysis.calibration"].functions.values()
    defaults = {str(parameter.default) for function in functions for parameter in function.parameters}
    assert str(STUDIES) in defaults
    assert "STUDIES" not in defaults
