"""An arm in a lab: the participant's page beside the experimenter's console, in a real browser before a real server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx")
pytest.importorskip("fastapi")
pytest.importorskip("mujoco")
pytest.importorskip("roslibpy")
expect = pytest.importorskip("playwright.sync_api").expect

from cobandit.robot import SimulatedArm, burger_layers  # noqa: E402
from cobandit.robot.rosbridge import FETCH  # noqa: E402
from tests.browser.robot_site import DESIGN, Visit, choose, clean, quiet_pages, serve, shown  # noqa: E402
from tests.browser.site import PASSWORD, Site  # noqa: E402
from tests.robot.rosbridge_peer import Peer  # noqa: E402

Until = Callable[..., None]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Site]:
    """An arm that is the experimenter's own."""
    yield from serve(tmp_path, robot="null")


@pytest.fixture
def peer() -> Iterator[Peer]:
    """A rosbridge with a simulated arm behind it."""
    with Peer(SimulatedArm(seed=3)) as peer:
        yield peer


@pytest.fixture
def ros_lab(tmp_path: Path, peer: Peer) -> Iterator[Site]:
    """An arm behind rosbridge."""
    yield from serve(tmp_path, robot="rosbridge", robot_url=peer.url, robot_speed=1.0)


@pytest.fixture
def visit(new_context: Callable[..., Any]) -> Iterator[Visit]:
    """Opens pages that must not complain."""
    with quiet_pages(new_context) as open_page:
        yield open_page


def open_console(visit: Visit, lab: Site) -> Any:
    page = visit(f"{lab.address}/admin/robot")
    page.fill("input[type=password]", PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("#connection")).to_have_text("live")
    return page


def place(console: Any, text: str) -> None:
    """Wait until the console asks for it and takes the press."""
    expect(console.locator("#doing")).to_contain_text(text)
    console.locator("#placed").click()


# Every line that says what is going on, and whether all choices are within the window.
STATUS = """() => [...document.querySelectorAll(".news, .question, .robot-line")]
  .filter((line) => line.checkVisibility() && line.textContent).map((line) => line.textContent)"""
IN_SIGHT = """() => [...document.querySelectorAll(".choice")]
  .every((node) => node.getBoundingClientRect().bottom <= innerHeight)"""


def only_line(page: Any, said: str) -> None:
    """Wait for the line, which must be the only one, above choices that are in sight."""
    expect(page.locator(".robot-line")).to_contain_text(said)
    assert len(page.evaluate(STATUS)) == 1, page.evaluate(STATUS)
    assert page.evaluate(IN_SIGHT)


def participant(visit: Visit, lab: Site, **options: Any) -> tuple[Any, str]:
    token = lab.someone("shop")
    page = visit(f"{lab.address}/p/{token}", **options)
    expect(page.locator("#app")).to_have_attribute("data-step", "episode-0")
    return page, token


class TestByHand:
    def test_the_experimenter_places_what_the_arm_would(self, visit: Visit, lab: Site) -> None:
        console = open_console(visit, lab)
        expect(console.locator("#arm-standing")).to_have_text("Ready")
        expect(console.get_by_text("There is no robot: you place its layers.")).to_be_visible()
        page, token = participant(visit, lab, viewport={"width": 1366, "height": 625})
        choose(page, 0)
        only_line(page, "is stacking …")
        expect(console.locator("#placed")).to_be_visible()
        clean(console)
        place(console, "puts a bottom bun")
        for layer in burger_layers(lab.state(token)["episode"]["latest"]["arms"]):
            if layer.by == "person":
                only_line(page, "place this layer")
                mine = page.get_by_role("button", name="I have placed it")
                mine.click()
                expect(mine).to_be_hidden()
            else:
                place(console, f"places the {layer.item.replace('_', ' ')}")
        shown(page, 1)
        happened = lab.events(token)
        assert [data["by"] for kind, data in happened if kind == "robot-placed"].count("participant") == 2
        assert [kind for kind, _ in happened].count("robot-done") == 1
        expect(console.locator("#whose")).to_have_text("None.")
        for text in console.locator("#notes li, #connect:visible, #release, .small-print").all_inner_texts():
            assert not re.search(r"[Rr]obot (picks|places|moves|is)|\barm\b|red button", text), text
        assert lab.state(token)["episode"]["played"] == 1

    def test_stop_retry_and_skip(self, visit: Visit, lab: Site) -> None:
        console = open_console(visit, lab)
        page, token = participant(visit, lab, viewport={"width": 1366, "height": 625})
        choose(page, 1)
        expect(console.locator("#placed")).to_be_visible()
        expect(console.locator("#layers li")).to_have_count(5)
        expect(console.locator("#layers li").first).to_contain_text("by you")
        console.keyboard.press("Escape")
        expect(console.locator("#arm-standing")).to_have_text("Stopped")
        only_line(page, "There is a short pause. Your choice is stored")
        console.locator("#retry").click()
        expect(console.locator("#placed")).to_be_visible()
        expect(console.locator("#arm-standing")).to_have_text("Stacking")
        page.reload()
        expect(page.locator("h1")).to_have_text("Your burger is being stacked")
        clean(page)
        console.locator("#stop").click()
        expect(page.locator("h1")).to_have_text("Your burger has to wait a moment")
        expect(console.locator("#arm-message")).to_be_visible()
        clean(console)
        console.locator("#skip").click()
        expect(page.locator("#app")).to_have_attribute("data-step", "episode-0")
        expect(page.locator(".choice").first).to_be_visible()
        kinds = [kind for kind, _ in lab.events(token) if kind.startswith("robot-")]
        assert kinds.count("robot-stop") == 2
        assert kinds.count("robot-retry") == 1
        assert kinds.count("robot-skipped") == 1
        console.locator("#retry").click()
        expect(console.locator("#arm-standing")).to_have_text("Ready")

    def test_a_second_participant_waits_kindly_and_goes_on_by_itself(self, visit: Visit, lab: Site) -> None:
        console = open_console(visit, lab)
        participant(visit, lab)
        token = lab.someone("shop")
        second = visit(f"{lab.address}/p/{token}")
        expect(second.locator("h1")).to_have_text("Please wait a moment")
        clean(second)
        console.locator("#release").click()
        expect(second.locator("#app")).to_have_attribute("data-step", "episode-0")


