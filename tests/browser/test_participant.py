"""The participant's pages in a real browser, before a real server."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

uvicorn = pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")
pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")
expect = pytest.importorskip("playwright.sync_api").expect

from axe_playwright_python.sync_playwright import Axe  # noqa: E402

from cobandit.studies import StudyDesign, load_design  # noqa: E402
from cobandit.web import WebConfig, create_app  # noqa: E402
from cobandit.web.serving import address_of, bound_socket, prepare  # noqa: E402

# A press that is short however busy the machine is: real keys may stay down long enough to repeat.
TAP = """(keys) => {
  for (const key of keys) {
    for (const kind of ["keydown", "keyup"]) {
      document.activeElement.dispatchEvent(new KeyboardEvent(kind, { key, bubbles: true, cancelable: true }));
    }
  }
}"""
PAPER = "() => getComputedStyle(document.body).backgroundColor"
ROUNDS = "**/rounds*"


def small(name: str, new: str, **changes: Any) -> StudyDesign:
    return StudyDesign.from_dict(load_design(name).to_dict() | {"name": new, "completion_code": "DONE4242"} | changes)


DESIGNS = (
    small("burger", "shop", rounds=3),
    small(
        "casino",
        "den",
        rounds=8,
        episodes=2,
        practice={"agent": "very-naive-ucb", "options": {"exploration": 0.01}, "rounds": 30, "episodes": 1},
    ),
    small("casino", "hall", rounds=5000, episodes=1, practice=None),
    small("three-by-three", "tea", rounds=3),
    small("three-seats", "sundae", rounds=5),
)
RIGHT = {
    "shop": {"layers": 0, "order": 1, "simultaneous": 1, "sensor": 2},
    "den": {"row": 0, "simultaneous": 1, "coins": 2},
    "sundae": {"choice": 0},
}
RIGHT["hall"] = RIGHT["den"]
ABOUT = {"age": 33, "gender": 0, "ai_researcher": 1}


class Site:
    """A server that can go away and come back at the same address."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._port = 0
        self._server: Any = None
        self.start()

    def start(self) -> None:
        self._socket = bound_socket("127.0.0.1", self._port)
        self.address = address_of(self._socket)
        self._port = self._socket.getsockname()[1]
        app = create_app(WebConfig(database=self._url, demo=True))
        settings = uvicorn.Config(app, log_level="error", access_log=False, ws="none", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(settings)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()
        self._ask("GET", "health")

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """It is back afterwards in any case: the other tests need it, too."""
        self.stop()
        try:
            yield
        finally:
            self.start()

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        with httpx.Client(timeout=60, trust_env=False) as client:
            answer = client.request(method, f"{self.address}/api/{path}", json=body)
        answer.raise_for_status()
        return answer.json()

    def post(self, path: str, body: Any) -> Any:
        return self._ask("POST", path, body)

    def state(self, token: str) -> Any:
        return self._ask("GET", f"participants/{token}")

    def someone(self, study: str, *, ready: bool = True, **more: Any) -> str:
        """The token of a new participant, by default brought to the first round."""
        body = {"key": str(uuid.uuid4()), "consent_version": "1", "language": "en"} | more
        token = str(self.post(f"studies/{study}/participants", body)["token"])
        answers = {"demographics": ABOUT, "instructions": {}, "quiz": RIGHT.get(study, {})}
        while ready and (step := self.state(token)["step"]["id"]) in answers:
            self.post(f"participants/{token}/answers/{step}", {"answers": answers[step]})
        return token


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    url = f"sqlite:///{tmp_path_factory.mktemp('site') / 'studies.sqlite'}"
    prepare(url, DESIGNS, password="only for tests", seed=7)
    made = Site(url)
    yield made
    made.stop()


class Guest:
    """A browser of its own, and everything its pages complained of."""

    def __init__(self, context: Any, site: Site) -> None:
        self.context = context
        self.site = site
        self.complaints: list[str] = []

    def tab(self, path: str = "") -> Any:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        if path:
            page.goto(self.site.address + path)
        return page


Invite = Callable[..., Guest]
Check = Callable[..., None]
Until = Callable[..., None]


@pytest.fixture
def guest(new_context: Callable[..., Any], site: Site) -> Iterator[Invite]:
    made: list[Guest] = []

    def invite(script: str = "", **options: Any) -> Guest:
        given = {"viewport": {"width": 1000, "height": 800}, "locale": "en-GB"} | options
        made.append(Guest(new_context(**given), site))
        if script:
            made[-1].context.add_init_script(script)
        return made[-1]

    yield invite
    for one in made:
        one.context.close()
        assert one.complaints == []


def at(page: Any, step: str) -> Any:
    """Wait for a step."""
    expect(page.locator("#app")).to_have_attribute("data-step", step)
    return page


def wait_shown(page: Any, n: int) -> None:
    """Wait until the outcome of a round of a burger or a grid is shown."""
    expect(page.locator("#app")).to_have_attribute("data-shown", str(n))


def unsent(page: Any, n: int) -> None:
    """Wait until so many choices are without an answer."""
    expect(page.locator("#app")).to_have_attribute("data-unsent", str(n))


def pulled(page: Any, n: int) -> None:
    """Wait until so many pulls of a casino are shown."""
    expect(page.locator(".casino")).to_have_attribute("data-played", str(n))


def tap(page: Any, *keys: str) -> None:
    """Press keys shortly, one after the other."""
    page.evaluate(TAP, keys)


def choose(page: Any, arm: int) -> None:
    """One round of a burger or a grid by mouse, until its outcome is shown."""
    before = int(page.locator("#app").get_attribute("data-shown"))
    page.locator(".choice").nth(arm).click()
    wait_shown(page, before + 1)


def fill(page: Any, *places: int) -> None:
    """Choose one answer in each group, by its place; the last place serves all that follow."""
    for i, group in enumerate(page.locator("fieldset").all()):
        group.locator("label").nth(places[min(i, len(places) - 1)]).click()


def go_on(page: Any) -> None:
    page.locator("main .primary").click()


def counted(page: Any) -> int:
    """The sum of all that the counts on the page say."""
    return sum(int(text) for text in page.locator(".tally b").all_inner_texts())


class TestWholeStudies:
    def test_a_burger_study_by_mouse(self, guest: Invite, site: Site) -> None:
        link = "/s/shop?PROLIFIC_PID=5f3c&STUDY_ID=s&SESSION_ID=one"
        page = guest(reduced_motion="no-preference").tab(link)
        at(page, "consent")
        assert page.locator("h1").inner_text() == "Welcome"
        go_on(page)
        at(page, "demographics")
        token = page.url.rsplit("/", 1)[1]
        go_on(page)
        expect(page.locator(".failed")).to_have_count(3)
        expect(page.locator("#age")).to_be_focused()
        page.fill("#age", "7")
        fill(page, 0)
        go_on(page)
        expect(page.locator(".failed")).to_have_count(1)
        page.fill("#age", "33")
        go_on(page)
        at(page, "instructions")
        go_on(page)
        at(page, "quiz")
        fill(page, 0)
        go_on(page)
        expect(page.locator(".failed")).to_have_count(3)
        expect(page.get_by_text("You work in a burger shop"), "the instructions can be read again").to_be_visible()
        fill(page, 0, 1, 1, 2)
        go_on(page)
        for part in (1, 2):
            at(page, f"episode-{part - 1}")
            assert page.locator("h1").inner_text() == f"Part {part} of 2"
            for t in range(3):
                choose(page, t % 2)
                latest = site.state(token)["episode" if t < 2 else "step"]
                if t < 2:
                    assert latest["played"] == t + 1 == counted(page)
                    said = page.locator(".news").inner_text().lower()
                    assert latest["latest"]["outcome"] in said
                    assert all(label.lower() in said for label in latest["latest"]["labels"])
            page.locator(".panel .primary").click()
            at(page, f"survey-{part}")
            page.emulate_media(reduced_motion="reduce")  # one part with falling layers is enough
            assert page.locator(".code").count() == 0
            fill(page, 1)
            go_on(page)
        at(page, "thanks")
        assert page.locator("#code").inner_text() == "DONE4242"
        back = page.get_by_role("link", name="Go back and hand in the code")
        assert back.get_attribute("href").endswith("cc=DONE4242")
        page.goto(site.address + link.replace("one", "two"))
        at(page, "thanks")
        assert page.url.endswith(f"/p/{token}"), "the same person comes back to the same page"

    def test_a_casino_by_keyboard_alone(self, guest: Invite, site: Site) -> None:
        page = guest().tab("/s/den")
        at(page, "consent")

        def press(*keys: str) -> None:
            for key in keys:
                page.keyboard.press(key)

        press("Tab", "Enter")
        at(page, "demographics")
        press("Tab", *"33", "Tab", "Space", "Tab", "ArrowDown", "Tab", "Enter")
        at(page, "instructions")
        press("Tab", "Enter")
        at(page, "quiz")
        press("Tab", "Tab", "Space", "Tab", "ArrowDown", "Tab", "ArrowUp", "Tab", "Enter")
        at(page, "episode-0")
        press("ArrowUp", "s", "ArrowDown")
        page.keyboard.down("w")
        at(page, "rest-1")
        page.keyboard.up("w")
        for last, then in ((1, "rest-2"), (2, "survey-1"), (3, "rest-4"), (4, "survey-2")):
            if last in (1, 2, 4):
                press("Enter")
            at(page, f"episode-{last}")
            page.keyboard.down("ArrowUp" if last % 2 else "ArrowDown")
            at(page, then)
            page.keyboard.up("ArrowUp" if last % 2 else "ArrowDown")
            if then.startswith("survey"):
                for _ in range(page.locator("fieldset").count()):
                    press("Tab", "Space")
                press("Tab", "Enter")
        at(page, "thanks")
        assert page.locator("#code").inner_text() == "DONE4242"

    def test_a_short_press_is_one_pull_however_soon_the_next_one_comes(self, guest: Invite, site: Site) -> None:
        token = site.someone("den")
        page = at(guest().tab(f"/p/{token}"), "episode-0")
        tap(page, "ArrowUp", "s", "ArrowDown")
        pulled(page, 3)
        unsent(page, 0)
        state = site.state(token)["episode"]
        pulls = {tuple(one["arms"]): one["good"] + one["bad"] for one in state["counts"]}
        assert counted(page) == 3 == state["played"]
        assert (pulls[0, 0] + pulls[0, 1], pulls[1, 0] + pulls[1, 1]) == (1, 2)

    def test_a_grid_with_labels_of_its_own(self, guest: Invite, site: Site) -> None:
        page = at(guest().tab(f"/p/{site.someone('tea')}"), "episode-0")
        for t, keys in enumerate((["2"], ["ArrowRight", "Enter"], ["3"]), 1):
            for key in keys:
                page.keyboard.press(key)
            wait_shown(page, t)
        assert counted(page) == 3
        assert page.locator("td.latest").count() == 1
        assert "White" in page.locator(".news").inner_text()

    def test_a_team_of_three(self, guest: Invite, site: Site) -> None:
        token = site.someone("sundae")
        page = at(guest().tab(f"/p/{token}"), "episode-0")
        assert page.locator(".side").count() == 3
        assert page.locator(".counts td").count() == 8
        for t, key in enumerate("212", 1):
            page.keyboard.press(key)
            wait_shown(page, t)
        assert counted(page) == 3
        latest = site.state(token)["episode"]["latest"]
        assert page.locator(".side strong").all_inner_texts() == latest["labels"]
        assert " + ".join(latest["labels"]) in page.locator(".news").inner_text()

    def test_every_text_can_be_had_in_german(self, guest: Invite, site: Site) -> None:
        page = at(guest().tab(f"/p/{site.someone('shop', ready=False)}"), "demographics")
        page.get_by_label("Language").select_option("de")
        page.get_by_role("heading", name="Über Sie").wait_for()
        expect(page.locator("html")).to_have_attribute("lang", "de")
        page.reload()
        page.get_by_role("heading", name="Über Sie").wait_for()
        page.fill("#age", "44")
        page.reload()
        at(page, "demographics")
        expect(page.locator("#age"), "what was filled in is still there").to_have_value("44")
        fill(page, 1)
        go_on(page)
        page.get_by_role("heading", name="So geht es").wait_for()
        expect(page.get_by_text("Sie arbeiten zusammen mit einem Roboter")).to_be_visible()


class TestNothingLostNothingDoubled:
    def test_a_move_survives_a_reload_before_it_was_sent(self, guest: Invite, site: Site) -> None:
        token = site.someone("shop")
        page = at(guest().tab(f"/p/{token}"), "episode-0")
        tried: Any = []
        page.route(ROUNDS, lambda route: (tried.append(route.request.post_data_json["moves"]), route.abort()))
        page.keyboard.press("2")
        page.get_by_text("Connection lost: your choices are kept").wait_for()
        page.reload()
        at(page, "episode-0")
        expect(page.locator(".choice.picked"), "the choice is still made").to_contain_text("Cheese")
        page.locator(".choice").first.click(force=True)  # too late for another one
        page.unroute(ROUNDS)
        wait_shown(page, 1)
        state = site.state(token)
        assert (state["episode"]["played"], state["episode"]["latest"]["arms"][0]) == (1, 1)
        assert len({move["key"] for moves in tried for move in moves}) == 1
        page.get_by_text("Connection lost").wait_for(state="hidden")

    def test_a_stored_move_whose_answer_got_lost_is_not_played_twice(self, guest: Invite, site: Site) -> None:
        token = site.someone("den")
        page = at(guest().tab(f"/p/{token}"), "episode-0")
        lost: list[int] = []

        def swallow(route: Any) -> None:
            if lost:
                route.continue_()
                return
            lost.append(route.fetch().json()["played"])
            route.abort()

        page.route(ROUNDS, swallow)
        tap(page, "ArrowUp")
        pulled(page, 1)
        tap(page, "ArrowDown")
        pulled(page, 2)
        assert lost == [1]
        assert counted(page) == 2 == site.state(token)["episode"]["played"]

    def test_pulls_without_a_network_are_sent_when_it_is_back(self, guest: Invite, site: Site) -> None:
        token = site.someone("den")
        visitor = guest()
        page = at(visitor.tab(f"/p/{token}"), "episode-0")
        visitor.context.set_offline(True)
        page.get_by_text("Connection lost: your choices are kept").wait_for()
        for n, key in enumerate(("ArrowUp", "ArrowDown", "ArrowUp"), 1):
            tap(page, key)
            unsent(page, n)
        assert counted(page) == 0, "no outcome is shown that did not come from the server"
        visitor.context.set_offline(False)
        pulled(page, 3)
        page.get_by_text("Connection lost").wait_for(state="hidden")
        assert counted(page) == 3 == site.state(token)["episode"]["played"]

    def test_the_server_goes_away_and_comes_back(self, guest: Invite, site: Site) -> None:
        token = site.someone("shop")
        page = at(guest().tab(f"/p/{token}"), "episode-0")
        choose(page, 0)
        with site.away():
            page.keyboard.press("1")
            page.get_by_text("Connection lost: your choices are kept").wait_for()
        wait_shown(page, 2)
        assert site.state(token)["episode"]["played"] == 2 == counted(page)
        choose(page, 1)
        page.locator(".panel .primary").click()
        at(page, "survey-1")

    def test_answers_outlive_a_lost_connection(self, guest: Invite, site: Site) -> None:
        token = site.someone("shop", ready=False)
        visitor = guest()
        page = at(visitor.tab(f"/p/{token}"), "demographics")
        page.fill("#age", "33")
        fill(page, 0)
        visitor.context.set_offline(True)
        go_on(page)
        page.get_by_text("Connection lost").wait_for()
        assert site.state(token)["step"]["id"] == "demographics"
        visitor.context.set_offline(False)
        at(page, "instructions")

    def test_one_tab_at_a_time(self, guest: Invite, site: Site) -> None:
        token = site.someone("shop")
        self._two_tabs(guest(), token)

    def test_one_tab_at_a_time_on_plain_http(self, guest: Invite, site: Site) -> None:
        # What a browser lacks outside a secure context: a lab's server without a certificate.
        script = """
          Object.defineProperty(Navigator.prototype, 'locks', { value: undefined });
          Object.defineProperty(Crypto.prototype, 'randomUUID', { value: undefined });
        """
        self._two_tabs(guest(script), site.someone("shop"), wakes=False)

    @staticmethod
    def _two_tabs(visitor: Guest, token: str, *, wakes: bool = True) -> None:
        first = at(visitor.tab(f"/p/{token}"), "episode-0")
        second = at(visitor.tab(f"/p/{token}"), "elsewhere")
        choose(first, 0)
        second.get_by_role("button", name="Continue here").click()
        at(second, "episode-0")
        at(first, "elsewhere")
        assert counted(second) == 1
        choose(second, 1)
        second.close()
        if not wakes:
            first.get_by_role("button", name="Continue here").click()
        at(first, "episode-0")
        assert counted(first) == 2

    def test_a_round_that_was_played_elsewhere(self, guest: Invite, site: Site) -> None:
        token = site.someone("shop")
        page = at(guest().tab(f"/p/{token}"), "episode-0")
        move = {"t": 1, "arm": 0, "key": str(uuid.uuid4()), "ms": 5}
        site.post(f"participants/{token}/rounds", {"episode": 0, "moves": [move]})
        page.keyboard.press("2")
        page.get_by_text("already done in another tab").wait_for()
        unsent(page, 0)
        assert counted(page) == 1 == site.state(token)["episode"]["played"]
        choose(page, 1)
        assert counted(page) == 2

    def test_back_and_forth(self, guest: Invite, site: Site) -> None:
        token = site.someone("shop")
        page = guest().tab("/nowhere")
        page.goto(f"{site.address}/p/{token}")
        at(page, "episode-0")
        choose(page, 0)
        page.go_back()
        page.go_forward()
        at(page, "episode-0")
        assert counted(page) == 1
        choose(page, 1)
        assert site.state(token)["episode"]["played"] == 2

    def test_agreeing_twice_makes_one_participant(self, guest: Invite, site: Site) -> None:
        page = guest().tab("/s/shop?label=seat-4")
        at(page, "consent")
        tokens: list[str] = []

        def swallow(route: Any) -> None:
            answer = route.fetch()
            tokens.append(answer.json()["token"])
            if len(tokens) == 1:
                route.abort()
            else:
                route.fulfill(response=answer)

        page.route("**/participants", swallow)
        page.locator(".primary").dblclick()
        at(page, "demographics")
        assert len(tokens) == 2
        assert len(set(tokens)) == 1
        page.goto(f"{site.address}/s/shop?label=seat-4")
        at(page, "demographics")
        assert page.url.endswith(tokens[0])

    def test_a_browser_that_remembers_nothing(self, guest: Invite, site: Site) -> None:
        script = """
          for (const name of ['localStorage', 'sessionStorage']) {
            Object.defineProperty(window, name, { get() { throw new DOMException('no', 'SecurityError'); } });
          }
        """
        page = guest(script).tab("/s/shop")
        at(page, "consent")
        go_on(page)
        at(page, "demographics")
        token = page.url.rsplit("/", 1)[1]
        for step, answers in (("demographics", ABOUT), ("instructions", {}), ("quiz", RIGHT["shop"])):
            site.post(f"participants/{token}/answers/{step}", {"answers": answers})
        page.reload()
        at(page, "episode-0")
        choose(page, 0)
        assert counted(page) == 1


class TestForEverybody:
    @pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark")])
    def test_nothing_serious_and_nothing_cut_off(
        self, guest: Invite, site: Site, fits: Check, width: int, scheme: str
    ) -> None:
        page = guest(viewport={"width": width, "height": 740}, color_scheme=scheme).tab("/s/shop")
        at(page, "consent")
        assert (page.evaluate(PAPER) == "rgb(255, 255, 255)") == (scheme == "light")

        def look(where: str) -> None:
            fits(page, where)
            found = Axe().run(page).response["violations"]
            serious = [one["id"] for one in found if one["impact"] in ("serious", "critical")]
            assert serious == [], (where, [node["html"] for one in found for node in one["nodes"]])
            # Twice the letters on the wide page are as good as a page half as wide.
            if width > 720:
                page.evaluate("() => { document.documentElement.style.fontSize = '200%'; }")
                fits(page, f"{where}, large letters")
                page.evaluate("() => { document.documentElement.style.fontSize = ''; }")

        look("consent")
        go_on(page)
        at(page, "demographics")
        go_on(page)
        look("demographics")
        page.fill("#age", "33")
        fill(page, 0)
        go_on(page)
        at(page, "instructions")
        look("instructions")
        go_on(page)
        at(page, "quiz")
        fill(page, 0)
        go_on(page)
        page.locator(".failed").first.wait_for()
        look("quiz")
        fill(page, 0, 1, 1, 2)
        go_on(page)
        at(page, "episode-0")
        choose(page, 0)
        look("burger")
        choose(page, 1)
        choose(page, 1)
        page.locator(".panel .primary").click()
        at(page, "survey-1")
        fill(page, 1)
        look("survey")
        for study, keys in (("den", ["ArrowUp", "ArrowDown"]), ("tea", ["1"]), ("sundae", ["2"])):
            page.goto(f"{site.address}/p/{site.someone(study)}")
            at(page, "episode-0")
            for key in keys:
                page.keyboard.press(key)
            page.locator(".latest").first.wait_for()
            look(study)

    def test_the_voice_tells_what_the_picture_shows(self, guest: Invite, site: Site) -> None:
        token = site.someone("shop")
        page = at(guest().tab(f"/p/{token}"), "episode-0")
        expect(page.locator("h1")).to_be_focused()
        choose(page, 1)
        latest = site.state(token)["episode"]["latest"]
        said = page.locator("main > [aria-live=polite]").inner_text()
        assert said == f"Burger 1: Cheese first + {latest['labels'][1]}. {latest['outcome']}"
        bar = page.get_by_role("progressbar")
        assert bar.get_attribute("aria-valuetext") == "4 of 8 steps done"

    def test_touch_repeats_while_it_is_held(self, guest: Invite, site: Site, until: Until) -> None:
        token = site.someone("hall")  # where it does not matter how late the hand goes up
        page = at(guest().tab(f"/p/{token}"), "episode-0")
        page.locator(".row-button").nth(1).hover()
        page.mouse.down()
        until(page, lambda: int(page.locator(".casino").get_attribute("data-played")) >= 4)
        page.mouse.up()
        unsent(page, 0)
        state = site.state(token)
        pulls = {tuple(one["arms"]): one["good"] + one["bad"] for one in state["episode"]["counts"]}
        assert pulls[0, 0] + pulls[0, 1] == 0
        assert pulls[1, 0] + pulls[1, 1] == state["episode"]["played"] >= 4

    def test_somebody_who_does_nothing_is_asked(self, guest: Invite, site: Site) -> None:
        page = guest().tab()
        page.clock.install()
        page.goto(f"{site.address}/p/{site.someone('shop')}")
        at(page, "episode-0")
        page.clock.fast_forward("10:00")
        page.get_by_role("dialog").get_by_role("button", name="Yes, I am here").click()
        page.get_by_role("dialog").wait_for(state="detached")
        choose(page, 0)

    def test_a_demo_says_so(self, guest: Invite, site: Site) -> None:
        page = guest().tab("/s/shop?demo=1")
        at(page, "consent")
        expect(page.get_by_text("Demo: nothing you do here is kept")).to_be_visible()
        go_on(page)
        at(page, "demographics")
        expect(page.get_by_text("Demo: nothing you do here is kept")).to_be_visible()
        assert site.state(page.url.rsplit("/", 1)[1])["kind"] == "demo"

    def test_a_preview_cannot_begin(self, guest: Invite) -> None:
        page = guest().tab("/s/shop?workerId=w&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")
        at(page, "consent")
        page.locator(".primary").click(force=True)
        expect(page.get_by_text("Accept the task first")).to_be_visible()
        assert "/s/shop" in page.url

    def test_an_unknown_link(self, guest: Invite, fits: Check) -> None:
        page = guest().tab(f"/p/{'x' * 32}")
        expect(page.locator("h1")).to_be_visible()
        fits(page)

    def test_nothing_comes_from_elsewhere(self, guest: Invite, site: Site) -> None:
        page = guest().tab()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        blocked: list[str] = []
        page.on("console", lambda message: blocked.append(message.text) if message.type == "error" else None)
        page.goto(f"{site.address}/p/{site.someone('shop')}")
        at(page, "episode-0")
        choose(page, 0)
        assert [url for url in asked if not url.startswith((site.address, "data:"))] == []
        assert blocked == []
