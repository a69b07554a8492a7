"""The arm on the participant's page, in a real browser before a real server."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

pytest.importorskip("httpx")
pytest.importorskip("fastapi")
pytest.importorskip("mujoco")
expect = pytest.importorskip("playwright.sync_api").expect

from cobandit.studies import load_design  # noqa: E402
from cobandit.web.services.robot.filler import fill  # noqa: E402
from cobandit.web.services.robot.pool import Pool  # noqa: E402
from cobandit.web.services.robot.show import three_address  # noqa: E402
from tests.browser.robot_site import Visit, choose, clean, quiet_pages, serve, shown  # noqa: E402
from tests.browser.site import Site  # noqa: E402

NO_WEBGL = """
const context = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
  return kind.startsWith("webgl") ? null : context.call(this, kind, ...more);
};
"""
# Every caption that was to be read, in their order.
LISTEN = """() => {
  window.captions = [];
  const caption = document.querySelector(".stage .caption");
  new MutationObserver(() => {
    const text = caption.textContent;
    if (text && text !== window.captions.at(-1)) window.captions.push(text);
  }).observe(caption, { childList: true, characterData: true, subtree: true });
}"""
# Nine customers one after the other, then one who is glad and one who is not, in the middle of it and afterwards.
CUSTOMERS = """async (library) => {
  const three = await import(library);
  const { Customer, SKIN } = await import("/static/participant/robot/customer.js");
  const [body, mouth, skin] = [new three.Group(), new three.Group(), new three.MeshLambertMaterial()];
  const customer = new Customer(three, body, mouth, "somebody:0");
  const order = (company) => {
    const others = new Customer(three, new three.Group(), new three.Group(), company);
    return [1, 2, 3, 4, 5, 6, 7, 8, 9].map((t) => others.welcome(t));
  };
  customer.wear(SKIN, [skin]);
  const customers = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((t) => {
    customer.welcome(t);
    return { looks: skin.color.getHexString() + body.children.map((part) => Number(part.visible)).join("") };
  });
  const now = () => ({
    mouth: Math.sign(mouth.scale.z), hop: body.position.z > 0.01, turned: Math.abs(body.rotation.z) > 0.01,
  });
  const felt = (mood, part) => { customer.feel(mood); customer.move(mood, part); return now(); };
  const orders = ["somebody:0", "somebody:0", "somebody:1", "else:0"].map(order);
  return { customers, orders, good: felt("good", 0.2), bad: felt("bad", 0.1), after: felt("bad", 1) };
}"""
MOTION = {"reduced_motion": "no-preference"}
CREDIT = {"name": "A robot by others", "licence": "CC BY-NC-SA 4.0", "source": "https://example.org"}
# So slow an arm that every test is faster: time passes at a fiftieth of its speed.
SLOW_ARM = """
const draw = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (picture) => draw((now) => picture(now / 50));
"""
# A tab that can be hidden: no browser without a window ever hides one. As in a real one, no picture is asked for then,
# while the clock goes on. The arm is slow until the tab comes back.
HIDING = """
const draw = window.requestAnimationFrame.bind(window);
let [hidden, passed, rate, last] = [false, 0, 0.02, null];
const tick = (picture) => (now) => {
  if (hidden) { draw(tick(picture)); return; }
  passed += last === null ? 0 : (now - last) * rate;
  last = now;
  picture(passed);
};
window.requestAnimationFrame = (picture) => draw(tick(picture));
Object.defineProperty(document, "hidden", { get: () => hidden });
Object.defineProperty(document, "visibilityState", { get: () => (hidden ? "hidden" : "visible") });
window.hide = (away) => {
  hidden = away;
  if (!away) { passed += 60000; rate = 1; }
  document.dispatchEvent(new Event("visibilitychange"));
};
window.pictures = (n) => new Promise((done) => {
  const count = () => { n -= 1; if (n) draw(count); else done(); };
  draw(count);
});
"""


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One recording of every burger."""
    folder = tmp_path_factory.mktemp("burgers")
    assert fill(Pool.open(str(folder), 1)) == []
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, pool: Path) -> Iterator[Site]:
    """Recorded burgers."""
    folder = tmp_path_factory.mktemp("site")
    yield from serve(folder, robot="simulated", robot_folder=str(pool), robot_variants=1)


