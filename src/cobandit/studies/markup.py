"""Texts of a design in a safe subset of Markdown: parsed to a small tree of known tags, never to HTML.

A page builds its elements from the tree, so that nothing of a text can become markup of another kind. What lies outside
of the subset (raw HTML, code, pictures that are no files of the design, links to anything but the web and mail) is
refused when the design is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.studies.media import MediaFile, is_video

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MARKUPS = ("plain", "markdown")
"""The formats of consent, instructions and debriefing: plain text, or the subset of Markdown."""

TAGS = ("p", "h2", "h3", "h4", "ul", "ol", "li", "blockquote", "hr", "br", "em", "strong", "code", "a", "img", "video")
"""Every tag that a tree may hold."""

Node = str | dict[str, Any]
"""A text, or ``{"tag": ..., "of": [...]}``; a link has an ``href``, a list that does not begin with 1 a ``start``, a
picture or video a ``src`` below ``/media/`` and an ``alt``.
"""

Media = Mapping[str, MediaFile]
"""The files of a design, by name."""

_LINK = re.compile(r"(?:https?://|mailto:)[^\s\\]+", re.IGNORECASE)
_REFUSED = {
    "html_block": "a piece of HTML",
    "html_inline": "a piece of HTML",
    "code_block": "a block of code (a line that begins with four blanks)",
    "fence": "a block of code",
}


def markdown_tree(name: str, text: str, media: Media | None = None) -> list[Node]:
    """Return the tree of a text; ``name`` is what an error calls it, ``media`` are the files that it may show.

    The page itself has the only heading of level 1, so the highest level that the text uses becomes ``h2``, the next
    one ``h3``, and no level is left out between them.
    """
    tokens = _parser().parse(text)
    headings = [token for token in tokens if token.type == "heading_open"]
    levels = sorted({token.tag for token in headings})
    for token in headings:
        token.tag = f"h{min(2 + levels.index(token.tag), 4)}"
    return list(_nodes(name, iter(tokens), None, media or {}))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # HTML is recognised, so that it can be refused by name; nothing here ever writes any.
    parser = MarkdownIt("commonmark", {"html": True})
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # ours says which ones, and why not
    return parser


def _nodes(name: str, tokens: Iterator[Token], closing: str | None, media: Media) -> Iterator[Node]:
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
            yield from _nodes(name, iter(token.children or ()), None, media)
        elif token.hidden:  # the paragraph of an item in a list without blank lines
            yield from _nodes(name, tokens, token.type.replace("_open", "_close"), media)
        elif token.type == "text":
            if token.content:
                yield token.content
        elif token.type == "softbreak":
            yield "\n"
        elif token.type in ("hardbreak", "hr"):
            yield {"tag": "br" if token.type == "hardbreak" else "hr", "of": []}
        elif token.type == "code_inline":
            yield {"tag": "code", "of": [token.content]}
        elif token.type == "image":
            yield _picture(name, token, media)
        else:
            yield _element(name, token, tokens, media)


def _element(name: str, token: Token, tokens: Iterator[Token], media: Media) -> Node:
    node: JsonObject = {"tag": token.tag}
    if token.type == "link_open":
        node["href"] = _checked_link(name, str(token.attrs["href"]))
    elif token.type == "ordered_list_open" and "start" in token.attrs:
        node["start"] = int(token.attrs["start"])
    if node["tag"] not in TAGS:
        raise InvalidInput(f"{name} holds the Markdown {token.type!r}, which is none of the subset.")
    node["of"] = list(_nodes(name, tokens, token.type.replace("_open", "_close"), media))
    return node


def _picture(name: str, token: Token, media: Media) -> Node:
    file, alt = str(token.attrs["src"]), token.content.strip()
    if file not in media:
        raise InvalidInput(
            f"{name} holds a picture, {short_repr(file)}; it must be the name of a file in the design's folder "
            f"(or in media), one of {', '.join(media) or 'none so far'}."
        )
    if not alt:
        raise InvalidInput(
            f"{name} must describe the picture {file!r} for people who cannot see it: ![what it shows]({file})."
        )
    return {"tag": "video" if is_video(file) else "img", "src": media[file].address, "alt": alt, "of": []}


def _checked_link(name: str, href: str) -> str:
    if not _LINK.fullmatch(href):
        raise InvalidInput(
            f"{name} links to {short_repr(href)}; https://, http:// and mailto: are what a link may have."
        )
    return href
