"""The pages about simulated participants: one file without scripts, with a warning on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cobandit import __version__
from cobandit.experiments.store import this_machine
from cobandit.report.kit.html import Frame, named_facts, write_html


@dataclass(frozen=True)
class Table:
    """A table of texts; the first ``words`` columns are words, the others numbers."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


def write_rehearsal_page(
    path: Path, template: str, frame: Frame, facts: Mapping[str, object], content: Mapping[str, object]
) -> Path:
    """Write a page from a template that extends ``power/rehearsal.html``; ``content`` has its ``warning``."""
    given = {"version": __version__, "machine": this_machine()} | dict(facts)
    return write_html(path, template, frame, {"facts": named_facts(given), **content})
