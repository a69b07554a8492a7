"""Offline pages: one HTML file with everything in it, to be opened, sent and printed.

Every page is a Jinja template that extends ``layout.html``, and what it is given is escaped where it enters; only
drawings come as markup. The data of charts travel as JSON in which no tag can begin or end. A content policy allows
nothing but the scripts of the file itself.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from cobandit import __version__
from cobandit.base.extras import require_extras
from cobandit.base.files import make_folder, whole_file
from cobandit.base.numbers import DASH, PAGE, count
from cobandit.report.kit.assets import chart_library, static_text
from cobandit.report.kit.figure import FORMATS
from cobandit.report.kit.palette import css_colour, dash_lengths, palette_css
from cobandit.report.kit.templates import template_environment
from cobandit.report.kit.text import apa, italic_symbols, true_minus, words

if TYPE_CHECKING:
    from jinja2 import Environment

CHARTS = "report.js"
"""The script that draws live charts, with uPlot."""

FIGURES = "figures"
"""The folder next to a page that contains its figures."""

FACTS = {"when": "Made", "version": "Version", "executor": "Run by", "machine": "Machine", "command": "Command"}
"""What the caller may say about a report, and how it is headed; other keys stand under their own name."""

OUTCOMES = {
    "holds": ("holds", "✓", "hold"),
    "does not hold": ("fails", "✗", "do not hold"),
    "undecided": ("open", "?", "undecided"),
}
"""Class, sign and plural of each verdict; the word is the verdict itself."""


@dataclass(frozen=True)
class Frame:
    """The parts around the main part of a page.

    ``data`` are the data of the charts; ``styles`` and ``scripts`` name static files. Only with `CHARTS` does the page
    include the chart library. Without scripts, the content security policy of the page allows none.
    """

    title: str
    lead: str
    version: str = __version__
    styles: Sequence[str] = ("report.css",)
    scripts: Sequence[str] = ()
    data: Mapping[str, object] = field(default_factory=dict)


def write_html(path: Path, template: str, frame: Frame, content: Mapping[str, object]) -> Path:
    """Write a page from a template that extends ``layout.html``; its folder is made, the file appears whole."""
    require_extras("Writing a report", plot=True)
    make_folder(path.parent)
    page = render_page(template, frame, content)
    with whole_file(path) as file:
        file.write(page.encode())
    return path


def render_page(template: str, frame: Frame, content: Mapping[str, object]) -> str:
    """Return the text of a page."""
    from markupsafe import Markup

    wants_charts = CHARTS in frame.scripts
    library = chart_library() if wants_charts else None
    own_script = ["\n".join(map(static_text, frame.scripts))] if frame.scripts else []
    scripts = ([library.script] if library else []) + own_script
    return (
        _environment()
        .get_template(template)
        .render(
            frame=frame,
            policy=content_policy(scripts),
            style=Markup("\n".join([library.style if library else "", palette_css(), *map(static_text, frame.styles)])),
            charts=("live" if library else "static") if wants_charts else None,
            scripts=[Markup(script) for script in scripts],
            json=Markup(safe_json(frame.data)),
            **content,
        )
    )


def content_policy(scripts: Sequence[str]) -> str:
    """Return a policy under which these very scripts run and no others, and nothing is fetched from anywhere."""
    allowed = f"script-src {' '.join(map(_fingerprint, scripts))}; " if scripts else ""
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; {allowed}base-uri 'none'; form-action 'none'"


def _fingerprint(script: str) -> str:
    """Return the hash of a script for the content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def safe_json(data: Mapping[str, object]) -> str:
    """Return the data as JSON that is safe inside of a page: no tag can begin or end in it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def dated(about: Mapping[str, object] | None) -> dict[str, object]:
    """Return the caller's facts about a report; ``when`` is now unless given."""
    return {"when": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"} | dict(about or {})


def named_facts(about: Mapping[str, object]) -> dict[str, object]:
    """Return the caller's facts about a report, by heading."""
    return {FACTS.get(key, key): value for key, value in about.items() if key not in ("title", "lead")}


def figure_kinds(name: str, folder: Path) -> list[str]:
    """Return the formats of a figure that exist in ``folder``."""
    return [kind for kind in FORMATS if (folder / FIGURES / f"{name}.{kind}").is_file()]


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = template_environment("cobandit.report")
    environment.filters |= {
        "apa": apa,
        "counted": count,
        "italic_symbols": italic_symbols,
        "number": PAGE.format,
        "true_minus": true_minus,
        "words": words,
    }
    environment.globals |= {"outcomes": OUTCOMES, "dash": DASH, "figures_folder": FIGURES}
    environment.globals |= {"css_colour": css_colour, "dash_lengths": dash_lengths}
    return environment
