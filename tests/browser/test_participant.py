"""The participant's pages in a real browser, before a real server."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.accessibility import violations
from tests.browser.participants import (
    PAPER,
    Check,
    Invite,
    Until,
    at,
    choose,
    counted,
    expect,
    fill,
    go_on,
    pulled,
    tap,
    unsent,
    wait_shown,
)
from tests.browser.site import Site


def wrong_ages(page: Any) -> None:
    """Try ages that are missing, no number and too low; every other question is answered afterwards."""
    expect(page.locator(".failed")).to_have_count(3)
    expect(page.locator("#age")).to_be_focused()
    expect(page.locator(".form > .problem")).to_have_text("3 answers are still missing.")
    page.fill("#age", "abc")
    go_on(page)
    summary = "2 answers are still missing. One answer needs to be changed."
    expect(page.locator(".form > .problem")).to_have_text(summary)
    expect(page.locator("#age-problem")).to_have_text(re.compile("a whole number from 18"))
    page.fill("#age", "7")
    fill(page, 0)
    go_on(page)
    expect(page.locator(".failed")).to_have_count(1)
    expect(page.locator(".form > .problem")).to_have_text("One answer needs to be changed.")


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
        wrong_ages(page)
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
            at(page, f"partner-{part}")
            go_on(page)
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
            if last in (1, 3):
                at(page, f"partner-{1 + last // 2}")
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
        page.get_by_role("heading", name="So funktioniert es").wait_for()
        expect(page.get_by_text("Sie arbeiten zusammen mit einem Roboter")).to_be_visible()


class TestForEverybody:
    @pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark")])
    def test_nothing_is_amiss_and_nothing_cut_off(
        self, guest: Invite, site: Site, fits: Check, width: int, scheme: str
    ) -> None:
        page = guest(viewport={"width": width, "height": 740}, color_scheme=scheme).tab("/s/shop")
        at(page, "consent")
        assert (page.evaluate(PAPER) == "rgb(255, 255, 255)") == (scheme == "light")

        def look(where: str) -> None:
            fits(page, where)
            assert violations(page) == [], where
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
        at(page, "partner-1")
        look("partner")
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
        said = page.locator("main > p[aria-live=polite]").inner_text()
        assert said == f"Burger 1: Cheese first + {latest['labels'][1]}. {latest['outcome']}"
        bar = page.get_by_role("progressbar")
        assert bar.get_attribute("aria-valuetext") == "5 of 10 steps done"

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
        badge = page.get_by_role("button", name="Demo")
        expect(badge).to_be_visible()
        badge.click()
        expect(page.get_by_role("status").get_by_text("nothing you do here becomes")).to_be_visible()
        go_on(page)
        at(page, "demographics")
        expect(badge).to_be_visible()
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
