"""The burger line, played to the end in a real browser, at a desk and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cobandit.studies import StudyDesign, load_design, verify_study
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from tests.browser.accessibility import violations
from tests.browser.participants import at, expect
from tests.browser.site import Site

LINE = StudyDesign.from_dict(load_design("burger-line").to_dict() | {"rounds": 6, "completion_code": "DONE4242"})
FIRST, SECOND = ("Patty", "Cheese"), ("Egg", "Bacon")
WIDER = "() => document.documentElement.scrollWidth - innerWidth"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    server = Site(tmp_path_factory.mktemp("line"), LINE)
    yield server
    server.close()


@pytest.mark.parametrize(("width", "height"), [(1366, 625), (390, 664)], ids=["desk", "phone"])
def test_burgers_are_stacked_layer_by_layer(
    site: Site, new_context: Callable[..., Any], width: int, height: int, fits: Callable[..., None]
) -> None:
    token = site.someone("burger-line", ready=False)
    site.go_on(token, "burger-line", "instructions")
    page = new_context(viewport={"width": width, "height": height}, reduced_motion="reduce").new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{site.address}/p/{token}")
    expect(page.locator("figure.example svg[data-items]")).to_have_attribute(
        "data-items", "bottom_bun patty tomato egg onion top_bun"
    )
    site.go_on(token, "burger-line", "episode-0")
    page.reload()
    at(page, "episode-0")
    fits(page, "before the first layer")
    for t in range(1, LINE.rounds + 1):
        layer = (t - 1) % 2
        expect(page.locator("#question")).to_have_text(f"Layer {layer + 1} of 2: your choice?")
        expect(page.locator(".choice .label")).to_have_text(list((FIRST, SECOND)[layer]))
        expect(page.locator(".counts tbody th")).to_have_text(list((FIRST, SECOND)[layer]))
        page.locator(".choice").nth(t % 2).click()
        expect(page.locator(".news")).to_have_attribute("data-t", str(t))
        if t == LINE.rounds:
            break  # the server is at the survey already
        view = site.state(token)["episode"]
        items = 2 + 2 * len(view["plate"]) if layer else 3
        drawn = page.locator(".on-plate svg").get_attribute("data-items").split()
        assert len(drawn) == items
        assert ("top_bun" in drawn) == (layer == 1)
        assert (page.locator(".scene .face").count(), view["latest"]["good"] is None) == (layer, layer == 0)
        if t == 3:  # in the middle of a burger
            assert violations(page) == []
            page.reload()
            at(page, "episode-0")
            expect(page.locator(".on-plate svg")).to_have_attribute("data-items", " ".join(drawn))
            fits(page, "in the middle of a burger")
        tallies = page.locator(".counts td b").all_inner_texts()
        wanted = [str(cell[name]) for cell in view["counts"] for name in ("good", "bad")]
        assert tallies == wanted
        assert page.evaluate(WIDER) <= 0
    expect(page.locator(".panel")).to_contain_text("of 3 satisfied")
    page.get_by_role("button", name="Continue").click()
    at(page, "survey-1")
    site.go_on(token, "burger-line")
    with site.database.read() as connection:
        study = find_study(connection, "burger-line")
        assert study is not None
        assert verify_study(study_data(connection, study)) == []
    assert complaints == []
