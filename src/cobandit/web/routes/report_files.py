"""Files of a report: the page, which is one file with its styles and scripts inside, and its figures."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi import Response
from fastapi.responses import FileResponse

from cobandit.web.refusals import not_found

REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; font-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_FIGURE = re.compile(r"figures/([\w-]+\.(?:pdf|svg|png))")


def report_file(page: Path, file: str) -> Response:
    """Return the page of a report, or one of the figures next to it."""
    if file in ("", page.name):
        # The page was made by this package and not by visitors, so its own scripts may run.
        return FileResponse(page, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})
    match = _FIGURE.fullmatch(file)
    figure = page.parent / "figures" / match[1] if match else None
    if figure is None or not figure.is_file():
        raise not_found("The report has no such figure.")
    return FileResponse(figure)
