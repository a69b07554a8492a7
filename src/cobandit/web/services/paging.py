"""Pages of long lists, so that a list of any length costs participants nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.web.storage.database import Connection

LARGEST_PAGE = 500


@dataclass(frozen=True)
class Part:
    """Which part of a list is wanted; without a limit the whole list, which must then fit into one page."""

    offset: int = 0
    limit: int | None = None


@dataclass(frozen=True)
class Page:
    """A part of a list, and how long the whole list is."""

    total: int
    offset: int
    rows: list[JsonObject]

    def check(self, part: Part, what: str) -> Page:
        """Refuse to leave out rows unless the client asked for a part: a program must not mistake a page for the
        whole.
        """
        if part.limit is None and self.offset + len(self.rows) < self.total:
            raise InvalidInput(
                f"There are {self.total} {what}, and one answer contains at most {LARGEST_PAGE}. Request them in "
                "parts, with offset and limit."
            )
        return self


class PageReader(Protocol):
    """Reads one page of a list."""

    def __call__(self, connection: Connection, offset: int, limit: int) -> Page:
        """Return the rows from an offset on."""


def all_rows(connection: Connection, read: PageReader) -> Iterator[JsonObject]:
    """Yield the rows of a whole list, page by page."""
    offset, total = 0, 1
    while offset < total:
        page = read(connection, offset, LARGEST_PAGE)
        yield from page.rows
        offset, total = offset + LARGEST_PAGE, page.total
