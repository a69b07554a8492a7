"""The pages about simulated participants must be whole, offline and without scripts."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

VOID = {"meta", "link", "br", "path", "rect", "circle"}


class Balanced(HTMLParser):
    """Fails where a tag is closed that is not the last one opened."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def checked():
    return checked_text


def checked_text(path):
    """The source of a page."""
    text = path.read_text(encoding="utf-8")
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert "<script" not in text
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", text)
    return text
