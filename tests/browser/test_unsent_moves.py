"""What a participant chose is neither lost nor doubled: reloads, lost connections, two tabs, in a real browser."""

from __future__ import annotations

import uuid
from typing import Any

from tests.browser.participants import (
    ROUNDS,
    Guest,
    Invite,
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
        site.go_on(token, "shop", "episode-0")
        page.reload()
        at(page, "episode-0")
        choose(page, 0)
        assert counted(page) == 1
