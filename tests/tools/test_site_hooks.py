"""How pages of the repository become pages of the site."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tools import docs, site_hooks

ROOT = Path(__file__).resolve().parents[2]
hooks: Any = site_hooks  # a test gives them less than a whole build does


def test_the_index_of_today_names_every_decision_and_module():
    nav = str(hooks.navigation((ROOT / "docs" / "index.md").read_text(encoding="utf-8")))
    for page in (ROOT / "docs" / "decisions").glob("*.md"):
        assert f"decisions/{page.name}" in nav
    for module in hooks.public_modules():
        assert f"reference/api/{module}.md" in nav


class Source:
    """A page, as far as the hooks look at one."""

    class file:  # noqa: N801
        """Its file."""

        src_uri = "how-to/a.md"

    meta: ClassVar[dict[str, Any]] = {}


def shown(markdown: str) -> str:
    """Return the page as the site renders it, without the line about the glossary."""
    text, line, rest = str(hooks.on_page_markdown(markdown, Source, None, None)).partition("\n\nUnknown words are")
    assert "[glossary](../reference/glossary.md)" in rest
    assert line
    return text + rest.partition("}\n")[2]


class Config:
    """A configuration of mkdocs, after the theme's plugin "offline" has added its script to it."""

    def __init__(self) -> None:
        self.nav: list[object] = []
        self.extra = {"polyfills": ["https://example.org/iframe-worker/shim"]}


def test_without_scripts_of_others_nothing_is_loaded_from_elsewhere(monkeypatch):
    monkeypatch.setattr(hooks, "VENDOR", "assets/no-such-folder")
    config = Config()
    hooks.on_config(config)
    assert config.extra["polyfills"] == []
    page = shown("```mermaid\nflowchart TD\n```\n")
    assert "```text\nflowchart TD\n```" in page, "the theme would load mermaid from elsewhere"
    assert "script" not in page
    assert "because mermaid was not installed" in page


def test_matplotlib_draws_the_gallery_on_a_dark_page(tmp_path, monkeypatch):
    monkeypatch.setattr(hooks, "CACHE", tmp_path)
    code = "from matplotlib.figure import Figure\nf = Figure()\nf.subplots().plot([0, 1])\nf.savefig('a.svg')\n"
    page = f"<!-- picture: a.svg, words -->\n```python\n{code}```\n"
    light, dark = hooks.pictures(page)["gallery/a.svg"], hooks.pictures(page, dark=True)["gallery/a-dark.svg"]
    assert b"#ffffff" in light
    assert b"#ffffff" not in dark
    assert hooks.DARK_PAGE.encode() in dark


def test_a_gallery_that_does_not_draw_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(hooks, "CACHE", tmp_path)
    with pytest.raises(RuntimeError, match=r"a\.svg missing"):
        hooks.pictures('<!-- picture: a.svg, words -->\n```python\nprint("nothing")\n```\n')


def test_the_site_is_built_again_only_where_something_changed(tmp_path, monkeypatch):
    commands = []

    def build(command, **options):
        commands.append(command)
        Path(command[-1]).mkdir()

    monkeypatch.setattr(subprocess, "run", build)
    monkeypatch.setattr(docs, "sources_digest", lambda: "first")
    assert docs.build(tmp_path / "site")
    assert not docs.build(tmp_path / "site")
    monkeypatch.setattr(docs, "sources_digest", lambda: "second")
    assert docs.build(tmp_path / "site")
    assert len(commands) == 2
    assert all("--strict" in command for command in commands)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_notebooks_open_in_jupyterlite_where_the_site_has_it(tmp_path, monkeypatch):
    commands = []

    def build(command, **options):
        commands.append((command, options.get("env", {}).get(hooks.LITE)))
        Path(command[-1]).mkdir(parents=True)

    monkeypatch.setattr(subprocess, "run", build)
    assert docs.build(tmp_path / "site", with_lite=True)
    (_, asked), (lite, _) = commands
    assert asked == "1"
    assert [Path(part).name for part in lite[1:]] == ["lite.py", "lite"]
    assert docs.build(tmp_path / "site"), "a site with JupyterLite is another one than a site without it"
    assert commands[-1][1] == ""
    assert "JupyterLite" not in hooks._with_badge("# Title\n\nWords.", "play.ipynb")
    monkeypatch.setenv(hooks.LITE, "1")
    assert 'href="../lite/lab/index.html?path=play.ipynb"' in hooks._with_badge("# Title\n\nWords.", "play.ipynb")


def test_notebooks_open_in_colab_and_install_the_package_there():
    source = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]
    page = hooks._with_badge("# Title\n\nWords.", "play.ipynb")
    path = source.removeprefix("https://github.com/")
    link = f"https://colab.research.google.com/github/{path}/blob/main/docs/notebooks/play.ipynb"
    assert page.startswith(f"# Title\n\n[Open in Colab]({link})")
    assert page.endswith("\nWords.")
    for notebook in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        first = next(cell for cell in cells if cell["cell_type"] == "code")
        assert first["metadata"]["tags"] == [hooks.INSTALL_TAG]
        assert f"git+{source}" in "".join(first["source"])
