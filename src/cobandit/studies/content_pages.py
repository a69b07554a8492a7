"""Pages of a design that people only read: a heading and a text in Markdown, at any place of the journey."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cobandit.base.checks import one_of, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.records import Record, entry, words
from cobandit.studies.questionnaires import plain_id

ONCE = ("consented", "before-instructions", "after-instructions", "before", "end", "last")
"""Places that are passed once: after the consent, before and after the instructions, before the first set, after
all sets, and before the last page.
"""

PER_SET = ("before-set", "before-survey", "between", "after")
"""Places in every set: before its first episode, before its survey, after the survey of every set but the last, and
after the survey of every set.
"""

PAGE_TIMES = (*ONCE, *PER_SET)
MOST_SETS = 4


@dataclass(frozen=True)
class ContentPage(Record):
    """A page with a heading and a text in the safe subset of Markdown; people continue with a button.

    A page at a place of a set is shown in every set, or only in ``set``. Questionnaires of the same place follow it.
    """

    id: str = entry(plain_id)
    when: str = entry(one_of(PAGE_TIMES, "place of a page"))
    set: int = entry(whole(0, MOST_SETS), 0)
    title: str = entry(words)
    text: str = entry(words)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.set and self.when in ONCE:
            raise InvalidInput(f"The page {self.id!r} must not have set, because {self.when!r} is in no set.")

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the texts that people read, by the keys under which they are translated."""
        yield f"pages.{self.id}.title", self.title
        yield f"pages.{self.id}.text", self.text


def check_pages(pages: Sequence[ContentPage], sets: int) -> None:
    """Check that every page is shown at least once in a study of this many sets."""
    for page in pages:
        last = sets - (page.when == "between")
        if page.when in PER_SET and (page.set > last or last < 1):
            raise InvalidInput(
                f"The page {page.id!r} is never shown: it comes {page.when!r} in set {page.set or 1}, and the study "
                f"has {sets}."
            )
