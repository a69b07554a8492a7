"""A hostile design in a real browser: every text is shown as text, no script runs, and no other host is asked."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from typing import Any

import pytest

from cobandit.studies import StudyDesign
from tests.browser.participants import Check, Invite, at, choose, expect, fill, go_on, small
from tests.browser.site import PASSWORD, Site

ELSEWHERE = "https://elsewhere.example/"
SVG = "data:image/svg+xml,<svg xmlns=http://www.w3.org/2000/svg onload=window.struck=1></svg>"
PAYLOADS = (
    "<script>window.struck=1</script>",
    f"<img src={ELSEWHERE} onerror=window.struck=1>",
    f"<img src='{SVG}'>",
    f"</p></div><iframe src={ELSEWHERE}></iframe>",
    "<svg onload=window.struck=1>",
    f"<a href=javascript:window.struck=1>{ELSEWHERE}</a>",
    '"><b onmouseover="window.struck=1" style="position:fixed;inset:0">',
    f"<style>@import url({ELSEWHERE}); body {{ display: none }}</style>",
    f"<meta http-equiv=refresh content=0;url={ELSEWHERE}><base href={ELSEWHERE}>",
    f"[a](javascript:window.struck=1) ![b]({SVG})",
    "&lt;b&gt;&#60;b&#62; {count} {0} %s ${window.struck=1} {{window.struck=1}}",
    "\u202eolleh\u2066\u202e",
    "W" * 300,
)
NOT_SHOWN = {"task.partner"}  # the partners have names of their own
FOREIGN = """() => {
  const wrong = (element) =>
    ["IFRAME", "OBJECT", "EMBED", "BASE", "STYLE"].includes(element.tagName) ||
    (element.tagName === "SCRIPT" && !element.src.startsWith(location.origin)) ||
    [...element.attributes].some(({ name, value }) => name.startsWith("on") || /^(javascript:|data:[^,])/i.test(value));
  return [...document.querySelectorAll("*")].filter(wrong).map((element) => element.outerHTML.slice(0, 200));
}"""


SPOKEN = """() => [...document.querySelectorAll("[aria-label], svg title")]
  .map((element) => element.getAttribute("aria-label") ?? element.textContent).join(" ")"""


def hostile(markup: str) -> StudyDesign:
    """A burger study with a payload in every text, in both languages; in Markdown the payloads are escaped."""
    changes = {"rounds": 2, "languages": ["en", "de"], "markup": markup, "debriefing": "Thank you."}
    plain = small("burger", f"hostile-{markup}", translations={}, title=PAYLOADS[0], **changes)
    texts = {}
    for number, key in enumerate(plain.texts()):
        texts[key] = f"{PAYLOADS[number % len(PAYLOADS)]} ({key})"
        if markup == "markdown" and key in plain.marked_texts:
            texts[key] = "".join(f"\\{sign}" if sign in string.punctuation else sign for sign in texts[key])
    return StudyDesign.from_dict(plain.to_dict() | {"translations": {"de": texts}})


DESIGNS = {markup: hostile(markup) for markup in ("plain", "markdown")}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    running = Site(tmp_path_factory.mktemp("hostile"), *DESIGNS.values())
    yield running
    running.close()


class Reader:
    """Read every page of a walk, and look for anything that is not text."""

    def __init__(self, page: Any, fits: Check) -> None:
        self.page, self._fits = page, fits
        self.read = ""
        self.complaints: list[str] = []
        self.hosts: set[str] = set()
        page.route(re.compile(re.escape(ELSEWHERE)), lambda route: route.abort())
        page.on("request", lambda request: self.hosts.add(re.sub(r"(?<=\w)/.*", "", request.url)))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))

    def look(self, step: str = "") -> None:
        if step:
            at(self.page, step)
        read = f"{self.page.locator('body').inner_text()} {self.page.evaluate(SPOKEN)}"
        self.read += " " + " ".join(read.split())
        assert self.page.evaluate(FOREIGN) == []
        assert self.page.evaluate("window.struck") is None
        self._fits(self.page, f"at {step or self.page.url}")

    def go_on(self, step: str) -> None:
        go_on(self.page)
        self.look(step)


@pytest.mark.parametrize("markup", DESIGNS)
def test_a_hostile_design_is_shown_as_text(guest: Invite, site: Site, fits: Check, markup: str) -> None:
    page = guest(viewport={"width": 390, "height": 664}).tab()
    reader = Reader(page, fits)
    page.goto(f"{site.address}/s/hostile-{markup}?language=de")
    walk(page, reader)
    for key, text in DESIGNS[markup].texts("de").items():
        escaped = markup == "markdown" and key in DESIGNS[markup].marked_texts
        shown = re.sub(r"\\(.)", r"\1", text) if escaped else text
        assert shown in reader.read or key in NOT_SHOWN, key
    look_as_researcher(page, reader, f"{site.address}/admin", 1 + list(DESIGNS).index(markup))
    assert reader.complaints == []
    assert reader.hosts == {site.address}


def walk(page: Any, reader: Reader) -> None:
    """Take part from the consent to the end, with a wrong attempt at the quiz."""
    reader.look("consent")
    reader.go_on("demographics")
    page.fill("#age", "33")
    fill(page, 0)
    reader.go_on("instructions")
    reader.go_on("quiz")
    fill(page, 0)
    go_on(page)
    expect(page.locator(".failed")).to_have_count(3)
    reader.look()
    fill(page, 0, 1, 1, 2)
    for part in (1, 2):
        reader.go_on(f"partner-{part}")
        reader.go_on(f"episode-{part - 1}")
        for arm in (0, 1):
            choose(page, arm)
            reader.look()
        page.locator(".panel .primary").click()
        reader.look(f"survey-{part}")
        fill(page, 1)
    reader.go_on("thanks")


def look_as_researcher(page: Any, reader: Reader, admin: str, study: int) -> None:
    """Open the home page, the list of studies, a study and a participant."""
    page.goto(admin.removesuffix("admin"))
    reader.look()
    page.goto(admin)
    page.fill("#password", PASSWORD)
    page.locator("main .primary").click()
    expect(page.get_by_role("link", name=PAYLOADS[0])).to_have_count(len(DESIGNS))
    reader.look()
    page.goto(f"{admin}/studies/{study}")
    person = page.locator("#people tbody tr").get_by_role("link").first
    expect(person).to_be_visible()
    reader.look()
    person.click()
    expect(page.locator("#rounds tbody tr").first).to_be_visible()
    reader.look()
