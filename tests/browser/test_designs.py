"""The editor of designs in a real browser: forms, source, preview, versions; by keyboard, with axe, in two tabs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cobandit.studies import load_design
from cobandit.studies.design import design_text, parse_design
from cobandit.studies.design_schema import design_schema
from cobandit.web.access import COOKIE
from tests.browser.accessibility import violations
from tests.browser.site import Site
from tests.parameters import quick

expect = pytest.importorskip("playwright.sync_api").expect

VALID = "The design is valid."
FILL = """() => {
  const empty = [...document.querySelectorAll("#form details")].map((part) => part.querySelector(":scope > .part-body"))
    .filter((body) => !body.querySelector("[data-path], .free-new"))
    .filter((body) => body.querySelector(":scope > button:not(:disabled)"));
  empty[0]?.querySelector(":scope > button").click();
  return empty.length;
}"""
"""Add the first table that is not used, or the first element of a list; return how many there were."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One for all tests: each makes a draft of its own."""
    folder = tmp_path_factory.mktemp("designs")
    with contextlib.closing(Site(folder, load_design("three-by-three"), seed=4)) as site:
        yield site


@pytest.fixture
def researcher(server: Site, new_context: Callable[..., Any]) -> Any:
    """A page of a researcher who has logged in; it notes what it complains of."""
    context = new_context(viewport={"width": 1366, "height": 625})
    token = server.admin.headers["authorization"].removeprefix("Bearer ")
    context.add_cookies([{"name": COOKIE, "value": token, "url": server.address}])
    page = context.new_page()
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    return page


def draft_of(server: Site, template: str = "burger", name: str = "mine") -> int:
    answer = server.admin.post("/api/admin/designs", json={"template": template, "name": name})
    return int(answer.json()["id"])


def opened(page: Any, server: Site, number: int) -> Any:
    page.goto(f"{server.address}/admin/designs/{number}")
    expect(page.locator("main[data-ready]")).to_be_visible()
    return page


def stored(server: Site, number: int) -> dict[str, Any]:
    return dict(server.admin.get(f"/api/admin/designs/{number}").json())


def verdict(page: Any) -> Any:
    return page.locator("#verdict-text")


def test_from_template_to_participant(server: Site, researcher: Any) -> None:
    page = researcher
    page.goto(f"{server.address}/admin/designs")
    expect(page.get_by_role("heading", name="Designs", exact=True)).to_be_visible()
    assert violations(page) == []
    page.get_by_label("Template", exact=True).select_option("burger")
    page.get_by_label("Name of the study").fill("my-burger")
    page.get_by_role("button", name="Create draft from the template").click()
    expect(page.locator("main[data-ready]")).to_be_visible()
    expect(verdict(page)).to_have_text(VALID)
    page.get_by_label("Rounds", exact=True).first.fill("0")
    expect(verdict(page)).to_contain_text("rounds must be an integer")
    expect(page.locator("#field-rounds")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#field-rounds-problem")).to_contain_text("rounds must be an integer")
    expect(page.get_by_role("button", name="Publish …")).to_be_disabled()
    page.get_by_label("Rounds", exact=True).first.fill("6")
    expect(verdict(page)).to_have_text(VALID)
    page.get_by_role("button", name="Publish …").click()
    expect(page.locator("#publish-note")).to_have_text("my-burger, version 1")
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.locator("#published")).to_have_text("Published: my-burger v1")
    draft = stored(server, int(page.url.rpartition("/")[2]))
    assert (draft["data"]["rounds"], draft["versions"]) == (6, [1])
    assert draft["text"] == design_text("burger").replace(
        f'name = "burger"\nversion = {load_design("burger").version}\n', 'name = "my-burger"\nversion = 1\n'
    ).replace(f"rounds = {load_design('burger').rounds}", "rounds = 6", 1)
    page.goto(f"{server.address}/s/my-burger")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.complaints == []


def test_every_property_has_a_control(server: Site, researcher: Any) -> None:
    """Add every table and one element to every list: each property of the schema must have a control or a section."""
    page = opened(researcher, server, draft_of(server))
    schema = design_schema()
    for _ in range(500):
        if not page.evaluate(FILL):
            break
    shown = {
        tuple("*" if isinstance(part, int) else part for part in json.loads(path))
        for path in page.evaluate(
            "() => [...document.querySelectorAll('#form [data-path]')].map((n) => n.dataset.path)"
        )
    }
    missing = [path for path in _paths(schema, schema, ()) if path not in shown]
    assert missing == []


