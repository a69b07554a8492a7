"""The frame of the pages: what they may do, and what cannot break out of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cobandit.base.errors import MissingExtra
from cobandit.report.kit.html import Frame, content_policy, dated, figure_kinds, named_facts, safe_json, write_html

CONTENT = {"warning": "w", "facts": {}}


def test_a_page_without_scripts_allows_none(tmp_path: Path) -> None:
    assert "script-src" not in content_policy([])
    page = write_html(tmp_path / "a.html", "power/rehearsal.html", Frame("t", "l"), CONTENT).read_text(encoding="utf-8")
    assert "<script" not in page
    assert "uPlot" not in page


def test_a_page_with_scripts_allows_these_alone() -> None:
    digest = "LCa0a2j/xo/5m0U8HTBBNBNCLXBkg7+g+YpeiGJm564="  # of "foo"
    policy = content_policy(["foo"])
    assert f"script-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")


def test_data_end_no_script() -> None:
    data = {"label": "</script><!-- & -->"}
    assert not set("<>&") & set(safe_json(data))
    assert json.loads(safe_json(data)) == data


def test_what_comes_from_elsewhere_is_escaped(tmp_path: Path) -> None:
    nasty = "<img src=x>\"'{{ 7 * 7 }}"
    frame = Frame(nasty, nasty)
    content = {"warning": nasty, "facts": {nasty: nasty, "Command": nasty, "None": None}}
    page = write_html(tmp_path / "a.html", "power/rehearsal.html", frame, content).read_text(encoding="utf-8")
    assert "<img" not in page
    assert page.count("{{ 7 * 7 }}") == 7
    assert "<dt>None</dt>" not in page


def test_facts_are_headed_and_the_headline_is_none_of_them() -> None:
    assert named_facts({"when": 1, "other": 2, "title": 3, "lead": 4}) == {"Made": 1, "other": 2}


def test_a_report_is_of_now_unless_it_is_said() -> None:
    assert dated({"when": "then"}) == {"when": "then"}
    assert str(dated(None)["when"]).endswith(" UTC")


def test_figures_beside_the_page(tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "a.svg").touch()
    assert figure_kinds("a", tmp_path) == ["svg"]
    assert figure_kinds("b", tmp_path) == []


def test_without_templates_the_command_to_get_them_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'cobandit\[plot\]'"):
        write_html(tmp_path / "new" / "a.html", "power/rehearsal.html", Frame("t", "l"), CONTENT)
    assert not (tmp_path / "new").exists()
