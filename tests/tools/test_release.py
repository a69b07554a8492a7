"""When a release is refused, and what its archives must not hold."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tools import release

ROOT = Path(__file__).resolve().parents[2]

CHANGELOG = "# Changelog\n\n## [1.2.0] - 2030-01-31\n\n## [1.1.0] - 2029-01-31\n"
CITATION = "cff-version: 1.2.0\nversion: 1.2.0\n"


def test_a_clean_tree_with_its_version_everywhere_is_released() -> None:
    assert release.hindrances("1.2.0", "", CHANGELOG, CITATION) == []


@pytest.mark.parametrize(
    ("version", "changes", "changelog", "citation", "needed"),
    [
        ("1.2.0", " M src/a.py\n", CHANGELOG, CITATION, "changes that are not committed:\n M src/a.py"),
        ("1.2.0", "", "# Changelog\n", CITATION, "no section for 1.2.0"),
        ("1.2.0", "", "## [1.2.01] - 2030-01-31\n", CITATION, "no section for 1.2.0"),
        ("1.2.0", "", "## [1.2.0] - unreleased\n", CITATION, "no date for 1.2.0, but ' - unreleased'"),
        ("1.2.0", "", CHANGELOG, "version: 1.1.0\n", "'1.1.0', pyproject.toml '1.2.0'"),
        ("1.2.0", "", CHANGELOG, "cff-version: 1.2.0\n", "None, pyproject.toml '1.2.0'"),
    ],
)
def test_what_hinders_a_release_is_told(version: str, changes: str, changelog: str, citation: str, needed: str) -> None:
    (told,) = release.hindrances(version, changes, changelog, citation)
    assert needed in told


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_archives_must_contain_the_third_party_scripts() -> None:
    in_package = release.third_party_names("src/cobandit")
    assert [name for name in in_package if name.endswith("/LICENSE")]
    assert "report/static/vendor/three-0.185.1/three.module.min.js" in in_package
    everywhere = release.third_party_names(".")
    assert "docs/assets/vendor/mermaid-11.17.2/mermaid.tiny.js" in everywhere
    assert {f"src/cobandit/{name}" for name in in_package} < set(everywhere)


def test_what_tools_leave_behind_is_seen() -> None:
    kept = ["cobandit/cli/output.py", "cobandit/web/static/a.js", "docs/index.md"]
    left = ["a/__pycache__/b.cpython-311.pyc", "a/c.nbi", "node_modules/x/y.js", "out/x.svg", ".venv-3.12/bin/python"]
    assert release.needless([*kept, *left]) == sorted(left)