@pytest.fixture
def visit(new_context: Callable[..., Any]) -> Iterator[Visit]:
    """Opens pages that must not complain; small ones, as the processor draws every pixel here."""
    with quiet_pages(new_context, 360, 640) as open_page:
        yield open_page


OVERLAP = """() => {
  const box = (name) => document.querySelector(name).getBoundingClientRect();
  const [caption, skip] = [box(".caption"), box(".skip-burger")];
  return caption.width > 0 && caption.right > skip.left && caption.bottom > skip.top;
}"""


def staged(visit: Visit, site: Site, mode: str = "arm", language: str = "en", **options: Any) -> tuple[Any, str]:
    token = site.someone("shop")
    page = visit(f"{site.address}/p/{token}?language={language}", **options)
    expect(page.locator(".stage")).to_have_attribute("data-mode", mode)
    return page, token


def looks_like(page: Any, token: str, look: str) -> None:
    """Give the partner of a participant a look."""

    def dressed(route: Any) -> None:
        answer = route.fetch()
        state = answer.json()
        state["partner"]["look"] = look
        route.fulfill(response=answer, json=state)

    page.unroute(f"**/api/participants/{token}*")
    page.route(f"**/api/participants/{token}*", dressed)


def coloured(canvas: Any, look: str) -> int:
    """Count the pixels that have the colour of a look, whatever the light."""
    red, green, blue = np.moveaxis(imread(io.BytesIO(canvas.screenshot()), format="png")[..., :3], -1, 0)
    if look == "teal":
        return int(((blue - red > 0.25) & (green - red > 0.2) & (red < 0.2)).sum())
    return int(((red - green > 0.25) & (blue - green > 0.1) & (red > 0.4)).sum())


def burger_of(site: Site, token: str) -> str:
    """What the stage says of the latest round."""
    latest = site.state(token)["episode"]["latest"]
    return f"{latest['t']}:{latest['arms'][0]}-{latest['arms'][1]}"


def skipped(site: Site, token: str) -> list[int]:
    return [data["skipped"] for kind, data in site.events(token) if kind == "robot" and "skipped" in data]


