"""Pictures and videos of a design: on the participants' pages, as icons of arms, and uploaded in the editor."""

from __future__ import annotations

import re
from typing import Any

import pytest

from cobandit.studies import load_design
from cobandit.web.serving import prepare
from tests.browser.accessibility import violations
from tests.browser.participants import at, expect, go_on
from tests.browser.site import PASSWORD, Site
from tests.studies.pictures import PAGE, illustrated, png

WIDER = "() => document.documentElement.scrollWidth - innerWidth"
DRAWN = "(image) => image.complete && image.naturalWidth"
SIZES = ((1366, 625), (390, 664))


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a server with a study whose page and arms have pictures."""
    folder = tmp_path_factory.mktemp("ward")
    path = illustrated(folder)
    first = load_design("three-by-three").task.icons[0][0]
    path.write_text(path.read_text().replace(f'"{first}"', '"bean.png"', 1))
    design = load_design(path)
    prepare(f"sqlite:///{folder / 'studies.sqlite'}", [design], password=PASSWORD, seed=7)
    site = Site(folder, design, stored=folder / "studies.sqlite")
    yield site
    site.close()


@pytest.mark.parametrize("dark", [False, True])
def test_pictures_are_shown_and_described(ward, new_context, until, dark):
    token = ward.someone("ward", ready=False)
    page = new_context(color_scheme="dark" if dark else "light").new_page()
    blocked: list[str] = []
    page.on("console", lambda message: blocked.append(message.text))
    page.goto(f"{ward.address}/p/{token}")
    at(page, "page-once-ward")
    picture = page.get_by_role("img", name="A ward with six beds")
    until(page, lambda: picture.evaluate(DRAWN) == 200)
    video = page.locator("video")
    expect(video).to_have_attribute("aria-label", "A nurse presses a button")
    assert video.evaluate("(node) => node.controls && !node.autoplay")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(WIDER) <= 0, width
        assert violations(page) == [], width
    go_on(page)
    ward.go_on(token, "ward", "episode-0")
    page.reload()
    at(page, "episode-0")
    until(page, lambda: page.locator(".choice img.picture").first.evaluate(DRAWN) == 48)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(WIDER) <= 0, width
        assert violations(page) == [], width
    assert not [text for text in blocked if "Content Security Policy" in text]


def test_a_picture_is_uploaded_in_the_editor(ward, new_context, until):
    number = ward.admin.post("/api/admin/designs", json={"template": "burger", "name": "mine"}).json()["id"]
    page = new_context(viewport={"width": 1366, "height": 625}).new_page()
    page.goto(f"{ward.address}/admin/designs/{number}")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("main[data-ready]")).to_be_visible()
    page.get_by_label("Add picture or video").set_input_files(
        {"name": "mint.png", "mimeType": "image/png", "buffer": png(20, 160, 90)}
    )
    expect(page.locator("#toast")).to_contain_text("mint.png is stored")
    page.get_by_role("button", name="Source").click()
    expect(page.locator("#source")).to_have_value(re.compile('file = "mint.png"'))
    source = page.locator("#source").input_value()
    shown = PAGE[: PAGE.index("text =")] + 'text = "![A mint leaf](mint.png)"\n'
    page.locator("#source").fill(source + shown)
    expect(page.locator("#verdict-text")).to_have_text("The design is valid.")
    page.get_by_role("button", name="Preview").click()
    page.get_by_label("Page", exact=True).select_option("page-once-ward")
    picture = page.frame_locator("#preview").get_by_role("img", name="A mint leaf")
    expect(picture).to_be_visible()
    until(page, lambda: picture.evaluate(DRAWN) == 48)
    page.get_by_label("Add picture or video").set_input_files(
        {"name": "bad.png", "mimeType": "image/png", "buffer": b"<svg>"}
    )
    expect(page.locator("#toast")).to_contain_text("'bad.png' must be image/png by its content")
    assert violations(page) == []
