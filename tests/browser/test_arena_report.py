"""The pages of an arena and of Markov problems in a real browser, with the network cut off."""

from __future__ import annotations

import pytest

from cobandit import mdp
from cobandit.experiments import Arena
from cobandit.report import write_arena_report, write_markov_report
from tests.arena_results import invented
from tests.browser.accessibility import violations

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    arena = invented(Arena.of(["fixed-500", "casino", "near-half", "exact-12", "mdp-chain"]))
    problem = mdp.make_problem("burger-line")
    teams = [mdp.Team.of("naive-ucbvi"), mdp.Team.of("partner-aware-ucbvi", window=5)]
    played = [mdp.simulate(problem, team, 30, 3, 1, engine="reference") for team in teams]
    return {
        "arena": write_arena_report(arena, tmp_path_factory.mktemp("arena")),
        "markov": write_markov_report(played, tmp_path_factory.mktemp("markov")),
    }


@pytest.mark.parametrize(("scheme", "width", "height"), [("light", 1366, 625), ("dark", 390, 664)])
@pytest.mark.parametrize(("name", "heading"), [("arena", "Whole teams"), ("markov", "naive-ucbvi")])
def test_is_readable_by_everybody_and_asks_nobody(visit, reports, scheme, width, height, name, heading):
    opened = visit(reports[name], color_scheme=scheme, viewport={"width": width, "height": height})
    page = opened.page
    if name == "arena":
        page.get_by_text("casino: the casino", exact=False).first.click()
    expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    assert [url for url in opened.requests if not url.startswith("data:")] == [reports[name].as_uri()]
    assert opened.complaints == []
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("[...document.images].every((image) => image.naturalWidth > 0 && image.alt)")
