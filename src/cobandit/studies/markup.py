"""Texts of a design in a safe subset of Markdown: parsed to a small tree of known tags, never to HTML.

A page builds its elements from the tree, so that nothing of a text can become markup of another kind. What lies outside
of the subset (raw HTML, pictures, code, links to anything but the web and mail) is refused when the design is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MARKUPS = ("plain", "markdown")
"""The formats of consent, instructions and debriefing: plain text, or the subset of Markdown."""

TAGS = ("p", "h2", "h3", "h4", "ul", "ol", "li", "blockquote", "hr", "br", "em", "strong", "code", "a")
"""Every tag that a tree may hold."""

Node = str | dict[str, Any]
"""A text, or ``{"tag": ..., "of": [...]}``; a link has an ``href``, a list that does not begin with 1 a ``start``."""

_LINK = re.compile(r"(?:https?://|mailto:)[^\s\\]+", re.IGNORECASE)
_REFUSED = {
    "html_block": "a piece of HTML",
    "html_inline": "a piece of HTML",
    "image": "a picture",
    "code_block": "a block of code (a line that begins with four blanks)",
    "fence": "a block of code",
}


def markdown_tree(name: str, text: str) -> list[Node]:
    """Return the tree of a text; ``name`` is what an error calls it.

    The page itself has the only heading of level 1, so the highest level that the text uses becomes ``h2``, the next
    one ``h3``, and no level is left out between them.
    """
    tokens = _parser().parse(text)
    headings = [token for token in tokens if token.type == "heading_open"]
    levels = sorted({token.tag for token in headings})
    for token in headings:
        token.tag = f"h{min(2 + levels.index(token.tag), 4)}"
    return list(_nodes(name, iter(tokens), None))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # HTML is recognised, so that it can be refused by name; nothing here ever writes any.
    parser = MarkdownIt("commonmark", {"html": True})
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # ours says which ones, and why not
    return parser


def _nodes(name: str, tokens: Iterator[Token], closing: str | None) -> Iterator[Node]:
    """Yield the nodes up to the closing token."""
    for token in tokens:
        if token.type == closing:
            return
        if token.type in _REFUSED:
            raise InvalidInput(
                f"{name} holds {_REFUSED[token.type]}, {short_repr(token.content.strip())}; paragraphs, headings, "
                "lists, quotes, emphasis and links are what it may hold. A backslash before a sign makes it plain."
            )
        if token.type == "inline":
            yield from _nodes(name, iter(token.children or ()), None)
        elif token.hidden:  # the paragraph of an item in a list without blank lines
            yield from _nodes(name, tokens, token.type.replace("_open", "_close"))
        elif token.type == "text":
            if token.content:
                yield token.content
        elif token.type == "softbreak":
            yield "\n"
        elif token.type in ("hardbreak", "hr"):
            yield {"tag": "br" if token.type == "hardbreak" else "hr", "of": []}
        elif token.type == "code_inline":
            yield {"tag": "code", "of": [token.content]}
        else:
            yield _element(name, token, tokens)


def _element(name: str, token: Token, tokens: Iterator[Token]) -> Node:
    node: dict[str, Any] = {"tag": token.tag}
    if token.type == "link_open":
        node["href"] = _checked_link(name, str(token.attrs["href"]))
    elif token.type == "ordered_list_open" and "start" in token.attrs:
        node["start"] = int(token.attrs["start"])
    if node["tag"] not in TAGS:
        raise InvalidInput(f"{name} holds the Markdown {token.type!r}, which is none of the subset.")
    node["of"] = list(_nodes(name, tokens, token.type.replace("_open", "_close")))
    return node


def _checked_link(name: str, href: str) -> str:
    if not _LINK.fullmatch(href):
        raise InvalidInput(
            f"{name} links to {short_repr(href)}; https://, http:// and mailto: are what a link may have."
        )
    return href
