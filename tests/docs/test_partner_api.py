"""The reference of the partner service is that of its OpenAPI document."""

from __future__ import annotations

import re
from pathlib import Path

from tools import partner_api_page

SOURCE = Path(__file__).parents[2] / "src" / "cobandit"


def test_the_page_is_current():
    assert partner_api_page.PAGE.read_text(encoding="utf-8") == partner_api_page.page(), (
        "run: python tools/partner_api_page.py"
    )


def test_every_conflict_is_explained():
    """Each code that the service raises is in the table of errors."""
    files = [*(SOURCE / "web/services/partner").glob("*.py"), SOURCE / "engine/partner_game.py"]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    codes = set(re.findall(r'(?:conflict|GameConflict)\(\s*"([a-z-]+)"', text)) - {"complete"}
    codes |= set(re.findall(r'Refused\(\s*\d+,\s*"([a-z-]+)"', text))
    assert codes
    assert [code for code in sorted(codes) if f"`{code}`" not in partner_api_page.ERRORS] == []