def _paths(schema: dict[str, Any], part: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the path of every property; elements of lists are ``*``."""
    if "$ref" in part:
        part = schema["$defs"][part["$ref"].split("/")[-1]]
    for name, inner in part.get("properties", {}).items():
        yield (*path, name)
        yield from _paths(schema, inner, (*path, name))
    if part.get("type") == "array" and "$ref" in part.get("items", {}):
        yield from _paths(schema, part["items"], (*path, "*"))


def test_lists_by_keyboard_alone(server: Site, researcher: Any) -> None:
    number = draft_of(server)
    page = opened(researcher, server, number)
    before = [item["id"] for item in stored(server, number)["data"]["quiz"]]
    page.locator("#field-quiz > summary").focus()
    page.keyboard.press("Enter")
    page.locator("#field-quiz--0-down").focus()
    page.keyboard.press("Enter")
    moved = [before[1], before[0], *before[2:]]
    expect(page.locator("#field-quiz--0 > summary .soft").first).to_have_text(moved[0])
    assert page.evaluate("document.activeElement.id").startswith("field-quiz--1-")
    page.keyboard.press("Control+s")
    expect(page.locator("#unsaved")).to_have_text("Revision 2")
    draft = stored(server, number)
    assert [item["id"] for item in draft["data"]["quiz"]] == moved
    page.get_by_role("button", name="Remove quiz, 1", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.locator("#field-quiz--0 > summary .soft").first).to_have_text(moved[1])
    page.get_by_role("button", name="Add to quiz", exact=True).focus()
    page.keyboard.press("Enter")
    expect(verdict(page)).not_to_have_text(VALID)
    page.locator("#go-to").focus()
    page.keyboard.press("Enter")
    quiz = "[data-path^='[\"quiz\"']"
    expect(page.locator(f"{quiz}:focus, {quiz} :focus")).to_have_count(1)
    assert page.complaints == []


def test_free_tables_and_options(server: Site, researcher: Any) -> None:
    number = draft_of(server, "three-by-three")
    page = opened(researcher, server, number)
    page.get_by_role("button", name="Open all parts").click()
    page.get_by_role("button", name="Add messages", exact=True).click()
    page.get_by_label("New key in messages", exact=True).fill("en")
    page.keyboard.press("Enter")
    page.get_by_label("New key in messages, en").fill("reload")
    page.keyboard.press("Enter")
    page.locator("#field-messages--en--reload").fill("Load <b>it</b> again")
    page.locator("#field-conditions--0--agent").select_option("partner-aware-ucb")
    page.get_by_role("button", name="Open all parts").click()
    page.get_by_role("button", name="Add conditions, 1, options", exact=True).click()
    page.locator("#field-conditions--0--options--window").fill("3")
    expect(verdict(page)).to_have_text(VALID)
    page.get_by_role("button", name="Source").click()
    source = page.get_by_label("The design in TOML")
    expect(source).to_be_visible()  # only after the server has answered the last edit
    design = parse_design(source.input_value())
    assert design.messages.to_dict() == {"en": {"reload": "Load <b>it</b> again"}}
    assert design.conditions[0].options.to_dict()["window"] == 3


def test_source_and_form_agree(server: Site, researcher: Any) -> None:
    number = draft_of(server)
    page = opened(researcher, server, number)
    page.get_by_role("button", name="Source").click()
    source = page.get_by_label("The design in TOML")
    expect(source).to_be_visible()
    text = source.input_value()
    source.fill('# lost quote\ntitle = "half')
    expect(verdict(page)).to_contain_text("not valid TOML")
    assert violations(page) == []
    page.get_by_role("button", name="Form").click()
    expect(page.locator("#form-broken")).to_be_visible()
    page.get_by_role("button", name="Source").click()
    source.fill("# kept\n" + text.replace("rounds = 50", "rounds = 8"))
    expect(verdict(page)).to_have_text(VALID)
    page.get_by_role("button", name="Form").click()
    page.locator("#field-title").fill("New title")
    page.get_by_role("button", name="Changes").click()
    page.get_by_label("Compare with").select_option("revision:1")
    expect(page.locator("#changes ins").first).to_contain_text("+# kept")
    assert violations(page) == []


def test_two_tabs(server: Site, researcher: Any) -> None:
    number = draft_of(server)
    first = opened(researcher, server, number)
    second = opened(researcher.context.new_page(), server, number)
    first.locator("#field-title").fill("From the first tab")
    first.get_by_role("button", name="Save", exact=True).click()
    expect(first.locator("#unsaved")).to_have_text("Revision 2")
    second.locator("#field-title").fill("From the second tab")
    second.get_by_role("button", name="Save", exact=True).click()
    expect(second.locator("#stale-text")).to_contain_text("has saved revision 2")
    assert stored(server, number)["data"]["title"] == "From the first tab"
    second.get_by_role("button", name="Compare with it").click()
    expect(second.locator("#changes ins")).to_have_text('+title = "From the second tab"\n')
    second.get_by_role("button", name="Save mine as the next revision").click()
    expect(second.locator("#unsaved")).to_have_text("Revision 3")
    assert stored(server, number)["data"]["title"] == "From the second tab"


@pytest.mark.parametrize("template", quick(["burger", "casino", "three-seats", "casino-pair"], ["casino-pair"]))
def test_preview_of_every_page(server: Site, researcher: Any, template: str) -> None:
    page = opened(researcher, server, draft_of(server, template))
    page.get_by_role("button", name="Preview").click()
    inside = page.frame_locator("#preview")
    steps = page.locator("#preview-step option").evaluate_all("(all) => all.map((one) => one.value)")
    for language in page.locator("#preview-language option").all_inner_texts():
        page.locator("#preview-language").select_option(language)
        for step in steps:
            page.locator("#preview-step").select_option(step)
            expect(inside.locator(f'main[data-step="{step}"]')).to_be_visible()
            expect(inside.get_by_role("heading", level=1)).not_to_be_empty()
            assert inside.locator("html").get_attribute("lang") == language
    page.get_by_role("button", name="Phone").click()
    assert page.locator("#preview").bounding_box()["width"] == 390
    assert page.complaints == []


def test_axe_at_both_sizes(
    server: Site, researcher: Any, fits: Callable[..., None], strict: Callable[[Any], None]
) -> None:
    page = opened(researcher, server, draft_of(server, "casino"))
    page.get_by_role("button", name="Open all parts").click()
    for width, height, scheme in ((1366, 625, "light"), (390, 664, "dark")):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        assert violations(page, exclude=[["iframe"]]) == []
        fits(page)
    strict(page)


def test_only_the_preview_may_be_framed(server: Site) -> None:
    preview = server.admin.get("/admin/designs/preview")
    assert (preview.status_code, preview.headers["x-frame-options"]) == (200, "SAMEORIGIN")
    assert "frame-ancestors 'self'" in preview.headers["content-security-policy"]
    assert server.admin.get("/admin/designs").headers["x-frame-options"] == "DENY"
