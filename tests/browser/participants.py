"""Guests with browsers of their own, and what they do on the pages of some small studies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect as expect

from cobandit.studies import StudyDesign, load_design
from tests.browser.site import Site

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
    small(
        "three-by-three",
        "flowers",
        rounds=3,
        languages=["en"],
        translations={},
        task=load_design("three-by-three").to_dict()["task"]
        | {
            "icons": [],
            "arms": [
                ["Chrysanthemums", "Snapdragons", "Forget-me-nots"],
                ["Chrysanthemums", "Lilies of the valley", "Rhododendrons"],
            ],
        },
    ),
    small(
        "three-by-three",
        "herbs",
        rounds=3,
        arms=[2, 4],
        languages=["de"],
        translations={},
        means={},
        task=load_design("three-by-three").to_dict()["task"]
        | {
            "icons": [["🌼", "star yellow"], ["🍋", "leaf", "drop orange", "heart red"]],
            "arms": [
                ["Ringelblumentee", "Schwarztee"],
                ["Zitronenmelisse", "Pfefferminztee", "Hagebuttenmark", "Kamillenblüten"],
            ],
        },
    ),
)


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


def pass_quiz(page: Any, *quiz: int) -> None:
    """Go from the consent to the end of the quiz, whose answers are at these places."""
    at(page, "consent")
    go_on(page)
    at(page, "demographics")
    page.fill("#age", "33")
    fill(page, 0)
    go_on(page)
    at(page, "instructions")
    go_on(page)
    at(page, "quiz")
    fill(page, *quiz)
    go_on(page)


def counted(page: Any) -> int:
    """The sum of all that the counts on the page say."""
    return sum(int(text) for text in page.locator(".tally b").all_inner_texts())
