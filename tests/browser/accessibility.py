"""What axe finds wrong on a page."""

from __future__ import annotations

from typing import Any

RUN = """async ([within, options]) =>
  (await window.axe.run(within ?? document, { resultTypes: ["violations"], ...options })).violations
  .map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map((node) => node.html.slice(0, 200)) }))"""


def violations(page: Any, within: str | None = None, **options: Any) -> list[dict[str, Any]]:
    """Every rule that is broken, its impact and where; ``options`` are those of ``axe.run``.

    ``within`` is the selector of the part to look at: all of the page, where there is none.

    To read and compile axe costs more than to run it: a document that has it already is not given it again.
    """
    from axe_playwright_python.sync_playwright import Axe

    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(Axe().axe_script)
    found: list[dict[str, Any]] = page.evaluate(RUN, [within, options])
    return found
