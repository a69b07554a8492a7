"""The burger shop in a real browser: each configuration drawn as the burger it is, in its order, and told to those who
listen; and studies that were stored when a burger had two fillings.
"""

from __future__ import annotations

import contextlib
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from cobandit.studies import StudyDesign, load_design, verify_study
from cobandit.web.serving import prepare
from cobandit.web.storage.database import Database
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from tests.browser.accessibility import violations
from tests.browser.site import PASSWORD, Site
from tests.parameters import quick

LAYOUT_1 = Path(__file__).parents[1] / "fixtures" / "layout-1"
ORDERS = {
    (0, 0): ["patty", "tomato", "cheese", "lettuce"],
    (0, 1): ["patty", "lettuce", "cheese", "tomato"],
    (1, 0): ["cheese", "tomato", "patty", "lettuce"],
    (1, 1): ["cheese", "lettuce", "patty", "tomato"],
}
GERMAN = {"patty": "Bratling", "cheese": "Käse", "tomato": "Tomate", "lettuce": "Salat"}
# What can be seen of a drawing, from bottom to top: each kind of layer once, by its upper edge.
DRAWN = """(drawing) => {
  const tops = new Map();
  for (const item of ["bun", "patty", "cheese", "tomato", "lettuce", "slab-2"]) {
    for (const node of drawing.querySelectorAll(`.${item}`)) {
      tops.set(item === "bun" ? `bun ${tops.size}` : item, node.getBoundingClientRect().top);
    }
  }
  return [...tops].sort((one, other) => other[1] - one[1]).map(([item]) => item.split(" ")[0]);
}"""
INSIDE = """(node) => {
  const box = node.getBoundingClientRect();
  return box.left >= 0 && box.right <= innerWidth && box.top >= 0 && box.bottom <= innerHeight;
}"""
SCREENS = [(1366, 625, "light"), (1280, 900, "dark"), (390, 664, "dark"), (320, 640, "light")]


def three_by_three() -> StudyDesign:
    """A burger as people may have written one: three arms each, and a single filling of each side."""
    plain = load_design(LAYOUT_1 / "burger.toml").to_dict()
    plain |= {"name": "own", "arms": [3, 3], "translations": {}, "quiz": []}
    plain["task"]["arms"] = [["Patty", "Cheese", "Egg"], ["Tomato", "Lettuce", "Onion"]]
    return StudyDesign.from_dict(plain)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("burger"), load_design("burger"), three_by_three())
    yield site
    site.close()


Open = Callable[..., Any]


@pytest.fixture
def opened(new_context: Callable[..., Any]) -> Iterator[Open]:
    """Open a participant's page; ``latest`` replaces what the server says of the latest round."""
    complaints: list[str] = []

    def open_page(address: str, token: str, latest: dict[str, Any] | None = None, **options: Any) -> Any:
        page = new_context(**({"locale": "en-GB"} | options)).new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))

        def tell(route: Any) -> None:
            answer = route.fetch()
            state = answer.json()
            state["episode"] |= {"latest": latest, "played": 1}
            route.fulfill(response=answer, body=json.dumps(state))

        if latest:
            page.route(f"**/api/participants/{token}*", tell)
        page.goto(f"{address}/p/{token}")
        expect(page.locator("#app")).to_have_attribute("data-step", "episode-0")
        return page

    yield open_page
    assert complaints == []


def drawn(locator: Any) -> list[str]:
    items: list[str] = locator.evaluate(DRAWN)
    return items


def play(page: Any, arm: int) -> None:
    before = int(page.locator("#app").get_attribute("data-shown"))
    page.locator(".choice").nth(arm).click()
    expect(page.locator("#app")).to_have_attribute("data-shown", str(before + 1))


