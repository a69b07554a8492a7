"""Every link leads somewhere, and every page can be reached from the index."""

from __future__ import annotations

import re

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as the usual renderers make them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def leads_somewhere(page, link):
    path, _, anchor = link.partition("#")
    target = (page.path.parent / path).resolve() if path else page.path
    if "://" in link or not target.exists():
        return False
    return not anchor or anchor in anchors(target.read_text(encoding="utf-8"))


def test_relative_links_resolve(pages):
    links = [(page, link) for page in pages for link in LINK.findall(page.prose)]
    assert len(links) > 100
    assert [f"{page.name}: {link}" for page, link in links if not leads_somewhere(page, link)] == []


def test_the_index_leads_to_every_page(pages, page_called):
    index = page_called("docs/index.md")
    linked = {(index.path.parent / link.partition("#")[0]).resolve() for link in LINK.findall(index.prose)}
    wanted = {page.path for page in pages if page.path.is_relative_to(index.path.parent)} - {index.path}
    assert wanted - linked == set()


def test_every_decision_is_listed_once_in_the_order_of_the_numbers(page_called):
    index = page_called("docs/decisions/README.md")
    rows = re.findall(r"^\| \[(\d{4})\]\(([^)]+)\) \|", index.text, re.MULTILINE)
    records = sorted(path.name for path in index.path.parent.glob("*.md") if path != index.path)
    assert [file for _, file in rows] == records
    assert [number for number, _ in rows] == [name[:4] for name in records]


def test_pages_speak_of_no_machine_in_particular(pages):
    machine = re.compile(r"(?<![\w.])/(?:home|root|work|Users|tmp)/")
    assert [page.name for page in pages if machine.search(page.text)] == []
