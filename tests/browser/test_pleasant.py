"""A pleasure to take part in: everything in sight, partners one can tell apart, a lively casino, one's own language."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cobandit.studies.icons import COLOURS, SYMBOLS
from tests.browser.accessibility import violations
from tests.browser.participants import (
    ROUNDS,
    Check,
    Invite,
    Until,
    at,
    choose,
    expect,
    fill,
    go_on,
    pulled,
    tap,
)
from tests.browser.site import Site
from tests.parameters import quick

OVERFLOW = "() => document.documentElement.scrollHeight - innerHeight"
BOXES = """() => [...document.querySelectorAll(".choice, .row-button")].map((node) => {
  const { x, y, width, height } = node.getBoundingClientRect();
  return [x, y, width, height];
})"""
INSIDE = """() => [...document.querySelectorAll(".choice, .row-button, .scene, .counts, .machine")].every((node) => {
  const box = node.getBoundingClientRect();
  return box.height > 0 && box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
})"""
MOVING = """() => document.getAnimations().map((animation) => animation.effect.target.getAttribute("class"))"""
FORCED = """(selector) => getComputedStyle(document.querySelector(selector)).backgroundColor"""
LIT = """(selector) => getComputedStyle(document.querySelector(selector)).outlineStyle"""
BROWS = r"""() => [...document.querySelectorAll(".mood.bad .feature, .face.bad .line")].flatMap((path) =>
  [...path.getAttribute("d").matchAll(/M(-?[\d.]+) ?(-?[\d.]+)l(-?[\d.]+) ?(-?[\d.]+)/g)].map((line) => {
    const [x, , across, up] = line.slice(1).map(Number);
    const middle = path.closest(".face") ? 12 : 0;
    return { inwards: Math.sign(across) === Math.sign(middle - x), up: up < 0 };
  }))"""
# Labels that are broken inside a word, that stick out of their box or that a key badge covers.
BAD_LABELS = r"""(selector) => [...document.querySelectorAll(selector)].flatMap((node) => {
  const box = (node.closest("button") ?? node).getBoundingClientRect();
  const key = node.closest("button")?.querySelector("kbd")?.getBoundingClientRect();
  const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const bad = [];
  for (let text; (text = texts.nextNode());) {
    for (const word of text.data.matchAll(/[^\s-]+-?/g)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const rects = [...range.getClientRects()];
      if (rects.length > 1) bad.push(`${word[0]} is broken`);
      for (const { left, right, top, bottom } of rects) {
        if (left < box.left || right > box.right) bad.push(`${word[0]} sticks out`);
        if (key?.width && left < key.right && right > key.left && top < key.bottom && bottom > key.top) {
          bad.push(`${word[0]} is covered`);
        }
      }
    }
  }
  return bad;
})"""
LABELS = ".choice .label, .row-button .label, .column-head, .side strong"
HEADINGS = ".counts th:not(:has(.unseen))"
IN_SIGHT = """(selector) => [...document.querySelectorAll(selector)].every((node) => {
  const { top, bottom, height } = node.getBoundingClientRect();
  return height > 0 && top >= 0 && bottom <= innerHeight;
})"""
# Where the columns of the survey's table are, in its head and in each row.
COLUMNS = """() => [...document.querySelectorAll(".scale-numbers, .scale .options")].map((row) =>
  [...row.children].map((cell) => Math.round(cell.getBoundingClientRect().left)))"""
# Where a statement ends and its first answer begins.
ROWS = """() => [...document.querySelectorAll(".scale fieldset")].map((row) => [
  row.querySelector("legend").getBoundingClientRect().right,
  row.querySelector(".option").getBoundingClientRect().left,
])"""
DRAWN = """async (icon) => {
  const { symbol } = await import("/static/participant/symbols.js");
  return symbol(icon).getAttribute("class");
}"""
COLOUR = """async (icon) => {
  const { symbol } = await import("/static/participant/symbols.js");
  const drawn = symbol(icon);
  document.body.append(drawn);
  return getComputedStyle(drawn.querySelector(".symbol-fill")).fill;
}"""
SCREENS = {"laptop": (1366, 625), "telephone": (390, 664)}
WHERE = [f"{study} {screen}" for study in ("shop", "den", "sundae") for screen in SCREENS]


def seen_at(guest: Invite, screen: str, **options: Any) -> Any:
    width, height = SCREENS[screen]
    touch = {"has_touch": True, "is_mobile": True} if width < 500 else {}
    return guest(viewport={"width": width, "height": height}, **touch, **options)


def played(site: Site, study: str, **more: Any) -> str:
    """Somebody who has just chosen for the first time."""
    token = site.someone(study, **more)
    site.post(
        f"participants/{token}/rounds", {"episode": 0, "moves": [{"t": 1, "arm": 0, "key": "first-move", "ms": 9}]}
    )
    return token


@pytest.mark.parametrize("where", quick(WHERE, ["shop laptop", "den telephone", "sundae telephone"]))
def test_choice_counts_and_scene_are_in_sight(guest: Invite, site: Site, fits: Check, until: Until, where: str) -> None:
    """In the demo, in the language with the longest words, and when the connection is lost, which moves nothing."""
    study, screen = where.split()
    language = "de" if study == "sundae" else "fr"
    visitor = seen_at(guest, screen)
    page = at(visitor.tab(f"/p/{played(site, study, demo=True, language=language)}"), "episode-0")
    page.locator(".latest").first.wait_for()
    expect(page.locator(".chip")).to_be_visible()
    assert page.evaluate(OVERFLOW) <= 0
    assert page.evaluate(INSIDE)
    before = page.evaluate(BOXES)
    visitor.context.set_offline(True)
    expect(page.locator(".banner").first).to_be_visible()
    assert page.evaluate(BOXES) == before
    assert page.evaluate(OVERFLOW) <= 0
    visitor.context.set_offline(False)
    expect(page.locator(".banner").first).to_be_hidden()
    page.set_viewport_size({"width": 320, "height": 640})
    fits(page, "320 px")
    until(page, lambda: page.evaluate(BAD_LABELS, f"{LABELS}, {HEADINGS}") == [], "words are whole at 320 px")


@pytest.mark.parametrize("study", quick(["flowers", "herbs", "shop", "sundae", "hall"], ["flowers", "herbs", "shop"]))
def test_labels_are_whole_words_that_nothing_covers(guest: Invite, site: Site, until: Until, study: str) -> None:
    """Four columns of 14 letters are wider than a telephone: their headings are turned upwards there."""
    language = {"flowers": "en", "shop": "fr"}.get(study, "de")
    page = at(guest().tab(f"/p/{played(site, study, language=language)}"), "episode-0")
    page.locator(".latest").first.wait_for()
    for width, height in ((1366, 625), (1280, 800), (1280, 1000), (390, 664)):
        page.set_viewport_size({"width": width, "height": height})
        until(page, lambda: page.evaluate(BAD_LABELS, f"{LABELS}, {HEADINGS}") == [], f"whole words at {width} px")
    expect(page.locator("th.turned")).to_have_count({"flowers": 3, "herbs": 4}.get(study, 0))


def test_arms_of_a_grid_have_icons(guest: Invite, site: Site) -> None:
    """On the choices, on the cards and in the headings; the name of a choice stays its label."""
    page = at(guest().tab(f"/p/{played(site, 'tea')}"), "episode-0")
    page.locator(".latest").first.wait_for()
    expect(page.get_by_role("button", name="Green", exact=True).locator(".symbol-green")).to_have_count(1)
    expect(page.locator(".side .symbol")).to_have_count(2)
    expect(page.locator(".counts th .symbol")).to_have_count(6)
    drawn = page.locator(".counts thead .symbol").all()
    assert len({symbol.inner_html() for symbol in drawn}) == 3
    page.goto(f"{site.address}/p/{played(site, 'herbs')}")
    at(page, "episode-0")
    expect(page.locator(".choice").first.locator(".emoji")).to_have_text("🌼")
    page.goto(f"{site.address}/p/{played(site, 'flowers')}")
    at(page, "episode-0")
    expect(page.locator(".choice").first).to_be_visible()
    expect(page.locator(".icon")).to_have_count(0)


def test_every_symbol_of_a_design_is_drawn(guest: Invite, site: Site) -> None:
    page = at(guest().tab("/s/tea"), "consent")
    for name in SYMBOLS:
        kind = page.evaluate(DRAWN, f"{name} red")
        assert kind == "icon symbol symbol-red", name
    colours = {page.evaluate(COLOUR, f"circle {colour}") for colour in COLOURS}
    assert len(colours) == len(COLOURS)


def test_one_line_says_what_happens_and_ready_means_ready(guest: Invite, site: Site) -> None:
    page = at(guest().tab(f"/p/{site.someone('sundae')}"), "episode-0")
    expect(page.locator(".news")).to_have_text("Ready when you are.")
    page.route(ROUNDS, lambda route: None)  # never answered
    page.locator(".choice").first.click()
    expect(page.locator(".question")).to_have_text(re.compile(r"^\w+ and \w+ decide at the same time …$"))
    expect(page.locator(".news")).to_be_empty()
    page.goto(f"{site.address}/p/{site.someone('hall')}")
    at(page, "episode-0")
    expect(page.locator(".news")).to_have_text("Ready when you are.")
    tap(page, "ArrowUp")
    expect(page.locator(".row-button.picked, .news:empty")).not_to_have_count(0)
    expect(page.locator(".news")).to_be_empty()


class TestPartners:
    def test_they_look_and_are_called_differently_and_stay_so(self, guest: Invite, site: Site) -> None:
        token = site.someone("shop", ready=False)
        for step, answers in (
            ("demographics", {"age": 33, "gender": 0, "ai_researcher": 1}),
            ("instructions", {}),
            ("quiz", {"layers": 0, "order": 1, "simultaneous": 1, "sensor": 2}),
        ):
            site.post(f"participants/{token}/answers/{step}", {"answers": answers})
        page = guest().tab(f"/p/{token}")
        met = []
        for part in (1, 2):
            at(page, f"partner-{part}")
            look = page.locator(".meeting").get_attribute("data-look")
            name = page.locator(".meeting .figure").inner_text()
            page.reload()
            at(page, f"partner-{part}")
            assert page.locator(".meeting").get_attribute("data-look") == look, "a reload shows the same"
            met.append((name, look, page.locator(".meeting .avatar").inner_html()))
            expect(page.get_by_text("or press Enter")).to_be_visible()
            go_on(page)
            at(page, f"episode-{part - 1}")
            expect(page.locator(".badge")).to_have_text(f"with {name}")
            assert f"look-{look}" in page.locator(".shop").get_attribute("class")
            assert name in page.locator(".shop").text_content()
            for arm in (0, 1, 0):
                choose(page, arm)
            page.locator(".panel .primary").click()
            at(page, f"survey-{part}")
            expect(page.locator("p[aria-live]")).to_be_empty()
            expect(page.locator(".badge")).to_contain_text(name)
            fill(page, 1)
            go_on(page)
        assert all(one != other for one, other in zip(*met, strict=True))

    def test_customers_come_in_an_order_of_their_own(self, guest: Invite, site: Site) -> None:
        orders = []
        for _ in range(2):
            page = at(guest().tab(f"/p/{site.someone('shop')}"), "episode-0")
            faces = [page.locator("[data-face]").get_attribute("data-face")]
            for arm in (0, 1):
                choose(page, arm)
                faces.append(page.locator("[data-face]").get_attribute("data-face"))
            page.reload()
            at(page, "episode-0")
            assert page.locator("[data-face]").get_attribute("data-face") == faces[-1]
            orders.append(faces)
        assert orders[0] != orders[1]

    def test_who_is_not_satisfied_is_disappointed_and_not_furious(self, guest: Invite, site: Site) -> None:
        page = at(guest().tab(f"/p/{site.someone('shop')}"), "episode-0")
        brows = page.evaluate(BROWS)
        assert len(brows) >= 4, "the customer and the table of counts"
        assert all(brow == {"inwards": True, "up": True} for brow in brows), "brows that rise towards the middle"


class TestCasino:
    def test_levers_and_reels_move_and_hold_up_nothing(self, guest: Invite, site: Site, until: Until) -> None:
        page = at(guest(reduced_motion="no-preference").tab(f"/p/{site.someone('hall')}"), "episode-0")
        seen: set[str] = set()
        page.keyboard.down("ArrowUp")

        def look() -> bool:
            seen.update(kind for kind in page.evaluate(MOVING) if kind)
            return {"lever-arm", "reel", "flying-coin"} <= seen

        until(page, look, "lever and reels move, and coins fly to the purse")
        page.keyboard.up("ArrowUp")
        expect(page.locator(".flying-coin")).to_have_count(0)
        calm = at(guest().tab(f"/p/{site.someone('hall')}"), "episode-0")
        tap(calm, "ArrowUp")
        pulled(calm, 1)
        assert calm.evaluate(MOVING) == [], "whoever wants no motion has none"

    def test_a_machine_tells_its_outcome_while_it_is_the_latest(self, guest: Invite, site: Site) -> None:
        page = at(guest().tab(f"/p/{site.someone('hall')}"), "episode-0")
        for count, key in enumerate(("ArrowUp", "ArrowDown", "ArrowUp"), 1):
            tap(page, key)
            pulled(page, count)
            expect(page.locator(".machine[data-outcome]")).to_have_count(1)
            expect(page.locator(".machine.latest[data-outcome]")).to_have_count(1)

    def test_sound_is_off_at_first_and_remembered(self, guest: Invite, site: Site) -> None:
        script = """
          window.tones = 0;
          const start = OscillatorNode.prototype.start;
          OscillatorNode.prototype.start = function (...when) { window.tones += 1; return start.apply(this, when); };
        """
        page = at(guest(script).tab(f"/p/{site.someone('hall')}"), "episode-0")
        button = page.get_by_role("button", name="Sound")
        expect(button).to_have_attribute("aria-pressed", "false")
        tap(page, "ArrowUp")
        pulled(page, 1)
        assert page.evaluate("() => window.tones") == 0
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        before = page.evaluate("() => window.tones")
        tap(page, "ArrowDown")
        pulled(page, 2)
        assert page.evaluate("() => window.tones") > before > 0
        page.reload()
        at(page, "episode-0")
        expect(page.get_by_role("button", name="Sound")).to_have_attribute("aria-pressed", "true")

    def test_it_counts_over_both_parts_and_a_rest_tells_how_it_went(self, guest: Invite, site: Site) -> None:
        token = site.someone("den")
        for index, rounds in ((0, 30), (1, 8), (2, 8)):
            moves = [{"t": t, "arm": t % 2, "key": f"pull-{index}-{t}-key", "ms": 1} for t in range(1, rounds + 1)]
            site.post(f"participants/{token}/rounds", {"episode": index, "moves": moves})
            step = site.state(token)["step"]["id"]
            while step.startswith(("rest", "partner")) and index < 2:
                site.post(f"participants/{token}/answers/{step}", {"answers": {}})
                step = site.state(token)["step"]["id"]
        survey = site.state(token)["survey"]["items"]
        answers = {item["id"]: 3 for item in survey}
        site.post(f"participants/{token}/answers/survey-1", {"answers": answers})
        site.post(f"participants/{token}/answers/partner-2", {"answers": {}})
        page = at(guest().tab(f"/p/{token}"), "episode-3")
        expect(page.get_by_role("heading", level=1)).to_have_text("Casino 3 of 4")
        results = site.state(token)["results"]
        expect(page.locator(".stat").last).to_contain_text(str(max(results)))
        page.keyboard.down("ArrowUp")
        at(page, "rest-4")
        page.keyboard.up("ArrowUp")
        expect(page.get_by_role("heading", level=1)).to_have_text("Casino 3 of 4 is done")
        results = site.state(token)["results"]
        record = "Your best so far!" if results[-1] > max(results[:-1]) else f"Your best so far: {max(results)}"
        expect(page.locator(".record-of-results p").first).to_have_text(record)
        expect(page.locator(".bars .result")).to_have_count(3)
        expect(page.locator(".bars .value")).to_have_text([str(result) for result in results])
        expect(page.get_by_text("or press Enter")).to_be_visible()
        for screen in SCREENS:
            there = at(seen_at(guest, screen).tab(f"/p/{token}"), "rest-4")
            assert there.evaluate(IN_SIGHT, "main .primary, .bars"), screen
        expect(there.get_by_text("or press Enter")).to_be_hidden()  # a telephone has no such key


class TestLanguage:
    def test_the_browsers_language_from_the_first_page_on(self, guest: Invite, site: Site) -> None:
        page = at(guest(locale="fr-FR").tab("/s/shop"), "consent")
        expect(page.get_by_role("heading", name="Bienvenue")).to_be_visible()
        expect(page.get_by_text("Nous vous invitons à participer")).to_be_visible()
        go_on(page)
        at(page, "demographics")
        expect(page.get_by_role("heading", name="À propos de vous")).to_be_visible()
        expect(page.locator("html")).to_have_attribute("lang", "fr")
        token = page.url.rsplit("/", 1)[1]
        assert site.state(token)["language"] == "fr"
        page.goto(f"{site.address}/p/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
        expect(page.get_by_text("inconnu")).to_be_visible()

    def test_what_is_on_its_way_when_offline_is_told_in_it(self, guest: Invite, site: Site) -> None:
        page = at(guest(locale="es-ES").tab(f"/p/{site.someone('shop', language='es')}"), "episode-0")
        page.route(ROUNDS, lambda route: route.abort())
        page.locator(".choice").first.click()
        expect(page.locator(".banner").first).to_contain_text("Conexión perdida")
        page.unroute(ROUNDS)


class TestSurvey:
    def test_the_check_stands_apart_after_both_sets(self, guest: Invite, site: Site) -> None:
        token = site.someone("shop")
        page = guest().tab()
        for part in (1, 2):
            moves = [{"t": t, "arm": 0, "key": f"round-{part}-{t}", "ms": 1} for t in (1, 2, 3)]
            site.post(f"participants/{token}/rounds", {"episode": part - 1, "moves": moves})
            page.goto(f"{site.address}/p/{token}")
            at(page, f"survey-{part}")
            expect(page.locator("fieldset.apart")).to_have_count(1)
            expect(page.locator("fieldset").last).to_have_class("likert apart")
            expect(page.locator("fieldset.apart .ends")).to_have_count(0)
            expect(page.locator("fieldset:not(.apart) .ends")).to_have_count(5)
            assert violations(page) == []
            fill(page, 1)
            go_on(page)
            if part == 1:
                at(page, "partner-2")
                go_on(page)
        at(page, "thanks")

    def test_items_are_a_table_on_a_wide_screen_and_a_list_on_a_narrow_one(
        self, guest: Invite, site: Site, fits: Check
    ) -> None:
        """Statements and answers have names for screen readers at both widths, and what was answered stays."""
        token = site.arrive("shop")
        site.go_on(token, "shop", "survey-1")
        page = at(guest(viewport={"width": 1366, "height": 625}).tab(f"/p/{token}"), "survey-1")
        columns = page.evaluate(COLUMNS)
        assert len({tuple(row) for row in columns}) == 1, "answers stand below each other"
        assert len(columns) == 6, "the head of the table and five items"
        rows = page.evaluate(ROWS)
        assert all(statement < answer for statement, answer in rows), "the statement stands beside its answers"
        second = page.get_by_role("group", name="Working together with the robot was easy.")
        second.get_by_role("radio", name=re.compile("^1 ?, Strongly disagree$")).focus()
        page.keyboard.press("ArrowRight")
        expect(second.get_by_role("radio", name="2", exact=True)).to_be_checked()
        go_on(page)
        expect(page.locator(".form > .problem")).to_have_text("5 answers are still missing.")
        assert violations(page) == []
        page.reload()
        at(page, "survey-1")
        expect(second.get_by_role("radio", name="2", exact=True)).to_be_checked()
        page.set_viewport_size({"width": 390, "height": 664})
        fits(page)
        expect(page.locator(".scale-head")).to_be_hidden()
        expect(page.locator("fieldset .ends").first).to_be_visible()
        expect(second.get_by_role("radio", name="2", exact=True)).to_be_checked()
        fill(page, 1)
        go_on(page)
        at(page, "partner-2")


def test_one_count_of_progress_at_a_time(guest: Invite, site: Site) -> None:
    token = site.arrive("den")
    page = guest().tab()
    for step, counted in (("demographics", True), ("episode-0", False), ("rest-1", False), ("survey-1", False)):
        site.go_on(token, "den", step)
        page.goto(f"{site.address}/p/{token}")
        at(page, step)
        expect(page.locator(".progress .steps")).to_be_visible(visible=counted)
        expect(page.get_by_role("progressbar")).to_be_visible()


def test_forced_colours_keep_progress_and_highlight(guest: Invite, site: Site) -> None:
    page = at(guest(forced_colors="active").tab(f"/p/{played(site, 'shop')}"), "episode-0")
    fill_colour, behind = page.evaluate(FORCED, ".meter .fill"), page.evaluate(FORCED, ".meter")
    assert fill_colour != behind
    assert page.evaluate(LIT, "td.latest") == "solid"
    plain, picked = page.evaluate(FORCED, ".choice"), None
    page.route(ROUNDS, lambda route: None)  # never answered, so the choice stays marked
    page.locator(".choice").first.click()
    expect(page.locator(".choice.picked")).to_have_count(1)
    picked = page.evaluate(FORCED, ".choice.picked")
    assert picked != plain
    page.goto(f"{site.address}/p/{played(site, 'hall')}")
    at(page, "episode-0")
    assert page.evaluate(LIT, ".machine.latest") == "solid"
    assert page.evaluate(FORCED, ".purse .fill") != page.evaluate(FORCED, ".purse")