class TestFourFillings:
    @pytest.mark.parametrize("arms", quick(ORDERS, [(0, 1), (1, 0)]))
    def test_the_scene_shows_each_burger_in_its_order(self, arms: Any, server: Site, opened: Open) -> None:
        latest = {"t": 1, "arms": list(arms), "labels": [], "good": True, "outcome": "satisfied"}
        page = opened(server.address, server.someone("burger"), latest)
        scene = page.locator(".scene")
        assert drawn(scene) == ["bun", *ORDERS[arms], "bun"]
        label = ", ".join(item.capitalize() for item in ORDERS[arms])
        expect(page.get_by_role("img", name=f"Burger, from bottom to top: {label}").first).to_be_visible()
        assert scene.get_attribute("role") == "img"
        assert scene.get_attribute("aria-label") == f"Burger, from bottom to top: {label}"

    @pytest.mark.parametrize("language", ["en", "de"])
    def test_the_counts_show_all_four(self, language: str, server: Site, opened: Open) -> None:
        page = opened(server.address, server.someone("burger", language=language))
        pictures = page.locator(".counts .picture")
        expect(pictures).to_have_count(4)
        for picture, order in zip(pictures.all(), ORDERS.values(), strict=True):
            assert drawn(picture) == ["bun", *order, "bun"]
            names = ", ".join(GERMAN[item] if language == "de" else item.capitalize() for item in order)
            start = "Burger von unten nach oben" if language == "de" else "Burger, from bottom to top"
            assert picture.get_attribute("aria-label") == f"{start}: {names}"

    def test_a_choice_shows_ones_own_two_and_leaves_the_others_open(self, server: Site, opened: Open) -> None:
        page = opened(server.address, server.someone("burger"))
        expect(page.get_by_text("What goes onto the bun first?")).to_be_visible()
        choices = page.locator(".choice")
        assert [drawn(choice) for choice in choices.all()] == [
            ["bun", "patty", "cheese", "bun"],
            ["bun", "cheese", "patty", "bun"],
        ]
        expect(choices.first.locator(".unknown")).to_have_count(2)
        expect(page.get_by_role("button", name="Patty first")).to_be_visible()
        expect(page.get_by_role("button", name="Cheese first")).to_be_visible()

    def test_a_round_is_stacked_layer_by_layer(self, server: Site, opened: Open) -> None:
        token = server.someone("burger")
        page = opened(server.address, token, reduced_motion="no-preference")
        scene = page.locator(".scene")
        assert drawn(scene) == ["bun"]
        assert scene.get_attribute("aria-hidden") == "true"
        for arm in (1, 0):
            play(page, arm)
            latest = tuple(server.state(token)["episode"]["latest"]["arms"])
            assert drawn(scene) == ["bun", *ORDERS[latest], "bun"]
            assert latest[0] == arm
            assert scene.get_attribute("aria-hidden") is None

    @pytest.mark.parametrize("language", quick(["en", "de"], ["de"]))
    def test_on_every_screen(self, language: str, server: Site, opened: Open, fits: Any) -> None:
        page = opened(server.address, server.someone("burger", language=language))
        play(page, 0)
        for width, height, scheme in SCREENS:
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=scheme)
            fits(page, f"{width} pixels")
            assert violations(page) == [], (width, scheme)
            page.evaluate("() => scrollTo(0, 0)")
            if width > 360:
                for choice in page.locator(".choice").all():
                    assert choice.evaluate(INSIDE), "both choices are in sight without scrolling"


class TestOneFillingOfEachSide:
    """Designs in the form before: they stay valid and keep their drawing."""

    def test_a_design_of_ones_own(self, server: Site, opened: Open) -> None:
        latest = {"t": 1, "arms": [0, 2], "labels": [], "good": False, "outcome": "unsatisfied"}
        page = opened(server.address, server.someone("own"), latest)
        assert drawn(page.locator(".scene")) == ["bun", "patty", "slab-2", "bun"]
        assert page.locator(".scene").get_attribute("aria-label") == "Burger, from bottom to top: Patty, Onion"
        expect(page.locator(".counts .picture")).to_have_count(9)
        expect(page.get_by_text("Your choice?")).to_be_visible()
        expect(page.locator(".unknown")).to_have_count(0)

    def test_a_study_stored_under_version_1_goes_on_beside_todays(self, tmp_path: Path, opened: Open) -> None:
        """Somebody stopped in the middle; the server is updated; they come back, and somebody new comes, too."""
        file = tmp_path / "studies.sqlite"
        file.write_bytes(gzip.decompress((LAYOUT_1 / "studies.sqlite.gz").read_bytes()))
        url = f"sqlite:///{file}"
        prepare(url, [load_design("burger")], password=PASSWORD)
        with contextlib.closing(Site(tmp_path, load_design("burger"), stored=file)) as server:
            studies = server.admin.get("/api/admin/studies").json()["studies"]
            number = next(study["id"] for study in studies if (study["name"], study["version"]) == ("burger", 1))
            people = server.admin.get(f"/api/admin/studies/{number}/live").json()["participants"]
            waiting = next(person for person in people if person["step"]["id"] == "episode-0")
            token = waiting["url"].rsplit("/", 1)[-1]
            before = server.state(token)["episode"]["played"]
            assert before > 0
            page = opened(server.address, token)
            expect(page.get_by_role("button", name="Bratling", exact=True)).to_be_visible()
            expect(page.get_by_text("Ihre Wahl?")).to_be_visible()
            play(page, 1)
            latest = server.state(token)["episode"]
            assert latest["played"] == before + 1
            robot = ["tomato", "lettuce"][latest["latest"]["arms"][1]]
            assert drawn(page.locator(".scene")) == ["bun", "cheese", robot, "bun"]
            assert [drawn(picture) for picture in page.locator(".picture").all()] == [
                ["bun", mine, theirs, "bun"] for mine in ("patty", "cheese") for theirs in ("tomato", "lettuce")
            ]
            new = opened(server.address, server.someone("burger"))
            expect(new.get_by_role("button", name="Patty first")).to_be_visible()
        with contextlib.closing(Database(url)) as database, database.read() as connection:
            for version, title in ((1, ("Patty", "Cheese")), (3, ("Patty first", "Cheese first"))):
                study = find_study(connection, "burger", version)
                assert study is not None
                assert study.design.task.arms[0] == title
                data = study_data(connection, study, "real", "rehearsal")
                assert data.participants
                assert verify_study(data) == []
