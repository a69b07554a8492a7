"""Every link leads somewhere, and every page can be reached from the index."""

from __future__ import annotations

import re

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as the usual renderers make them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_relative_links_resolve(page):
    for link in LINK.findall(page.prose):
        assert "://" not in link, f"{page.name} links to a host: {link}"
        path, _, anchor = link.partition("#")
        target = (page.path.parent / path).resolve() if path else page.path
        assert target.exists(), f"{page.name} links to {link}"
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), f"{page.name} links to {link}"


def test_the_index_leads_to_every_page(page, page_called):
    index = page_called("docs/index.md")
    linked = {(index.path.parent / link.partition("#")[0]).resolve() for link in LINK.findall(index.prose)}
    if page.path.is_relative_to(index.path.parent) and page.path != index.path:
        assert page.path in linked


def test_pages_speak_of_no_machine_in_particular(page):
    assert not re.search(r"(?<![\w.])/(?:home|root|work|Users|tmp)/", page.text)