def in_trouble(console: Any, page: Any, standing: str, message: str) -> None:
    """The experimenter is told what is wrong, the participant that nothing is lost."""
    expect(console.locator("#arm-standing")).to_have_text(standing)
    expect(console.locator("#arm-message")).to_contain_text(message)
    expect(page.locator(".robot-line")).to_contain_text("Your choice is stored")


def assert_logged(lab: Site, token: str) -> None:
    """One burger with a stop and a lost connection, everything among the participant's events."""
    happened = [(kind, data) for kind, data in lab.events(token) if kind.startswith("robot-")]
    kinds = [kind.removeprefix("robot-") for kind, _ in happened if kind != "robot-step"]
    # The arm is stopped before anything is written, so its own report may be stored first.
    assert set(kinds[3:5]) == {"stop", "trouble"}
    assert kinds[:3] == ["asked", "placed", "placed"]
    assert kinds[5:] == ["retry", "placed", "trouble", "retry", "done"]
    assert [data["status"] for kind, data in happened if kind == "robot-trouble"] == ["stopped", "lost"]
    assert all({"episode", "t"} <= data.keys() for _, data in happened)


class TestRosbridge:
    def test_a_burger_with_a_stop_in_mid_motion_and_a_lost_connection(
        self, visit: Visit, ros_lab: Site, peer: Peer, until: Until
    ) -> None:
        console = open_console(visit, ros_lab)
        expect(console.locator("#arm-standing")).to_have_text("Ready")
        expect(console.locator("#arm-connection")).to_have_text(f"Connected to {peer.url} (ROS 1).")
        page, token = participant(visit, ros_lab)
        assert DESIGN.warm_start is not None
        assert peer.goals(FETCH.action) == [], "the warm start is played without the arm"
        choose(page, 0)
        place(console, "puts a bottom bun")
        layers = burger_layers(ros_lab.state(token)["episode"]["latest"]["arms"])
        stack = ["bottom_bun"]

        def by_participant(drop_after: int | None = None) -> None:
            item = layers[len(stack) - 1].item
            expect(console.locator("#layers li.next")).to_contain_text(f"{item.capitalize()} by the participant")
            mine = page.get_by_role("button", name="I have placed it")
            expect(mine).to_be_visible()
            assert peer.arm.await_person(item, tuple(stack)).ok
            if drop_after is not None:  # only now does the arm stand still: before, it may be on its way home
                peer.drop_at = peer.steps + drop_after
            mine.click()
            stack.append(item)

        # Stopped in mid-motion: the arm stands still, and stays so until somebody says otherwise.
        peer.pace = 1.0
        by_participant()
        expect(console.locator("#doing")).to_contain_text("Robot picks the")
        until(console, lambda: peer.steps >= 10, "the arm moves")
        console.keyboard.press("Escape")
        in_trouble(console, page, "Stopped", "The arm was stopped")
        assert peer.cancels(FETCH.action) >= 1
        steps, goals = peer.steps, len(peer.goals(FETCH.action))
        second = ros_lab.someone("shop")
        assert ros_lab.state(second)["robot"]["wait"] == "busy", "one participant at a time"
        assert (peer.steps, len(peer.goals(FETCH.action))) == (steps, goals)
        peer.pace = 0.0
        console.locator("#retry").click()
        expect(console.locator("#layers li.done")).to_have_count(2)
        stack.append(layers[1].item)

        # The connection is lost while the arm carries the next layer.
        by_participant(drop_after=40)
        in_trouble(console, page, "Not connected", "connection to the robot was lost")
        peer.drop_at = None
        peer.arm.connect()  # somebody puts the slice back onto its tray
        goals = len(peer.goals(FETCH.action))
        console.locator("#connect").click()
        expect(console.locator("#arm-standing")).to_have_text("Waits for you")
        assert len(peer.goals(FETCH.action)) == goals, "nothing of before is sent again"
        console.locator("#retry").click()
        shown(page, 1)
        peer.arm.settle(0.5)
        assert peer.arm.stands(["bottom_bun", *(layer.item for layer in layers)])
        assert_logged(ros_lab, token)
        assert ros_lab.state(token)["episode"]["played"] == 1

    def test_a_burger_is_skipped_in_mid_motion(self, visit: Visit, ros_lab: Site, peer: Peer, until: Until) -> None:
        console = open_console(visit, ros_lab)
        page, token = participant(visit, ros_lab)
        peer.pace = 1.0
        choose(page, 1)
        place(console, "puts a bottom bun")
        page.get_by_role("button", name="I have placed it").click()
        until(console, lambda: peer.steps >= 10, "the arm moves")
        console.locator("#skip").click()
        shown(page, 1)
        assert peer.cancels(FETCH.action) >= 1
        kinds = [kind for kind, _ in ros_lab.events(token)]
        assert kinds.count("robot-skipped") == 1
        assert "robot-trouble" not in kinds
        choose(page, 0)
        expect(console.locator("#doing")).to_contain_text("puts a bottom bun")
        expect(console.locator("#arm-standing")).to_have_text("Stacking")