class TestPlayback:
    def test_the_arm_stacks_the_burger_that_both_have_chosen_to_its_end(
        self, visit: Visit, site: Site, until: Callable[..., None]
    ) -> None:
        page, token = staged(visit, site, **MOTION)
        page.evaluate(LISTEN)
        choose(page, 1)
        expect(page.locator(".skip-burger")).to_be_visible()
        shown(page, 1)
        expect(page.locator(".stage")).to_have_attribute("data-burger", burger_of(site, token))
        expect(page.locator(".skip-burger")).to_be_hidden()
        expect(page.locator(".caption")).to_be_hidden()
        captions = page.evaluate("window.captions")
        assert captions[0] == "You add: Cheese"
        partner, adds, _ = captions[1].partition(" adds: ")
        assert adds
        assert partner in {one.name for one in load_design("burger").partners}
        assert captions[-1] == f"{partner} adds: top bun"
        assert len(captions) == 5
        kinds = [kind for kind, _ in site.events(token)]
        assert kinds.count("robot-recording") == 1
        page.emulate_media(reduced_motion="reduce")
        choose(page, 0)
        shown(page, 2)
        expect(page.locator(".stage")).to_have_attribute("data-burger", burger_of(site, token))
        assert page.evaluate("window.captions") == captions, "without motion there is the burger as it ended"
        expect(page.locator(".verdict")).to_be_visible()
        assert skipped(site, token) == []

    def test_it_can_be_skipped_and_the_next_choice_is_possible_at_once(
        self, visit: Visit, site: Site, until: Callable[..., None]
    ) -> None:
        page, token = staged(visit, site, language="fr", script=SLOW_ARM, has_touch=True, **MOTION)
        ways: list[Callable[[], None]] = [
            lambda: page.keyboard.press("Space"),
            lambda: page.locator(".stage canvas").tap(),
            lambda: page.locator(".skip-burger").click(),
            lambda: page.keyboard.press("1"),
        ]
        page.evaluate(LISTEN)
        for t, skip in enumerate(ways, 1):
            page.evaluate("() => { window.captions.length = 0; }")
            choose(page, t % 2)
            until(page, lambda: page.evaluate("window.captions.length") > 0, "the arm moves")
            page.evaluate("() => { document.querySelector('.caption').textContent = 'Teki ajoute : pain du dessus'; }")
            assert not page.evaluate(OVERLAP), "the caption is beside the button"
            skip()
            shown(page, t)
            assert site.state(token)["episode"]["played"] == t, "skipping is no choice"
            expect(page.locator(".stage")).to_have_attribute("data-burger", burger_of(site, token))
        until(page, lambda: skipped(site, token) == [1, 2, 3, 4], "it is known that they were skipped")

    def test_the_arm_has_the_colour_of_the_partner(self, visit: Visit, site: Site, until: Callable[..., None]) -> None:
        token = site.someone("shop")
        page = visit("about:blank")
        canvas = page.locator(".stage canvas")
        teal = 0
        for look in ("teal", "rose"):
            looks_like(page, token, look)
            page.goto(f"{site.address}/p/{token}")
            expect(page.locator(".stage")).to_have_attribute("data-mode", "arm")
            until(page, lambda look=look: coloured(canvas, look) > 60, f"the arm is {look}")
            teal, before = coloured(canvas, "teal"), teal
        assert teal < before / 3, "and nothing of it is teal but specks of the kitchen"

    @pytest.mark.long
    def test_in_a_hidden_tab_the_arm_waits_and_then_goes_on_where_it_was(
        self, visit: Visit, site: Site, until: Callable[..., None]
    ) -> None:
        page, token = staged(visit, site, script=HIDING, **MOTION)
        page.evaluate(LISTEN)
        choose(page, 1)
        until(page, lambda: page.evaluate("window.captions.length") == 1, "the arm moves")
        page.evaluate("window.hide(true)")
        page.evaluate("window.pictures(20)")
        assert page.evaluate("window.captions.length") == 1
        expect(page.locator(".skip-burger")).to_be_visible()
        page.evaluate("window.hide(false)")
        shown(page, 1)
        captions = page.evaluate("window.captions")
        assert len(captions) == 5, f"no layer was passed over: {captions}"
        assert skipped(site, token) == []

    def test_a_page_that_is_loaded_again_shows_the_latest_burger_and_customer(self, visit: Visit, site: Site) -> None:
        page, token = staged(visit, site)
        choose(page, 0)
        shown(page, 1)
        stage = page.locator(".stage")
        customer = stage.get_attribute("data-customer")
        page.reload()
        expect(stage).to_have_attribute("data-mode", "arm")
        expect(stage).to_have_attribute("data-burger", burger_of(site, token))
        expect(stage).to_have_attribute("data-customer", str(customer))

    @pytest.mark.long
    def test_a_drag_turns_the_view_and_skips_nothing(
        self, visit: Visit, site: Site, until: Callable[..., None]
    ) -> None:
        page, _ = staged(visit, site, script=SLOW_ARM, **MOTION)
        canvas = page.locator(".stage canvas")
        before = canvas.screenshot()
        box = canvas.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

        def drag() -> None:
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x - 90, y + 30, steps=4)
            page.mouse.up()

        drag()
        until(page, lambda: canvas.screenshot() != before, "the view has turned")
        page.evaluate(LISTEN)
        choose(page, 0)
        until(page, lambda: page.evaluate("window.captions.length") > 0, "the arm moves")
        drag()
        expect(page.locator(".skip-burger"), "it is still at it").to_be_visible()
        canvas.click()
        shown(page, 1)

    @pytest.mark.parametrize(("screen", "credit"), [(("light", 1366, 625), None), (("dark", 390, 664), CREDIT)])
    def test_the_page_is_small_strict_and_accessible(
        self,
        visit: Visit,
        site: Site,
        strict: Callable[[Any], None],
        fits: Callable[..., None],
        screen: tuple[str, int, int],
        credit: dict[str, str] | None,
    ) -> None:
        """And looks that are not ours are credited: as `scene_description("fetch")` gives them."""
        token = site.someone("shop")
        scheme, width, height = screen
        touch = {"has_touch": True, "is_mobile": True} if width < 500 else {}
        page = visit("about:blank", color_scheme=scheme, viewport={"width": width, "height": height}, **touch)

        def credited(route: Any) -> None:
            answer = route.fetch()
            route.fulfill(response=answer, json=answer.json() | {"credit": credit})

        if credit:
            page.route("**/scene.json", credited)
        page.goto(f"{site.address}/p/{token}")
        expect(page.locator(".stage")).to_have_attribute("data-mode", "arm")
        if credit:
            expect(page.locator(".robot-credit")).to_have_text("Robot: A robot by others, CC BY-NC-SA 4.0")
        else:
            expect(page.locator(".robot-credit")).to_be_hidden()
        choose(page, 1)
        shown(page, 1)
        strict(page)
        clean(page)
        fits(page, scheme)
        assert page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0, "all of it is in sight"
        if credit:
            return  # a page whose answers are changed on their way keeps none of them, and asks twice
        sizes = page.evaluate("performance.getEntriesByType('resource').map((entry) => entry.transferSize)")
        assert 0 < sum(sizes) <= 1_000_000
        burgers = page.evaluate(
            "performance.getEntriesByType('resource').filter((entry) => entry.name.includes('/recordings/'))"
            ".map((entry) => entry.encodedBodySize)"
        )
        assert burgers
        assert max(burgers) <= 60_000

    def test_the_next_customer_is_somebody_else_and_shows_what_they_feel(self, visit: Visit, site: Site) -> None:
        seen = visit(f"{site.address}/static/participant/robot/customer.js").evaluate(CUSTOMERS, three_address())
        assert len({customer["looks"] for customer in seen["customers"]}) == len(seen["customers"]) == 9
        assert seen["good"] == {"mouth": 1, "hop": True, "turned": False}
        assert seen["bad"] == {"mouth": -1, "hop": False, "turned": True}
        assert seen["after"] == {"mouth": -1, "hop": False, "turned": False}, "they come to rest"
        first, again, next_part, other_person = seen["orders"]
        assert first == again
        assert sorted(first) == sorted(next_part) == sorted(other_person) == list(range(9))
        assert len({tuple(order) for order in seen["orders"]}) == 3, "people come in another order in each part"


