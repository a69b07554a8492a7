"""Signs of automation: what the page counts reaches the server, without any key or text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.participants import TAP, expect, small
from tests.browser.site import Site

ASKED = small(
    "burger",
    "asked",
    rounds=3,
    languages=["en"],
    translations={},
    demographics=[{"id": "city", "text": "Where do you live?", "answer": "text"}],
)
PASTE = """(text) => {
  const data = new DataTransfer();
  data.setData("text", text);
  document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
}"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with a study that asks for a text."""
    site = Site(tmp_path_factory.mktemp("signals"), ASKED)
    yield site
    site.close()


def test_inputs_and_pastes_are_counted(place: Site, new_context: Callable[..., Any], until: Callable[..., Any]) -> None:
    token = place.someone("asked", ready=False)
    page = new_context().new_page()
    page.goto(f"{place.address}/p/{token}")
    field = page.locator("#city")
    field.focus()
    page.evaluate(PASTE, "secret town")
    page.evaluate(TAP, ["a", "b"])  # made by a script
    page.keyboard.type("Ulm")
    page.locator("form button[type=submit]").click()
    expect(page.locator("main")).to_have_attribute("data-step", "instructions")
    until(page, lambda: {"load", "paste", "input"} <= {kind for kind, _ in place.events(token)})
    events = dict(place.events(token))
    assert events["load"]["webdriver"] is page.evaluate("navigator.webdriver")
    pasted = {name: events["paste"][name] for name in ("step", "field", "characters")}
    assert pasted == {"step": "demographics", "field": "city", "characters": len("secret town")}
    counted = events["input"]
    assert (counted["step"], counted["keys"], counted["clicks"], counted["untrusted"]) == ("demographics", 5, 1, 2)
    assert counted["gap_ms"] == sorted(counted["gap_ms"])
    assert len(counted["gap_ms"]) == 5
    assert "secret" not in str(place.events(token))
    assert "Ulm" not in str(place.events(token))