class TestFallingBack:
    def test_without_three_the_burger_is_a_film_and_the_page_says_so(
        self, without_scripts: Path, new_context: Any, pool: Path, tmp_path: Path
    ) -> None:
        with contextmanager(serve)(tmp_path, robot="simulated", robot_folder=str(pool), robot_variants=1) as site:
            token = site.someone("shop")
            page = new_context(**MOTION).new_page()
            complaints: list[str] = []
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
            page.on("response", lambda answer: complaints.append(answer.url) if answer.status >= 400 else None)
            page.goto(f"{site.address}/p/{token}")
            expect(page.locator(".stage")).to_have_attribute("data-mode", "clip")
            expect(page.locator(".robot-credit")).to_have_text("The robot is shown as a film.")
            choose(page, 1)
            shown(page, 1)
            expect(page.locator(".stage video")).to_be_visible()
            assert site.state(token)["episode"]["played"] == 1
            notes = [data["trouble"] for kind, data in site.events(token) if kind == "robot" and "trouble" in data]
            assert notes == ["three.js is not installed on the server."]
            assert complaints == []

    def test_without_webgl_the_burger_is_a_film_that_can_be_skipped(self, visit: Visit, site: Site) -> None:
        page, token = staged(visit, site, "clip", script=NO_WEBGL, **MOTION)
        choose(page, 1)
        expect(page.locator(".skip-burger")).to_be_visible()
        shown(page, 1)
        expect(page.locator(".stage")).to_have_attribute("data-burger", burger_of(site, token))
        expect(page.locator(".stage video")).to_be_visible()
        assert page.locator(".stage video").evaluate("(film) => film.currentTime > 0.9 * film.duration")
        seconds = page.locator(".stage video").evaluate("(film) => film.duration")
        assert 3.2 <= seconds < 4, "it is made of the page's own pictures, and as long as the page plays a burger"
        expect(page.locator(".robot-trouble")).to_be_hidden()
        choose(page, 0)
        page.locator(".skip-burger").click()
        shown(page, 2)
        assert site.state(token)["episode"]["played"] == 2

    def test_films_have_the_colour_of_the_partner_or_give_way_to_the_drawn_shop(self, visit: Visit, site: Site) -> None:
        token = site.someone("shop")
        page = visit("about:blank", script=NO_WEBGL)
        for look, name in (("teal", "burger-0-0"), ("amber", "burger-amber-0-0")):
            looks_like(page, token, look)
            page.goto(f"{site.address}/p/{token}")
            expect(page.locator(".stage")).to_have_attribute("data-burger", "")  # the film is there, at its start
            assert f"/{name}." in page.locator(".stage video").evaluate("(film) => film.currentSrc")
        looks_like(page, token, "violet")
        page.goto(f"{site.address}/p/{token}")
        expect(page.locator(".stage")).to_have_attribute("data-mode", "drawn")
        expect(page.locator(".stage .shop.look-violet")).to_be_visible()

    def test_in_a_hidden_tab_the_film_waits(self, visit: Visit, site: Site, until: Callable[..., None]) -> None:
        page, token = staged(visit, site, "clip", script=NO_WEBGL + HIDING, **MOTION)
        film = page.locator(".stage video")
        choose(page, 1)
        until(page, lambda: film.evaluate("(film) => film.currentTime > 0 && !film.paused"), "the film plays")
        page.evaluate("window.hide(true)")
        assert film.evaluate("(film) => film.paused")
        page.evaluate("window.pictures(20)")
        expect(page.locator("#app")).not_to_have_attribute("data-shown", "1")
        page.evaluate("window.hide(false)")
        shown(page, 1)
        assert film.evaluate("(film) => film.currentTime > 0.9 * film.duration")
        assert skipped(site, token) == []

    def test_while_the_kitchen_is_on_its_way_the_shop_is_drawn(self, visit: Visit, site: Site) -> None:
        token = site.someone("shop")
        page = visit("about:blank")
        page.route("**/scene.json", lambda route: None)  # a very slow connection
        page.goto(f"{site.address}/p/{token}")
        expect(page.locator(".stage .shop")).to_be_visible()
        choose(page, 1)
        shown(page, 1)
        expect(page.locator(".stage")).to_have_attribute("data-mode", "loading")
        expect(page.locator(".stage .verdict")).to_be_hidden()

    def test_recordings_that_come_after_the_page_are_played(self, visit: Visit, site: Site) -> None:
        """Whoever is the first on a new server has films until there are recordings, and not for the whole study."""
        token = site.someone("shop")
        page = visit("about:blank")

        def early(route: Any) -> None:
            answer = route.fetch()
            state = answer.json()
            state["robot"] |= {"scene": None, "opening": None}
            route.fulfill(response=answer, json=state)

        page.route(f"**/api/participants/{token}*", early)
        page.goto(f"{site.address}/p/{token}")
        expect(page.locator(".stage")).to_have_attribute("data-mode", "clip")
        choose(page, 1)
        shown(page, 1)
        expect(page.locator(".stage")).to_have_attribute("data-mode", "arm")
        expect(page.locator(".stage")).to_have_attribute("data-burger", burger_of(site, token))

    def test_a_robot_that_fails_is_excused_and_the_round_stands(
        self, visit: Visit, site: Site, until: Callable[..., None]
    ) -> None:
        page, token = staged(visit, site, **MOTION)
        for missing in ("**/recordings/1-*", "**/clips/**"):
            page.route(missing, lambda route: route.fulfill(status=500))
        choose(page, 1)
        expect(page.locator(".robot-trouble")).to_contain_text("Your choice is stored")
        shown(page, 1)
        expect(page.locator(".stage")).to_have_attribute("data-mode", "drawn")
        choose(page, 0)
        shown(page, 2)
        assert site.state(token)["episode"]["played"] == 2
        until(
            page,
            lambda: any(kind == "robot" and "trouble" in data for kind, data in site.events(token)),
            "the researcher knows",
        )

    def test_a_graphics_card_that_goes_away_takes_nothing_with_it(self, visit: Visit, site: Site) -> None:
        page, token = staged(visit, site, **MOTION)
        page.locator(".stage canvas").evaluate(
            "(canvas) => canvas.getContext('webgl2').getExtension('WEBGL_lose_context').loseContext()"
        )
        expect(page.locator(".stage")).to_have_attribute("data-mode", "clip")
        choose(page, 1)
        shown(page, 1)
        assert site.state(token)["episode"]["played"] == 1
